/**
 * A tensor of a GGUF file and the ways its numbers may be stored. GGUF lists the fastest dimension first; `shape` here is the
 * usual order, so a linear layer is `[outputSize, inputSize]` and an embedding `[vocabularySize, hiddenSize]`.
 * Reference: ggml `ggml-common.h` (block layouts).
 */
export type TensorType = 'F32' | 'F16' | 'Q8_0' | 'Q4_1';

export interface GgufTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: TensorType;
  /** View on the file's bytes. */
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
  [3, { type: 'Q4_1', blockLength: 32, blockBytes: 20 }],
  [8, { type: 'Q8_0', blockLength: 32, blockBytes: 34 }],
]);
