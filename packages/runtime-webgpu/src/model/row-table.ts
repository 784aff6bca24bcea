/**
 * The embedding, and the head, as a table of rows in JavaScript: token ids to vectors, and a hidden state to logits of just the ids
 * a mask allows (0.02 ms for 8 ids, where the head in the graph would compute 49,152). Q8_0 rows stay in 8 bits, split into scales and
 * integers so that the loops read typed arrays; a block is summed before its scale is applied, so the sums are exact to double precision.
 */
import type { TokenId } from '@contractrl/grammar-mask';
import { BLOCK_LENGTH, dequantise, halfAt, Q8_0_BLOCK_BYTES } from './dequantise.ts';
import type { GgufTensor } from './tensor.ts';

export interface RowTable {
  readonly rowLength: number;
  /** Writes the rows of `ids` one after the other; `out` has room for `ids.length · rowLength`. */
  copyRows(ids: readonly TokenId[], out: Float32Array): void;
  /** The product of row `id` and `vector` (`rowLength` long). */
  dot(id: TokenId, vector: Float32Array): number;
}

/** A table with storage of its own: the model's bytes may be dropped afterwards. */
export function createRowTable(tensor: GgufTensor): RowTable {
  return tensor.type === 'Q8_0' ? new Q8RowTable(tensor) : new FloatRowTable(tensor);
}

class Q8RowTable implements RowTable {
  readonly rowLength: number;
  readonly #scales: Float32Array;
  readonly #integers: Int8Array;

  constructor(tensor: GgufTensor) {
    this.rowLength = tensor.shape.at(-1) ?? 0;
    const { bytes } = tensor;
    const blockCount = bytes.length / Q8_0_BLOCK_BYTES;
    const signed = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#scales = new Float32Array(blockCount);
    this.#integers = new Int8Array(blockCount * BLOCK_LENGTH);
    for (let block = 0; block < blockCount; block++) {
      const source = block * Q8_0_BLOCK_BYTES;
      this.#scales[block] = halfAt(bytes, source);
      this.#integers.set(signed.subarray(source + 2, source + Q8_0_BLOCK_BYTES), block * BLOCK_LENGTH);
    }
  }

  copyRows(ids: readonly TokenId[], out: Float32Array): void {
    const { rowLength } = this;
    ids.forEach((id, position) => {
      const source = id * rowLength;
      const target = position * rowLength;
      for (let i = 0; i < rowLength; i++) out[target + i] = this.#scales[Math.floor((source + i) / BLOCK_LENGTH)]! * this.#integers[source + i]!;
    });
  }

  dot(id: TokenId, vector: Float32Array): number {
    const { rowLength } = this;
    const scales = this.#scales;
    const integers = this.#integers;
    // A local: reading an import in the inner loop costs ten times the loop where a bundler makes it a property.
    const blockLength = BLOCK_LENGTH;
    const start = id * rowLength;
    let block = start / blockLength;
    let total = 0;
    for (let offset = 0; offset < rowLength; offset += blockLength) {
      let sum = 0;
      for (let i = offset; i < offset + blockLength; i++) sum += vector[i]! * integers[start + i]!;
      total += scales[block++]! * sum;
    }
    return total;
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
}
