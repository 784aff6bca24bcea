import { confidenceOf, createRandom, FEATURES, type Features } from '@contractrl/runtime-webgpu';
import { describe, expect, test } from 'vitest';
import { fitCalibration, MIN_ROWS_OF_KIND, type CalibrationRow } from './fit-calibration.ts';

const NEUTRAL = Object.fromEntries(FEATURES.map((feature) => [feature, 0])) as Features;
const RULE = { alpha: 0.1, level: 0.95 };

/** Rows whose chance of being right is given by their features. */
function planted(count: number, chance: (features: Features) => number, seed: number): readonly CalibrationRow[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, (_, index) => {
    const features: Features = { ...NEUTRAL, logProbability: -3 * random(), margin: 5 * random(), unfounded: random() < 0.3 ? 1 : 0 };
    return { group: `tool-${index % 37}`, features, isRight: random() < chance(features) };
  });
}

const fit = (rows: readonly CalibrationRow[]) => {
  const fitted = fitCalibration(rows, RULE);
  if (!fitted.ok) throw new Error(fitted.error.code);
  return fitted.value;
};
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

describe('of the maps', () => {
  test('that of all signals is taken where they tell more, and comes near the planted chances', () => {
    const chance = (features: Features): number => sigmoid(3 + features.logProbability - 4 * features.unfounded);
    const rows = planted(1500, chance, 3);
    const fitted = fit(rows);
    expect(fitted.chosen).toBe('signals');
    const gaps = rows.map(({ features }) => Math.abs(confidenceOf(fitted.map, features) - chance(features)));
    expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeLessThan(0.03);
    expect(fitted.figures.calibrationError).toBeLessThan(0.05);
    expect(fitted.figures.areaUnderCurve).toBeGreaterThan(0.8);
    expect(fitted.logLosses.signals).toBeLessThan(Math.min(fitted.logLosses.sequence, fitted.logLosses.isotonic, fitted.logLosses.constant));
  });

  test('the step function is taken where the share is one of the probability, and no straight one', () => {
    const fitted = fit(planted(3000, ({ logProbability }) => (logProbability > -0.4 ? 0.95 : logProbability > -2.4 ? 0.5 : 0.05), 4));
    expect(fitted.chosen).toBe('isotonic');
  });

  test('more probability is never less confidence, and a value from nowhere never more', () => {
    for (const sign of [1, -1]) {
      const { map } = fit(planted(400, ({ logProbability, unfounded }) => sigmoid(sign * (1.5 + logProbability - unfounded)), 5));
      const at = (change: Partial<Features>): number => confidenceOf(map, { ...NEUTRAL, logProbability: -1, margin: 1, ...change });
      expect(at({ logProbability: -0.2 })).toBeGreaterThanOrEqual(at({ logProbability: -2 }));
      expect(at({ unfounded: 1 })).toBeLessThanOrEqual(at({ unfounded: 0 }));
      expect(at({ unfounded: 1, example: 1 })).toBeLessThanOrEqual(at({ unfounded: 1 }));
    }
  });
});

test('the threshold is one that rows outside the fit keep', () => {
  const { threshold, curve, rowCount } = fit(planted(1000, ({ logProbability, unfounded }) => sigmoid(4 + 2 * logProbability - 3 * unfounded), 6));
  expect(threshold!.upperBound).toBeLessThanOrEqual(RULE.alpha);
  expect(threshold!.released).toBeGreaterThan(100);
  expect(curve.at(-1)).toMatchObject({ coverage: 1, released: rowCount });
});

test('a policy that tells nothing gets no threshold', () => {
  expect(fit(planted(300, () => 0.5, 7)).threshold).toBeUndefined();
});

test('equal rows give the same calibration', () => {
  const rows = planted(200, ({ logProbability }) => sigmoid(1 + logProbability), 8);
  expect(JSON.stringify(fit(rows))).toBe(JSON.stringify(fit([...rows])));
});

test('too few rows of a kind, or of tools, are refused', () => {
  const row = (isRight: boolean, index: number): CalibrationRow => ({ group: `tool-${index}`, features: NEUTRAL, isRight });
  const few = [...Array.from({ length: 100 }, (_, index) => row(true, index)), ...Array.from({ length: MIN_ROWS_OF_KIND - 1 }, (_, index) => row(false, index))];
  expect(fitCalibration(few, RULE)).toEqual({ ok: false, error: { code: 'calibrate/too-few-rows', right: 100, wrong: MIN_ROWS_OF_KIND - 1, needed: MIN_ROWS_OF_KIND } });
  const oneTool = planted(200, () => 0.5, 9).map((each) => ({ ...each, group: 'one' }));
  expect(fitCalibration(oneTool, RULE)).toEqual({ ok: false, error: { code: 'calibrate/too-few-groups', found: 1, needed: 5 } });
});
