/**
 * llama.cpp stores the rows of q and k of the `llama` architecture interleaved, as its rotary embedding wants them: row (head, 2i + half)
 * of the file is row (head, half, i) of the half-split order that the graph, published adapters and the `qwen` files use.
 * Whole rows move, so undoing it is exact in every format.
 * Reference: llama.cpp `convert_hf_to_gguf.py`, `LlamaModel.permute`.
 */

/** `order[row]` is the file's row that belongs at `row` of the half-split order. Rows beyond the `ropeSize` that are turned stay where they are. */
export function halfSplitOrder(rowCount: number, headSize: number, ropeSize: number = headSize): Int32Array {
  const half = ropeSize / 2;
  return Int32Array.from({ length: rowCount }, (_, row) => {
    const within = row % headSize;
    return within < ropeSize ? row - within + 2 * (within % half) + (within < half ? 0 : 1) : row;
  });
}

/** The rows of `bytes` in the given order, `rowBytes` each. */
export function reorderRows(bytes: Uint8Array, rowBytes: number, order: Int32Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(order.length * rowBytes);
  order.forEach((source, row) => out.set(bytes.subarray(source * rowBytes, (source + 1) * rowBytes), row * rowBytes));
  return out;
}
