/**
 * Rows of known right and wrong patches → the map from signals to confidence, and its threshold. Three maps are tried and the one with the lowest log loss on
 * rows that it was not fitted on is taken; threshold and figures come of such confidences too, so that no row vouches for itself. Folds keep tools together: what is asked of
 * a calibration is what it says of tools that it has not seen.
 * Reference: J. Platt 1999 (logistic maps of a score); B. Zadrozny, C. Elkan, KDD 2002 (isotonic ones).
 */
import { digestOfText, err, ok, type Result } from '@contractrl/core';
import { confidenceOf, FEATURES, type ConfidenceMap, type Feature, type Features } from '@contractrl/runtime-webgpu';
import { fitIsotonic } from './isotonic.ts';
import { fitLogistic, type Sign } from './logistic.ts';
import { areaUnderCurve, brierOf, calibrationErrorOf, logLossOf, riskCoverage, thinned, type CurvePoint, type Judged } from './metrics.ts';
import { chooseThreshold, type ChosenThreshold, type RiskRule } from './threshold.ts';

/** A patch that was dispatched. */
export interface CalibrationRow {
  /** Rows of one group are never apart: the tool's name. */
  readonly group: string;
  readonly features: Features;
  readonly isRight: boolean;
}

/** What more of a feature may do to confidence; free where it may do either. */
const SIGNS: Readonly<Record<Feature, Sign>> = {
  logProbability: 1, margin: 1, openLogAllowed: 1, abstention: -1, retried: -1, unfounded: -1, example: -1, completed: 1, spoken: 0, derived: 0,
  literal: 0, repeated: -1,
};

/** The usual prior: a weight of 1 on a feature of variance 1 is nothing special. It counts as much as a handful of rows. */
const RIDGE = 1;
const FOLD_COUNT = 5;
/** Fewer rows of a kind, and a fold may be without any. */
export const MIN_ROWS_OF_KIND = 20;

/** From the fewest parameters on: of equals the first is taken. */
export const MAP_NAMES = ['sequence', 'signals', 'isotonic'] as const;
export type MapName = (typeof MAP_NAMES)[number];

const FITS: Readonly<Record<MapName, (rows: readonly CalibrationRow[]) => ConfidenceMap>> = {
  sequence: (rows) => logisticMap(rows, ['logProbability']),
  signals: (rows) => logisticMap(rows, FEATURES),
  isotonic: (rows) => ({ kind: 'isotonic', feature: 'logProbability', points: fitIsotonic(rows.map(({ features }) => features.logProbability), rows.map(({ isRight }) => isRight)) }),
};

export interface FittedCalibration {
  readonly map: ConfidenceMap;
  readonly chosen: MapName;
  /** Undefined where no threshold keeps the rule. */
  readonly threshold: ChosenThreshold | undefined;
  readonly rowCount: number;
  readonly rightCount: number;
  /** All of confidences from outside the fit. */
  readonly figures: CalibrationFigures;
  /** Of the maps that were tried, and of no map at all: the share of right ones for every row. */
  readonly logLosses: Readonly<Record<MapName | 'constant', number>>;
  readonly curve: readonly CurvePoint[];
}

export interface CalibrationFigures {
  readonly logLoss: number;
  readonly brier: number;
  readonly calibrationError: number;
  readonly areaUnderCurve: number;
}

export type FitIssue =
  /** Both kinds are needed, each at least {@link MIN_ROWS_OF_KIND} times. */
  | { readonly code: 'calibrate/too-few-rows'; readonly right: number; readonly wrong: number; readonly needed: number }
  /** Every fold needs one. */
  | { readonly code: 'calibrate/too-few-groups'; readonly found: number; readonly needed: number };

/** Deterministic: equal rows give the same calibration. Some tenths of a second for a few hundred rows. */
export function fitCalibration(rows: readonly CalibrationRow[], rule: RiskRule): Result<FittedCalibration, FitIssue> {
  const rightCount = rows.filter(({ isRight }) => isRight).length;
  const wrong = rows.length - rightCount;
  if (Math.min(rightCount, wrong) < MIN_ROWS_OF_KIND) return err({ code: 'calibrate/too-few-rows', right: rightCount, wrong, needed: MIN_ROWS_OF_KIND });
  const groups = [...new Set(rows.map(({ group }) => group))].map((group) => ({ group, key: digestOfText(group) })).sort((a, b) => (a.key < b.key ? -1 : 1));
  if (groups.length < FOLD_COUNT) return err({ code: 'calibrate/too-few-groups', found: groups.length, needed: FOLD_COUNT });
  const foldOf = new Map(groups.map(({ group }, index) => [group, index % FOLD_COUNT]));
  const folds = rows.map(({ group }) => foldOf.get(group)!);
  const judgedBy = Object.fromEntries(MAP_NAMES.map((name) => [name, judgeAcross(rows, folds, FITS[name])])) as Record<MapName, readonly Judged[]>;
  const losses = Object.fromEntries(MAP_NAMES.map((name) => [name, logLossOf(judgedBy[name])])) as Record<MapName, number>;
  const chosen = MAP_NAMES.reduce((best, name) => (losses[name] < losses[best] ? name : best));
  const judged = judgedBy[chosen];
  const share = rightCount / rows.length;
  return ok({
    map: FITS[chosen](rows), chosen, threshold: chooseThreshold(judged, rule), rowCount: rows.length, rightCount,
    figures: { logLoss: losses[chosen], brier: brierOf(judged), calibrationError: calibrationErrorOf(judged), areaUnderCurve: areaUnderCurve(judged)! },
    logLosses: { constant: logLossOf(rows.map(({ isRight }) => ({ confidence: share, isRight }))), ...losses }, curve: thinned(riskCoverage(judged)),
  });
}

/** Every row judged by a map of the other folds. */
function judgeAcross(rows: readonly CalibrationRow[], folds: readonly number[], fit: (rows: readonly CalibrationRow[]) => ConfidenceMap): readonly Judged[] {
  const maps = Array.from({ length: FOLD_COUNT }, (_, fold) => fit(rows.filter((_row, index) => folds[index] !== fold)));
  return rows.map(({ features, isRight }, index) => ({ confidence: confidenceOf(maps[folds[index]!]!, features), isRight }));
}

function logisticMap(rows: readonly CalibrationRow[], features: readonly Feature[]): ConfidenceMap {
  const { intercept, weights } = fitLogistic(
    rows.map((row) => features.map((feature) => row.features[feature])), rows.map(({ isRight }) => isRight), { signs: features.map((feature) => SIGNS[feature]), ridge: RIDGE },
  );
  return { kind: 'logistic', intercept, weights: Object.fromEntries(FEATURES.map((feature) => [feature, weights[features.indexOf(feature)] ?? 0])) as Features };
}
