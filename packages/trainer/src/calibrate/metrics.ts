/**
 * How good confidences are: whether they are the shares they claim to be (calibration error, Brier score, log loss), whether they tell right from wrong (area
 * under the curve), and what releasing by them costs and saves (risk against coverage).
 * Reference: M. Naeini, G. Cooper, M. Hauskrecht, AAAI 2015 (calibration error); R. El-Yaniv, Y. Wiener, JMLR 11, 2010 (risk and coverage).
 */
export interface Judged {
  /** In (0, 1). */
  readonly confidence: number;
  readonly isRight: boolean;
}

const BIN_COUNT = 10;
const CURVE_POINT_COUNT = 40;

export function logLossOf(rows: readonly Judged[]): number {
  return mean(rows.map(({ confidence, isRight }) => -Math.log(isRight ? confidence : 1 - confidence)));
}

export function brierOf(rows: readonly Judged[]): number {
  return mean(rows.map(({ confidence, isRight }) => (confidence - (isRight ? 1 : 0)) ** 2));
}

/** The mean gap between confidence and share of right ones, over ten bins of as many rows each. */
export function calibrationErrorOf(rows: readonly Judged[]): number {
  const sorted = [...rows].sort((a, b) => a.confidence - b.confidence);
  const gaps = Array.from({ length: BIN_COUNT }, (_, bin) => {
    const inside = sorted.slice(Math.floor((bin * sorted.length) / BIN_COUNT), Math.floor(((bin + 1) * sorted.length) / BIN_COUNT));
    return inside.length === 0 ? 0 : inside.length * Math.abs(mean(inside.map(({ confidence }) => confidence)) - mean(inside.map(({ isRight }) => (isRight ? 1 : 0))));
  });
  return gaps.reduce((sum, gap) => sum + gap, 0) / rows.length;
}

/** The chance that a right one has more confidence than a wrong one, ties being halves; undefined where one kind is missing. O(n log n). */
export function areaUnderCurve(rows: readonly Judged[]): number | undefined {
  const sorted = [...rows].sort((a, b) => a.confidence - b.confidence);
  const right = rows.filter(({ isRight }) => isRight).length;
  const wrong = rows.length - right;
  if (right === 0 || wrong === 0) return undefined;
  let rankSum = 0;
  for (let from = 0; from < sorted.length;) {
    let to = from;
    while (to < sorted.length && sorted[to]!.confidence === sorted[from]!.confidence) to += 1;
    // ranks count from 1; those of equals are their mean
    rankSum += ((from + 1 + to) / 2) * sorted.slice(from, to).filter(({ isRight }) => isRight).length;
    from = to;
  }
  return (rankSum - (right * (right + 1)) / 2) / (right * wrong);
}

/** What a threshold lets through. */
export interface CurvePoint {
  readonly threshold: number;
  readonly released: number;
  readonly wrong: number;
  /** Released, of all. */
  readonly coverage: number;
  /** Wrong, of the released. */
  readonly risk: number;
}

/** By falling threshold, one point for each confidence that occurs: rows at the threshold are released. */
export function riskCoverage(rows: readonly Judged[]): readonly CurvePoint[] {
  const sorted = [...rows].sort((a, b) => b.confidence - a.confidence);
  let wrong = 0;
  return sorted.flatMap(({ confidence, isRight }, index) => {
    wrong += isRight ? 0 : 1;
    const released = index + 1;
    return sorted[released]?.confidence === confidence ? [] : [{ threshold: confidence, released, wrong, coverage: released / rows.length, risk: wrong / released }];
  });
}

/** At most 40 points, the first and the last among them, evenly spaced. */
export function thinned(curve: readonly CurvePoint[]): readonly CurvePoint[] {
  const count = Math.min(CURVE_POINT_COUNT, curve.length);
  return Array.from({ length: count }, (_, index) => curve[count === 1 ? 0 : Math.round((index * (curve.length - 1)) / (count - 1))]!);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
