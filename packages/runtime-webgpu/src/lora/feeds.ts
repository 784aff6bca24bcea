/**
 * A LoRA adapter as graph inputs, one pair for each group of linears that read the same vector: A transposed to `[inputSize, rank]`, the members' side
 * by side; B to `[rank, outputSize]` with its factor multiplied in, the members' from corner to corner with zeros around them. The rank of a pair is the
 * sum of its members', so ranks may differ from matrix to matrix. A pair without an adapter is zeros of rank 1: rank 0 crashes ONNX Runtime on WebGPU.
 * Reference: Hu et al. 2021, "LoRA", §4.1.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { ModelConfig } from '../model/config.ts';
import { linearShape } from '../model/layout.ts';
import { GROUP_NAMES, groupShape, LINEAR_GROUPS, type GroupName } from '../onnx/linear-groups.ts';
import { loraA, loraB } from '../onnx/names.ts';
import { LINEAR_NAMES, matrixForm, type LoraAdapter, type LoraMatrix } from './adapter.ts';

export interface LoraFeed {
  readonly name: string;
  readonly data: Float32Array<ArrayBuffer>;
  readonly shape: readonly [number, number];
}

/** Where an adapter's matrices do not fit the model: the first layer and linear, in words. */
export interface LoraMismatch {
  readonly detail: string;
}

/** What of an adapter decides its feeds. */
type AdapterMatrices = Pick<LoraAdapter, 'rank' | 'alpha' | 'layers'>;

/** Feeds of an adapter. Fails where it has other layers or sizes than the model. */
export function loraFeeds(config: ModelConfig, adapter: LoraAdapter): Result<readonly LoraFeed[], LoraMismatch> {
  const mismatch = loraMismatch(config, adapter);
  if (mismatch !== undefined) return err(mismatch);
  return ok(feedsOf(config, adapter));
}

function feedsOf(config: ModelConfig, adapter: AdapterMatrices): readonly LoraFeed[] {
  return adapter.layers.flatMap((_, layer) => GROUP_NAMES.flatMap((group) => groupFeeds(config, adapter, layer, group)));
}

function groupFeeds(config: ModelConfig, adapter: AdapterMatrices, layer: number, group: GroupName): readonly LoraFeed[] {
  const { inputSize, outputSize } = groupShape(config, group);
  const matrices = LINEAR_GROUPS[group].map((linear) => adapter.layers[layer]![linear]);
  const rankOf = (matrix: LoraMatrix | undefined): number => (matrix === undefined ? 0 : matrixForm(adapter, matrix).rank);
  const groupRank = Math.max(1, matrices.reduce((sum, matrix) => sum + rankOf(matrix), 0));
  const a = new Float32Array(inputSize * groupRank);
  const b = new Float32Array(groupRank * outputSize);
  let [firstRank, firstOutput] = [0, 0];
  for (const [index, linear] of LINEAR_GROUPS[group].entries()) {
    const matrix = matrices[index];
    if (matrix !== undefined) {
      const { rank, scaling } = matrixForm(adapter, matrix);
      for (let row = 0; row < inputSize; row++) for (let i = 0; i < rank; i++) a[row * groupRank + firstRank + i] = matrix.a[i * inputSize + row]!;
      for (let i = 0; i < rank; i++) {
        const start = (firstRank + i) * outputSize + firstOutput;
        for (let column = 0; column < matrix.outputSize; column++) b[start + column] = matrix.b[column * rank + i]! * scaling;
      }
      firstRank += rank;
    }
    firstOutput += linearShape(config, linear).outputSize;
  }
  return [{ name: loraA(layer, group), data: a, shape: [inputSize, groupRank] }, { name: loraB(layer, group), data: b, shape: [groupRank, outputSize] }];
}

/** Undefined where every matrix fits. */
export function loraMismatch(config: ModelConfig, adapter: LoraAdapter): LoraMismatch | undefined {
  if (adapter.layers.length !== config.layerCount) return { detail: `${adapter.layers.length} layers, the model has ${config.layerCount}` };
  for (const [layer, matrices] of adapter.layers.entries()) {
    for (const linear of LINEAR_NAMES) {
      const matrix = matrices[linear];
      const expected = linearShape(config, linear);
      if (matrix !== undefined && (matrix.inputSize !== expected.inputSize || matrix.outputSize !== expected.outputSize)) {
        return { detail: `${linear} of layer ${layer} is ${matrix.inputSize} to ${matrix.outputSize}, the model's ${expected.inputSize} to ${expected.outputSize}` };
      }
    }
  }
  return undefined;
}

/** Feeds that change nothing. */
export function zeroFeeds(config: ModelConfig): readonly LoraFeed[] {
  return feedsOf(config, { rank: 1, alpha: 1, layers: Array.from({ length: config.layerCount }, () => ({})) });
}
