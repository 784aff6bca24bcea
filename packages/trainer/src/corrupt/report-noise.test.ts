import { validateArguments } from '@contractrl/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SYNTHETIC_CALLS } from '../../tests/calls.ts';
import { openRandom } from '../random.ts';
import { corrupt } from './corrupt.ts';
import { noisyReport, REPORT_NOISE } from './report-noise.ts';

const anyCase = fc.record({ call: fc.constantFrom(...SYNTHETIC_CALLS), seed: fc.nat({ max: 2 ** 31 }), noise: fc.constantFrom(...REPORT_NOISE) });

test('a noisy report differs from the judge’s, which stays what it was', () => {
  let shownCount = 0;
  fc.assert(fc.property(anyCase, ({ call, seed, noise }) => {
    const random = openRandom(seed, 'noise');
    const corruption = corrupt(call, 'wrong_type_lossy', random)!;
    const shown = noisyReport(corruption, noise, random, corrupt(call, 'missing_required', random));
    expect(validateArguments(corruption.contract, corruption.argumentsText).report).toEqual(corruption.report);
    if (shown === undefined) return;
    shownCount += 1;
    expect(shown).not.toEqual(corruption.report.violations);
  }), { numRuns: 200 });
  expect(shownCount).toBeGreaterThan(150);
});

test.each([
  ['wrong-pointer', (first, shown) => shown.pointer !== first.pointer && shown.code === first.code],
  ['ambiguous-pointer', (first, shown) => shown.pointer === '' && shown.code === first.code],
  ['wrong-code', (first, shown) => shown.pointer === first.pointer && shown.code !== first.code],
  ['missing-report', (_, shown) => shown.pointer === '' && shown.code === 'undecided'],
  ['duplicated', (first, shown) => shown.pointer === first.pointer && shown.code === first.code],
  ['stale', (first, shown) => shown.pointer !== first.pointer || shown.code !== first.code],
] as const satisfies readonly (readonly [string, (first: { code: string; pointer: string }, shown: { code: string; pointer: string }) => boolean])[])('%s is what its name says', (noise, holds) => {
  const random = openRandom(5, noise);
  const call = SYNTHETIC_CALLS[3]!;
  const corruption = corrupt(call, 'wrong_type_lossy', random)!;
  const shown = noisyReport(corruption, noise, random, corrupt(call, 'missing_required', random))!;
  expect(holds(corruption.report.violations[0], shown[0])).toBe(true);
});

test('a stale report that says the same is none', () => {
  const corruption = corrupt(SYNTHETIC_CALLS[0]!, 'wrong_type_lossy', openRandom(1, 'x'))!;
  expect(noisyReport(corruption, 'stale', openRandom(1, 'y'), corruption)).toBeUndefined();
  expect(noisyReport(corruption, 'stale', openRandom(1, 'y'))).toBeUndefined();
});
