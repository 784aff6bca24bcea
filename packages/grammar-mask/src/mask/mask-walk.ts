/**
 * From automaton states to token masks: one pass over the token tree with a stack of states, one per depth. A walk goes on through the
 * ends of lexemes and of operations inside a token (`"},{`): the document after the operation is then that token's own.
 */
import { concatBytes, toUtf8 } from '../bytes.ts';
import type { ByteGrammar, ClosedOperation } from '../grammar/operation-grammar.ts';
import type { GuardView } from '../grammar/value-guards.ts';
import { CLOSED, DEAD, END, type StateId, type ValueAutomaton } from '../grammar/value-automaton.ts';
import { Completion } from './completion.ts';
import { pathOf, type TokenTrie } from '../vocab/token-trie.ts';
import { MAX_SHARED_REACH, type TokenSlice, type VocabularyIndex } from '../vocab/vocabulary-index.ts';
import type { TokenId, Vocabulary } from '../vocab/vocabulary.ts';

const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;
const NO_BYTES = new Uint8Array(0);
/** Every operation begins with these bytes. */
const OPENING = toUtf8('{"op":"');
/** Any character that a string takes as it stands. */
const PLAIN_CHARACTER = 0x61;

/** Where the output stands: inside an operation, or (with `closed`, in state {@link END}) just behind one. */
export interface OutputState {
  readonly grammar: ByteGrammar;
  readonly state: StateId;
  readonly closed: ClosedOperation | undefined;
}

/** The exceptional tokens that may follow inside a string, as far as they do not depend on the document. */
interface StringTail {
  readonly ids: Int32Array;
  readonly hashLow: number;
  readonly hashHigh: number;
  /** Nodes of the exceptional tree at which an operation is complete while tokens go on. */
  readonly ends: readonly number[];
  /** The most bytes that are still to come behind one of the tokens; undefined where nobody asked. */
  readonly longestEnd: number | undefined;
}

/** Tails kept; a contract has few kinds of strings, and each kind few states that a token can tell apart. */
const MAX_TAIL_COUNT = 64;

/** Computes one mask at a time, for all matchers of a compiled mask: nobody else writes its arrays. */
export class MaskWalk {
  count = 0;
  hashLow = 0;
  hashHigh = 0;
  readonly #vocabulary: Vocabulary;
  readonly #index: VocabularyIndex;
  readonly #automaton: ValueAutomaton;
  readonly #stack: Int32Array;
  /** The allowed ids outside the slice, unordered; the first `#listed` count. */
  readonly #ids: Int32Array;
  #listed = 0;
  /** Ids among those and in the slice that are not allowed after all. */
  #removed: number[] = [];
  #isRemoving = false;
  #slice: TokenSlice | undefined;
  #ends: number[] = [];
  /** By {@link ValueAutomaton.alikeWithin}. Insertion order is age. */
  readonly #tails = new Map<StateId, StringTail>();
  #last: OutputState | undefined;
  /** Tokens of the budget that are left, the one to be chosen included. */
  #left = Infinity;
  /** The most bytes still to come behind a token marked since a tail is being recorded; −1 while none is, or none is asked for. */
  #longestEnd = -1;
  readonly #fitting = new Map<StateId, boolean>();
  readonly #completion: Completion;

  constructor(vocabulary: Vocabulary, index: VocabularyIndex, automaton: ValueAutomaton) {
    this.#vocabulary = vocabulary;
    this.#index = index;
    this.#automaton = automaton;
    this.#stack = new Int32Array(index.longestToken + 2);
    this.#ids = new Int32Array(vocabulary.logitWidth);
    this.#completion = new Completion(automaton, index.trie);
  }

  /** Tokens from `output` to the end on the way that a budget is measured with, stop token included. */
  shortestCompletion(output: OutputState): number {
    return this.#completion.tokensFrom(output);
  }

  /** Whether the output can be finished from a state when the token that leads to it is one of `left`. An operation that is complete counts as the last. */
  fits(grammar: ByteGrammar, state: StateId, left: number): boolean {
    if (left === Infinity) return true;
    const bytes = this.#completion.bytesFrom(grammar, state);
    // a byte is a token at most, and the stop token comes last
    if (1 + bytes + 1 <= left) return true;
    return state !== END && bytes < Infinity && 1 + this.#completion.tokensFrom({ grammar, state, closed: undefined }) <= left;
  }

