/**
 * Small decoders of each kind of base with made-up float32 weights, which `fixtures/gradients/make_gradients.py` draws in the same way: uniform numbers of
 * mulberry32, tensor after tensor in the order of {@link drawTensors}. Rows of q and k are drawn in half-split order; a llama file has them interleaved.
 */
import type { Digest } from '@contractrl/core';
import { createRandom, LINEAR_NAMES, type GgufModel, type ModelConfig } from '@contractrl/runtime-webgpu';
import { EMBEDDING, HEAD, linearShape, OUTPUT_NORM, ROPE_DIVISORS, vectorTensor } from '@contractrl/runtime-webgpu/onnx';
import { initialParameters, type LoraParameters } from '../../src/gradient/parameters.ts';

export const VOCABULARY_SIZE = 24;
const [WEIGHT_SEED, ADAPTER_SEED] = [1, 2];

interface Base {
  readonly config: Pick<ModelConfig, 'architecture'> & Partial<ModelConfig>;
  readonly isTied: boolean;
  /** As llama.cpp writes them for Llama 3. */
  readonly hasRopeDivisors?: boolean;
}

/** By the names of the recorded gradients. A user's base is one of these in large: SmolLM2, Llama 3.2, Qwen 2.5, Qwen 3. */
const BASES = {
  'llama': { config: { architecture: 'llama' }, isTied: true },
  'llama of version 3': { config: { architecture: 'llama' }, isTied: true, hasRopeDivisors: true },
  'llama with a key head each': { config: { architecture: 'llama', kvHeadCount: 4 }, isTied: false },
  'qwen2': { config: { architecture: 'qwen2' }, isTied: true },
  'qwen2 stretched by YaRN': { config: { architecture: 'qwen2', kvHeadCount: 1, ropeScaling: { kind: 'yarn', factor: 4, originalContextLength: 8 } }, isTied: false },
  'qwen3': { config: { architecture: 'qwen3' }, isTied: false },
  'qwen3 with a tied head': { config: { architecture: 'qwen3' }, isTied: true },
} as const satisfies Readonly<Record<string, Base>>;

export type BaseName = keyof typeof BASES;
export const BASE_NAMES = Object.keys(BASES) as readonly BaseName[];

/** Two query heads on each key head, where the base does not say otherwise; heads wider than hiddenSize / headCount, as those of Qwen 3 are. */
const COMMON: Omit<ModelConfig, 'architecture'> = {
  layerCount: 2, hiddenSize: 24, feedForwardSize: 40, headCount: 4, kvHeadCount: 2, headSize: 16, contextLength: 32,
  ropeBase: 10_000, ropeSize: 16, ropeScaling: { kind: 'none' }, rmsEpsilon: 1e-5,
};

export type Tensors = Map<string, GgufModel['tensors'] extends ReadonlyMap<string, infer T> ? T : never>;

export function tinyDecoder(name: BaseName, vocabularySize: number = VOCABULARY_SIZE): GgufModel {
  const base: Base = BASES[name];
  const config: ModelConfig = { ...COMMON, ...base.config };
  const tensors: Tensors = new Map();
  const random = createRandom(WEIGHT_SEED);
  const draw = (name: string, shape: readonly number[], center: number, spread: number): void => {
    const values = Float32Array.from({ length: shape.reduce((product, size) => product * size, 1) }, () => center + spread * (2 * random() - 1));
    tensors.set(name, { name, shape, type: 'F32', bytes: new Uint8Array(values.buffer) });
  };
  draw(EMBEDDING, [vocabularySize, config.hiddenSize], 0, 1);
  if (!base.isTied) draw(HEAD, [vocabularySize, config.hiddenSize], 0, 1);
  draw(OUTPUT_NORM, [config.hiddenSize], 1, 0.3);
  for (let layer = 0; layer < config.layerCount; layer++) drawTensors(config, layer, draw);
  if (config.architecture === 'llama') interleaveHeads(tensors, config);
  if (base.hasRopeDivisors === true) {
    const divisors = llama3Divisors(config, { factor: 8, slowTurns: 1, fastTurns: 4, originalContextLength: 64 });
    tensors.set(ROPE_DIVISORS, { name: ROPE_DIVISORS, shape: [divisors.length], type: 'F32', bytes: new Uint8Array(divisors.buffer) });
  }
  return { digest: '0'.repeat(64) as Digest, config, vocabularySize, tensors, metadata: {} };
}

