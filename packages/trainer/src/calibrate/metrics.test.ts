import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { areaUnderCurve, brierOf, calibrationErrorOf, logLossOf, riskCoverage, thinned, type Judged } from './metrics.ts';

const rowsOf = (...pairs: readonly (readonly [number, boolean])[]): readonly Judged[] => pairs.map(([confidence, isRight]) => ({ confidence, isRight }));
const judged = fc.array(fc.record({ confidence: fc.integer({ min: 1, max: 9 }).map((tenth) => tenth / 10), isRight: fc.boolean() }), { minLength: 1, maxLength: 50 });

describe('figures', () => {
  test('of two rows come out as by hand', () => {
    const rows = rowsOf([0.8, true], [0.4, false]);
    expect(logLossOf(rows)).toBeCloseTo(-(Math.log(0.8) + Math.log(0.6)) / 2, 10);
    expect(brierOf(rows)).toBeCloseTo((0.04 + 0.16) / 2, 10);
    expect(areaUnderCurve(rows)).toBe(1);
  });

  test('a confidence that is the share of right ones has no calibration error, and one that is not has the gap', () => {
    const tenths = Array.from({ length: 100 }, (_, index): Judged => ({ confidence: 0.7, isRight: index % 10 < 7 }));
    expect(calibrationErrorOf(tenths)).toBeCloseTo(0, 10);
    expect(calibrationErrorOf(tenths.map(({ isRight }) => ({ confidence: 0.9, isRight })))).toBeCloseTo(0.2, 10);
  });

  test('the area is the chance of the right order, counted pair by pair', () => {
    fc.assert(fc.property(judged, (rows) => {
      const [right, wrong] = [rows.filter(({ isRight }) => isRight), rows.filter(({ isRight }) => !isRight)];
      const area = areaUnderCurve(rows);
      if (right.length === 0 || wrong.length === 0) {
        expect(area).toBeUndefined();
        return;
      }
      const pairs = right.flatMap((a) => wrong.map((b): number => (a.confidence > b.confidence ? 1 : a.confidence === b.confidence ? 0.5 : 0)));
      expect(area).toBeCloseTo(pairs.reduce((sum, pair) => sum + pair, 0) / pairs.length, 9);
    }));
  });
});

describe('risk against coverage', () => {
  test('counts what each threshold lets through', () => {
    expect(riskCoverage(rowsOf([0.9, true], [0.5, true], [0.5, false], [0.2, false]))).toEqual([
      { threshold: 0.9, released: 1, wrong: 0, coverage: 0.25, risk: 0 },
      { threshold: 0.5, released: 3, wrong: 1, coverage: 0.75, risk: 1 / 3 },
      { threshold: 0.2, released: 4, wrong: 2, coverage: 1, risk: 0.5 },
    ]);
  });

  test('ends with everything, thinned or not', () => {
    fc.assert(fc.property(judged, (rows) => {
      const curve = riskCoverage(rows);
      expect(curve.at(-1)).toMatchObject({ coverage: 1, released: rows.length, wrong: rows.filter(({ isRight }) => !isRight).length });
      expect(thinned(curve)[0]).toBe(curve[0]);
      expect(thinned(curve).at(-1)).toBe(curve.at(-1));
      for (const { threshold, released } of curve) expect(rows.filter(({ confidence }) => confidence >= threshold)).toHaveLength(released);
    }));
    const long = riskCoverage(Array.from({ length: 500 }, (_, index) => ({ confidence: (index + 1) / 501, isRight: index % 2 === 0 })));
    expect(new Set(thinned(long)).size).toBe(40);
  });
});
