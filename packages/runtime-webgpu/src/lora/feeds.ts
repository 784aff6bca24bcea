/**
 * A LoRA adapter as graph inputs: A transposed to `[inputSize, rank]`, B to `[rank, outputSize]` with `alpha / rank` multiplied in.
 * "No adapter" is a pair of zeros of rank 1: rank 0 crashes ONNX Runtime on WebGPU.
 * Reference: Hu et al. 2021, "LoRA", §4.1.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { ModelConfig } from '../model/config.ts';
import { linearShape } from '../model/layout.ts';
import { loraA, loraB } from '../onnx/names.ts';
import { LINEAR_NAMES, type LoraAdapter } from './adapter.ts';

export interface LoraFeed {
  readonly name: string;
  readonly data: Float32Array<ArrayBuffer>;
  readonly shape: readonly [number, number];
}

/** Where an adapter's matrices do not fit the model: the first layer and linear, in words. */
interface LoraMismatch {
  readonly detail: string;
}

/** Feeds of an adapter. Fails where it has other layers or sizes than the model. */
export function loraFeeds(config: ModelConfig, adapter: LoraAdapter): Result<readonly LoraFeed[], LoraMismatch> {
  if (adapter.layers.length !== config.layerCount) return err({ detail: `${adapter.layers.length} layers, the model has ${config.layerCount}` });
  const feeds: LoraFeed[] = [];
  const scaling = adapter.alpha / adapter.rank;
  for (const [layer, matrices] of adapter.layers.entries()) {
    for (const linear of LINEAR_NAMES) {
      const { a, b, inputSize, outputSize } = matrices[linear];
      const expected = linearShape(config, linear);
      if (inputSize !== expected.inputSize || outputSize !== expected.outputSize) {
        return err({ detail: `${linear} of layer ${layer} is ${inputSize} to ${outputSize}, the model's ${expected.inputSize} to ${expected.outputSize}` });
      }
      feeds.push({ name: loraA(layer, linear), data: transposeScaled(a, adapter.rank, inputSize, 1), shape: [inputSize, adapter.rank] });
      feeds.push({ name: loraB(layer, linear), data: transposeScaled(b, outputSize, adapter.rank, scaling), shape: [adapter.rank, outputSize] });
    }
  }
  return ok(feeds);
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

/** `[rows, columns]` to `[columns, rows]`, each value times `factor`. */
function transposeScaled(matrix: Float32Array, rowCount: number, columnCount: number, factor: number): Float32Array<ArrayBuffer> {
  const out = new Float32Array(matrix.length);
  for (let row = 0; row < rowCount; row++) {
    for (let column = 0; column < columnCount; column++) out[column * rowCount + row] = matrix[row * columnCount + column]! * factor;
  }
  return out;
}
