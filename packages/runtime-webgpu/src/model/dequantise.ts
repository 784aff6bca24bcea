/**
 * Stored weights to float32, exactly as ggml defines them:
 * Q8_0 block of 32: f16 d, 32 × int8, `w = d·q`; Q4_1 block of 32: f16 d, f16 m, 16 bytes whose low nibbles are weights 0–15 and
 * high nibbles 16–31, `w = d·q + m`. An f16 times 4 or 8 bits is exact in float32, so one rounding at most happens, in any order.
 * Reference: ggml `ggml-quants.c`, `dequantize_row_q8_0`, `dequantize_row_q4_1`.
 */
import { assertNever } from '@contractrl/core';
import { HALF_VALUES } from './half.ts';
import type { GgufTensor } from './tensor.ts';

export const BLOCK_LENGTH = 32;
export const Q8_0_BLOCK_BYTES = 34;
export const Q4_1_BLOCK_BYTES = 20;

/** The f16 at `offset`, little-endian. */
export function halfAt(bytes: Uint8Array, offset: number): number {
  return HALF_VALUES[bytes[offset]! | (bytes[offset + 1]! << 8)]!;
}

/** All weights of a tensor, row-major. */
export function dequantise(tensor: GgufTensor): Float32Array<ArrayBuffer> {
  const { bytes } = tensor;
  switch (tensor.type) {
    case 'F32':
      return new Float32Array(bytes.slice().buffer);
    case 'F16':
      return dequantiseHalf(bytes);
    case 'Q8_0':
      return dequantiseQ8(bytes);
    case 'Q4_1':
      return dequantiseQ4(bytes);
    default:
      return assertNever(tensor.type);
  }
}

function dequantiseHalf(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const out = new Float32Array(bytes.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = halfAt(bytes, 2 * i);
  return out;
}

function dequantiseQ8(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const blockCount = bytes.length / Q8_0_BLOCK_BYTES;
  const out = new Float32Array(blockCount * BLOCK_LENGTH);
  for (let block = 0; block < blockCount; block++) {
    const source = block * Q8_0_BLOCK_BYTES;
    const target = block * BLOCK_LENGTH;
    const scale = halfAt(bytes, source);
    for (let i = 0; i < BLOCK_LENGTH; i++) out[target + i] = scale * ((bytes[source + 2 + i]! << 24) >> 24);
  }
  return out;
}

function dequantiseQ4(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const blockCount = bytes.length / Q4_1_BLOCK_BYTES;
  const out = new Float32Array(blockCount * BLOCK_LENGTH);
  for (let block = 0; block < blockCount; block++) {
    const source = block * Q4_1_BLOCK_BYTES;
    const target = block * BLOCK_LENGTH;
    const scale = halfAt(bytes, source);
    const minimum = halfAt(bytes, source + 2);
    for (let i = 0; i < 16; i++) {
      const pair = bytes[source + 4 + i]!;
      out[target + i] = scale * (pair & 15) + minimum;
      out[target + 16 + i] = scale * (pair >> 4) + minimum;
    }
  }
  return out;
}
