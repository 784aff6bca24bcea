/**
 * Stored weights to float32, exactly as ggml defines them: 16-bit floats through a table, quantised blocks as `scale · q + minimum`.
 * Products of scale and integer are exact in double precision, so there is one rounding, to float32, whatever the order.
 * Reference: ggml `ggml-quants.c`, `dequantize_row_…`.
 */
import { unpackBlocks, type QuantisedWeights } from './blocks.ts';
import { BFLOAT_VALUES, HALF_VALUES } from './half.ts';
import { isBlockTensor, type GgufTensor } from './tensor.ts';

/** All weights of a tensor, row-major. */
export function dequantise(tensor: GgufTensor): Float32Array<ArrayBuffer> {
  if (isBlockTensor(tensor)) return blockValues(unpackBlocks(tensor));
  if (tensor.type === 'F32') return new Float32Array(tensor.bytes.slice().buffer);
  const values = tensor.type === 'F16' ? HALF_VALUES : BFLOAT_VALUES;
  return Float32Array.from(sixteenBits(tensor), (bits) => values[bits]!);
}

/** The bit patterns of an F16 or BF16 tensor, copied: the file aligns tensors, a view of it need not be aligned. */
export function sixteenBits(tensor: GgufTensor): Uint16Array<ArrayBuffer> {
  return new Uint16Array(tensor.bytes.slice().buffer);
}

function blockValues({ blockLength, integers, scales, minima }: QuantisedWeights): Float32Array<ArrayBuffer> {
  const out = new Float32Array(integers.length);
  for (let block = 0; block < scales.length; block++) {
    const scale = scales[block]!;
    const start = block * blockLength;
    if (minima === undefined) {
      for (let i = start; i < start + blockLength; i++) out[i] = scale * integers[i]!;
    } else {
      const minimum = minima[block]!;
      for (let i = start; i < start + blockLength; i++) out[i] = scale * integers[i]! + minimum;
    }
  }
  return out;
}
