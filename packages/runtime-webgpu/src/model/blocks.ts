/**
 * Every quantised type in one form: blocks of 16 or 32 neighbouring weights, each an 8-bit integer, with a float32 scale and, where the type has one,
 * a float32 minimum a block, so that a weight is `scale · q + minimum`. The form is exact: the f16 scales of a K block times its 6 or 8-bit
 * scales fit float32, and one rounding, that of the sum, is left to whoever computes the weight.
 * Reference: ggml `ggml-common.h` (layouts), `ggml-quants.c` (`dequantize_row_…`, `get_scale_min_k4`).
 */
import { assertNever } from '@contractrl/core';
import { HALF_VALUES } from './half.ts';
import type { BlockType, GgufTensor } from './tensor.ts';

export interface QuantisedWeights {
  /** 16 or 32; divides the length of a row. */
  readonly blockLength: number;
  /** Row-major, one a weight. */
  readonly integers: Int8Array;
  /** One a block. */
  readonly scales: Float32Array<ArrayBuffer>;
  /** One a block; absent where all are zero. */
  readonly minima?: Float32Array<ArrayBuffer>;
}

interface BlockForm {
  /** Weights of one block of the file, which may be several of the result. */
  readonly fileBlockLength: number;
  readonly blockBytes: number;
  readonly blockLength: number;
  readonly hasMinima: boolean;
}

export const BLOCK_FORMS: Readonly<Record<BlockType, BlockForm>> = {
  Q8_0: { fileBlockLength: 32, blockBytes: 34, blockLength: 32, hasMinima: false },
  Q4_0: { fileBlockLength: 32, blockBytes: 18, blockLength: 32, hasMinima: false },
  Q4_1: { fileBlockLength: 32, blockBytes: 20, blockLength: 32, hasMinima: true },
  Q5_0: { fileBlockLength: 32, blockBytes: 22, blockLength: 32, hasMinima: false },
  Q5_1: { fileBlockLength: 32, blockBytes: 24, blockLength: 32, hasMinima: true },
  Q4_K: { fileBlockLength: 256, blockBytes: 144, blockLength: 32, hasMinima: true },
  Q5_K: { fileBlockLength: 256, blockBytes: 176, blockLength: 32, hasMinima: true },
  Q6_K: { fileBlockLength: 256, blockBytes: 210, blockLength: 16, hasMinima: false },
};

/** One block of the file into the result, which is `index` blocks of the file in. */
type ReadBlock = (bytes: Uint8Array, source: number, out: Required<QuantisedWeights>, index: number) => void;

/** All weights of a tensor, O(their number), one byte and a little each. */
export function unpackBlocks(tensor: GgufTensor<BlockType>): QuantisedWeights {
  const { fileBlockLength, blockBytes, blockLength, hasMinima } = BLOCK_FORMS[tensor.type];
  const blockCount = tensor.bytes.length / blockBytes;
  const scaleCount = (blockCount * fileBlockLength) / blockLength;
  const integers = new Int8Array(blockCount * fileBlockLength);
  const scales = new Float32Array(scaleCount);
  const minima = new Float32Array(hasMinima ? scaleCount : 0);
  const out = { blockLength, integers, scales, minima };
  readBlocks(tensor.type, tensor.bytes, out, 0);
  return hasMinima ? out : { blockLength, integers, scales };
}

/** Blocks of a file into the result, beginning `firstBlock` blocks of the file in. `minima` is not looked at where the type has none. */
export function readBlocks(type: BlockType, bytes: Uint8Array, out: Required<QuantisedWeights>, firstBlock: number): void {
  const { blockBytes } = BLOCK_FORMS[type];
  const read = readerOf(type);
  for (let source = 0, block = firstBlock; source < bytes.length; source += blockBytes, block++) read(bytes, source, out, block);
}

/** The f16 at `offset`, little-endian. */
function halfAt(bytes: Uint8Array, offset: number): number {
  return HALF_VALUES[bytes[offset]! | (bytes[offset + 1]! << 8)]!;
}

function readerOf(type: BlockType): ReadBlock {
  switch (type) {
    case 'Q8_0': return readQ8;
    case 'Q4_0': return readQ4;
    case 'Q4_1': return readQ4WithMinimum;
    case 'Q5_0': return readQ5;
    case 'Q5_1': return readQ5WithMinimum;
    case 'Q4_K': return readQ4K;
    case 'Q5_K': return readQ5K;
    case 'Q6_K': return readQ6K;
    default: return assertNever(type);
  }
}

/** f16 d, 32 × int8. */
const readQ8: ReadBlock = (bytes, source, { integers, scales }, index) => {
  scales[index] = halfAt(bytes, source);
  for (let i = 0; i < 32; i++) integers[index * 32 + i] = bytes[source + 2 + i]!;
};

/** f16 d, nibbles; an integer is its nibble less 8. */
const readQ4: ReadBlock = (bytes, source, { integers, scales }, index) => {
  scales[index] = halfAt(bytes, source);
  readNibbles(bytes, source + 2, integers, index * 32, -8);
};

