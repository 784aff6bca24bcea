/**
 * Choosing one token among those the mask allows. The mask comes first: temperature and top-p only ever see allowed ids, as pairs
 * (id, logit), so no shaping can bring a forbidden token back. Greedy ties go to the lowest id; sampling repeats from its seed.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { EngineFailure } from './engine.ts';

export type Sampling =
  | { readonly kind: 'greedy' }
  /** `temperature` > 0; `topP` in (0, 1], 1 keeps all; `seed` is an integer in [0, 2^32). */
  | { readonly kind: 'random'; readonly temperature: number; readonly topP: number; readonly seed: number };

export interface Choice {
  readonly id: TokenId;
  /** Natural logarithm of the id's probability among the allowed ids at temperature 1. */
  readonly logProbability: number;
  /** How far its logit is above the highest of the others, below zero where a better one was passed over; Infinity where it was alone. */
  readonly margin: number;
  /** log Σ exp(logit) over the allowed ids. */
  readonly logTotal: number;
}

export interface Sampler {
  /** Chooses among `ids[0..count)`, ascending, with their `logits`. Fails with `engine/bad-logits` on a NaN, a +Infinity or nothing finite. */
  choose(ids: Int32Array, logits: Float32Array, count: number): Result<Choice, EngineFailure>;
}

/** Throws `RangeError` for a temperature, top-p or seed out of range. */
export function createSampler(sampling: Sampling): Sampler {
  if (sampling.kind === 'greedy') return { choose: (ids, logits, count) => chooseWith(ids, logits, count, (best) => best) };
  const { temperature, topP, seed } = sampling;
  if (!(temperature > 0 && Number.isFinite(temperature))) throw new RangeError(`temperature must be a positive number, got ${temperature}`);
  if (!(topP > 0 && topP <= 1)) throw new RangeError(`topP must lie in (0, 1], got ${topP}`);
  const random = createRandom(seed);
  return {
    choose: (ids, logits, count) =>
      chooseWith(ids, logits, count, (best) => {
        const weights = new Float64Array(count);
        const top = logits[best]!;
        for (let index = 0; index < count; index += 1) weights[index] = Math.exp((logits[index]! - top) / temperature);
        return draw(topP < 1 ? nucleus(weights, topP) : weights, random());
      }),
  };
}

/**
 * Uniform numbers in [0, 1): mulberry32 (Tommy Ettinger, public domain), a 32-bit counter with a mixing step, period 2^32.
 * Enough for a few hundred draws a repair, and the same in every runtime, which `Math.random` is not.
 */
export function createRandom(seed: number): () => number {
  if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32) throw new RangeError(`seed must be an integer in [0, 2^32), got ${seed}`);
  let counter = seed;
  return () => {
    counter = (counter + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(counter ^ (counter >>> 15), counter | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * log Σ exp(logit) over the first `count` logits; −Infinity where none is finite, NaN where one is NaN. Logits more than `cut` below the highest
 * count as none: over a whole vocabulary, nearly all exponentials are of such.
 */
export function logSumExp(logits: Float32Array, count: number, cut: number = Infinity): number {
  let top = -Infinity;
  for (let index = 0; index < count; index += 1) {
    const logit = logits[index]!;
    // nothing is greater than a NaN, so one stays
    if (logit > top || Number.isNaN(logit)) top = logit;
  }
  if (!Number.isFinite(top)) return top;
  let sum = 0;
  for (let index = 0; index < count; index += 1) {
    const below = logits[index]! - top;
    if (!(below < -cut)) sum += Math.exp(below);
  }
  return top + Math.log(sum);
}

function chooseWith(ids: Int32Array, logits: Float32Array, count: number, pick: (best: number) => number): Result<Choice, EngineFailure> {
  const total = logSumExp(logits, count);
  if (!Number.isFinite(total)) return err({ code: 'engine/bad-logits' });
  let best = 0;
  let second = -Infinity;
  for (let index = 1; index < count; index += 1) {
    const logit = logits[index]!;
    if (logit > logits[best]!) {
      second = logits[best]!;
      best = index;
    } else if (logit > second) {
      second = logit;
    }
  }
  const chosen = pick(best);
  return ok({ id: ids[chosen]!, logProbability: logits[chosen]! - total, margin: logits[chosen]! - (chosen === best ? second : logits[best]!), logTotal: total });
}

/** Zeroes all but the smallest set of largest weights whose share reaches `topP`; equal weights enter by index. */
function nucleus(weights: Float64Array, topP: number): Float64Array {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  // All weights below this sum to less than 1 − topP, so none of them is needed; it spares sorting a whole vocabulary.
  const floor = (total * (1 - topP)) / weights.length;
  const order = Array.from(weights.keys()).filter((index) => weights[index]! >= floor).sort((a, b) => weights[b]! - weights[a]! || a - b);
  const kept = new Float64Array(weights.length);
  let mass = 0;
  for (const index of order) {
    kept[index] = weights[index]!;
    mass += weights[index]!;
    if (mass >= topP * total) break;
  }
  return kept;
}

/** The index that holds the point `share` ∈ [0, 1) of the weights laid end to end; never one of weight 0. */
function draw(weights: Float64Array, share: number): number {
  let left = share * weights.reduce((sum, weight) => sum + weight, 0);
  let last = 0;
  for (let index = 0; index < weights.length; index += 1) {
    const weight = weights[index]!;
    if (weight === 0) continue;
    last = index;
    left -= weight;
    if (left < 0) break;
  }
  return last;
}
