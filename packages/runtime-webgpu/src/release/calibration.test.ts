import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Digest, JsonValue } from '@contractrl/core';
import { CALIBRATION_VERSION, confidenceOf, FEATURES, featuresOf, foreignTo, readCalibration, type Calibration, type ConfidenceMap, type Features } from './calibration.ts';
import { VALUE_SOURCES, type PatchSignals } from './signals.ts';

const DIGEST = 'a'.repeat(64) as Digest;
const WEIGHTS: Features = { logProbability: 1, margin: 0.5, openLogAllowed: 0.2, abstention: -0.3, retried: -1, unfounded: -2, example: -1, completed: 0.7, spoken: -0.2, derived: -0.1, literal: 0.4, repeated: -3 };
const LOGISTIC: ConfidenceMap = { kind: 'logistic', intercept: 2, weights: WEIGHTS };
const ISOTONIC: ConfidenceMap = { kind: 'isotonic', feature: 'logProbability', points: [[-4, 0.1], [-2, 0.5], [-1, 0.5], [0, 0.9]] };
const CALIBRATION: Calibration = { version: CALIBRATION_VERSION, adapterDigest: DIGEST, promptVersion: '2', map: LOGISTIC, threshold: 0.6, report: { rows: 300 } };

const NOTHING = Object.fromEntries(VALUE_SOURCES.map((source) => [source, 0])) as PatchSignals['sources'];
const signalsOf = (change: Partial<PatchSignals> = {}): PatchSignals => ({ sequenceLogProbability: -0.5, margin: 2, openLogAllowed: -0.1, abstainShare: 0.2, takenBackCount: 0, sources: { ...NOTHING, request: 1 }, doubts: { repeated: 0, unmoved: 0 }, ...change });
const anySignals = fc.record({
  sequenceLogProbability: fc.double({ min: -800, max: 0, noNaN: true }), margin: fc.option(fc.double({ min: -60, max: 60, noNaN: true }), { nil: undefined }),
  openLogAllowed: fc.double({ min: -800, max: 0, noNaN: true }), abstainShare: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
  takenBackCount: fc.nat(9), sources: fc.record(Object.fromEntries(VALUE_SOURCES.map((source) => [source, fc.nat(3)])))
    .map((sources) => sources as PatchSignals['sources']),
  doubts: fc.record({ repeated: fc.nat(3), unmoved: fc.nat(3) }),
});

describe('features', () => {
  test('are finite and bounded, whatever decoding says', () => {
    fc.assert(fc.property(anySignals, (signals) => {
      for (const value of Object.values(featuresOf(signals))) expect(value >= -20 && value <= 10).toBe(true);
    }));
  });

  test.each([
    { what: 'a value of the request is the plain case', change: {}, features: { unfounded: 0, example: 0, derived: 0, literal: 0 } },
    { what: 'a value from nowhere is unfounded', change: { sources: { ...NOTHING, none: 1 } }, features: { unfounded: 1, example: 0 } },
    { what: 'an example of the description is that, and unfounded', change: { sources: { ...NOTHING, example: 2 } }, features: { unfounded: 1, example: 1 } },
    { what: 'a value that the request says in part is that, and unfounded', change: { sources: { ...NOTHING, completed: 1 } }, features: { unfounded: 1, completed: 1, example: 0 } },
    { what: 'a value that the request says in other words is not unfounded', change: { sources: { ...NOTHING, spoken: 1 } }, features: { unfounded: 0, spoken: 1, derived: 0 } },
    { what: 'the weakest value of several counts, however many there are', change: { sources: { ...NOTHING, request: 5, derived: 3, literal: 1 } }, features: { unfounded: 0, derived: 1, literal: 1 } },
    { what: 'a value of another argument is a doubt, however many', change: { doubts: { repeated: 2, unmoved: 0 } }, features: { repeated: 1, unfounded: 0 } },
    { what: 'a value in the place of another is a second choice', change: { takenBackCount: 4 }, features: { retried: 1 } },
    { what: 'no decision is the widest margin', change: { margin: undefined }, features: { margin: 10 } },
    { what: 'no chance to abstain is none', change: { abstainShare: undefined }, features: { abstention: -10 } },
  ])('$what', ({ change, features }) => {
    expect(featuresOf(signalsOf(change))).toMatchObject(features);
  });
});

