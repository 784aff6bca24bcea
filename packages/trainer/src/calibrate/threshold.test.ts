import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Judged } from './metrics.ts';
import { chooseThreshold, upperBoundOf } from './threshold.ts';

describe('the exact upper bound', () => {
  // none of n: 1 − (1 − level)^(1/n) in closed form; the others from the quantiles of the beta distribution
  test.each([
    { count: 0, n: 59, level: 0.95, bound: 1 - 0.05 ** (1 / 59) }, { count: 0, n: 1, level: 0.95, bound: 0.95 }, { count: 1, n: 10, level: 0.95, bound: 0.394163 },
    { count: 5, n: 100, level: 0.95, bound: 0.102253 }, { count: 10, n: 10, level: 0.95, bound: 1 }, { count: 3, n: 400, level: 0.975, bound: 0.021761 },
  ])('on $count of $n at $level is $bound', ({ count, n, level, bound }) => {
    expect(upperBoundOf(count, n, level)).toBeCloseTo(bound, 5);
  });

  test('lies above the share, rises with what was wrong and falls with the sample', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 199 }), (n, count) => {
      fc.pre(count < n);
      const bound = upperBoundOf(count, n, 0.95);
      expect(bound).toBeGreaterThan(count / n);
      expect(upperBoundOf(count + 1, n, 0.95)).toBeGreaterThanOrEqual(bound);
      expect(upperBoundOf(count, n + 1, 0.95)).toBeLessThan(bound);
    }), { numRuns: 60 });
  });

  test.each([[-1, 5], [6, 5], [0, 0], [1.5, 5]])('of %s of %s is a caller’s mistake', (count, n) => {
    expect(() => upperBoundOf(count, n, 0.95)).toThrow(RangeError);
  });
});

describe('the threshold', () => {
  /** Confidences fall; of the first `good` rows all are right, behind them every second one. */
  const rows = (good: number, rest: number): readonly Judged[] =>
    Array.from({ length: good + rest }, (_, index) => ({ confidence: 1 - (index + 1) / (good + rest + 1), isRight: index < good || index % 2 === 0 }));

  test('is the smallest that keeps the rule', () => {
    const sample = rows(100, 100);
    const chosen = chooseThreshold(sample, { alpha: 0.1, level: 0.95 })!;
    expect(chosen.upperBound).toBeLessThanOrEqual(0.1);
    expect(chosen.released).toBeGreaterThan(100);
    const released = sample.filter(({ confidence }) => confidence >= chosen.threshold);
    expect(released).toHaveLength(chosen.released);
    const lower = sample.map(({ confidence }) => confidence).filter((confidence) => confidence < chosen.threshold);
    for (const threshold of lower) {
      const more = sample.filter(({ confidence }) => confidence >= threshold);
      expect(upperBoundOf(more.filter(({ isRight }) => !isRight).length, more.length, 0.95)).toBeGreaterThan(0.1);
    }
  });

  test('falls as more wrong ones are taken', () => {
    const thresholds = [0.05, 0.1, 0.2, 0.4].map((alpha) => chooseThreshold(rows(100, 100), { alpha, level: 0.95 })!.threshold);
    expect(thresholds).toEqual([...thresholds].sort((a, b) => b - a));
  });

  test('is none where too few rows are there to show anything', () => {
    expect(chooseThreshold(rows(20, 0), { alpha: 0.1, level: 0.95 })).toBeUndefined();
    expect(chooseThreshold(rows(29, 0), { alpha: 0.1, level: 0.95 })).toMatchObject({ released: 29, wrong: 0 });
  });
});
