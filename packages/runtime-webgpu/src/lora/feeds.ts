/**
 * A LoRA adapter as graph inputs: A transposed to `[inputSize, rank]`, B to `[rank, outputSize]` with its factor multiplied in. All inputs have one
 * rank, the largest of the adapter, because the graph names the dimension once: smaller matrices are filled up with zeros, which change nothing.
 * "No adapter" is a pair of zeros of rank 1: rank 0 crashes ONNX Runtime on WebGPU.
 * Reference: Hu et al. 2021, "LoRA", §4.1.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { ModelConfig } from '../model/config.ts';
import { linearShape } from '../model/layout.ts';
import { loraA, loraB } from '../onnx/names.ts';
import { LINEAR_NAMES, matrixForm, type LoraAdapter } from './adapter.ts';

export interface LoraFeed {
  readonly name: string;
  readonly data: Float32Array<ArrayBuffer>;
  readonly shape: readonly [number, number];
}

/** Where an adapter's matrices do not fit the model: the first layer and linear, in words. */
export interface LoraMismatch {
  readonly detail: string;
}

/** Feeds of an adapter. Fails where it has other layers or sizes than the model. */
export function loraFeeds(config: ModelConfig, adapter: LoraAdapter): Result<readonly LoraFeed[], LoraMismatch> {
  const mismatch = loraMismatch(config, adapter);
  if (mismatch !== undefined) return err(mismatch);
  const ranks = adapter.layers.flatMap((matrices) => Object.values(matrices).map((matrix) => matrixForm(adapter, matrix).rank));
  const feedRank = Math.max(1, ...ranks);
  const feeds: LoraFeed[] = [];
  for (const [layer, matrices] of adapter.layers.entries()) {
    for (const linear of LINEAR_NAMES) {
      const { inputSize, outputSize } = linearShape(config, linear);
      const a = new Float32Array(inputSize * feedRank);
      const b = new Float32Array(feedRank * outputSize);
      const matrix = matrices[linear];
      if (matrix !== undefined) {
        const { rank, scaling } = matrixForm(adapter, matrix);
        for (let row = 0; row < inputSize; row++) for (let i = 0; i < rank; i++) a[row * feedRank + i] = matrix.a[i * inputSize + row]!;
        for (let i = 0; i < rank; i++) for (let column = 0; column < outputSize; column++) b[i * outputSize + column] = matrix.b[column * rank + i]! * scaling;
      }
      feeds.push({ name: loraA(layer, linear), data: a, shape: [inputSize, feedRank] }, { name: loraB(layer, linear), data: b, shape: [feedRank, outputSize] });
    }
  }
  return ok(feeds);
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
  const feeds: LoraFeed[] = [];
  for (let layer = 0; layer < config.layerCount; layer++) {
    for (const linear of LINEAR_NAMES) {
      const { inputSize, outputSize } = linearShape(config, linear);
      feeds.push({ name: loraA(layer, linear), data: new Float32Array(inputSize), shape: [inputSize, 1] });
      feeds.push({ name: loraB(layer, linear), data: new Float32Array(outputSize), shape: [1, outputSize] });
    }
  }
  return feeds;
}
