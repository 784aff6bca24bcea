/**
 * A tensor of a GGUF file and the ways its numbers may be stored. GGUF lists the fastest dimension first; `shape` here is the
 * usual order, so a linear layer is `[outputSize, inputSize]` and an embedding `[vocabularySize, hiddenSize]`.
 * Reference: ggml `ggml-common.h` (block layouts).
 */

/** Types whose blocks hold integers with a scale and, in some, a minimum: see blocks.ts. */
export type BlockType = 'Q8_0' | 'Q4_0' | 'Q4_1' | 'Q5_0' | 'Q5_1' | 'Q4_K' | 'Q5_K' | 'Q6_K';
export type TensorType = 'F32' | 'F16' | 'BF16' | BlockType;

export interface GgufTensor<T extends TensorType = TensorType> {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: T;
  /** As the file has them. */
  readonly bytes: Uint8Array;
}

interface StorageLayout {
  readonly type: TensorType;
  /** Weights in one block along the fastest dimension. */
  readonly blockLength: number;
  readonly blockBytes: number;
}

/** Supported layouts by ggml's type number. */
export const STORAGE_LAYOUTS: ReadonlyMap<number, StorageLayout> = new Map([
  [0, { type: 'F32', blockLength: 1, blockBytes: 4 }],
  [1, { type: 'F16', blockLength: 1, blockBytes: 2 }],
  [2, { type: 'Q4_0', blockLength: 32, blockBytes: 18 }],
  [3, { type: 'Q4_1', blockLength: 32, blockBytes: 20 }],
  [6, { type: 'Q5_0', blockLength: 32, blockBytes: 22 }],
  [7, { type: 'Q5_1', blockLength: 32, blockBytes: 24 }],
  [8, { type: 'Q8_0', blockLength: 32, blockBytes: 34 }],
  [12, { type: 'Q4_K', blockLength: 256, blockBytes: 144 }],
  [13, { type: 'Q5_K', blockLength: 256, blockBytes: 176 }],
  [14, { type: 'Q6_K', blockLength: 256, blockBytes: 210 }],
  [30, { type: 'BF16', blockLength: 1, blockBytes: 2 }],
]);

export function isBlockTensor(tensor: GgufTensor): tensor is GgufTensor<BlockType> {
  return isBlockType(tensor.type);
}

export function isBlockType(type: TensorType): type is BlockType {
  return type !== 'F32' && type !== 'F16' && type !== 'BF16';
}
