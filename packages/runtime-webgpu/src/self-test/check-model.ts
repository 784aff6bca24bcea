/**
 * A small decoder with made-up weights, the same on every machine: what an engine is tested with before it is trusted with a real model.
 * Heads have the real model's shape (three query heads of 64 on one key head), linears are stored as Q4_1, the embedding as Q8_0, so every
 * operator of the real graph is there. Ids 0 to 255 are bytes, {@link CHECK_STOP} ends a text.
 */
import type { Digest } from '@contractrl/core';
import { LINEAR_NAMES, type LinearName, type LoraAdapter, type LoraMatrix } from '../lora/adapter.ts';
import type { ModelConfig } from '../model/config.ts';
import type { GgufModel } from '../model/gguf.ts';
import { EMBEDDING, linearShape, linearTensor, OUTPUT_NORM, vectorTensor } from '../model/layout.ts';
import type { GgufTensor } from '../model/tensor.ts';

export const CHECK_STOP = 256;
export const CHECK_VOCABULARY_SIZE = 257;

/** A prompt one longer than the length at which fused attention kernels take over, which is where some devices were seen to go wrong. */
export const CHECK_PROMPT: readonly number[] = Array.from({ length: 33 }, (_, i) => (i * i * 7 + 31 * i + 5) % 256);

const CONFIG: ModelConfig = {
  architecture: 'llama', layerCount: 2, hiddenSize: 96, feedForwardSize: 128, headCount: 3, kvHeadCount: 1, headSize: 64, contextLength: 320,
  ropeBase: 100_000, ropeSize: 64, ropeScaling: { kind: 'none' }, rmsEpsilon: 1e-5,
};

export function createCheckModel(): GgufModel {
  const draw = drawer(1);
  const tensors = new Map<string, GgufTensor>();
  const add = (name: string, shape: readonly number[], type: GgufTensor['type'], bytes: Uint8Array): void => {
    tensors.set(name, { name, shape, type, bytes });
  };
  const vector = (name: string): void => {
    const values = Float32Array.from({ length: CONFIG.hiddenSize }, () => (14 + draw(5)) / 16);
    add(name, [values.length], 'F32', new Uint8Array(values.buffer));
  };
  add(EMBEDDING, [CHECK_VOCABULARY_SIZE, CONFIG.hiddenSize], 'Q8_0', blocks((CHECK_VOCABULARY_SIZE * CONFIG.hiddenSize) / 32, 34, draw));
  vector(OUTPUT_NORM);
  for (let layer = 0; layer < CONFIG.layerCount; layer++) {
    for (const linear of LINEAR_NAMES) {
      const { inputSize, outputSize } = linearShape(CONFIG, linear);
      add(linearTensor(layer, linear), [outputSize, inputSize], 'Q4_1', blocks((outputSize * inputSize) / 32, 20, draw));
    }
    vector(vectorTensor(layer, 'attn_norm.weight'));
    vector(vectorTensor(layer, 'ffn_norm.weight'));
  }
  return { digest: digestOf(0), config: CONFIG, vocabularySize: CHECK_VOCABULARY_SIZE, tensors, metadata: {} };
}

/** An adapter of `rank`, 0 included: the one that changes nothing. */
export function createCheckAdapter(rank: number): LoraAdapter {
  const draw = drawer(100 + rank);
  const matrix = (linear: LinearName): LoraMatrix => {
    const { inputSize, outputSize } = linearShape(CONFIG, linear);
    const values = (length: number): Float32Array => Float32Array.from({ length }, () => (draw(129) - 64) / 512);
    return { inputSize, outputSize, a: values(rank * inputSize), b: values(outputSize * rank) };
  };
  const layers = Array.from({ length: CONFIG.layerCount }, () => Object.fromEntries(LINEAR_NAMES.map((name) => [name, matrix(name)])) as Record<LinearName, LoraMatrix>);
  return { rank, alpha: 2 * rank, digest: digestOf(1000 + rank), layers };
}

/** They stand for files that nobody will ever load. */
function digestOf(number: number): Digest {
  return String(number).padStart(64, '0') as Digest;
}

/**
 * Quantised blocks: Q8_0 (34 bytes) of scales 1/128 to 1/64, Q4_1 (20 bytes) of scales 1/64 to 1/32 and minima −1/8 to −1/4, so that a
 * linear roughly keeps the size of what it is given.
 */
function blocks(count: number, blockBytes: 20 | 34, draw: (below: number) => number): Uint8Array<ArrayBuffer> {
  const bytes = Uint8Array.from({ length: count * blockBytes }, () => draw(256));
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < bytes.length; at += blockBytes) {
    view.setUint16(at, ((blockBytes === 20 ? 9 : 8) << 10) | draw(1024), true);
    if (blockBytes === 20) view.setUint16(at + 2, 0x8000 | (12 << 10) | draw(1024), true);
  }
  return bytes;
}

/** Whole numbers from 0 to `below` − 1, from Marsaglia's xorshift32: integer steps only, so the same everywhere. */
function drawer(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 8) % below;
  };
}
