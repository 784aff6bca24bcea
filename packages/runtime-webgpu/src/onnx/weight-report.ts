/** What becomes of a file's weights, by the type they are stored as: for a person who asks why a model is large, slow or not quite another runtime's. */
import { LINEAR_NAMES } from '../lora/adapter.ts';
import type { GgufModel } from '../model/gguf.ts';
import { EMBEDDING, HEAD, linearTensor } from '../model/layout.ts';
import type { TensorType } from '../model/tensor.ts';
import { carriageOf, type Carriage, type WeightFormat } from './linear.ts';

export interface WeightUse {
  readonly storedAs: TensorType;
  /** Operands of the graph's operators, or `rows`: a table outside the graph with the stored integers or 16-bit floats (see row-table.ts). */
  readonly carriedAs: Carriage | 'rows';
  /** No weight differs from the file's by more than its rounding to float32. There is no carriage of which that is not so. */
  readonly exact: true;
  readonly tensorCount: number;
  readonly weightCount: number;
}

/** One row for each pair of stored and carried, the most weights first. O(tensors). */
export function weightReport(model: GgufModel, format: WeightFormat): readonly WeightUse[] {
  const linears = new Set(Array.from({ length: model.config.layerCount }, (_, layer) => LINEAR_NAMES.map((linear) => linearTensor(layer, linear))).flat());
  const uses = new Map<string, WeightUse>();
  for (const { name, type, shape } of model.tensors.values()) {
    const isTable = name === EMBEDDING || name === HEAD;
    const carriedAs = isTable ? 'rows' : linears.has(name) ? carriageOf(format, type) : 'f32';
    const key = `${type} ${carriedAs}`;
    const before = uses.get(key) ?? { tensorCount: 0, weightCount: 0 };
    const weightCount = shape.reduce((product, size) => product * size, 1);
    uses.set(key, { storedAs: type, carriedAs, exact: true, tensorCount: before.tensorCount + 1, weightCount: before.weightCount + weightCount });
  }
  return [...uses.values()].sort((a, b) => b.weightCount - a.weightCount);
}
