/** The mask at decode time: one matcher per attempt, bound to the live state of a repair. */
import { digestOf, err, ok, type JsonObject, type Result } from '@contractrl/core';
import { fromUtf8, toUtf8 } from '../bytes.ts';
import type { Ban, ByteGrammar, ClosedOperation } from '../grammar/operation-grammar.ts';
import { CLOSE_BRACKET, COMMA } from '../grammar/position.ts';
import { CLOSED, END } from '../grammar/value-automaton.ts';
import type { TokenId } from '../vocab/vocabulary.ts';
import { clauseAgainst, type MaskClause, type Verdict } from './explain.ts';
import { forcedRunFrom, safeTokens, type SpellingParts } from './forced-run.ts';
import type { MaskWalk } from './mask-walk.ts';
import { bytesBetween, canStopOnly, firstStep, mayStop, NO_BYTES, stepAfter, type Step } from './step.ts';
import { allowedIdsOf, bitmaskLength } from './token-bitmask.ts';

export type MatcherFailure =
  | { readonly code: 'mask/token-not-allowed'; readonly id: TokenId; readonly reason: string }
  | { readonly code: 'mask/empty' }
  /** The last operation cannot end in a valid call, and none is left to follow it. */
  | { readonly code: 'mask/goal-miss' }
  | { readonly code: 'mask/terminated' }
  | { readonly code: 'mask/failed' };

export interface MaskMatcher {
  readonly logitWidth: number;
  /** Fills `bitmask` [ceil(logitWidth / 32)], bit `id & 31` of word `id >> 5`, 1 = allowed. Caller owns the buffer. Returns the count. */
  fillBitmask(bitmask: Int32Array): number;
  /** Writes the allowed ids in ascending order; −1 when there are more than `out` holds. */
  allowedIds(out: Int32Array): number;
  /** As the mask says of one token, without computing the others; the matcher stays as it is. */
  isAllowed(id: TokenId): boolean;
  /** The clause that forbids a token. O(token), with one question to the judge where it breaks off inside a value. */
  explain(id: TokenId): Verdict;
  /** A refused token fails the matcher until `reset` or `rollback`. */
  acceptToken(id: TokenId): Result<void, MatcherFailure>;
  /** The bytes every admissible continuation shares from here; empty where there is a choice. */
  forcedBytes(): Uint8Array;
  /** Tokens for the forced bytes that no legal token could spell otherwise across their end; the stop token where it is the only end. */
  forcedTokens(): readonly TokenId[];
  /**
   * Tokens that lead from here to the end, stop token included, 0 once it was consumed: an upper bound of the fewest, and what a token budget is
   * measured with. Infinity where the matcher has failed or missed its goal.
   */
  shortestCompletion(): number;
  fork(): MaskMatcher;
  rollback(tokenCount: number): void;
  reset(): void;
  /**
   * With the option `goal`: the patch so far has no operation left and does not make the call valid. No token is allowed here; {@link banMiss} leads
   * on, or `rollback`.
   */
  isGoalMiss(): boolean;
  /**
   * At a goal miss: excludes the operation that missed, together with what came before it, for the rest of this attempt, and goes back to the start
   * of its value, or further where nothing else can be written there: at the least ABSTAIN is open. Where an operation was left and none could be
   * offered, no other value at its path leads on either: then the whole place is excluded. Returns the count of tokens taken back.
   */
  banMiss(): number;
  /** May stop now. */
  isAccepting(): boolean;
  /** The output is complete: nothing but a stop token can follow. */
  isCompleted(): boolean;
  /** A stop token was consumed. */
  isTerminated(): boolean;
  /** Text accepted so far, stop token excluded. */
  text(): string;
  /**
   * SHA-256 for the ledger: contract, document, vocabulary and limits, and one hash per step, null where that step's mask was not asked for
   * (a forced token). A step's hash is a sum over its ids, so it costs next to nothing and does not depend on the order of the walk.
   */
  maskDigest(): string;
}

/** What a matcher shares with all others of its compiled mask. */
export interface MatcherParts extends SpellingParts {
  readonly walk: MaskWalk;
  /** Folded into {@link MaskMatcher.maskDigest}: contract, document, vocabulary and options. */
  readonly identity: () => JsonObject;
  /** Tokens of the whole output, stop token included; Infinity where none is set. */
  readonly tokenBudget: number;
  /** The grammar of whole outputs, without those that the bans name. */
  grammarWithout(bans: readonly Ban[]): ByteGrammar;
}

/** A matcher at the start of an output. */
export function createMatcher(parts: MatcherParts): MaskMatcher {
  const first = firstStep(parts.grammarWithout([]));
  return new ContractMatcher(parts, [], first, first);
}

class ContractMatcher implements MaskMatcher {
  readonly logitWidth: number;
  readonly #parts: MatcherParts;
  #bans: readonly Ban[];
  #first: Step;
  #step: Step;
  #hasFailed = false;
  #scratch: Int32Array | undefined;

  constructor(parts: MatcherParts, bans: readonly Ban[], first: Step, step: Step) {
    this.logitWidth = parts.vocabulary.logitWidth;
    this.#parts = parts;
    this.#bans = bans;
    this.#first = first;
    this.#step = step;
  }

