/** Rates with their intervals, for whoever reports what a policy does. */

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
