/**
 * Seeded choices. A stream is named by a seed and a text, so that what is drawn for one example does not depend on the examples before it: the same
 * seed gives the same bytes, whatever was left out in between.
 */
import { digestOfText } from '@contractrl/core';
import { createRandom } from '@contractrl/runtime-webgpu';

export interface Random {
  /** Whole, from 0 to `bound` − 1. */
  whole(bound: number): number;
  chance(probability: number): boolean;
  pick<const Items extends readonly [unknown, ...unknown[]]>(items: Items): Items[number];
  /** Undefined where there is none. */
  pickAny<T>(items: readonly T[]): T | undefined;
  /** A copy in another order (Fisher and Yates). */
  shuffled<T>(items: readonly T[]): T[];
}

/** The stream of choices for `name` under `seed`, any two numbers and texts apart from each other. */
export function openRandom(seed: number, name: string): Random {
  const next = createRandom(Number.parseInt(digestOfText(`${String(seed)}:${name}`).slice(0, 8), 16));
  const whole = (bound: number): number => Math.floor(next() * bound);
  return {
    whole,
    chance: (probability) => next() < probability,
    pick: (items) => items[whole(items.length)]!,
    pickAny: (items) => items[whole(items.length)],
    shuffled(items) {
      const copy = [...items];
      for (let last = copy.length - 1; last > 0; last -= 1) {
        const other = whole(last + 1);
        [copy[last], copy[other]] = [copy[other]!, copy[last]!];
      }
      return copy;
    },
  };
}
