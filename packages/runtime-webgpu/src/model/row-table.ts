/**
 * The embedding, and the head, as a table of rows in JavaScript: token ids to vectors, and a hidden state to logits of just the ids
 * a mask allows (0.02 ms for 8 ids, where the head in the graph would compute 49,152). Rows stay as narrow as they are stored, 8 or 16 bits a weight,
 * scales apart from integers so that the loops read typed arrays; a block is summed before its scale is applied. Single rows are summed in double
 * precision; all rows together in float32, by a kernel, where there is one.
 */
import type { TokenId } from '@contractrl/grammar-mask';
import { BLOCK_FORMS, readBlocks } from './blocks.ts';
import { BFLOAT_VALUES, HALF_VALUES } from './half.ts';
import { createHeadKernel, type HeadKernel } from './head-kernel.ts';
import { isBlockType, type BlockType, type GgufTensor } from './tensor.ts';

export interface RowTable {
  readonly rowLength: number;
  /** Writes the rows of `ids` one after the other; `out` has room for `ids.length · rowLength`. */
  copyRows(ids: readonly TokenId[], out: Float32Array): void;
  /** The product of row `id` and `vector` (`rowLength` long). */
  dot(id: TokenId, vector: Float32Array): number;
  /** The products of all rows, in order; `out` has room for each. */
  multiply(vector: Float32Array, out: Float32Array): void;
}

/** A table that gets its rows in pieces, so that a file need not be in memory beside it. */
export interface FillableRowTable extends RowTable {
  /** Takes the stored bytes of rows from `firstRow` on. */
  fill(firstRow: number, bytes: Uint8Array): void;
}

/** A table with storage of its own: the model's bytes may be dropped afterwards. */
export function createRowTable(tensor: GgufTensor): RowTable {
  const table = createEmptyRowTable(tensor);
  table.fill(0, tensor.bytes);
  return table;
}

/** A table of zeros for a tensor's rows. */
export function createEmptyRowTable({ type, shape }: Pick<GgufTensor, 'type' | 'shape'>): FillableRowTable {
  const [rowCount = 0, rowLength = 0] = shape;
  if (isBlockType(type)) return new BlockRowTable(type, rowCount, rowLength);
  return type === 'F32' ? new FloatRowTable(rowCount, rowLength) : new HalfRowTable(type, rowCount, rowLength);
}

class BlockRowTable implements FillableRowTable {
  readonly rowLength: number;
  readonly #type: BlockType;
  readonly #blockLength: number;
  readonly #integers: Int8Array;
  readonly #scales: Float32Array<ArrayBuffer>;
  readonly #minima: Float32Array<ArrayBuffer> | undefined;
  readonly #kernel: HeadKernel | undefined;

  constructor(type: BlockType, rowCount: number, rowLength: number) {
    const { blockLength, hasMinima } = BLOCK_FORMS[type];
    const blockCount = (rowCount * rowLength) / blockLength;
    this.rowLength = rowLength;
    this.#type = type;
    this.#blockLength = blockLength;
    // the kernel's memory, where there is one: nothing is held twice
    this.#kernel = createHeadKernel(rowCount, rowLength, blockLength);
    this.#integers = this.#kernel?.integers ?? new Int8Array(rowCount * rowLength);
    this.#scales = this.#kernel?.scales ?? new Float32Array(blockCount);
    this.#minima = hasMinima ? new Float32Array(blockCount) : undefined;
  }

  fill(firstRow: number, bytes: Uint8Array): void {
    const out = { blockLength: this.#blockLength, integers: this.#integers, scales: this.#scales, minima: this.#minima ?? NO_MINIMA };
    readBlocks(this.#type, bytes, out, (firstRow * this.rowLength) / BLOCK_FORMS[this.#type].fileBlockLength);
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

const NO_MINIMA = new Float32Array(0);

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
class HalfRowTable implements FillableRowTable {
  readonly rowLength: number;
  readonly #bits: Uint16Array<ArrayBuffer>;
  readonly #values: Float32Array;

  constructor(type: 'F16' | 'BF16', rowCount: number, rowLength: number) {
    this.rowLength = rowLength;
    this.#bits = new Uint16Array(rowCount * rowLength);
    this.#values = type === 'F16' ? HALF_VALUES : BFLOAT_VALUES;
  }

  fill(firstRow: number, bytes: Uint8Array): void {
    new Uint8Array(this.#bits.buffer).set(bytes, firstRow * this.rowLength * 2);
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

class FloatRowTable implements FillableRowTable {
  readonly rowLength: number;
  readonly #rows: Float32Array<ArrayBuffer>;

  constructor(rowCount: number, rowLength: number) {
    this.rowLength = rowLength;
    this.#rows = new Float32Array(rowCount * rowLength);
  }

  fill(firstRow: number, bytes: Uint8Array): void {
    new Uint8Array(this.#rows.buffer).set(bytes, firstRow * this.rowLength * 4);
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
