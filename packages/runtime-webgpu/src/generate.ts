/**
 * The decode loop, the same for every engine: the matcher says what may come, the engine how likely it is. Runs that the contract forces go to
 * the engine as one chunk together with the token sampled before them (jump-forward), so it is asked for logits at decisions only.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { MaskMatcher, MatcherFailure, TokenId } from '@contractrl/grammar-mask';
import type { Engine, EngineFailure, EngineStep } from './engine.ts';
import { logSumExp, type Sampler } from './sampling.ts';

/** Milliseconds from any fixed point; injected so that the loop itself has no clock. */
export type Clock = () => number;

/** Up to this many allowed ids their logits alone are computed; above it, all of them: a string's 48,000 ids are most of the vocabulary. */
const SPARSE_LIMIT = 1024;

/** Logits further below the highest than this add at most 0.08 % to the mass, all 49,152 of them together. */
const MASS_CUT = 18;

/** Further values after one with which a patch missed its goal. */
const MAX_GOAL_RETRIES = 2;

export interface GenerateOptions {
  readonly sampler: Sampler;
  readonly clock: Clock;
  /** Tokens of output, stop token included, before generation ends as `incomplete`. */
  readonly maxTokens: number;
  /** Default true. Off, every token is a decision of its own; greedy output is the same bytes. */
  readonly jumpForward?: boolean;
  /** Default false. Computes all logits at every decision for {@link Generation.allowedMass}. */
  readonly reportAllowedMass?: boolean;
  readonly signal?: AbortSignal;
}

export interface Generation {
  /**
   * `incomplete`: the token budget ended before the output did. `goal-unreachable`: every patch tried closed without making the call valid;
   * `text` is the last of them, not closed.
   */
  readonly kind: 'complete' | 'incomplete' | 'goal-unreachable';
  readonly text: string;
  readonly ids: readonly TokenId[];
  /** All output tokens, stop token and forced tokens included, and those that were taken back. */
  readonly generatedTokenCount: number;
  /** Output tokens that were never sampled: the contract left no other. */
  readonly forcedTokenCount: number;
  /** Σ log p(token | allowed ids) over the decisions that were not taken back; a forced token adds 0. */
  readonly sequenceLogProbability: number;
  /** At each decision, the probability that the unmasked model gives to the allowed ids; undefined where not asked for. */
  readonly allowedMass: readonly number[] | undefined;
  readonly maskDigest: string;
  readonly decodeMs: number;
  readonly maskMs: number;
}

export type GenerateFailure = EngineFailure | MatcherFailure;

/** Decodes from `start`, the engine's step over the prompt, until the matcher has consumed a stop token or `maxTokens` are out. */
export async function generate(engine: Engine, matcher: MaskMatcher, start: EngineStep, options: GenerateOptions): Promise<Result<Generation, GenerateFailure>> {
  if (matcher.logitWidth !== engine.logitWidth) {
    throw new RangeError(`matcher.logitWidth ${matcher.logitWidth} is not engine.logitWidth ${engine.logitWidth}`);
  }
  const { sampler, clock, maxTokens, jumpForward = true, reportAllowedMass = false, signal } = options;
  const scorer = createScorer(engine, matcher, reportAllowedMass);
  const ids: TokenId[] = [];
  const allowedMass: number[] = [];
  let step = start;
  /** Tokens of the output that the engine has not seen yet. */
  let pending: TokenId[] = [];
  let forcedTokenCount = 0;
  let takenBackCount = 0;
  let goalRetriesLeft = MAX_GOAL_RETRIES;
  let isGoalUnreachable = false;
  /** By output token. */
  const logProbabilities: number[] = [];
  let maskMs = 0;
  const startedAt = clock();

  function masked<T>(work: () => T): T {
    const from = clock();
    const result = work();
    maskMs += clock() - from;
    return result;
  }

  while (!matcher.isTerminated() && ids.length < maxTokens) {
    if (signal?.aborted === true) return err({ code: 'engine/aborted' });
    if (matcher.isGoalMiss()) {
      isGoalUnreachable = goalRetriesLeft === 0;
      if (isGoalUnreachable) break;
      goalRetriesLeft -= 1;
      const count = masked(() => matcher.banMiss());
      takenBackCount += count;
      ids.length -= count;
      logProbabilities.length = ids.length;
      // caches of earlier steps are not kept, each holds the whole prompt: what remains of the output is one chunk
      step = start;
      pending = [...ids];
      continue;
    }
    const forced = jumpForward ? masked(() => scorer.findForced()).slice(0, maxTokens - ids.length) : [];
    if (forced.length > 0) {
      const accepted = masked(() => acceptAll(matcher, forced));
      if (!accepted.ok) return accepted;
      ids.push(...forced);
      logProbabilities.push(...forced.map(() => 0));
      pending.push(...forced);
      forcedTokenCount += forced.length;
      continue;
    }
    const count = masked(() => scorer.findAllowed());
    if (count === 0) return err({ code: 'mask/empty' });
    if (pending.length > 0) {
      const extended = await engine.extend(step.cache, pending, signal);
      if (!extended.ok) return extended;
      step = extended.value;
      pending = [];
    }
    const mass = scorer.score(step.hidden);
    if (mass !== undefined) allowedMass.push(mass);
    const choice = sampler.choose(scorer.ids, scorer.logits, count);
    if (!choice.ok) return choice;
    const accepted = masked(() => matcher.acceptToken(choice.value.id));
    if (!accepted.ok) return accepted;
    ids.push(choice.value.id);
    pending.push(choice.value.id);
    logProbabilities.push(choice.value.logProbability);
  }

  return ok({
    kind: isGoalUnreachable ? 'goal-unreachable' : matcher.isTerminated() ? 'complete' : 'incomplete',
    text: matcher.text(),
    ids,
    generatedTokenCount: ids.length + takenBackCount,
    forcedTokenCount,
    sequenceLogProbability: logProbabilities.reduce((sum, each) => sum + each, 0),
    allowedMass: reportAllowedMass ? allowedMass : undefined,
    maskDigest: matcher.maskDigest(),
    decodeMs: clock() - startedAt - maskMs,
    maskMs,
  });
}

