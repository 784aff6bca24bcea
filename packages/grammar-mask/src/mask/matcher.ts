/** The mask at decode time: one matcher per attempt, bound to the live state of a repair. */
import { digestOf, err, ok, type JsonObject, type Result } from '@contractrl/core';
import { concatBytes, fromUtf8, toUtf8 } from '../bytes.ts';
import type { ByteGrammar, ClosedOperation } from '../grammar/operation-grammar.ts';
import type { Ban } from '../grammar/operation-offers.ts';
import { CLOSED, DEAD, END, type ValueAutomaton } from '../grammar/value-automaton.ts';
import type { TokenTrie } from '../vocab/token-trie.ts';
import type { VocabularyIndex } from '../vocab/vocabulary-index.ts';
import type { TokenId, Vocabulary } from '../vocab/vocabulary.ts';
import { clauseAgainst, type MaskClause, type Verdict } from './explain.ts';
import type { MaskWalk, OutputState } from './mask-walk.ts';
import { allowedIdsOf, bitmaskLength } from './token-bitmask.ts';

const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;

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
export interface MatcherParts {
  readonly vocabulary: Vocabulary;
  readonly index: VocabularyIndex;
  readonly automaton: ValueAutomaton;
  readonly walk: MaskWalk;
  /** Folded into {@link MaskMatcher.maskDigest}: contract, document, vocabulary and options. */
  readonly identity: () => JsonObject;
  /** Tokens of the whole output, stop token included; Infinity where none is set. */
  readonly tokenBudget: number;
  /** The grammar of whole outputs, without those that the bans name. */
  grammarWithout(bans: readonly Ban[]): ByteGrammar;
}

/** After the opening bytes and after each accepted token. Steps never change, so fork and rollback hold on to one: O(1). */
interface Step extends OutputState {
  readonly parent: Step | undefined;
  readonly bytes: Uint8Array;
  /** Bytes of the whole output up to here. */
  readonly length: number;
  /** Offset of the separator in front of the open operation. */
  readonly operationStart: number;
  readonly isTerminated: boolean;
  /** Tokens accepted so far. */
  readonly tokenCount: number;
  /** Hash of this step's mask, once it was asked for. */
  maskHash: string | undefined;
}

const NO_BYTES = new Uint8Array(0);
/** A forced run ends of itself in every finite contract; this bounds a single answer. */
const MAX_FORCED_BYTES = 4096;
/** Bytes of earlier output that forced bytes are tokenised behind: more than any merge of a tokenizer reaches back over. */
const LOOK_BACK_BYTES = 64;

/** A matcher at the start of an output. */
export function createMatcher(parts: MatcherParts): MaskMatcher {
  const first = firstStep(parts.grammarWithout([]));
  return new ContractMatcher(parts, [], first, first);
}

