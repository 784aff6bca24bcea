/** Random adapters for tiny models, and the same as the plain loops take them. */
import type { Digest } from '@contractrl/core';
import { LINEAR_NAMES, matrixForm, type LinearName, type LoraAdapter, type LoraMatrix } from '../../src/lora/adapter.ts';
import type { ReferenceLora } from './reference-decoder.ts';
import { randomNumbers, type TinyConfig } from './tiny-model.ts';

const TENSORS: Readonly<Record<LinearName, string>> = {
  q: 'attn_q', k: 'attn_k', v: 'attn_v', o: 'attn_output', gate: 'ffn_gate', up: 'ffn_up', down: 'ffn_down',
};

/** Every linear of every layer, or just `linears`, with numbers that move logits without drowning the base. */
export function randomAdapter(config: TinyConfig, rank: number, linears: readonly LinearName[] = LINEAR_NAMES): LoraAdapter {
  const random = randomNumbers(rank);
  const { hiddenSize, feedForwardSize, headSize } = config;
  const [querySize, keySize] = [config.headCount * headSize, config.kvHeadCount * headSize];
  const sizes: Record<LinearName, readonly [number, number]> = {
    q: [hiddenSize, querySize], k: [hiddenSize, keySize], v: [hiddenSize, keySize], o: [querySize, hiddenSize],
    gate: [hiddenSize, feedForwardSize], up: [hiddenSize, feedForwardSize], down: [feedForwardSize, hiddenSize],
  };
  const draw = (length: number): Float32Array => Float32Array.from({ length }, () => 0.4 * (random() - 0.5));
  const matrix = ([inputSize, outputSize]: readonly [number, number]): LoraMatrix => ({ a: draw(rank * inputSize), b: draw(outputSize * rank), inputSize, outputSize });
  const layers = Array.from({ length: config.layerCount }, () => Object.fromEntries(linears.map((name) => [name, matrix(sizes[name])])));
  return { rank, alpha: 2 * rank, digest: String(rank).padStart(64, '0') as Digest, layers };
}

export function toReference(adapter: LoraAdapter): ReferenceLora {
  const nameOf = (tensor: string): LinearName => LINEAR_NAMES.find((name) => TENSORS[name] === tensor)!;
  return {
    matrixOf(layer, tensor) {
      const matrix = adapter.layers[layer]![nameOf(tensor)];
      return matrix === undefined ? undefined : { ...matrix, ...matrixForm(adapter, matrix) };
    },
  };
}
