/**
 * Linears that read the same vector, taken as one: their matrices lie one below the other, so that a group is one product and its adapter one pair
 * of matrices. Beside the bytes of the weights, a decode step costs what it has of operators (1 to 4 µs each on a CPU) and of inputs (1.2 µs each).
 */
import type { LinearName } from '../lora/adapter.ts';
import type { ModelConfig } from '../model/config.ts';
import type { GgufModel } from '../model/gguf.ts';
import { linearShape, linearTensor, type LinearShape } from '../model/layout.ts';
import { halfSplitOrder, reorderRows } from '../model/row-order.ts';
import type { GgufTensor } from '../model/tensor.ts';
import { concatBytes } from './encoder.ts';

export type GroupName = 'qkv' | 'o' | 'gate_up' | 'down';

/** Members in the order in which their results lie side by side. */
export const LINEAR_GROUPS: Readonly<Record<GroupName, readonly LinearName[]>> = { qkv: ['q', 'k', 'v'], o: ['o'], gate_up: ['gate', 'up'], down: ['down'] };
export const GROUP_NAMES: readonly GroupName[] = ['qkv', 'o', 'gate_up', 'down'];

/** Of the whole group: what its members read, and the sum of what they give. */
export function groupShape(config: ModelConfig, group: GroupName): LinearShape {
  const shapes = LINEAR_GROUPS[group].map((linear) => linearShape(config, linear));
  return { inputSize: shapes[0]!.inputSize, outputSize: shapes.reduce((sum, { outputSize }) => sum + outputSize, 0) };
}

/** The group's matrix from top to bottom, in as few parts as its storage types allow: neighbours of one type are one. Rows are in half-split order. */
export function groupMatrices(model: GgufModel, layer: number, group: GroupName): readonly GgufTensor[] {
  const runs: [GgufTensor, ...GgufTensor[]][] = [];
  for (const linear of LINEAR_GROUPS[group]) {
    const matrix = linearMatrix(model, layer, linear);
    const run = runs.at(-1);
    if (run?.[0].type === matrix.type) run.push(matrix);
    else runs.push([matrix]);
  }
  return runs.map(stacked);
}

function stacked(matrices: readonly [GgufTensor, ...GgufTensor[]]): GgufTensor {
  const [first, ...others] = matrices;
  if (others.length === 0) return first;
  const [rowCount, columnCount] = [matrices.reduce((sum, { shape }) => sum + shape[0]!, 0), first.shape[1]!];
  return { ...first, shape: [rowCount, columnCount], bytes: concatBytes(matrices.map(({ bytes }) => bytes)) };
}

function linearMatrix(model: GgufModel, layer: number, linear: LinearName): GgufTensor {
  const name = linearTensor(layer, linear);
  const tensor = model.tensors.get(name);
  if (tensor === undefined) throw new TypeError(`model: no tensor ${name}, though readGguf checks the layout`);
  const { architecture, headSize, ropeSize } = model.config;
  if (architecture !== 'llama' || (linear !== 'q' && linear !== 'k')) return tensor;
  const { outputSize } = linearShape(model.config, linear);
  return { ...tensor, bytes: reorderRows(tensor.bytes, tensor.bytes.length / outputSize, halfSplitOrder(outputSize, headSize, ropeSize)) };
}
