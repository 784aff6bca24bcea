/**
 * The release rule's threshold: the smallest at which the share of wrong ones among the released is, by an exact bound on what the sample can show, at most
 * a given one. Chosen on the validation side, before anything held out is seen.
 * Reference: C. Clopper, E. Pearson, The Use of Confidence or Fiducial Limits, Biometrika 26(4), 1934.
 */
import { riskCoverage, type CurvePoint, type Judged } from './metrics.ts';

export interface RiskRule {
  /** The share of wrong ones among the released, in (0, 1). */
  readonly alpha: number;
  /** That the bound holds, at one threshold, in (0, 1). */
  readonly level: number;
}

export interface ChosenThreshold extends CurvePoint {
  /** On the share of wrong ones. */
  readonly upperBound: number;
}

/** Undefined where no threshold keeps the rule: nothing may be released then. */
export function chooseThreshold(rows: readonly Judged[], { alpha, level }: RiskRule): ChosenThreshold | undefined {
  return riskCoverage(rows).map((point) => ({ ...point, upperBound: upperBoundOf(point.wrong, point.released, level) })).findLast(({ upperBound }) => upperBound <= alpha);
}

/** The one-sided exact upper bound on a share of which `count` of `n` were seen: at it, so few would be seen with probability 1 − `level`. */
export function upperBoundOf(count: number, n: number, level: number): number {
  if (!(Number.isInteger(count) && Number.isInteger(n) && count >= 0 && count <= n && n > 0)) throw new RangeError(`count ${count} of n ${n}`);
  if (count === n) return 1;
  let [low, high] = [count / n, 1];
  // sixty halvings are beyond a double's digits
  for (let step = 0; step < 60; step += 1) {
    const share = (low + high) / 2;
    if (atMost(count, n, share) > 1 - level) low = share;
    else high = share;
  }
  return high;
}

/** P(X ≤ count) for X of the binomial distribution. */
function atMost(count: number, n: number, share: number): number {
  let logCombinations = 0;
  let sum = 0;
  for (let k = 0; k <= count; k += 1) {
    if (k > 0) logCombinations += Math.log((n - k + 1) / k);
    sum += Math.exp(logCombinations + k * Math.log(share) + (n - k) * Math.log1p(-share));
  }
  return sum;
}
