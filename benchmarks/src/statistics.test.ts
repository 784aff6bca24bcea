import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bootstrapMean, exactPairedTest, mean, passHatK, quantile, wilson } from './statistics.ts';

describe('wilson', () => {
  // Reference values: R, prop.test(x, n, correct = FALSE), and Newcombe 1998, table I.
  test.each([
    { count: 81, n: 263, low: 0.2553, high: 0.3662 },
    { count: 15, n: 148, low: 0.0624, high: 0.1605 },
    { count: 0, n: 20, low: 0, high: 0.1611 },
    { count: 1, n: 29, low: 0.0061, high: 0.1718 },
    { count: 29, n: 29, low: 0.883, high: 1 },
  ])('gives Newcombe\'s interval for $count of $n', ({ count, n, low, high }) => {
    const rate = wilson(count, n);
    expect(rate.low).toBeCloseTo(low, 4);
    expect(rate.high).toBeCloseTo(high, 4);
  });

  test.each([[0, 0], [-1, 5], [6, 5], [Number.NaN, 5]])('refuses %d of %d', (count, n) => {
    expect(() => wilson(count, n)).toThrow(RangeError);
  });
});

describe('quantile', () => {
  test.each([
    { values: [3, 1, 2], share: 0.5, expected: 2 },
    { values: [4, 3, 2, 1], share: 0.5, expected: 2 },
    { values: Array.from({ length: 100 }, (_, index) => index + 1), share: 0.95, expected: 95 },
    { values: [7], share: 0.95, expected: 7 },
    { values: [1, 2], share: 0, expected: 1 },
    { values: [], share: 0.5, expected: undefined },
  ])('takes the nearest rank of $values.length values at $share', ({ values, share, expected }) => {
    expect(quantile(values, share)).toBe(expected);
  });
});

test('the mean of no values is undefined, not zero', () => {
  expect(mean([])).toBeUndefined();
  expect(mean([1, 2, 6])).toBe(3);
});

describe('exactPairedTest', () => {
  test.each([
    { first: 0, second: 0, p: 1 },
    { first: 5, second: 5, p: 1 },
    { first: 0, second: 5, p: 0.0625 },
    { first: 9, second: 1, p: 0.021484375 },
    { first: 1, second: 9, p: 0.021484375 },
  ])('a split of $first to $second has p = $p', ({ first, second, p }) => {
    expect(exactPairedTest(first, second)).toBeCloseTo(p, 12);
  });
});

describe('bootstrapMean', () => {
  test('has no value of none, and no width where all are alike', () => {
    expect(bootstrapMean([])).toBeUndefined();
    expect(bootstrapMean([2, 2, 2])).toEqual({ mean: 2, n: 3, low: 2, high: 2 });
  });

  test('of many values it is the normal interval, and the same each time', () => {
    const values = Array.from({ length: 400 }, (_, index) => index % 2);
    const half = 1.96 * 0.5 / Math.sqrt(400);
    const { mean: centre, low, high } = bootstrapMean(values)!;
    expect(centre).toBe(0.5);
    expect(Math.abs(low - (0.5 - half))).toBeLessThan(0.01);
    expect(Math.abs(high - (0.5 + half))).toBeLessThan(0.01);
    expect(bootstrapMean(values)).toEqual(bootstrapMean(values));
  });
});

// checklist: D17
describe('passHatK', () => {
  test.each([
    { successes: 2, runs: 4, k: 1, expected: 1 / 2 },
    { successes: 2, runs: 4, k: 2, expected: 1 / 6 },
    { successes: 2, runs: 4, k: 3, expected: 0 },
    { successes: 3, runs: 4, k: 2, expected: 1 / 2 },
    { successes: 4, runs: 4, k: 4, expected: 1 },
    { successes: 0, runs: 4, k: 1, expected: 0 },
    { successes: 6, runs: 8, k: 4, expected: 15 / 70 },
  ])('$successes of $runs runs, k = $k', ({ successes, runs, k, expected }) => {
    expect(passHatK(successes, runs, k)).toBeCloseTo(expected, 12);
  });

  test('is the share of all draws without replacement in which every run succeeds', () => {
    fc.assert(fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }), fc.nat(7), (outcomes, more) => {
      const k = 1 + more % outcomes.length;
      const subsets = Array.from({ length: 2 ** outcomes.length }, (_, bits) => outcomes.filter((__, index) => (bits >> index) % 2 === 1)).filter(({ length }) => length === k);
      const share = subsets.filter((drawn) => drawn.every(Boolean)).length / subsets.length;
      expect(passHatK(outcomes.filter(Boolean).length, outcomes.length, k)).toBeCloseTo(share, 12);
    }));
  });

  test.each([[1, 4, 0], [1, 4, 5], [5, 4, 1], [-1, 4, 1]])('refuses %d of %d, k = %d', (successes, runs, k) => {
    expect(() => passHatK(successes, runs, k)).toThrow(RangeError);
  });
});
