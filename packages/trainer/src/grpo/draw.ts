/**
 * Which examples a step asks about. What is always solved, or never, teaches nothing, so examples are drawn by p · (1 − p) of how often they were
 * solved so far, those that were never asked among the first; no example is drawn twice in a step.
 */
import type { Random } from '../random.ts';

/** Keeps every example in the draw: what was solved once may be unlearnt. */
const LEAST_WEIGHT = 0.02;
const UNIT = 2 ** 32;

export class SuccessRecord {
  readonly #counts = new Map<string, { readonly solved: number; readonly asked: number }>();

  add(id: string, solved: number, asked: number): void {
    const known = this.#counts.get(id) ?? { solved: 0, asked: 0 };
    this.#counts.set(id, { solved: known.solved + solved, asked: known.asked + asked });
  }

  /** Mean of the posterior over a uniform prior. */
  estimate(id: string): number {
    const { solved, asked } = this.#counts.get(id) ?? { solved: 0, asked: 0 };
    return (solved + 1) / (asked + 2);
  }

  weight(id: string): number {
    const p = this.estimate(id);
    return p * (1 - p) + LEAST_WEIGHT;
  }
}

/** Up to `count` different items, by weight; fewer where there are fewer. O(count × items). */
export function drawWeighted<T>(items: readonly T[], count: number, weightOf: (item: T) => number, random: Random): readonly T[] {
  const pool = items.map((item) => ({ item, weight: weightOf(item) }));
  const drawn: T[] = [];
  while (drawn.length < count && pool.length > 0) {
    const total = pool.reduce((sum, { weight }) => sum + weight, 0);
    let left = (random.whole(UNIT) / UNIT) * total;
    const found = pool.findIndex(({ weight }) => (left -= weight) < 0);
    drawn.push(...pool.splice(found === -1 ? pool.length - 1 : found, 1).map(({ item }) => item));
  }
  return drawn;
}
