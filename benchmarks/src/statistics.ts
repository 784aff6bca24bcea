/** The few statistics that a report needs: intervals of rates and of means, empirical quantiles, a paired test, and pass^k. */
import { createWholeRandom } from './core/random.ts';

export { wilson, type Rate } from '@contractrl/trainer';

/** Nearest-rank quantile: the smallest value with at least `share` of all values at or below it. Undefined for no values. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Two-sided exact paired test (McNemar): the probability, if both outcomes of a discordant pair were equally likely, of a split at
 * least as uneven as `first` against `second`. 1 where there is no discordant pair.
 */
export function exactPairedTest(first: number, second: number): number {
  const n = first + second;
  const smaller = Math.min(first, second);
  let term = 0.5 ** n;
  let tail = 0;
  for (let k = 0; k <= smaller; k += 1) {
    tail += term;
    term *= (n - k) / (k + 1);
  }
  return Math.min(1, 2 * tail);
}

/** Resamples of a bootstrap, and its seed: a report is the same text each time it is rendered. */
const RESAMPLES = 1000;
const BOOTSTRAP_SEED = 13;

export interface Mean {
  readonly mean: number;
  readonly n: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Mean with its percentile bootstrap interval, 95 %: `values` are the units that are drawn anew, such as cases, or tasks of several runs each.
 * Undefined for no values. O(n × resamples). Reference: Efron and Tibshirani 1993 §13.3.
 */
export function bootstrapMean(values: readonly number[]): Mean | undefined {
  const all = mean(values);
  if (all === undefined) return undefined;
  const n = values.length;
  const draw = createWholeRandom(BOOTSTRAP_SEED);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let index = 0; index < n; index += 1) sum += values[draw(n)] as number;
    return sum / n;
  });
  return { mean: all, n, low: quantile(means, 0.025) as number, high: quantile(means, 0.975) as number };
}

/**
 * pass^k of one task: the share of the ways to draw `k` of its `runs` in which all succeed, C(successes, k) / C(runs, k). Unbiased, which
 * (successes / runs)^k is not. Throws a RangeError unless 1 ≤ k ≤ runs and 0 ≤ successes ≤ runs. Reference: Yao et al. 2024 (tau-bench) §4.
 */
export function passHatK(successes: number, runs: number, k: number): number {
  if (!(k >= 1 && k <= runs && successes >= 0 && successes <= runs)) throw new RangeError(`k ${String(k)} of ${String(successes)} in ${String(runs)} runs`);
  let share = 1;
  for (let drawn = 0; drawn < k; drawn += 1) share *= Math.max(0, successes - drawn) / (runs - drawn);
  return share;
}
