import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decisionWeight, divergenceOf, scalesOf, type DecisionLogs, type DecisionTerm, type ObjectiveSettings } from './objective.ts';

const SETTINGS: ObjectiveSettings = { epsilonLow: 0.2, epsilonHigh: 0.28, beta: 0.1, normalisation: 'dapo' };

/** As the papers write it. */
function objective({ scale, advantage }: DecisionTerm, { current, old, reference }: DecisionLogs, { epsilonLow, epsilonHigh, beta }: ObjectiveSettings): number {
  const ratio = Math.exp(current) / Math.exp(old);
  const clipped = Math.min(Math.max(ratio, 1 - epsilonLow), 1 + epsilonHigh);
  const other = Math.exp(reference) / Math.exp(current);
  return scale * (Math.min(ratio * advantage, clipped * advantage) - beta * (other - Math.log(other) - 1));
}

const log = fc.double({ min: -4, max: -0.01, noNaN: true });
const logs = fc.record({ current: log, old: log, reference: log });
const term = fc.record({ scale: fc.double({ min: 0.01, max: 1, noNaN: true }), advantage: fc.double({ min: -2, max: 2, noNaN: true }) });

test('a weight is the derivative of the objective by the log probability', () => {
  const h = 1e-5;
  fc.assert(fc.property(term, logs, (given, at) => {
    const ratio = Math.exp(at.current - at.old);
    fc.pre(Math.abs(ratio - 0.8) > 1e-3 && Math.abs(ratio - 1.28) > 1e-3);
    const moved = (by: number): number => objective(given, { ...at, current: at.current + by }, SETTINGS);
    const { weight } = decisionWeight(given, at, SETTINGS);
    expect(Math.abs(weight - (moved(h) - moved(-h)) / (2 * h))).toBeLessThan(1e-5 * Math.max(1, Math.abs(weight)));
  }));
});

test.each([
  { what: 'better, and likelier by more than the upper bound', advantage: 1, ratio: 1.3, isClipped: true },
  { what: 'better, and likelier within it', advantage: 1, ratio: 1.27, isClipped: false },
  { what: 'better, and less likely', advantage: 1, ratio: 0.5, isClipped: false },
  { what: 'worse, and less likely by more than the lower bound', advantage: -1, ratio: 0.79, isClipped: true },
  { what: 'worse, and less likely within it', advantage: -1, ratio: 0.81, isClipped: false },
  { what: 'worse, and likelier', advantage: -1, ratio: 2, isClipped: false },
])('$what: $isClipped is clipped', ({ advantage, ratio, isClipped }) => {
  const weight = decisionWeight({ scale: 0.5, advantage }, { current: Math.log(ratio), old: 0, reference: 0 }, { ...SETTINGS, beta: 0 });
  expect(weight.isClipped).toBe(isClipped);
  expect(weight.weight).toBeCloseTo(isClipped ? 0 : 0.5 * ratio * advantage, 12);
});

test('the divergence is never negative, and nothing where nothing has moved', () => {
  fc.assert(fc.property(logs, (at) => { expect(divergenceOf(at)).toBeGreaterThanOrEqual(0); }));
  expect(divergenceOf({ current: -1.5, reference: -1.5 })).toBe(0);
});

describe('normalisation', () => {
  const counts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 });
  const total = (scales: readonly number[], of: readonly number[]): number => scales.reduce((sum, scale, index) => sum + scale * of[index]!, 0);

  test('dapo counts every decision the same, and 1 in all', () => {
    fc.assert(fc.property(counts, (of) => {
      const scales = scalesOf(of, 256, 'dapo');
      expect(new Set(scales).size).toBe(1);
      expect(total(scales, of)).toBeCloseTo(1, 9);
    }));
  });

  test('grpo counts every episode the same, and 1 in all', () => {
    fc.assert(fc.property(counts, (of) => {
      const scales = scalesOf(of, 256, 'grpo');
      for (const [index, scale] of scales.entries()) expect(scale * of[index]!).toBeCloseTo(1 / of.length, 9);
    }));
  });

  test('dr_grpo counts every decision the same, however many there are', () => {
    expect(scalesOf([3, 9], 256, 'dr_grpo')).toEqual([1 / 512, 1 / 512]);
    expect(scalesOf([30, 9], 256, 'dr_grpo')).toEqual([1 / 512, 1 / 512]);
  });
});