function acceptAll(matcher: MaskMatcher, ids: readonly TokenId[]): Result<void, MatcherFailure> {
  for (const id of ids) {
    const accepted = matcher.acceptToken(id);
    if (!accepted.ok) return accepted;
  }
  return ok(undefined);
}

interface Scorer {
  /** The allowed ids of the current decision, ascending, and after `score` their logits; only the first `count` entries count. */
  readonly ids: Int32Array;
  readonly logits: Float32Array;
  /** Tokens that need no logits: a forced run, or the only id that is allowed. */
  findForced(): readonly TokenId[];
  /** Reads the mask; returns the count. */
  findAllowed(): number;
  /** Reads the logits; returns the allowed mass where it is wanted. */
  score(hidden: Float32Array): number | undefined;
}

/** Buffers for one generation; the full-width ones are made when a decision first needs them. */
function createScorer(engine: Engine, matcher: MaskMatcher, reportAllowedMass: boolean): Scorer {
  const width = engine.logitWidth;
  const ids = new Int32Array(width);
  const logits = new Float32Array(width);
  const single = new Int32Array(1);
  const sparseIds = ids.subarray(0, Math.min(SPARSE_LIMIT, width));
  const full: { bitmask?: Int32Array; logits?: Float32Array } = {};
  let count = 0;
  return {
    ids,
    logits,
    findForced() {
      const run = matcher.forcedTokens();
      if (run.length > 0) return run;
      return matcher.allowedIds(single) === 1 ? [single[0]!] : [];
    },
    findAllowed() {
      count = matcher.allowedIds(sparseIds);
      if (count !== -1) return count;
      full.bitmask ??= new Int32Array(Math.ceil(width / 32));
      matcher.fillBitmask(full.bitmask);
      count = unpack(full.bitmask, width, ids);
      return count;
    },
    score(hidden) {
      const dense = reportAllowedMass || count > sparseIds.length;
      if (!dense) {
        engine.logitsOf(hidden, ids.subarray(0, count), logits);
        return undefined;
      }
      full.logits ??= new Float32Array(width);
      engine.allLogits(hidden, full.logits);
      for (let index = 0; index < count; index += 1) logits[index] = full.logits[ids[index]!]!;
      return reportAllowedMass ? Math.exp(logSumExp(logits, count, MASS_CUT) - logSumExp(full.logits, width, MASS_CUT)) : undefined;
    },
  };
}

/** Writes the set bits below `width` as ascending ids; returns their count. Whole words of zeros cost one test. */
function unpack(bitmask: Int32Array, width: number, ids: Int32Array): number {
  let count = 0;
  for (let word = 0; word < bitmask.length; word += 1) {
    let bits = bitmask[word]!;
    while (bits !== 0) {
      const bit = 31 - Math.clz32(bits & -bits);
      const id = word * 32 + bit;
      if (id < width) ids[count++] = id;
      bits &= bits - 1;
    }
  }
  return count;
}
