/**
 * Small models of each architecture with random weights, as a GGUF file and as plain numbers. The file is written without any code of the package,
 * from ggml's definitions, or for the types with more involved blocks from blocks of the reference fixture; the numbers are what the file means,
 * with q and k in half-split row order.
 */
import type { RopeScaling } from '../../src/model/rope-scaling.ts';
import type { TensorType } from '../../src/model/tensor.ts';
import { writeGguf, type GgufField, type GgufTensorSource } from './gguf-writer.ts';
import { drawBlock } from './reference-blocks.ts';

export interface TinyConfig {
  readonly architecture: 'llama' | 'qwen2' | 'qwen3';
  readonly layerCount: number;
  readonly hiddenSize: number;
  readonly feedForwardSize: number;
  readonly headCount: number;
  readonly kvHeadCount: number;
  readonly headSize: number;
  readonly vocabularySize: number;
  readonly contextLength: number;
  readonly ropeBase: number;
  readonly rmsEpsilon: number;
  readonly isHeadTied: boolean;
  /** Dimensions of a head that are turned; default all. */
  readonly ropeSize?: number;
  readonly ropeScaling?: RopeScaling;
  /** `rope_freqs.weight`, `[ropeSize / 2]`. */
  readonly ropeDivisors?: readonly number[];
}

export interface TinyStorage {
  readonly linears: TensorType;
  /** Of `attn_v` and `ffn_down`, which mixed files keep in more bits; default as the other linears. */
  readonly wideLinears?: TensorType;
  readonly embedding: TensorType;
  readonly head: TensorType;
}

export interface TinyModel {
  readonly config: TinyConfig;
  /** By GGUF name; matrices `[outputSize, inputSize]`, row-major. */
  readonly weights: ReadonlyMap<string, Float64Array>;
  /** As they stand in the file. */
  readonly tensors: readonly GgufTensorSource[];
  readonly file: Uint8Array<ArrayBuffer>;
}

export const TINY_CONFIGS: Readonly<Record<TinyConfig['architecture'], TinyConfig>> = {
  llama: tiny({ architecture: 'llama', headCount: 4, kvHeadCount: 2, headSize: 16, ropeBase: 100_000, isHeadTied: true }),
  qwen2: tiny({ architecture: 'qwen2', headCount: 4, kvHeadCount: 1, headSize: 16, ropeBase: 1_000_000, isHeadTied: true }),
  // Heads wider than hiddenSize / headCount, as the real ones are, and a head of its own.
  qwen3: tiny({ architecture: 'qwen3', headCount: 4, kvHeadCount: 2, headSize: 32, ropeBase: 1_000_000, isHeadTied: false }),
};

function tiny(own: Pick<TinyConfig, 'architecture' | 'headCount' | 'kvHeadCount' | 'headSize' | 'ropeBase' | 'isHeadTied'>): TinyConfig {
  return { layerCount: 2, hiddenSize: 64, feedForwardSize: 96, vocabularySize: 50, contextLength: 64, rmsEpsilon: 1e-5, ...own };
}

