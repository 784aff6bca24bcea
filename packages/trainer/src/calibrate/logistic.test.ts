import { createRandom } from '@contractrl/runtime-webgpu';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitLogistic, type Logistic, type Sign } from './logistic.ts';

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** Rows of two features, uniform in [−2, 2], labelled by a planted model. */
function planted(count: number, intercept: number, weights: readonly number[], seed: number) {
  const random = createRandom(seed);
  const rows = Array.from({ length: count }, () => weights.map(() => 4 * random() - 2));
  const isRight = rows.map((row) => random() < sigmoid(row.reduce((sum, x, index) => sum + x * weights[index]!, intercept)));
  return { rows, isRight };
}

const FREE: readonly Sign[] = [0, 0];
const weakly = { signs: FREE, ridge: 1e-6 };

describe('a logistic fit', () => {
  test.each([{ seed: 1, intercept: 0.5, weights: [1.5, -1] }, { seed: 2, intercept: -1, weights: [0, 2] }])('recovers planted weights, $weights', ({ seed, intercept, weights }) => {
    const { rows, isRight } = planted(6000, intercept, weights, seed);
    const fitted = fitLogistic(rows, isRight, weakly);
    [intercept, ...weights].forEach((value, index) => { expect([fitted.intercept, ...fitted.weights][index]).toBeCloseTo(value, 0.7); });
    // at the maximum of the likelihood the residuals are orthogonal to every feature
    const residuals = rows.map((row, index) => sigmoid(row.reduce((sum, x, at) => sum + x * fitted.weights[at]!, fitted.intercept)) - (isRight[index]! ? 1 : 0));
    for (const column of [rows.map(() => 1), ...weights.map((_, at) => rows.map((row) => row[at]!))]) {
      expect(Math.abs(column.reduce((sum, x, index) => sum + x * residuals[index]!, 0))).toBeLessThan(1e-2);
    }
  });

  test('of nothing that tells is the share of right ones', () => {
    const fitted = fitLogistic([[3], [3], [3], [3]], [true, true, true, false], { signs: [0], ridge: 1 });
    expect(fitted.weights).toEqual([0]);
    expect(sigmoid(fitted.intercept)).toBeCloseTo(0.75, 8);
  });

  test('keeps every weight on its side, whatever the labels say', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.constantFrom<readonly Sign[]>([1, 1], [-1, -1], [1, -1]), (seed, signs) => {
      const { rows, isRight } = planted(60, 0, [1, -1], seed);
      fitLogistic(rows, isRight, { signs, ridge: 1 }).weights.forEach((weight, index) => { expect(weight * signs[index]!).toBeGreaterThanOrEqual(0); });
    }), { numRuns: 40 });
  });

  test('a weight that would be on the wrong side is 0, and the rest is fitted without it', () => {
    const { rows, isRight } = planted(2000, 0.3, [1.2, 1], 5);
    const held = fitLogistic(rows, isRight, { signs: [1, -1], ridge: 1 });
    const without = fitLogistic(rows.map(([x]) => [x!]), isRight, { signs: [1], ridge: 1 });
    expect(held.weights[1]).toBe(0);
    expect([held.intercept, held.weights[0]]).toEqual([expect.closeTo(without.intercept, 5), expect.closeTo(without.weights[0]!, 5)]);
  });

  test('does not depend on the units of a feature', () => {
    const { rows, isRight } = planted(300, 0, [1, -1], 9);
    const options = { signs: FREE, ridge: 3 };
    const [plain, scaled] = [fitLogistic(rows, isRight, options), fitLogistic(rows.map(([a, b]) => [100 * a! + 7, b!]), isRight, options)];
    const at = ({ intercept, weights }: Logistic, row: readonly number[]): number => sigmoid(row.reduce((sum, x, index) => sum + x * weights[index]!, intercept));
    expect(at(scaled, [107, 0.5])).toBeCloseTo(at(plain, [1, 0.5]), 6);
  });

  test('stays finite where a feature tells all', () => {
    const { intercept, weights } = fitLogistic([[0], [1], [2], [3]], [false, false, true, true], { signs: [1], ridge: 1 });
    expect(Number.isFinite(intercept) && weights[0]! > 0 && weights[0]! < 10).toBe(true);
  });

  test('of no rows is a caller’s mistake', () => {
    expect(() => fitLogistic([], [], weakly)).toThrow(RangeError);
  });
});