function firstStep(grammar: ByteGrammar): Step {
  return {
    parent: undefined, grammar, state: grammar.start, closed: undefined, bytes: NO_BYTES, length: 0, operationStart: 0, isTerminated: false, tokenCount: 0, maskHash: undefined,
  };
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
    return this.#hasFailed || this.#step.isTerminated ? NO_BYTES : this.#forcedRun().bytes;
  }

  forcedTokens(): readonly TokenId[] {
    if (this.#hasFailed || this.#step.isTerminated) return [];
    const { bytes, end } = this.#forcedRun();
    const { vocabulary } = this.#parts;
    const ends = canStopOnly(end, this.#parts.automaton);
    const tokens = bytes.length === 0 ? [] : this.#safeTokens(bytes, ends);
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
    for (let step: Step | undefined = this.#step; step !== undefined; step = step.parent) masks.push(step.maskHash ?? null);
    return digestOf({ ...this.#parts.identity(), bans: this.#bans as unknown as JsonObject[], masks: masks.reverse() });
  }

  /** Leaves the mask of `step` in the walk; returns its count. */
  #find(step: Step): number {
    const { walk } = this.#parts;
    walk.find(step, () => bytesBetween(step, step.operationStart), this.#tokensLeft(step));
    step.maskHash ??= hex(walk.hashHigh) + hex(walk.hashLow);
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

  /** The bytes up to the next choice, and the step they lead to. */
  #forcedRun(): { readonly bytes: Uint8Array; readonly end: Step } {
    const { automaton } = this.#parts;
    const bytes: number[] = [];
    let end = this.#step;
    while (bytes.length < MAX_FORCED_BYTES) {
      const byte = forcedByteAt(end, automaton);
      if (byte < 0) break;
      bytes.push(byte);
      end = stepAfter(end, Uint8Array.of(byte), automaton) as Step;
    }
    return { bytes: Uint8Array.from(bytes), end: { ...end, parent: undefined } };
  }

  /**
   * The tokens every canonical spelling of the run begins with. Some legal token may start inside the run and reach beyond it; then the
   * run's own spelling may only be trusted as far as it agrees with the spelling of what lies in front of that token, for every such token.
   */
  #safeTokens(bytes: Uint8Array, ends: boolean): readonly TokenId[] {
    const cuts = ends ? [bytes.length] : [...this.#spanningStarts(bytes), bytes.length];
    let agreed: readonly TokenId[] | undefined;
    for (const cut of cuts) {
      const spelled = this.#spell(bytes.subarray(0, cut));
      const shared = agreed === undefined ? spelled.length : agreed.findIndex((id, index) => id !== spelled[index]);
      agreed = agreed === undefined ? spelled : agreed.slice(0, shared === -1 ? agreed.length : shared);
      if (agreed.length === 0) return [];
    }
    return agreed ?? [];
  }

  /** Offsets inside the run at which a legal token starts that spans the run's end. */
  #spanningStarts(bytes: Uint8Array): readonly number[] {
    const { automaton, index: { trie, longestToken }, vocabulary } = this.#parts;
    const starts: number[] = [];
    let step = this.#step;
    for (let start = 0; start < bytes.length; start += 1) {
      if (bytes.length - start < longestToken) {
        const inside = bytes.subarray(start);
        const isLegal = (token: Uint8Array): boolean => stepAfter(step, token, automaton) !== undefined;
        if (someTokenBeyond(trie, inside, (id) => isLegal(vocabulary.tokens[id] as Uint8Array))) starts.push(start);
      }
      step = stepAfter(step, bytes.subarray(start, start + 1), automaton) as Step;
    }
    return starts;
  }

  /** The tokenizer's own spelling of `bytes` behind the output so far; of `bytes` alone where the two would merge. */
  #spell(bytes: Uint8Array): readonly TokenId[] {
    const { vocabulary } = this.#parts;
    const before = this.#context();
    const text = fromUtf8(bytes);
    const together = vocabulary.encode(before + text);
    let skipped = toUtf8(before).length;
    let first = 0;
    while (skipped > 0 && first < together.length) {
      skipped -= vocabulary.tokens[together[first] as TokenId]?.length ?? Infinity;
      first += 1;
    }
    const spelled = skipped === 0 ? together.slice(first) : vocabulary.encode(text);
    // an encoder that changes its text (normalises, adds a space) is trusted only as far as it gives the bytes back
    let length = 0;
    const wrong = spelled.findIndex((id) => {
      const token = vocabulary.tokens[id];
      if (token === undefined || !startsWith(bytes, length, token)) return true;
      length += token.length;
      return false;
    });
    return wrong === -1 ? spelled : spelled.slice(0, wrong);
  }

  /** The end of the output so far, whole tokens; empty where that begins or ends inside a character. */
  #context(): string {
    const end = this.#step;
    let start = end;
    while (start.parent !== undefined && end.length - start.length < LOOK_BACK_BYTES) start = start.parent;
    const bytes = bytesBetween(end, start.length);
    const text = fromUtf8(bytes);
    return toUtf8(text).length === bytes.length ? text : '';
  }

  #reasonAgainst(id: TokenId): string {
    if (this.#parts.vocabulary.stopIds.includes(id)) return 'the output is not complete';
    return this.#parts.vocabulary.tokens[id] === undefined ? 'special tokens and padding are never part of the output' : 'its bytes leave the contract';
  }
}

function mayStop({ state }: Step, automaton: ValueAutomaton): boolean {
  return state > 0 && automaton.isAccepting(state);
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

/** A bare number may stop and may also go on. */
function canStopOnly(step: Step, automaton: ValueAutomaton): boolean {
  return step.state === CLOSED || (mayStop(step, automaton) && automaton.isFinal(step.state));
}

/** Walks `bytes` from a step. What follows an operation depends on the document it leaves, so its bytes are gathered there. */
function stepAfter(from: Step, bytes: Uint8Array, automaton: ValueAutomaton): Step | undefined {
  let { grammar, state, closed, operationStart } = from;
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] as number;
    if (state > 0 && state !== END) {
      state = automaton.next(state, byte);
    } else if (state !== END) {
      state = grammar.next(state, byte);
    } else if (byte === CLOSE_BRACKET && (closed as ClosedOperation).canEnd()) {
      state = CLOSED;
    } else if (byte === COMMA && (closed as ClosedOperation).hasNext()) {
      grammar = (closed as ClosedOperation).next();
      state = grammar.start;
      operationStart = from.length + index;
    } else {
      return undefined;
    }
    if (state === DEAD) return undefined;
    // END is entered by a closing brace only, never kept
    closed = state === END ? grammar.close(operationBytes(from, operationStart, bytes.subarray(0, index + 1))) : undefined;
  }
  return { parent: from, grammar, state, closed, bytes, length: from.length + bytes.length, operationStart, isTerminated: false, tokenCount: from.tokenCount + 1, maskHash: undefined };
}