/** A model with weights drawn from `seed`; `storage` of the linears alone leaves the embedding at Q8_0. */
export function tinyModel(config: TinyConfig, storage: TensorType | TinyStorage = 'Q4_1', seed = 1): TinyModel {
  const random = randomNumbers(seed);
  const stored = typeof storage === 'string' ? { linears: storage, embedding: 'Q8_0', head: 'F16' } as const : storage;
  const weights = new Map<string, Float64Array>();
  const tensors: GgufTensorSource[] = [];
  const add = (name: string, shape: readonly number[], type: TensorType, center: number, spread: number, interleaved = false): void => {
    const drawn = drawTensor(shape, type, center, spread, random);
    weights.set(name, drawn.values);
    const bytes = interleaved ? interleaveRows(drawn.bytes, shape[0]!, config.headSize, config.ropeSize ?? config.headSize) : drawn.bytes;
    tensors.push({ name, shape, type, bytes });
  };
  const { hiddenSize, feedForwardSize, headSize, architecture } = config;
  const querySize = config.headCount * headSize;
  const keySize = config.kvHeadCount * headSize;
  add('token_embd.weight', [config.vocabularySize, hiddenSize], stored.embedding, 0, 1);
  if (!config.isHeadTied) add('output.weight', [config.vocabularySize, hiddenSize], stored.head, 0, 1);
  if (config.ropeDivisors !== undefined) {
    const divisors = Float32Array.from(config.ropeDivisors);
    weights.set('rope_freqs.weight', Float64Array.from(divisors));
    tensors.push({ name: 'rope_freqs.weight', shape: [divisors.length], type: 'F32', bytes: new Uint8Array(divisors.buffer) });
  }
  add('output_norm.weight', [hiddenSize], 'F32', 1, 0.3);
  for (let layer = 0; layer < config.layerCount; layer++) {
    const linear = (name: string, rows: number, columns: number, interleaved = false): void => {
      const isWide = name === 'attn_v' || name === 'ffn_down';
      add(`blk.${layer}.${name}.weight`, [rows, columns], (isWide ? stored.wideLinears : undefined) ?? stored.linears, 0, 1.5 / Math.sqrt(columns), interleaved);
    };
    const vector = (name: string, length: number, center: number): void => add(`blk.${layer}.${name}`, [length], 'F32', center, 0.3);
    linear('attn_q', querySize, hiddenSize, architecture === 'llama');
    linear('attn_k', keySize, hiddenSize, architecture === 'llama');
    linear('attn_v', keySize, hiddenSize);
    linear('attn_output', hiddenSize, querySize);
    linear('ffn_gate', feedForwardSize, hiddenSize);
    linear('ffn_up', feedForwardSize, hiddenSize);
    linear('ffn_down', hiddenSize, feedForwardSize);
    vector('attn_norm.weight', hiddenSize, 1);
    vector('ffn_norm.weight', hiddenSize, 1);
    if (architecture === 'qwen2') {
      vector('attn_q.bias', querySize, 0);
      vector('attn_k.bias', keySize, 0);
      vector('attn_v.bias', keySize, 0);
    }
    if (architecture === 'qwen3') {
      vector('attn_q_norm.weight', headSize, 1);
      vector('attn_k_norm.weight', headSize, 1);
    }
  }
  return { config, weights, tensors, file: writeGguf(tinyFields(config), tensors) };
}

/** Metadata of a tiny model's file. */
export function tinyFields(config: TinyConfig): Record<string, GgufField> {
  const { architecture } = config;
  const named = ['<|endoftext|>', 'a', 'b', 'ab', '<|im_start|>', '<|im_end|>'];
  const tokens = [...named, ...Array.from({ length: config.vocabularySize - named.length }, (_, i) => `x${i}`)];
  return {
    'general.architecture': { type: 'string', value: architecture },
    [`${architecture}.block_count`]: { type: 'uint32', value: config.layerCount },
    [`${architecture}.context_length`]: { type: 'uint32', value: config.contextLength },
    [`${architecture}.embedding_length`]: { type: 'uint32', value: config.hiddenSize },
    [`${architecture}.feed_forward_length`]: { type: 'uint32', value: config.feedForwardSize },
    [`${architecture}.attention.head_count`]: { type: 'uint32', value: config.headCount },
    [`${architecture}.attention.head_count_kv`]: { type: 'uint32', value: config.kvHeadCount },
    [`${architecture}.attention.layer_norm_rms_epsilon`]: { type: 'float32', value: config.rmsEpsilon },
    [`${architecture}.attention.key_length`]: { type: 'uint32', value: config.headSize },
    [`${architecture}.attention.value_length`]: { type: 'uint32', value: config.headSize },
    [`${architecture}.rope.freq_base`]: { type: 'float32', value: config.ropeBase },
    ...(config.ropeSize === undefined ? {} : { [`${architecture}.rope.dimension_count`]: { type: 'uint32', value: config.ropeSize } as const }),
    ...scalingFields(`${architecture}.rope.scaling`, config.ropeScaling),
    'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
    'tokenizer.ggml.pre': { type: 'string', value: architecture === 'llama' ? 'smollm' : 'qwen2' },
    'tokenizer.ggml.tokens': { type: 'strings', value: tokens },
    'tokenizer.ggml.token_type': { type: 'int32s', value: tokens.map((text) => (text.startsWith('<|') ? 3 : 1)) },
    'tokenizer.ggml.merges': { type: 'strings', value: ['a b'] },
    'tokenizer.ggml.eos_token_id': { type: 'uint32', value: 0 },
  };
}

