/** The few statistics that a report needs: a binomial interval and empirical quantiles. */

/** Standard normal quantile of 0.975: two-sided 95 %. */
const Z = 1.959963984540054;

export interface Rate {
  readonly count: number;
  readonly n: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Rate with its Wilson score interval, 95 %. It holds at 0 and n, where the normal approximation collapses to a point.
 * Reference: Wilson 1927; Brown, Cai, DasGupta 2001 §3.1.1. Throws a RangeError unless 0 ≤ count ≤ n and n > 0.
 */
export function wilson(count: number, n: number): Rate {
  if (!(n > 0 && count >= 0 && count <= n)) throw new RangeError(`count ${String(count)} of n ${String(n)}`);
  const share = count / n;
  const centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n);
  const half = (Z / (1 + Z * Z / n)) * Math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));
  return { count, n, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

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