/** f16 d, f16 m, nibbles. */
const readQ4WithMinimum: ReadBlock = (bytes, source, { integers, scales, minima }, index) => {
  scales[index] = halfAt(bytes, source);
  minima[index] = halfAt(bytes, source + 2);
  readNibbles(bytes, source + 4, integers, index * 32, 0);
};

/** f16 d, 32 fifth bits, nibbles; an integer is its five bits less 16. */
const readQ5: ReadBlock = (bytes, source, { integers, scales }, index) => {
  scales[index] = halfAt(bytes, source);
  readNibbles(bytes, source + 6, integers, index * 32, -16);
  addFifthBits(bytes, source + 2, integers, index * 32);
};

/** f16 d, f16 m, 32 fifth bits, nibbles. */
const readQ5WithMinimum: ReadBlock = (bytes, source, { integers, scales, minima }, index) => {
  scales[index] = halfAt(bytes, source);
  minima[index] = halfAt(bytes, source + 2);
  readNibbles(bytes, source + 8, integers, index * 32, 0);
  addFifthBits(bytes, source + 4, integers, index * 32);
};

/** 16 bytes: low nibbles are weights 0–15, high nibbles 16–31. */
function readNibbles(bytes: Uint8Array, source: number, integers: Int8Array, target: number, offset: number): void {
  for (let i = 0; i < 16; i++) {
    const pair = bytes[source + i]!;
    integers[target + i] = (pair & 15) + offset;
    integers[target + 16 + i] = (pair >> 4) + offset;
  }
}

/** Bit i of the 32, lowest first, belongs to weight i. */
function addFifthBits(bytes: Uint8Array, source: number, integers: Int8Array, target: number): void {
  for (let i = 0; i < 32; i++) integers[target + i]! += ((bytes[source + (i >> 3)]! >> (i & 7)) & 1) << 4;
}

/** f16 d, f16 dmin, 12 bytes of scales and minima, then four times 32 bytes: low nibbles are one block of 32 weights, high nibbles the next. */
const readQ4K: ReadBlock = (bytes, source, out, index) => {
  readScalesK(bytes, source, out, index * 8);
  for (let i = 0; i < 256; i++) {
    const byte = bytes[source + 16 + 32 * (i >> 6) + (i & 31)]!;
    out.integers[index * 256 + i] = i & 32 ? byte >> 4 : byte & 15;
  }
};

/** As Q4_K with 32 bytes of fifth bits before the nibbles: bit b of byte j belongs to weight j of block b. */
const readQ5K: ReadBlock = (bytes, source, out, index) => {
  readScalesK(bytes, source, out, index * 8);
  for (let i = 0; i < 256; i++) {
    const byte = bytes[source + 48 + 32 * (i >> 6) + (i & 31)]!;
    const fifth = (bytes[source + 16 + (i & 31)]! >> (i >> 5)) & 1;
    out.integers[index * 256 + i] = (i & 32 ? byte >> 4 : byte & 15) | (fifth << 4);
  }
};

/** Eight 6-bit scales and eight 6-bit minima in 12 bytes; the latter are subtracted. */
function readScalesK(bytes: Uint8Array, source: number, { scales, minima }: Required<QuantisedWeights>, target: number): void {
  const scale = halfAt(bytes, source);
  const minimum = halfAt(bytes, source + 2);
  const packed = source + 4;
  for (let j = 0; j < 4; j++) {
    const [first, second, third] = [bytes[packed + j]!, bytes[packed + 4 + j]!, bytes[packed + 8 + j]!];
    scales[target + j] = scale * (first & 63);
    minima[target + j] = -minimum * (second & 63);
    scales[target + 4 + j] = scale * ((third & 15) | ((first >> 6) << 4));
    minima[target + 4 + j] = -minimum * ((third >> 4) | ((second >> 6) << 4));
  }
}

/** 128 bytes of low nibbles, 64 of upper bit pairs, 16 × int8 scales, f16 d. Each half of 128 weights has 64 and 32 of the bytes; an integer is six bits less 32. */
const readQ6K: ReadBlock = (bytes, source, { integers, scales }, index) => {
  const scale = halfAt(bytes, source + 208);
  for (let block = 0; block < 16; block++) scales[index * 16 + block] = scale * ((bytes[source + 192 + block]! << 24) >> 24);
  for (let i = 0; i < 256; i++) {
    const [half, quarter, j] = [i >> 7, (i >> 5) & 3, i & 31];
    const nibbles = bytes[source + 64 * half + 32 * (quarter & 1) + j]!;
    const pairs = bytes[source + 128 + 32 * half + j]!;
    integers[index * 256 + i] = ((quarter & 2 ? nibbles >> 4 : nibbles & 15) | (((pairs >> (2 * quarter)) & 3) << 4)) - 32;
  }
};
