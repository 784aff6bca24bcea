/**
 * Which tensors a decoder of each architecture has, under which names and in which shapes. A file must hold exactly these:
 * a missing one cannot be run, and one too many (a router, a bias nobody adds) means different arithmetic.
 * Reference: llama.cpp `gguf-py/gguf/constants.py` (tensor names).
 */
import { err, ok, type Result } from '@contractrl/core';
import { LINEAR_NAMES, type LinearName } from '../lora/adapter.ts';
import type { ModelConfig } from './config.ts';
import type { ModelIssue } from './issue.ts';
import type { GgufTensor } from './tensor.ts';

export const EMBEDDING = 'token_embd.weight';
/** The head's own matrix; absent where the embedding serves as head too. */
export const HEAD = 'output.weight';
export const OUTPUT_NORM = 'output_norm.weight';
/** A divisor for each rotary frequency; absent where the file stretches none of them by itself. */
export const ROPE_DIVISORS = 'rope_freqs.weight';

const LINEAR_TENSORS: Readonly<Record<LinearName, string>> = {
  q: 'attn_q', k: 'attn_k', v: 'attn_v', o: 'attn_output', gate: 'ffn_gate', up: 'ffn_up', down: 'ffn_down',
};

/** Vectors of one layer beside its linears. */
export type LayerVector = 'attn_norm.weight' | 'ffn_norm.weight' | 'attn_q.bias' | 'attn_k.bias' | 'attn_v.bias' | 'attn_q_norm.weight' | 'attn_k_norm.weight';

export function linearTensor(layer: number, linear: LinearName): string {
  return `blk.${layer}.${LINEAR_TENSORS[linear]}.weight`;
}

export function vectorTensor(layer: number, vector: LayerVector): string {
  return `blk.${layer}.${vector}`;
}

export interface LinearShape {
  readonly inputSize: number;
  readonly outputSize: number;
}

export function linearShape(config: ModelConfig, linear: LinearName): LinearShape {
  const { hiddenSize, feedForwardSize, headSize } = config;
  const querySize = config.headCount * headSize;
  const keySize = config.kvHeadCount * headSize;
  switch (linear) {
    case 'q': return { inputSize: hiddenSize, outputSize: querySize };
    case 'k':
    case 'v': return { inputSize: hiddenSize, outputSize: keySize };
    case 'o': return { inputSize: querySize, outputSize: hiddenSize };
    case 'gate':
    case 'up': return { inputSize: hiddenSize, outputSize: feedForwardSize };
    case 'down': return { inputSize: feedForwardSize, outputSize: hiddenSize };
  }
}

/** Vectors of each layer with their length. */
function layerVectors(config: ModelConfig): ReadonlyMap<LayerVector, number> {
  const vectors = new Map<LayerVector, number>([['attn_norm.weight', config.hiddenSize], ['ffn_norm.weight', config.hiddenSize]]);
  if (config.architecture === 'qwen2') {
    vectors.set('attn_q.bias', linearShape(config, 'q').outputSize);
    vectors.set('attn_k.bias', linearShape(config, 'k').outputSize);
    vectors.set('attn_v.bias', linearShape(config, 'v').outputSize);
  }
  if (config.architecture === 'qwen3') {
    vectors.set('attn_q_norm.weight', config.headSize);
    vectors.set('attn_k_norm.weight', config.headSize);
  }
  return vectors;
}

/** Checks that the file's tensors are the architecture's, each in its shape, and gives back the number of embedding rows. */
export function checkTensors(config: ModelConfig, tensors: ReadonlyMap<string, GgufTensor>): Result<number, ModelIssue> {
  const vocabularySize = tensors.get(EMBEDDING)?.shape[0];
  if (vocabularySize === undefined) return err({ code: 'model/missing-tensor', tensor: EMBEDDING });
  const expected = expectedShapes(config, vocabularySize);
  if (tensors.has(HEAD)) expected.set(HEAD, [vocabularySize, config.hiddenSize]);
  if (tensors.has(ROPE_DIVISORS)) expected.set(ROPE_DIVISORS, [config.ropeSize / 2]);
  for (const [name, shape] of expected) {
    const tensor = tensors.get(name);
    if (tensor === undefined) return err({ code: 'model/missing-tensor', tensor: name });
    const isEqual = tensor.shape.length === shape.length && shape.every((size, axis) => size === tensor.shape[axis]);
    if (!isEqual) return err({ code: 'model/bad-shape', tensor: name, shape: tensor.shape, expected: shape });
  }
  for (const name of tensors.keys()) {
    if (!expected.has(name)) return err({ code: 'model/unexpected-tensor', tensor: name });
  }
  return ok(vocabularySize);
}

function expectedShapes(config: ModelConfig, vocabularySize: number): Map<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>([
    [EMBEDDING, [vocabularySize, config.hiddenSize]],
    [OUTPUT_NORM, [config.hiddenSize]],
  ]);
  const vectors = layerVectors(config);
  for (let layer = 0; layer < config.layerCount; layer++) {
    for (const linear of LINEAR_NAMES) {
      const { inputSize, outputSize } = linearShape(config, linear);
      shapes.set(linearTensor(layer, linear), [outputSize, inputSize]);
    }
    for (const [vector, length] of vectors) shapes.set(vectorTensor(layer, vector), [length]);
  }
  return shapes;
}
