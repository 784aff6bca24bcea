/**
 * From signals to the probability that a patch is right: the map that was fitted for one adapter and one prompt, with the threshold of its release rule.
 * It stands as `calibration.json` beside the adapter and is read like any stranger's file. The features are few, bounded, and the same in every runtime.
 * Reference: J. Platt, Probabilistic Outputs for Support Vector Machines, 1999 (logistic); B. Zadrozny, C. Elkan, KDD 2002 (isotonic).
 */
import { err, isJsonArray, isJsonObject, ok, parseJson, type Digest, type JsonObject, type JsonValue, type Result } from '@contractrl/core';
import type { PatchSignals } from './signals.ts';

/** Of the form and of the meaning of the features: another version is another calibration. */
export const CALIBRATION_VERSION = '3';
export const CALIBRATION_FILE = 'calibration.json';

/**
 * `retried` is 1 where a value was taken back, else 0; the sources likewise where the patch writes such a value, and `unfounded` includes `example` and
 * `completed`, so that a fit which saw none holds them to be no better; `repeated` where it has that doubt. The other doubt is none that can be weighed.
 */
export const FEATURES = [
  'logProbability', 'margin', 'openLogAllowed', 'abstention', 'retried', 'unfounded', 'example', 'completed', 'spoken', 'derived', 'literal', 'repeated',
] as const;
export type Feature = (typeof FEATURES)[number];
export type Features = Readonly<Record<Feature, number>>;

export type ConfidenceMap =
  /** 1 / (1 + exp(−(intercept + Σ weight · feature))). */
  | { readonly kind: 'logistic'; readonly intercept: number; readonly weights: Features }
  /** Straight between points [feature, probability], both rising; level beyond them. */
  | { readonly kind: 'isotonic'; readonly feature: Feature; readonly points: readonly [readonly [number, number], ...(readonly [number, number])[]] };

export interface Calibration {
  readonly version: typeof CALIBRATION_VERSION;
  /** SHA-256 of the adapter's weights. */
  readonly adapterDigest: Digest;
  readonly promptVersion: string;
  readonly map: ConfidenceMap;
  /** In [0, 1]: patches below it are withheld. No confidence is 1, so 1 withholds all. */
  readonly threshold: number;
  /** What it was fitted on and how well it does; for readers. */
  readonly report: JsonObject;
}

export type CalibrationIssue =
  | { readonly code: 'calibration/not-json'; readonly issue: string }
  | { readonly code: 'calibration/bad-form'; readonly member: string }
  | { readonly code: 'calibration/other-version'; readonly expected: string; readonly found: string }
  /** It was fitted for the answers of another policy and says nothing of this one's. */
  | { readonly code: 'calibration/other-adapter'; readonly expected: string; readonly found: string | null }
  | { readonly code: 'calibration/other-prompt'; readonly expected: string; readonly found: string };

/** What a policy must be for a calibration to speak of it. */
export interface CalibratedPolicy {
  /** Undefined for the bare base model, for which there is none. */
  readonly adapterDigest: Digest | undefined;
  readonly promptVersion: string;
}

/** Beyond these a signal says no more than at them: a fit has few rows there, and a straight line would go on for ever. */
const [LOG_FLOOR, MARGIN_CEILING, LOGIT_CEILING] = [-20, 10, 10];
/** No finite sample makes certain. */
const CONFIDENCE_FLOOR = 0.001;

export function featuresOf({ sequenceLogProbability, margin = MARGIN_CEILING, openLogAllowed, abstainShare = 0, takenBackCount, sources, doubts }: PatchSignals): Features {
  const isThere = (count: number): number => (count > 0 ? 1 : 0);
  const { none, example, completed, spoken, derived, literal } = sources;
  return {
    logProbability: Math.max(LOG_FLOOR, sequenceLogProbability), margin: Math.max(-MARGIN_CEILING, Math.min(MARGIN_CEILING, margin)), openLogAllowed: Math.max(LOG_FLOOR, openLogAllowed),
    abstention: Math.max(-LOGIT_CEILING, Math.min(LOGIT_CEILING, Math.log(abstainShare / (1 - abstainShare)))),
    retried: isThere(takenBackCount), unfounded: isThere(none + example + completed), example: isThere(example), completed: isThere(completed), spoken: isThere(spoken),
    derived: isThere(derived), literal: isThere(literal), repeated: isThere(doubts.repeated),
  };
}