  /**
   * Finds every token that can follow `output`, which must not change later: asked again at once, it is not computed anew.
   * `operationSoFar` gives the bytes of the open operation, its leading separator included; `left` the tokens that are left, this one included.
   */
  find(output: OutputState, operationSoFar: () => Uint8Array, left: number): void {
    if (this.#last === output) return;
    const { grammar, state, closed } = output;
    this.#last = output;
    this.#left = left;
    this.#fitting.clear();
    this.count = 0;
    this.hashLow = 0;
    this.hashHigh = 0;
    this.#listed = 0;
    this.#removed = [];
    this.#slice = undefined;
    const { trie } = this.#index;
    if (state === END) {
      this.#afterOperation(trie, 0, trie.nodeCount, closed as ClosedOperation);
    } else if (state !== CLOSED) {
      const guard = state < 0 ? grammar.guardAt(state) : undefined;
      this.#fromState(guard === undefined ? state : guard.unguarded, grammar, operationSoFar);
      // a walk in this state would compute every token anew, of which the excluded values take away a handful
      if (guard !== undefined) this.#removeExcluded(guard, state, 0, 0, trie.nodeCount, grammar, operationSoFar);
    }
    if (left > 0 && state > DEAD && this.#automaton.isAccepting(state)) for (const id of this.#vocabulary.stopIds) this.#mark(id);
  }

  /** Writes what {@link find} found. */
  fill(bitmask: Int32Array): void {
    if (this.#slice === undefined) bitmask.fill(0);
    else bitmask.set(this.#slice.words);
    for (let index = 0; index < this.#listed; index += 1) {
      const id = this.#ids[index] as number;
      bitmask[id >> 5] = (bitmask[id >> 5] as number) | (1 << (id & 31));
    }
    for (const id of this.#removed) bitmask[id >> 5] = (bitmask[id >> 5] as number) & ~(1 << (id & 31));
  }

  /** The ids that {@link find} found, ascending, where they are few enough for a list: no slice among them. */
  listed(): Int32Array | undefined {
    if (this.#slice !== undefined) return undefined;
    const ids = this.#ids.subarray(0, this.#listed).sort();
    return this.#removed.length === 0 ? ids : ids.filter((id) => !this.#removed.includes(id));
  }

  #fromState(state: StateId, grammar: ByteGrammar, operationSoFar: () => Uint8Array): void {
    const freeCodePoints = state > CLOSED ? this.#automaton.freeCodePoints(state) : -1;
    if (freeCodePoints >= 0) this.#insideString(state, freeCodePoints, grammar, operationSoFar);
    else this.#fromRoot(this.#index.trie, state, grammar, operationSoFar);
  }

  /** Takes away what an excluded value forbids, following it through the tree: nodes `from` to `to`, at `depth`, whole subtrees of one parent. */
  #removeExcluded({ unguarded, watched }: GuardView, state: StateId, depth: number, from: number, to: number, grammar: ByteGrammar, operationSoFar: () => Uint8Array): void {
    const { trie } = this.#index;
    for (let node = from; node < to; node += trie.subtreeSize[node] as number) {
      const byte = trie.byte[node] as number;
      if (watched[byte] === 0) continue;
      const free = this.#automaton.next(unguarded, byte);
      const next = grammar.next(state, byte);
      const end = node + (trie.subtreeSize[node] as number);
      if (free === DEAD || next > 0) continue;
      if (next === DEAD) {
        this.#stack[depth] = unguarded;
        this.#isRemoving = true;
        this.#walk(trie, node, end, grammar, operationSoFar, 0);
        this.#isRemoving = false;
        continue;
      }
      const isStranded = this.#left < Infinity && this.#hasRoom(grammar, free) && !this.#hasRoom(grammar, next);
      if (isStranded) {
        this.#isRemoving = true;
        this.#markIds(trie, node);
        this.#isRemoving = false;
      }
      this.#removeExcluded(grammar.guardAt(next) as GuardView, next, depth + 1, node + 1, end, grammar, operationSoFar);
    }
  }

  #insideString(state: StateId, freeCodePoints: number, grammar: ByteGrammar, operationSoFar: () => Uint8Array): void {
    const { exceptional, farReaching } = this.#index;
    const alike = this.#automaton.alikeWithin(state, MAX_SHARED_REACH);
    let tail = this.#tails.get(alike);
    if (tail === undefined || (this.#left < Infinity && tail.longestEnd === undefined)) {
      tail = this.#recordTail(exceptional, alike, grammar);
      const [oldest] = this.#tails.keys();
      if (this.#tails.size >= MAX_TAIL_COUNT && oldest !== undefined) this.#tails.delete(oldest);
      this.#tails.set(alike, tail);
    }
    const mostToCome = this.#left === Infinity ? 0 : Math.max(tail.longestEnd as number, this.#completion.bytesFrom(grammar, state));
    if (1 + mostToCome + 1 > this.#left) {
      this.#nearTheLimit(state, freeCodePoints, grammar, operationSoFar);
      return;
    }
    this.#ids.set(tail.ids);
    this.#listed = tail.ids.length;
    this.#slice = this.#index.sliceUpTo(freeCodePoints);
    this.count = this.#listed + this.#slice.count;
    this.hashLow = (tail.hashLow + this.#slice.hashLow) | 0;
    this.hashHigh = (tail.hashHigh + this.#slice.hashHigh) | 0;
    this.#walkBehind(exceptional, tail.ends, grammar, operationSoFar, 0);
    this.#fromRoot(farReaching, state, grammar, operationSoFar);
  }

  /** The tail of a state, as if no token budget was set. */
  #recordTail(exceptional: TokenTrie, state: StateId, grammar: ByteGrammar): StringTail {
    const left = this.#left;
    this.#left = Infinity;
    this.#longestEnd = left < Infinity ? 0 : -1;
    this.#ends = [];
    this.#fromRoot(exceptional, state, grammar, undefined);
    const longestEnd = this.#longestEnd < 0 ? undefined : this.#longestEnd;
    const tail: StringTail = { ids: this.#ids.slice(0, this.#listed), hashLow: this.hashLow, hashHigh: this.hashHigh, ends: this.#ends, longestEnd };
    this.#left = left;
    this.#longestEnd = -1;
    this.#listed = 0;
    this.count = 0;
    this.hashLow = 0;
    this.hashHigh = 0;
    return tail;
  }

  /** Inside a string when not every token leaves room to finish: each is asked, plain ones by their length. */
  #nearTheLimit(state: StateId, freeCodePoints: number, grammar: ByteGrammar, operationSoFar: () => Uint8Array): void {
    const { exceptional, farReaching, plainTokens } = this.#index;
    this.#fromRoot(exceptional, state, grammar, operationSoFar);
    this.#fromRoot(farReaching, state, grammar, operationSoFar);
    let after = state;
    for (let length = 1; length <= Math.min(freeCodePoints, plainTokens.length - 1); length += 1) {
      after = this.#automaton.next(after, PLAIN_CHARACTER);
      if (this.#hasRoom(grammar, after)) for (const id of plainTokens[length] ?? []) this.#mark(id);
    }
  }

  #hasRoom(grammar: ByteGrammar, state: StateId): boolean {
    if (state < 0) return this.fits(grammar, state, this.#left);
    let hasRoom = this.#fitting.get(state);
    if (hasRoom === undefined) this.#fitting.set(state, hasRoom = this.fits(grammar, state, this.#left));
    return hasRoom;
  }

  /** A whole tree. Without `operationSoFar`, what lies behind a complete operation is left in {@link #ends}. */
  #fromRoot(trie: TokenTrie, state: StateId, grammar: ByteGrammar, operationSoFar: (() => Uint8Array) | undefined): void {
    this.#stack[0] = state;
    const bytes = state > 0 ? this.#automaton.firstBytes(state) : grammar.bytesAt(state);
    if (bytes === undefined) {
      this.#walk(trie, 0, trie.nodeCount, grammar, operationSoFar, 0);
      return;
    }
    for (const byte of bytes) {
      const node = trie.firstNodes[byte] as number;
      if (node >= 0) this.#walk(trie, node, node + (trie.subtreeSize[node] as number), grammar, operationSoFar, 0);
    }
  }

  /** Nodes `from` to `to` are whole subtrees of one parent; the state in front of them is on the stack at their depth. */
  #walk(trie: TokenTrie, from: number, to: number, grammar: ByteGrammar, operationSoFar: (() => Uint8Array) | undefined, operationDepth: number): void {
    const { byte, depth, subtreeSize, tokenOffset } = trie;
    const stack = this.#stack;
    const automaton = this.#automaton;
    let { rows } = automaton;
    let ends: number[] | undefined;
    let node = from;
    while (node < to) {
      const level = depth[node] as number;
      const state = stack[level] as number;
      let next: StateId;
      if (state > 0) {
        next = rows[(state << 8) | (byte[node] as number)] as number;
        if (next < 0) {
          next = automaton.fill(state, byte[node] as number);
          rows = automaton.rows;
        }
      } else {
        next = grammar.next(state, byte[node] as number);
        rows = automaton.rows;
      }
      if (next === DEAD) {
        node += subtreeSize[node] as number;
        continue;
      }
      if (tokenOffset[node] !== tokenOffset[node + 1]) this.#markNode(trie, node, grammar, next);
      if (next !== END) {
        stack[level + 1] = next;
        node += 1;
        continue;
      }
      if ((subtreeSize[node] as number) > 1) (operationSoFar === undefined ? this.#ends : ends ??= []).push(node);
      node += subtreeSize[node] as number;
    }
    if (ends !== undefined && operationSoFar !== undefined) this.#walkBehind(trie, ends, grammar, operationSoFar, operationDepth);
  }

  /** The subtrees of nodes at which the operation that began at depth `operationDepth` of the token is complete. */
  #walkBehind(trie: TokenTrie, ends: readonly number[], grammar: ByteGrammar, operationSoFar: () => Uint8Array, operationDepth: number): void {
    for (const node of ends) {
      const inToken = pathOf(trie, this.#vocabulary.tokens, node).subarray(operationDepth);
      const closed = grammar.close(concatBytes([operationSoFar(), inToken]));
      this.#afterOperation(trie, node + 1, node + (trie.subtreeSize[node] as number), closed);
    }
  }

  /** Children of a node at which an operation is complete. */
  #afterOperation(trie: TokenTrie, from: number, to: number, closed: ClosedOperation): void {
    for (let node = from; node < to; node += trie.subtreeSize[node] as number) {
      const byte = trie.byte[node];
      if (byte === CLOSE_BRACKET) {
        if (closed.canEnd() && this.#left >= 2) this.#markIds(trie, node);
      } else if (byte === COMMA && closed.hasNext()) {
        const end = node + (trie.subtreeSize[node] as number);
        // without a budget the next grammar is built only where a token reaches beyond what begins every operation
        if (this.#left === Infinity) {
          this.#markIds(trie, node);
          if (this.#isOpening(trie, node + 1, end)) continue;
        } else {
          this.#markNode(trie, node, closed.next(), closed.next().start);
        }
        if (end === node + 1) continue;
        const next = closed.next();
        const level = trie.depth[node] as number;
        this.#stack[level + 1] = next.start;
        this.#walk(trie, node + 1, end, next, () => NO_BYTES, level);
      }
    }
  }

  /** Marks the tokens in `from` to `to` where none of them tells one operation from another; answers false, and marks none, where one does. */
  #isOpening(trie: TokenTrie, from: number, to: number): boolean {
    const nodes: number[] = [];
    let [first, last] = [from, to];
    for (const byte of OPENING) {
      let node = first;
      while (node < last && trie.byte[node] !== byte) node += trie.subtreeSize[node] as number;
      if (node >= last) {
        for (const opening of nodes) this.#markIds(trie, opening);
        return true;
      }
      nodes.push(node);
      [first, last] = [node + 1, node + (trie.subtreeSize[node] as number)];
    }
    return false;
  }

  #markNode(trie: TokenTrie, node: number, grammar: ByteGrammar, state: StateId): void {
    if (this.#left < Infinity && !this.#hasRoom(grammar, state)) return;
    if (this.#longestEnd >= 0) this.#longestEnd = Math.max(this.#longestEnd, this.#completion.bytesFrom(grammar, state));
    this.#markIds(trie, node);
  }

  #markIds(trie: TokenTrie, node: number): void {
    const end = trie.tokenOffset[node + 1] as number;
    for (let index = trie.tokenOffset[node] as number; index < end; index += 1) this.#mark(trie.ids[index] as number);
  }

  #mark(id: TokenId): void {
    const { mixLow, mixHigh } = this.#index;
    if (this.#isRemoving) {
      this.#removed.push(id);
      this.count -= 1;
      this.hashLow = (this.hashLow - (mixLow[id] as number)) | 0;
      this.hashHigh = (this.hashHigh - (mixHigh[id] as number)) | 0;
      return;
    }
    this.#ids[this.#listed] = id;
    this.#listed += 1;
    this.count += 1;
    this.hashLow = (this.hashLow + (mixLow[id] as number)) | 0;
    this.hashHigh = (this.hashHigh + (mixHigh[id] as number)) | 0;
  }
}
