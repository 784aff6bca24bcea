/** What of a decoder is not in its graph: embedding rows of tokens, and logits from a hidden state (see row-table.ts). */
import type { TokenId } from '@contractrl/grammar-mask';
import type { GgufModel } from '../model/gguf.ts';
import { EMBEDDING, HEAD } from '../model/layout.ts';
import { createRowTable, type RowTable } from '../model/row-table.ts';

function rowTable({ rowTables, tensors }: GgufModel, name: string): RowTable | undefined {
  const tensor = tensors.get(name);
  return tensor === undefined ? undefined : rowTables?.get(name) ?? createRowTable(tensor);
}

export class TokenTables {
  readonly logitWidth: number;
  readonly #hiddenSize: number;
  readonly #embedding: RowTable;
  readonly #head: RowTable;

  constructor(model: GgufModel) {
    const embedding = rowTable(model, EMBEDDING);
    if (embedding === undefined) throw new TypeError('model: no embedding, though readGguf checks the layout');
    this.#embedding = embedding;
    this.#head = rowTable(model, HEAD) ?? embedding;
    this.logitWidth = model.vocabularySize;
    this.#hiddenSize = model.config.hiddenSize;
  }

  /** `[tokens, hiddenSize]` */
  embed(tokens: readonly TokenId[]): Float32Array<ArrayBuffer> {
    const rows = new Float32Array(tokens.length * this.#hiddenSize);
    this.#embedding.copyRows(tokens, rows);
    return rows;
  }

  logitsOf(hidden: Float32Array, ids: Int32Array, out: Float32Array): void {
    this.#checkHidden(hidden);
    if (out.length < ids.length) throw new RangeError(`out: room for ${ids.length} logits`);
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      this.checkId(id);
      out[i] = this.#head.dot(id, hidden);
    }
  }

  allLogits(hidden: Float32Array, out: Float32Array): void {
    this.#checkHidden(hidden);
    if (out.length !== this.logitWidth) throw new RangeError(`out: must have ${this.logitWidth} elements`);
    this.#head.multiply(hidden, out);
  }

  /** Throws `RangeError` for what is no id of the model. */
  checkId(id: TokenId): void {
    if (!Number.isInteger(id) || id < 0 || id >= this.logitWidth) throw new RangeError(`token id ${id}: must be 0 to ${this.logitWidth - 1}`);
  }

  #checkHidden(hidden: Float32Array): void {
    if (hidden.length !== this.#hiddenSize) throw new RangeError(`hidden: must have ${this.#hiddenSize} elements`);
  }
}
