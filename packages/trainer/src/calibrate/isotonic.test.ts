import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitIsotonic, type Points } from './isotonic.ts';

const rowsOf = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.boolean()), { minLength: 1, maxLength: 40 });
const levelAt = (points: Points, x: number): number => points.findLast(([at]) => at <= x)![1];

describe('an isotonic fit', () => {
  test.each([
    { what: 'labels that rise are kept', x: [1, 2, 3, 4], isRight: [false, false, true, true], points: [[1, 0], [2, 0], [3, 1], [4, 1]] },
    { what: 'neighbours that fall are pooled', x: [1, 2, 3], isRight: [true, false, true], points: [[1, 0.5], [2, 0.5], [3, 1]] },
    { what: 'one pool can swallow the one before it', x: [1, 2, 3, 4], isRight: [true, true, false, false], points: [[1, 0.5], [4, 0.5]] },
    { what: 'equal x are one, in any order', x: [2, 1, 2, 2], isRight: [true, false, false, true], points: [[1, 0], [2, 2 / 3]] },
  ])('$what', ({ x, isRight, points }) => {
    expect(fitIsotonic(x, isRight)).toEqual(points);
  });

  test('rises, lies in [0, 1], and keeps the number of right ones', () => {
    fc.assert(fc.property(rowsOf, (rows) => {
      const [x, isRight] = [rows.map(([at]) => at), rows.map(([, label]) => label)];
      const points = fitIsotonic(x, isRight);
      points.forEach(([at, level], index) => {
        expect(level >= 0 && level <= 1).toBe(true);
        if (index > 0) expect(at > points[index - 1]![0] && level >= points[index - 1]![1]).toBe(true);
      });
      expect(x.reduce((sum, at) => sum + levelAt(points, at), 0)).toBeCloseTo(isRight.filter(Boolean).length, 6);
    }));
  });

  test('no rising function of two levels is closer to the labels', () => {
    fc.assert(fc.property(rowsOf, fc.integer({ min: 0, max: 12 }), fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (rows, cut, a, b) => {
      const points = fitIsotonic(rows.map(([at]) => at), rows.map(([, label]) => label));
      const distance = (of: (x: number) => number): number => rows.reduce((sum, [at, label]) => sum + (of(at) - (label ? 1 : 0)) ** 2, 0);
      expect(distance((x) => levelAt(points, x))).toBeLessThanOrEqual(distance((x) => (x < cut ? Math.min(a, b) : Math.max(a, b))) + 1e-9);
    }));
  });

  test('of no rows is a caller’s mistake', () => {
    expect(() => fitIsotonic([], [])).toThrow(RangeError);
  });
});