/** Bytes of the operation that starts at offset `start` and ends with the last of `added`, which follow `step`. */
function operationBytes(step: Step, start: number, added: Uint8Array): Uint8Array {
  return start >= step.length ? added.subarray(start - step.length) : concatBytes([bytesBetween(step, start), added]);
}

/** The only byte that can follow, −1 where there is a choice or the output may stop. */
function forcedByteAt({ grammar, state, closed }: Step, automaton: ValueAutomaton): number {
  if (state === END) {
    const hasNext = (closed as ClosedOperation).hasNext();
    if ((closed as ClosedOperation).canEnd()) return hasNext ? -1 : CLOSE_BRACKET;
    return hasNext ? COMMA : -1;
  }
  return state > 0 ? automaton.forcedByte(state) : grammar.forcedByte(state);
}

/** The output's bytes from offset `start` up to `step`. O(bytes). */
function bytesBetween(step: Step, start: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let current = step;
  while (current.length > start && current.parent !== undefined) {
    parts.push(current.bytes);
    current = current.parent;
  }
  return concatBytes(parts.reverse()).subarray(start - current.length);
}

/** Whether a token that begins with `bytes` and is longer passes `test`. */
function someTokenBeyond(trie: TokenTrie, bytes: Uint8Array, test: (id: TokenId) => boolean): boolean {
  let [from, to] = [0, trie.nodeCount];
  for (const byte of bytes) {
    let node = from;
    while (node < to && trie.byte[node] !== byte) node += trie.subtreeSize[node] as number;
    if (node >= to) return false;
    [from, to] = [node + 1, node + (trie.subtreeSize[node] as number)];
  }
  // ids of the nodes from..to lie together
  for (let index = trie.tokenOffset[from] as number; from < to && index < (trie.tokenOffset[to] as number); index += 1) if (test(trie.ids[index] as number)) return true;
  return false;
}

function startsWith(bytes: Uint8Array, offset: number, part: Uint8Array): boolean {
  return offset + part.length <= bytes.length && part.every((byte, index) => bytes[offset + index] === byte);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