/**
 * What each rotary frequency is divided by: those that turn often within the original context by nothing, slow ones by the factor, between them a blend.
 * Reference: llama.cpp `conversion/llama.py` (rope_freqs), transformers `modeling_rope_utils.py` (llama3).
 */
function llama3Divisors(
  { ropeSize, ropeBase }: ModelConfig, { factor, slowTurns, fastTurns, originalContextLength }: Readonly<Record<'factor' | 'slowTurns' | 'fastTurns' | 'originalContextLength', number>>,
): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: ropeSize / 2 }, (_, pair) => {
    const turns = originalContextLength / (2 * Math.PI * ropeBase ** ((2 * pair) / ropeSize));
    const kept = Math.min(1, Math.max(0, (turns - slowTurns) / (fastTurns - slowTurns)));
    return 1 / ((1 - kept) / factor + kept);
  });
}

const LINEAR_TENSORS = { q: 'attn_q', k: 'attn_k', v: 'attn_v', o: 'attn_output', gate: 'ffn_gate', up: 'ffn_up', down: 'ffn_down' } as const;

export function linearTensor(layer: number, linear: keyof typeof LINEAR_TENSORS): string {
  return `blk.${layer}.${LINEAR_TENSORS[linear]}.weight`;
}

function drawTensors(config: ModelConfig, layer: number, draw: (name: string, shape: readonly number[], center: number, spread: number) => void): void {
  for (const linear of LINEAR_NAMES) {
    const { inputSize, outputSize } = linearShape(config, linear);
    draw(linearTensor(layer, linear), [outputSize, inputSize], 0, 1.5 / Math.sqrt(inputSize));
  }
  const vector = (name: Parameters<typeof vectorTensor>[1], length: number, center: number): void => draw(vectorTensor(layer, name), [length], center, 0.3);
  vector('attn_norm.weight', config.hiddenSize, 1);
  vector('ffn_norm.weight', config.hiddenSize, 1);
  if (config.architecture === 'qwen2') {
    vector('attn_q.bias', config.headCount * config.headSize, 0);
    vector('attn_k.bias', config.kvHeadCount * config.headSize, 0);
    vector('attn_v.bias', config.kvHeadCount * config.headSize, 0);
  }
  if (config.architecture === 'qwen3') {
    vector('attn_q_norm.weight', config.headSize, 1);
    vector('attn_k_norm.weight', config.headSize, 1);
  }
}

/** In each head, rows i of the first and of the second half alternate. */
export function interleaveHeads(tensors: Tensors, { layerCount, hiddenSize, headSize }: ModelConfig): void {
  for (let layer = 0; layer < layerCount; layer++) {
    for (const name of [`blk.${layer}.attn_q.weight`, `blk.${layer}.attn_k.weight`]) {
      const tensor = tensors.get(name)!;
      const [rows, rowBytes] = [tensor.shape[0]!, 4 * hiddenSize];
      const bytes = new Uint8Array(tensor.bytes.length);
      for (let row = 0; row < rows; row++) {
        const [head, at] = [Math.floor(row / headSize), row % headSize];
        const target = head * headSize + 2 * (at % (headSize / 2)) + Math.floor(at / (headSize / 2));
        bytes.set(tensor.bytes.subarray(row * rowBytes, (row + 1) * rowBytes), target * rowBytes);
      }
      tensors.set(name, { ...tensor, bytes });
    }
  }
}

/** An adapter that changes something: uniform numbers for B as well as for A. */
export function tinyParameters(config: ModelConfig, rank: number): LoraParameters {
  const parameters = initialParameters(config, { rank, alpha: 2 * rank, seed: 0 });
  const random = createRandom(ADAPTER_SEED);
  for (const { data } of parameters.tensors) data.forEach((_, i) => (data[i] = 0.4 * (2 * random() - 1)));
  return parameters;
}