describe('confidence', () => {
  test.each([LOGISTIC, ISOTONIC])('is never 0 and never 1 ($kind)', (map) => {
    fc.assert(fc.property(anySignals, (signals) => {
      const confidence = confidenceOf(map, featuresOf(signals));
      expect(confidence >= 0.001 && confidence <= 0.999).toBe(true);
    }));
  });

  test.each([LOGISTIC, ISOTONIC])('never falls with the probability of the answer ($kind)', (map) => {
    fc.assert(fc.property(anySignals, fc.double({ min: -800, max: 0, noNaN: true }), (signals, other) => {
      const [low, high] = [signals.sequenceLogProbability, other].sort((a, b) => a - b) as [number, number];
      const at = (sequenceLogProbability: number): number => confidenceOf(map, featuresOf({ ...signals, sequenceLogProbability }));
      expect(at(high)).toBeGreaterThanOrEqual(at(low));
    }));
  });

  test('of a logistic map is the logistic function of the weighted sum', () => {
    const features = featuresOf(signalsOf());
    const sum = 2 - 0.5 + 0.5 * 2 + 0.2 * -0.1 - 0.3 * Math.log(0.25);
    expect(confidenceOf(LOGISTIC, features)).toBeCloseTo(1 / (1 + Math.exp(-sum)), 12);
  });

  test.each([[-9, 0.1], [-4, 0.1], [-3, 0.3], [-2, 0.5], [-1.5, 0.5], [-0.5, 0.7], [0, 0.9]])('of an isotonic map lies on the line between its points: %s gives %s', (sequenceLogProbability, confidence) => {
    expect(confidenceOf(ISOTONIC, featuresOf(signalsOf({ sequenceLogProbability })))).toBeCloseTo(confidence, 12);
  });
});

describe('the file', () => {
  test.each([LOGISTIC, ISOTONIC])('is read back as it was written ($kind)', (map) => {
    expect(readCalibration(JSON.stringify({ ...CALIBRATION, map }))).toEqual({ ok: true, value: { ...CALIBRATION, map } });
  });

  test('that is no JSON, or of another version, is refused', () => {
    expect(readCalibration('{"version":')).toEqual({ ok: false, error: { code: 'calibration/not-json', issue: 'json/truncated' } });
    expect(readCalibration('[]')).toEqual({ ok: false, error: { code: 'calibration/bad-form', member: '' } });
    expect(readCalibration(JSON.stringify({ ...CALIBRATION, version: '1' }))).toEqual({ ok: false, error: { code: 'calibration/other-version', expected: CALIBRATION_VERSION, found: '1' } });
  });

  test.each<[string, JsonValue]>([
    ['version', 1], ['adapterDigest', 'abc'], ['promptVersion', 2], ['threshold', 1.5], ['threshold', -0.1], ['threshold', '0.5'], ['report', []],
    ['map', null], ['map', { kind: 'other' }], ['map', { kind: 'logistic', intercept: '0', weights: WEIGHTS }], ['map', { kind: 'logistic', intercept: 0, weights: { ...WEIGHTS, luck: 1 } }],
    ['map', { kind: 'logistic', intercept: 0, weights: Object.fromEntries(FEATURES.slice(1).map((feature) => [feature, 0])) }],
    ['map', { kind: 'isotonic', feature: 'luck', points: [[0, 0]] }], ['map', { kind: 'isotonic', feature: 'margin', points: [] }],
    ['map', { kind: 'isotonic', feature: 'margin', points: [[0, 0.5], [1, 0.4]] }], ['map', { kind: 'isotonic', feature: 'margin', points: [[1, 0.4], [1, 0.5]] }],
    ['map', { kind: 'isotonic', feature: 'margin', points: [[0, 0.5], [1, 1.2]] }], ['map', { kind: 'isotonic', feature: 'margin', points: [[0, -0.5]] }],
    ['map', { kind: 'isotonic', feature: 'margin', points: [[0]] }],
  ])('with a wrong %s is refused: %j', (member, value) => {
    expect(readCalibration(JSON.stringify({ ...CALIBRATION, [member]: value }))).toEqual({ ok: false, error: { code: 'calibration/bad-form', member } });
  });
});

test('a calibration speaks of its own adapter and prompt alone', () => {
  expect(foreignTo(CALIBRATION, { adapterDigest: DIGEST, promptVersion: '2' })).toBeUndefined();
  const other = 'b'.repeat(64) as Digest;
  expect(foreignTo(CALIBRATION, { adapterDigest: other, promptVersion: '2' })).toEqual({ code: 'calibration/other-adapter', expected: DIGEST, found: other });
  expect(foreignTo(CALIBRATION, { adapterDigest: undefined, promptVersion: '2' })).toEqual({ code: 'calibration/other-adapter', expected: DIGEST, found: null });
  expect(foreignTo(CALIBRATION, { adapterDigest: DIGEST, promptVersion: '1' })).toEqual({ code: 'calibration/other-prompt', expected: '2', found: '1' });
});