  fillBitmask(bitmask: Int32Array): number {
    if (bitmask.length !== bitmaskLength(this.logitWidth)) throw new RangeError(`bitmask: expected ${bitmaskLength(this.logitWidth)} words, got ${bitmask.length}`);
    if (this.#hasFailed || this.#step.isTerminated) {
      bitmask.fill(0);
      return 0;
    }
    const count = this.#find(this.#step);
    this.#parts.walk.fill(bitmask);
    return count;
  }

  allowedIds(out: Int32Array): number {
    if (this.#hasFailed || this.#step.isTerminated) return 0;
    const count = this.#find(this.#step);
    if (count > out.length) return -1;
    const listed = this.#parts.walk.listed();
    if (listed === undefined) {
      this.#scratch ??= new Int32Array(bitmaskLength(this.logitWidth));
      this.#parts.walk.fill(this.#scratch);
    }
    out.set(listed ?? allowedIdsOf(this.#scratch as Int32Array));
    return count;
  }

  isAllowed(id: TokenId): boolean {
    if (this.#hasFailed || this.#step.isTerminated || this.#isMiss(this.#step)) return false;
    return this.#next(id) !== undefined;
  }

  explain(id: TokenId): Verdict {
    return this.isAllowed(id) ? { isAllowed: true } : { isAllowed: false, clause: this.#clauseAgainst(id) };
  }

  acceptToken(id: TokenId): Result<void, MatcherFailure> {
    if (this.#hasFailed) return err({ code: 'mask/failed' });
    if (this.#step.isTerminated) return err({ code: 'mask/terminated' });
    if (this.#isMiss(this.#step)) return err({ code: 'mask/goal-miss' });
    const next = this.#next(id);
    if (next === undefined) {
      this.#hasFailed = true;
      return err({ code: 'mask/token-not-allowed', id, reason: this.#reasonAgainst(id) });
    }
    this.#step = next;
    return ok(undefined);
  }

  forcedBytes(): Uint8Array {
    return this.#hasFailed || this.#step.isTerminated ? NO_BYTES : forcedRunFrom(this.#step, this.#parts).bytes;
  }

  forcedTokens(): readonly TokenId[] {
    if (this.#hasFailed || this.#step.isTerminated) return [];
    const { bytes, end } = forcedRunFrom(this.#step, this.#parts);
    const { vocabulary } = this.#parts;
    const ends = canStopOnly(end, this.#parts.automaton);
    const tokens = bytes.length === 0 ? [] : safeTokens(this.#step, bytes, ends, this.#parts);
    const isWholeRun = tokens.reduce((length, id) => length + (vocabulary.tokens[id] as Uint8Array).length, 0) === bytes.length;
    const forced = ends && isWholeRun ? [...tokens, vocabulary.stopIds[0] as TokenId] : tokens;
    return forced.length === 0 || this.#hasTokensFor(forced) ? forced : [];
  }

  shortestCompletion(): number {
    if (this.#hasFailed) return Infinity;
    return this.#step.isTerminated ? 0 : this.#parts.walk.shortestCompletion(this.#step);
  }

  fork(): MaskMatcher {
    const fork = new ContractMatcher(this.#parts, this.#bans, this.#first, this.#step);
    fork.#hasFailed = this.#hasFailed;
    return fork;
  }

  rollback(tokenCount: number): void {
    if (!Number.isInteger(tokenCount) || tokenCount < 0) throw new RangeError(`tokenCount: expected a whole number of tokens, got ${tokenCount}`);
    let step = this.#step;
    for (let count = 0; count < tokenCount; count += 1) {
      if (step.parent === undefined) throw new RangeError(`tokenCount: only ${count} tokens were accepted`);
      step = step.parent;
    }
    this.#step = step;
    this.#hasFailed = false;
  }

  reset(): void {
    this.#step = this.#first;
    this.#hasFailed = false;
  }

  isGoalMiss(): boolean {
    return !this.#hasFailed && this.#isMiss(this.#step);
  }

  banMiss(): number {
    if (!this.isGoalMiss()) throw new RangeError('banMiss: the output is not at a goal miss');
    const accepted = stepsUpTo(this.#step);
    const { ban } = this.#step.closed as ClosedOperation;
    const restart = this.#step.operationStart + (ban.anyValue ? 1 : valueOffset(ban.operations.at(-1) as string));
    this.#bans = [...this.#bans, ban];
    this.#first = firstStep(this.#parts.grammarWithout(this.#bans));
    this.#step = this.#first;
    let kept = 0;
    for (const step of accepted) {
      const next = step.length > restart ? undefined : stepAfter(this.#step, step.bytes, this.#parts.automaton);
      if (next === undefined || this.#isMiss(next)) break;
      next.maskHash = step.maskHash;
      this.#step = next;
      kept += 1;
    }
    return accepted.length - kept;
  }

  isAccepting(): boolean {
    return !this.#hasFailed && !this.#step.isTerminated && mayStop(this.#step, this.#parts.automaton);
  }

  isCompleted(): boolean {
    return !this.#hasFailed && (this.#step.isTerminated || canStopOnly(this.#step, this.#parts.automaton));
  }

  isTerminated(): boolean {
    return this.#step.isTerminated;
  }

  text(): string {
    return fromUtf8(bytesBetween(this.#step, 0));
  }

  maskDigest(): string {
    const masks: (string | null)[] = [];
    for (let step: Step | undefined = this.#step; step !== undefined; step = step.parent) masks.push(step.maskHash?.map(hex).join('') ?? null);
    return digestOf({ ...this.#parts.identity(), bans: this.#bans as unknown as JsonObject[], masks: masks.reverse() });
  }

  /** Leaves the mask of `step` in the walk; returns its count. */
  #find(step: Step): number {
    const { walk } = this.#parts;
    walk.find(step, this.#tokensLeft(step));
    step.maskHash ??= [walk.hashHigh, walk.hashLow];
    // cannot happen while every reachable state has a way to the end; if it does, nothing may be sampled
    if (walk.count === 0 && !this.#isMiss(step)) this.#hasFailed = true;
    return walk.count;
  }

  #stopped(): Step | undefined {
    return mayStop(this.#step, this.#parts.automaton) ? { ...this.#step, parent: this.#step, bytes: NO_BYTES, isTerminated: true, tokenCount: this.#step.tokenCount + 1, maskHash: undefined } : undefined;
  }

  #next(id: TokenId): Step | undefined {
    const { stopIds, tokens } = this.#parts.vocabulary;
    return stopIds.includes(id) ? this.#stopped() : this.#after(tokens[id]);
  }

  #clauseAgainst(id: TokenId): MaskClause {
    const { automaton, vocabulary } = this.#parts;
    const bytes = vocabulary.tokens[id];
    if (this.#hasFailed) return { kind: 'failed' };
    if (this.#step.isTerminated) return { kind: 'ended' };
    if (this.#isMiss(this.#step)) return { kind: 'goal' };
    if (vocabulary.stopIds.includes(id)) return { kind: 'not-complete' };
    if (bytes === undefined) return { kind: 'no-text' };
    let step = this.#step;
    for (let index = 0; index < bytes.length; index += 1) {
      const next = stepAfter(step, bytes.subarray(index, index + 1), automaton);
      if (next !== undefined) {
        step = next;
        continue;
      }
      if (step.state === CLOSED) return { kind: 'ended' };
      if (step.state === END && bytes[index] === COMMA) return { kind: 'operation-budget' };
      if (step.state === END && bytes[index] === CLOSE_BRACKET) return { kind: 'goal' };
      // bytes that are not yet a whole character are left out: a later clause of the same operation says the same
      return clauseAgainst(fromUtf8(bytesBetween(step, step.operationStart)), fromUtf8(bytes.subarray(index)), step.grammar.scene);
    }
    return { kind: 'token-budget', tokensLeft: this.#tokensLeft(this.#step) };
  }

  /** The step after `bytes`, or undefined where they leave the language. */
  #after(bytes: Uint8Array | undefined): Step | undefined {
    const next = bytes === undefined ? undefined : stepAfter(this.#step, bytes, this.#parts.automaton);
    return next !== undefined && this.#parts.walk.fits(next.grammar, next.state, this.#tokensLeft(this.#step)) ? next : undefined;
  }

  /** The tokenizer's own spelling may take more tokens than the budget has left for it. */
  #hasTokensFor(tokens: readonly TokenId[]): boolean {
    if (this.#parts.tokenBudget === Infinity) return true;
    const fork = this.fork();
    return tokens.every((id) => fork.acceptToken(id).ok);
  }

  /** With the next token. */
  #tokensLeft(step: Step): number {
    return this.#parts.tokenBudget - step.tokenCount;
  }

  /** With a goal: behind an operation that neither ends the patch nor has another to follow, or none that fits the budget. */
  #isMiss(step: Step): boolean {
    if (step.state !== END || (step.closed as ClosedOperation).canEnd()) return false;
    return !(step.closed as ClosedOperation).hasNext() || this.#parts.walk.shortestCompletion(step) > this.#tokensLeft(step);
  }

  #reasonAgainst(id: TokenId): string {
    if (this.#parts.vocabulary.stopIds.includes(id)) return 'the output is not complete';
    return this.#parts.vocabulary.tokens[id] === undefined ? 'special tokens and padding are never part of the output' : 'its bytes leave the contract';
  }
}

/** The steps of all accepted tokens, the first token's first. */
function stepsUpTo(last: Step): readonly Step[] {
  const steps: Step[] = [];
  for (let step = last; step.parent !== undefined; step = step.parent) steps.push(step);
  return steps.reverse();
}

/** Bytes from the separator in front of an operation to the start of its value, or of the operation itself where it has none. */
function valueOffset(operation: string): number {
  const [opening = ''] = /^\{"op":"(?:add|replace)","path":"(?:[^"\\]|\\.)*","value":/.exec(operation) ?? [];
  return 1 + toUtf8(opening).length;
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