/** The probability that the patch is right, in [0.001, 0.999]. */
export function confidenceOf(map: ConfidenceMap, features: Features): number {
  const raw = map.kind === 'logistic'
    ? 1 / (1 + Math.exp(-FEATURES.reduce((sum, feature) => sum + map.weights[feature] * features[feature], map.intercept)))
    : interpolate(map.points, features[map.feature]);
  return Math.max(CONFIDENCE_FLOOR, Math.min(1 - CONFIDENCE_FLOOR, raw));
}

function interpolate(points: Extract<ConfidenceMap, { readonly kind: 'isotonic' }>['points'], x: number): number {
  const after = points.findIndex(([at]) => at >= x);
  if (after === -1) return points.at(-1)![1];
  const [right, level] = points[after]!;
  const [left, below] = points[after - 1] ?? [right, level];
  return right === left ? level : below + ((level - below) * (x - left)) / (right - left);
}

/** Why the calibration says nothing of this policy's answers; undefined where it does. */
export function foreignTo({ adapterDigest, promptVersion }: Calibration, policy: CalibratedPolicy): CalibrationIssue | undefined {
  if (policy.adapterDigest !== adapterDigest) return { code: 'calibration/other-adapter', expected: adapterDigest, found: policy.adapterDigest ?? null };
  if (policy.promptVersion !== promptVersion) return { code: 'calibration/other-prompt', expected: promptVersion, found: policy.promptVersion };
  return undefined;
}

/** Reads the text of a calibration file. Whose it is says {@link foreignTo}. */
export function readCalibration(text: string): Result<Calibration, CalibrationIssue> {
  const read = parseJson(text);
  if (!read.ok) return err({ code: 'calibration/not-json', issue: read.error.code });
  if (!isJsonObject(read.value)) return err({ code: 'calibration/bad-form', member: '' });
  const { version, adapterDigest, promptVersion, map, threshold, report } = read.value;
  if (typeof version !== 'string') return err({ code: 'calibration/bad-form', member: 'version' });
  if (version !== CALIBRATION_VERSION) return err({ code: 'calibration/other-version', expected: CALIBRATION_VERSION, found: version });
  if (typeof adapterDigest !== 'string' || !/^[0-9a-f]{64}$/u.test(adapterDigest)) return err({ code: 'calibration/bad-form', member: 'adapterDigest' });
  if (typeof promptVersion !== 'string') return err({ code: 'calibration/bad-form', member: 'promptVersion' });
  if (typeof threshold !== 'number' || threshold < 0 || threshold > 1) return err({ code: 'calibration/bad-form', member: 'threshold' });
  if (report === undefined || !isJsonObject(report)) return err({ code: 'calibration/bad-form', member: 'report' });
  const known = readMap(map);
  if (known === undefined) return err({ code: 'calibration/bad-form', member: 'map' });
  return ok({ version, adapterDigest: adapterDigest as Digest, promptVersion, map: known, threshold, report });
}

function readMap(map: JsonValue | undefined): ConfidenceMap | undefined {
  if (map === undefined || !isJsonObject(map)) return undefined;
  const { kind, intercept, weights, feature, points } = map;
  if (kind === 'logistic') return typeof intercept === 'number' && isFeatures(weights) ? { kind, intercept, weights } : undefined;
  const known = FEATURES.find((each) => each === feature);
  return kind === 'isotonic' && known !== undefined && areRising(points) ? { kind, feature: known, points } : undefined;
}

function isFeatures(value: JsonValue | undefined): value is Features & JsonObject {
  return value !== undefined && isJsonObject(value) && Object.keys(value).length === FEATURES.length && FEATURES.every((feature) => typeof value[feature] === 'number');
}

function areRising(points: JsonValue | undefined): points is Extract<ConfidenceMap, { readonly kind: 'isotonic' }>['points'] & JsonValue {
  if (points === undefined || !isJsonArray(points) || points.length === 0) return false;
  return points.every((point, index) => {
    if (!isJsonArray(point) || point.length !== 2) return false;
    const [at, level] = point;
    const [beforeAt, beforeLevel] = (points[index - 1] ?? [-Infinity, 0]) as readonly [number, number];
    return typeof at === 'number' && typeof level === 'number' && at > beforeAt && level >= beforeLevel && level <= 1;
  });
}