function scalingFields(prefix: string, scaling: RopeScaling | undefined): Record<string, GgufField> {
  if (scaling === undefined) return {};
  return {
    [`${prefix}.type`]: { type: 'string', value: scaling.kind },
    ...(scaling.kind === 'none' ? {} : { [`${prefix}.factor`]: { type: 'float32', value: scaling.factor } }),
    ...(scaling.kind === 'yarn' ? { [`${prefix}.original_context_length`]: { type: 'uint32', value: scaling.originalContextLength } } : {}),
  };
}

interface Drawn {
  readonly values: Float64Array;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function drawTensor(shape: readonly number[], type: TensorType, center: number, spread: number, random: () => number): Drawn {
  const count = shape.reduce((product, size) => product * size, 1);
  const values = new Float64Array(count);
  if (type === 'F32') {
    const floats = Float32Array.from(values, () => center + spread * (2 * random() - 1));
    return { values: Float64Array.from(floats), bytes: new Uint8Array(floats.buffer) };
  }
  if (type === 'F16') {
    const halves = Uint16Array.from(values, () => halfBits(center + spread * (2 * random() - 1)));
    return { values: Float64Array.from(halves, halfValue), bytes: new Uint8Array(halves.buffer) };
  }
  if (type !== 'Q8_0' && type !== 'Q4_1') return drawReferenceBlocks(count, type, random);
  const blockBytes = type === 'Q8_0' ? 34 : 20;
  const bytes = new Uint8Array((count / 32) * blockBytes);
  const view = new DataView(bytes.buffer);
  for (let block = 0; block < count / 32; block++) {
    const offset = block * blockBytes;
    const scaleBits = halfBits((spread * (0.5 + random())) / (type === 'Q8_0' ? 127 : 8));
    const scale = halfValue(scaleBits);
    view.setUint16(offset, scaleBits, true);
    const minimumBits = halfBits(-8 * scale * (0.5 + random()));
    if (type === 'Q4_1') view.setUint16(offset + 2, minimumBits, true);
    for (let i = 0; i < 32; i++) {
      if (type === 'Q8_0') {
        const q = Math.floor(random() * 255) - 127;
        view.setInt8(offset + 2 + i, q);
        values[block * 32 + i] = scale * q;
      } else {
        const q = Math.floor(random() * 16);
        const at = offset + 4 + (i % 16);
        bytes[at] = bytes[at]! | (i < 16 ? q : q << 4);
        values[block * 32 + i] = scale * q + halfValue(minimumBits);
      }
    }
  }
  return { values, bytes };
}

/** Weights are about 1/16, whatever is asked for: the blocks are given. */
function drawReferenceBlocks(count: number, type: TensorType, random: () => number): Drawn {
  const values = new Float64Array(count);
  let bytes = new Uint8Array(0);
  for (let at = 0; at < count; ) {
    const block = drawBlock(type, random);
    if (at === 0) bytes = new Uint8Array((count / block.values.length) * block.bytes.length);
    bytes.set(block.bytes, (at / block.values.length) * block.bytes.length);
    values.set(block.values, at);
    at += block.values.length;
  }
  return { values, bytes };
}

/** llama.cpp's order: within each head, rows i of the first and of the second half of what is turned alternate. */
export function interleaveRows(bytes: Uint8Array<ArrayBuffer>, rowCount: number, headSize: number, ropeSize: number): Uint8Array<ArrayBuffer> {
  const rowBytes = bytes.length / rowCount;
  const out = bytes.slice();
  for (let head = 0; head < rowCount / headSize; head++) {
    for (let half = 0; half < 2; half++) {
      for (let i = 0; i < ropeSize / 2; i++) {
        const source = head * headSize + half * (ropeSize / 2) + i;
        out.set(bytes.subarray(source * rowBytes, (source + 1) * rowBytes), (head * headSize + 2 * i + half) * rowBytes);
      }
    }
  }
  return out;
}

/** Nearest normal binary16 of a number in its range; exactness is not needed, since the value is read back. */
function halfBits(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.max(-14, Math.floor(Math.log2(Math.abs(value))));
  const fraction = Math.min(1023, Math.max(0, Math.round((Math.abs(value) / 2 ** exponent - 1) * 1024)));
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | fraction;
}

export function halfValue(bits: number): number {
  const exponent = (bits >> 10) & 31;
  return bits === 0 ? 0 : (bits & 0x8000 ? -1 : 1) * (1 + (bits & 1023) / 1024) * 2 ** (exponent - 15);
}

/** Mulberry32: uniform numbers in [0, 1). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
