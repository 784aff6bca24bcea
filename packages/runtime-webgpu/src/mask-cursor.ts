/**
 * The mask's side of decoding, without an engine: what comes without a question, where a decision is and between which ids, and what is taken back.
 * Everything here follows from the tokens alone, so that a replay asks the masks that decoding asked and comes to the same digest. Beside the
 * contract's own mask a narrower one may run in lock-step, which admits values of public provenance only, until the model is seen to want others.
 */
import { digestOf, err, ok, type MaskTrail, type Result } from '@contractrl/core';
import type { MaskMatcher, MatcherFailure, TokenId, Verdict } from '@contractrl/grammar-mask';

/** Up to this many allowed ids their logits alone are computed; above it, all of them: a string's 48,000 ids are most of the vocabulary. */
export const SPARSE_LIMIT = 1024;

/** Further values after one with which a patch missed its goal. */
const MAX_GOAL_RETRIES = 2;

export interface CursorOptions {
  /** Off, every token is a decision of its own. */
  readonly jumpForward: boolean;
  /** Bound to the same state under the same rules; allows no token that the contract's own mask refuses. */
  readonly closed?: MaskMatcher | undefined;
}

/** Ids in ascending order; only the first `count` entries count. Valid until the cursor moves. */
export interface IdList {
  readonly ids: Int32Array;
  readonly count: number;
}

export type Move =
  | { readonly kind: 'ended' }
  /** Every patch tried closed without making the call valid. */
  | { readonly kind: 'goal-unreachable' }
  /** The last `count` tokens of the output are no longer part of it. */
  | { readonly kind: 'taken-back'; readonly count: number }
  /** Accepted already: the contract leaves nothing else. */
  | { readonly kind: 'forced'; readonly ids: readonly TokenId[] }
  /** `wider`: where the closed mask is narrower than the contract's own, all ids that the latter allows. */
  | { readonly kind: 'decision'; readonly allowed: IdList; readonly wider: IdList | undefined };

export class MaskCursor {
  readonly #free: MaskMatcher;
  readonly #jumpForward: boolean;
  readonly #closed: MaskMatcher | undefined;
  readonly #lists: readonly [AllowedIds, AllowedIds];
  readonly #trail: TokenId[] = [];
  /** Tokens written when the closed mask was left; undefined while it is in use. */
  #leftAt: number | undefined;
  /** Since the masks last agreed, the model was asked and stayed in the closed one: its forced runs may be taken. */
  #isVetted = false;
  #goalRetriesLeft = MAX_GOAL_RETRIES;

  constructor(free: MaskMatcher, { jumpForward, closed }: CursorOptions) {
    this.#free = free;
    this.#jumpForward = jumpForward;
    this.#closed = closed;
    this.#lists = [new AllowedIds(free.logitWidth), new AllowedIds(free.logitWidth)];
  }

