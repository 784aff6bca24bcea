import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Digest } from '@contractrl/core';
import { largestDifference } from '../../tests/support/tiny-engine.ts';
import { createCheckModel } from '../self-test/check-model.ts';
import { linearShape } from '../model/layout.ts';
import { GROUP_NAMES, groupShape, LINEAR_GROUPS, type GroupName } from '../onnx/linear-groups.ts';
import { loraA, loraB } from '../onnx/names.ts';
import { LINEAR_NAMES, matrixForm, type LinearName, type LoraAdapter, type LoraMatrix } from './adapter.ts';
import { loraFeeds, zeroFeeds, type LoraFeed } from './feeds.ts';

const { config } = createCheckModel();

/** Numbers that are the same for the same seed, between −1 and 1. */
function numbers(length: number, seed: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => Math.sin(i * 12.9898 + seed * 78.233));
}

/** Rank 0 stands for a linear that is not adapted. */
function adapterOf(ranks: readonly Readonly<Record<LinearName, number>>[], scaling?: number): LoraAdapter {
  const layers = ranks.map((ofLinear, layer) => Object.fromEntries(LINEAR_NAMES.flatMap((linear, index): [LinearName, LoraMatrix][] => {
    const rank = ofLinear[linear];
    if (rank === 0) return [];
    const { inputSize, outputSize } = linearShape(config, linear);
    const seed = 10 * layer + index;
    const own = scaling === undefined ? {} : { scaling: scaling + index };
    return [[linear, { inputSize, outputSize, rank, a: numbers(rank * inputSize, seed), b: numbers(outputSize * rank, -seed), ...own }]];
  })));
  return { rank: 2, alpha: 4, digest: 'mixed' as Digest, layers };
}

function multiply(x: readonly number[], { data, shape: [rowCount, columnCount] }: LoraFeed): number[] {
  expect(x.length).toBe(rowCount);
  return Array.from({ length: columnCount }, (_, column) => x.reduce((sum, value, row) => sum + value * data[row * columnCount + column]!, 0));
}

/** `scaling · B · A · x` as the adapter has it. */
function update(adapter: LoraAdapter, layer: number, linear: LinearName, x: readonly number[]): number[] {
  const matrix = adapter.layers[layer]![linear];
  if (matrix === undefined) return Array<number>(linearShape(config, linear).outputSize).fill(0);
  const { rank, scaling } = matrixForm(adapter, matrix);
  const low = Array.from({ length: rank }, (_, i) => x.reduce((sum, value, column) => sum + matrix.a[i * matrix.inputSize + column]! * value, 0));
  return Array.from({ length: matrix.outputSize }, (_, row) => scaling * low.reduce((sum, value, i) => sum + matrix.b[row * rank + i]! * value, 0));
}

function pairOf(feeds: readonly LoraFeed[], layer: number, group: GroupName): readonly [LoraFeed, LoraFeed] {
  const find = (name: string): LoraFeed => feeds.find((feed) => feed.name === name)!;
  return [find(loraA(layer, group)), find(loraB(layer, group))];
}

describe('feeds of an adapter', () => {
  const rank = fc.integer({ min: 0, max: 3 });
  const ranks = fc.tuple(...LINEAR_NAMES.map(() => rank)).map((values) => Object.fromEntries(LINEAR_NAMES.map((name, i) => [name, values[i]!])) as Record<LinearName, number>);

  test('one pair of a group gives what the matrices of its members give one by one, whatever their ranks and factors', () => {
    fc.assert(fc.property(fc.array(ranks, { minLength: config.layerCount, maxLength: config.layerCount }), fc.option(fc.constantFrom(0.5, 3), { nil: undefined }), (ofLayers, scaling) => {
      const adapter = adapterOf(ofLayers, scaling);
      const feeds = loraFeeds(config, adapter);
      if (!feeds.ok) throw new Error(feeds.error.detail);
      for (const layer of ofLayers.keys()) {
        for (const group of GROUP_NAMES) {
          const x = Array.from(numbers(groupShape(config, group).inputSize, 5));
          const [a, b] = pairOf(feeds.value, layer, group);
          const apart = LINEAR_GROUPS[group].flatMap((linear) => update(adapter, layer, linear, x));
          expect(largestDifference(multiply(multiply(x, a), b), apart)).toBeLessThan(1e-4);
          expect(a.shape[1]).toBe(Math.max(1, LINEAR_GROUPS[group].reduce((sum, linear) => sum + ofLayers[layer]![linear], 0)));
        }
      }
    }), { numRuns: 20 });
  });

  test('without an adapter every pair is zeros of rank 1', () => {
    const feeds = zeroFeeds(config);
    expect(feeds).toHaveLength(2 * GROUP_NAMES.length * config.layerCount);
    for (const { data, shape } of feeds) expect([data.every((value) => value === 0), shape.includes(1), data.length]).toEqual([true, true, shape[0] * shape[1]]);
  });
});
