/**
 * Small models of each architecture with random weights, as a GGUF file and as plain numbers. The file is written here from ggml's definitions
 * without any code of the package; the numbers are what the file means, with q and k in half-split row order.
 */
import { writeGguf, type GgufField, type GgufTensorSource } from './gguf-writer.ts';

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

type Storage = GgufTensorSource['type'];

/** A model with weights drawn from `seed`; linears stored as `linearStorage`. */
export function tinyModel(config: TinyConfig, linearStorage: Storage = 'Q4_1', seed = 1): TinyModel {
  const random = randomNumbers(seed);
  const weights = new Map<string, Float64Array>();
  const tensors: GgufTensorSource[] = [];
  const add = (name: string, shape: readonly number[], type: Storage, center: number, spread: number, interleaved = false): void => {
    const drawn = drawTensor(shape, type, center, spread, random);
    weights.set(name, drawn.values);
    const bytes = interleaved ? interleaveRows(drawn.bytes, shape[0]!, config.headSize) : drawn.bytes;
    tensors.push({ name, shape, type, bytes });
  };
  const { hiddenSize, feedForwardSize, headSize, architecture } = config;
  const querySize = config.headCount * headSize;
  const keySize = config.kvHeadCount * headSize;
  add('token_embd.weight', [config.vocabularySize, hiddenSize], 'Q8_0', 0, 1);
  if (!config.isHeadTied) add('output.weight', [config.vocabularySize, hiddenSize], 'F16', 0, 1);
  add('output_norm.weight', [hiddenSize], 'F32', 1, 0.3);
  for (let layer = 0; layer < config.layerCount; layer++) {
    const linear = (name: string, rows: number, columns: number, interleaved = false): void =>
      add(`blk.${layer}.${name}.weight`, [rows, columns], linearStorage, 0, 1.5 / Math.sqrt(columns), interleaved);
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
    'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
    'tokenizer.ggml.pre': { type: 'string', value: architecture === 'llama' ? 'smollm' : 'qwen2' },
    'tokenizer.ggml.tokens': { type: 'strings', value: ['<|endoftext|>', 'a', 'b', 'ab'] },
    'tokenizer.ggml.token_type': { type: 'int32s', value: [3, 1, 1, 1] },
    'tokenizer.ggml.merges': { type: 'strings', value: ['a b'] },
    'tokenizer.ggml.eos_token_id': { type: 'uint32', value: 0 },
  };
}

interface Drawn {
  readonly values: Float64Array;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function drawTensor(shape: readonly number[], type: Storage, center: number, spread: number, random: () => number): Drawn {
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

/** llama.cpp's order: within each head, rows i of the first and of the second half alternate. */
function interleaveRows(bytes: Uint8Array<ArrayBuffer>, rowCount: number, headSize: number): Uint8Array<ArrayBuffer> {
  const rowBytes = bytes.length / rowCount;
  const out = new Uint8Array(bytes.length);
  for (let head = 0; head < rowCount / headSize; head++) {
    for (let half = 0; half < 2; half++) {
      for (let i = 0; i < headSize / 2; i++) {
        const source = head * headSize + half * (headSize / 2) + i;
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

function halfValue(bits: number): number {
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