  /** Goes on to the next decision or event; writes at most `room` forced tokens. */
  advance(room: number): Result<Move, MatcherFailure> {
    if (this.#free.isTerminated()) return ok({ kind: 'ended' });
    if (this.#free.isGoalMiss()) return ok(this.#takeBack());
    if (this.#inUse()?.isGoalMiss() === true) this.leaveClosed();

    const run = this.#jumpForward ? this.#forced().slice(0, room) : [];
    if (run.length > 0) {
      for (const id of run) {
        const accepted = this.choose(id);
        if (!accepted.ok) return accepted;
      }
      return ok({ kind: 'forced', ids: run });
    }
    const [freeList, closedList] = this.#lists;
    const own = freeList.read(this.#free);
    const closed = this.#inUse();
    const narrow = closed === undefined ? undefined : closedList.read(closed);
    // a mask that began has an end within its budget, save where a goal turned down what was to be that end
    if (own.count === 0) return this.#trail.length > 0 ? ok({ kind: 'goal-unreachable' }) : err({ code: 'mask/empty' });
    if (narrow?.count === 0) this.leaveClosed();
    else if (narrow !== undefined && narrow.count < own.count) return ok({ kind: 'decision', allowed: narrow, wider: own });
    this.#isVetted = false;
    return ok({ kind: 'decision', allowed: own, wider: undefined });
  }

  /** The model was asked between the two masks and stays in the closed one. */
  stayClosed(): void {
    this.#isVetted = true;
  }

  /** The closed mask does not count any more for the rest of this output. */
  leaveClosed(): void {
    this.#leftAt = this.#trail.length;
  }

  choose(id: TokenId): Result<void, MatcherFailure> {
    const accepted = this.#free.acceptToken(id);
    if (!accepted.ok) return accepted;
    if (this.#inUse()?.acceptToken(id).ok === false) this.leaveClosed();
    this.#trail.push(id);
    return accepted;
  }

  /** By the mask in use. */
  explain(id: TokenId): Verdict {
    return (this.#inUse() ?? this.#free).explain(id);
  }

  /** The first character of an output that begins with `id`, which is allowed here. Nothing must be written yet. */
  firstCharacter(id: TokenId): string {
    const accepted = this.#free.acceptToken(id);
    const text = this.#free.text();
    this.#free.rollback(accepted.ok ? 1 : 0);
    return text.slice(0, 1);
  }

  text(): string {
    return this.#free.text();
  }

  isTerminated(): boolean {
    return this.#free.isTerminated();
  }

  trail(): MaskTrail {
    return { ids: [...this.#trail], closedCount: this.#closed === undefined ? null : (this.#leftAt ?? this.#trail.length) };
  }

  /** As {@link MaskMatcher.maskDigest}; of both masks and of the place where the closed one was left, where there is one. */
  maskDigest(): string {
    const free = this.#free.maskDigest();
    return this.#closed === undefined ? free : digestOf({ free, closed: this.#closed.maskDigest(), closedCount: this.trail().closedCount });
  }

  /** Whether an output that ends here has this digest. Where nothing led on, the mask was asked once more than there are tokens, and the digest knows that. Nothing can be written after the question. */
  endsAs(maskDigest: string | undefined): boolean {
    if (this.maskDigest() === maskDigest) return true;
    const moved = this.advance(1);
    return moved.ok && moved.value.kind === 'goal-unreachable' && this.maskDigest() === maskDigest;
  }

  /** The closed mask, until it is left. */
  #inUse(): MaskMatcher | undefined {
    return this.#leftAt === undefined ? this.#closed : undefined;
  }

  #forced(): readonly TokenId[] {
    const run = this.#lists[0].forced(this.#free);
    const closed = this.#inUse();
    return run.length > 0 || closed === undefined || !this.#isVetted ? run : this.#lists[1].forced(closed);
  }

  #takeBack(): Move {
    if (this.#goalRetriesLeft === 0) return { kind: 'goal-unreachable' };
    this.#goalRetriesLeft -= 1;
    const own = this.#free.banMiss();
    // what misses under the contract's own mask misses under a narrower one, which may go back further
    const closed = this.#inUse();
    const narrow = closed?.isGoalMiss() === true ? closed.banMiss() : 0;
    const count = Math.max(own, narrow);
    this.#free.rollback(count - own);
    closed?.rollback(count - narrow);
    this.#isVetted = false;
    return { kind: 'taken-back', count };
  }
}

/** Buffers for the allowed ids of one matcher; the full-width ones are made when a state first needs them. */
export class AllowedIds {
  readonly #single = new Int32Array(1);
  readonly #width: number;
  readonly #few: Int32Array;
  #all: Int32Array | undefined;
  #bitmask: Int32Array | undefined;

  constructor(logitWidth: number) {
    this.#width = logitWidth;
    this.#few = new Int32Array(Math.min(SPARSE_LIMIT, logitWidth));
  }

  read(matcher: MaskMatcher): IdList {
    const count = matcher.allowedIds(this.#few);
    if (count !== -1) return { ids: this.#few, count };
    this.#all ??= new Int32Array(this.#width);
    this.#bitmask ??= new Int32Array(Math.ceil(this.#width / 32));
    matcher.fillBitmask(this.#bitmask);
    return { ids: this.#all, count: unpack(this.#bitmask, this.#width, this.#all) };
  }

  /** Tokens that need no logits: a forced run, or the only id that is allowed. */
  forced(matcher: MaskMatcher): readonly TokenId[] {
    const run = matcher.forcedTokens();
    if (run.length > 0) return run;
    return matcher.allowedIds(this.#single) === 1 ? [this.#single[0]!] : [];
  }
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
