/** Blocks of every GGUF tensor type with the values that the `gguf` Python package reads in them: see fixtures/README.md. */
import type { TensorType } from '../../src/model/tensor.ts';
import { readRows } from './real-model.ts';

export interface ReferenceBlocks {
  readonly type: TensorType;
  /** The first of them have extreme bits and scales. */
  readonly edgeCount: number;
  readonly blockCount: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly values: Float32Array<ArrayBuffer>;
}

interface Row { readonly type: TensorType; readonly edgeCount: number; readonly bytes: string; readonly values: string }

const BYTES_PER_BLOCK: Readonly<Record<TensorType, number>> = {
  F32: 4, F16: 2, BF16: 2, Q8_0: 34, Q4_0: 18, Q4_1: 20, Q5_0: 22, Q5_1: 24, Q4_K: 144, Q5_K: 176, Q6_K: 210,
};

export const REFERENCE_BLOCKS: readonly ReferenceBlocks[] = (readRows('gguf-blocks.jsonl.gz') as readonly Row[]).map(({ type, edgeCount, bytes, values }) => {
  const stored = Uint8Array.from(Buffer.from(bytes, 'base64'));
  return { type, edgeCount, blockCount: stored.length / BYTES_PER_BLOCK[type], bytes: stored, values: new Float32Array(Uint8Array.from(Buffer.from(values, 'base64')).buffer) };
});

/** Bytes and values of one block that is not extreme, drawn with `random` from [0, 1). */
export function drawBlock(type: TensorType, random: () => number): { readonly bytes: Uint8Array; readonly values: Float32Array } {
  const blocks = REFERENCE_BLOCKS.find((candidate) => candidate.type === type)!;
  const block = blocks.edgeCount + Math.floor(random() * (blocks.blockCount - blocks.edgeCount));
  const part = <T extends Uint8Array | Float32Array>(all: T): T => all.subarray((block * all.length) / blocks.blockCount, ((block + 1) * all.length) / blocks.blockCount) as T;
  return { bytes: part(blocks.bytes), values: part(blocks.values) };
}
