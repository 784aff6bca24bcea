/**
 * An adapter that will not change, added into the weights once: `W + scaling · B · A`. The graph then has no adapter inputs and costs what the base
 * costs. On WASM inputs of rank 8 cost 16 % of a decode step and 3 % of a prompt, and merging takes as much as thirty repairs save, so pages feed theirs.
 * Sums are taken in double precision and rounded to float32, so matrices become F32, and a model whose matrices are stored in blocks can be merged only
 * into a graph that dequantises them.
 */
import { err, ok, type Result } from '@contractrl/core';
import { dequantise } from '../model/dequantise.ts';
import type { GgufModel } from '../model/gguf.ts';
import { linearTensor } from '../model/layout.ts';
import { halfSplitOrder } from '../model/row-order.ts';
import { sha256 } from '../model/sha256.ts';
import { isBlockTensor, type GgufTensor } from '../model/tensor.ts';
import type { WeightFormat } from '../onnx/linear.ts';
import { LINEAR_NAMES, matrixForm, type LoraAdapter, type LoraMatrix } from './adapter.ts';
import { loraMismatch } from './feeds.ts';

export type MergeIssue =
  | { readonly code: 'adapter/does-not-fit'; readonly detail: string }
  /** The format keeps `tensor` in its blocks of 4 to 8 bits, where a sum would have to be rounded anew: most weights would lose the adapter. */
  | { readonly code: 'adapter/not-mergeable'; readonly tensor: string; readonly type: string; readonly format: WeightFormat };

/** A model with the adapter in its weights, to be run in `format` without adapter inputs. O(weights · rank) of the adapted matrices, 4 bytes a weight. */
export async function mergeAdapter(model: GgufModel, adapter: LoraAdapter, format: WeightFormat): Promise<Result<GgufModel, MergeIssue>> {
  const mismatch = loraMismatch(model.config, adapter);
  if (mismatch !== undefined) return err({ code: 'adapter/does-not-fit', detail: mismatch.detail });
  const tensors = new Map(model.tensors);
  const forms: string[] = [];
  for (const [layer, matrices] of adapter.layers.entries()) {
    for (const linear of LINEAR_NAMES) {
      const matrix = matrices[linear];
      const name = linearTensor(layer, linear);
      const tensor = tensors.get(name);
      if (matrix === undefined || tensor === undefined) continue;
      if (format !== 'f32' && isBlockTensor(tensor)) return err({ code: 'adapter/not-mergeable', tensor: name, type: tensor.type, format });
      const { architecture, headSize, ropeSize } = model.config;
      const isInterleaved = architecture === 'llama' && (linear === 'q' || linear === 'k');
      const form = matrixForm(adapter, matrix);
      forms.push(`${name} ${form.rank} ${form.scaling}`);
      tensors.set(name, merged(tensor, matrix, form, isInterleaved ? halfSplitOrder(matrix.outputSize, headSize, ropeSize) : undefined));
    }
  }
  const digest = await sha256(new TextEncoder().encode([model.digest, adapter.digest, ...forms].join('\n')));
  return ok({ ...model, tensors, merged: { adapterDigest: adapter.digest, digest } });
}

/** `order[row]` is the file's row that row `row` of the adapter belongs to. */
function merged(tensor: GgufTensor, { a, b, inputSize, outputSize }: LoraMatrix, form: { readonly rank: number; readonly scaling: number }, order: Int32Array | undefined): GgufTensor {
  const weights = dequantise(tensor);
  const update = new Float64Array(inputSize);
  for (let row = 0; row < outputSize; row++) {
    update.fill(0);
    for (let i = 0; i < form.rank; i++) {
      const factor = b[row * form.rank + i]! * form.scaling;
      for (let column = 0; column < inputSize; column++) update[column]! += factor * a[i * inputSize + column]!;
    }
    const target = (order?.[row] ?? row) * inputSize;
    for (let column = 0; column < inputSize; column++) weights[target + column]! += update[column]!;
  }
  return { ...tensor, type: 'F32', bytes: new Uint8Array(weights.buffer) };
}
