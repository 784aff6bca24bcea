/**
 * The embedding, and the head, as a table of rows in JavaScript: token ids to vectors, and a hidden state to logits of just the ids
 * a mask allows (0.02 ms for 8 ids, where the head in the graph would compute 49,152). Rows stay as narrow as they are stored, 8 or 16 bits a weight,
 * scales apart from integers so that the loops read typed arrays; a block is summed before its scale is applied. Single rows are summed in double
 * precision; all rows together in float32, by a kernel, where there is one.
 */
import type { TokenId } from '@contractrl/grammar-mask';
import { unpackBlocks, type QuantisedWeights } from './blocks.ts';
import { dequantise, sixteenBits } from './dequantise.ts';
import { BFLOAT_VALUES, HALF_VALUES } from './half.ts';
import { createHeadKernel, type HeadKernel } from './head-kernel.ts';
import { isBlockTensor, type BlockType, type GgufTensor } from './tensor.ts';

export interface RowTable {
  readonly rowLength: number;
  /** Writes the rows of `ids` one after the other; `out` has room for `ids.length · rowLength`. */
  copyRows(ids: readonly TokenId[], out: Float32Array): void;
  /** The product of row `id` and `vector` (`rowLength` long). */
  dot(id: TokenId, vector: Float32Array): number;
  /** The products of all rows, in order; `out` has room for each. */
  multiply(vector: Float32Array, out: Float32Array): void;
}

/** A table with storage of its own: the model's bytes may be dropped afterwards. */
export function createRowTable(tensor: GgufTensor): RowTable {
  if (isBlockTensor(tensor)) return new BlockRowTable(tensor);
  return tensor.type === 'F32' ? new FloatRowTable(tensor) : new HalfRowTable(tensor);
}

class BlockRowTable implements RowTable {
  readonly rowLength: number;
  readonly #blockLength: number;
  readonly #integers: Int8Array;
  readonly #scales: Float32Array;
  readonly #minima: Float32Array | undefined;
  readonly #kernel: HeadKernel | undefined;

  constructor(tensor: GgufTensor<BlockType>) {
    this.rowLength = tensor.shape.at(-1) ?? 0;
    const { integers, scales, minima, blockLength }: QuantisedWeights = unpackBlocks(tensor);
    this.#blockLength = blockLength;
    this.#kernel = createHeadKernel(integers, scales, this.rowLength, blockLength);
    // the kernel's copies, so that nothing is held twice
    this.#integers = this.#kernel?.integers ?? integers;
    this.#scales = this.#kernel?.scales ?? scales;
    this.#minima = minima;
  }

  copyRows(ids: readonly TokenId[], out: Float32Array): void {
    const { rowLength } = this;
    const minima = this.#minima;
    ids.forEach((id, position) => {
      const source = id * rowLength;
      const target = position * rowLength;
      for (let i = 0; i < rowLength; i++) {
        const block = Math.floor((source + i) / this.#blockLength);
        const product = this.#scales[block]! * this.#integers[source + i]!;
        out[target + i] = minima === undefined ? product : product + minima[block]!;
      }
    });
  }

  dot(id: TokenId, vector: Float32Array): number {
    const { rowLength } = this;
    const integers = this.#integers;
    const scales = this.#scales;
    const minima = this.#minima;
    const blockLength = this.#blockLength;
    const start = id * rowLength;
    let block = start / blockLength;
    let total = 0;
    for (let offset = 0; offset < rowLength; offset += blockLength) {
      let sum = 0;
      for (let i = offset; i < offset + blockLength; i++) sum += vector[i]! * integers[start + i]!;
      total += scales[block]! * sum;
      if (minima !== undefined) {
        let inputSum = 0;
        for (let i = offset; i < offset + blockLength; i++) inputSum += vector[i]!;
        total += minima[block]! * inputSum;
      }
      block++;
    }
    return total;
  }

  multiply(vector: Float32Array, out: Float32Array): void {
    if (this.#kernel === undefined) {
      multiplyByRow(this, vector, out);
      return;
    }
    this.#kernel.multiply(vector, out);
    if (this.#minima === undefined) return;
    const inputSums = sumsOf(vector, this.#blockLength);
    for (let row = 0, block = 0; row < out.length; row++) {
      let total = 0;
      for (let index = 0; index < inputSums.length; index++, block++) total += this.#minima[block]! * inputSums[index]!;
      out[row]! += total;
    }
  }
}

/** The sum of each block of a vector. */
function sumsOf(vector: Float32Array, blockLength: number): Float64Array {
  const sums = new Float64Array(vector.length / blockLength);
  for (let i = 0; i < vector.length; i++) sums[Math.floor(i / blockLength)]! += vector[i]!;
  return sums;
}

function multiplyByRow(table: RowTable, vector: Float32Array, out: Float32Array): void {
  for (let id = 0; id < out.length; id++) out[id] = table.dot(id, vector);
}

/** F16 and BF16. */
class HalfRowTable implements RowTable {
  readonly rowLength: number;
  readonly #bits: Uint16Array;
  readonly #values: Float32Array;

  constructor(tensor: GgufTensor) {
    this.rowLength = tensor.shape.at(-1) ?? 0;
    this.#bits = sixteenBits(tensor);
    this.#values = tensor.type === 'F16' ? HALF_VALUES : BFLOAT_VALUES;
  }

  copyRows(ids: readonly TokenId[], out: Float32Array): void {
    ids.forEach((id, position) => {
      for (let i = 0; i < this.rowLength; i++) out[position * this.rowLength + i] = this.#values[this.#bits[id * this.rowLength + i]!]!;
    });
  }

  dot(id: TokenId, vector: Float32Array): number {
    const { rowLength } = this;
    const bits = this.#bits;
    const values = this.#values;
    const start = id * rowLength;
    let total = 0;
    for (let i = 0; i < rowLength; i++) total += vector[i]! * values[bits[start + i]!]!;
    return total;
  }

  multiply(vector: Float32Array, out: Float32Array): void {
    multiplyByRow(this, vector, out);
  }
}

class FloatRowTable implements RowTable {
  readonly rowLength: number;
  readonly #rows: Float32Array;

  constructor(tensor: GgufTensor) {
    this.rowLength = tensor.shape.at(-1) ?? 0;
    this.#rows = dequantise(tensor);
  }

  copyRows(ids: readonly TokenId[], out: Float32Array): void {
    ids.forEach((id, position) => out.set(this.#rows.subarray(id * this.rowLength, (id + 1) * this.rowLength), position * this.rowLength));
  }

  dot(id: TokenId, vector: Float32Array): number {
    const start = id * this.rowLength;
    let total = 0;
    for (let i = 0; i < this.rowLength; i++) total += vector[i]! * this.#rows[start + i]!;
    return total;
  }

  multiply(vector: Float32Array, out: Float32Array): void {
    multiplyByRow(this, vector, out);
  }
}
