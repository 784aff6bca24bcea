/**
 * From automaton states to token masks: one pass over the token tree with a stack of states, one per depth. A walk goes on through the
 * ends of lexemes and of operations inside a token (`"},{`): the document after the operation is then that token's own.
 */
import { concatBytes } from '../bytes.ts';
import type { ByteGrammar, ClosedOperation } from '../grammar/operation-grammar.ts';
import { CLOSED, DEAD, END, type StateId, type ValueAutomaton } from '../grammar/value-automaton.ts';
import { pathOf, type TokenTrie } from '../vocab/token-trie.ts';
import type { TokenSlice, VocabularyIndex } from '../vocab/vocabulary-index.ts';
import type { TokenId, Vocabulary } from '../vocab/vocabulary.ts';

const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;
const NO_BYTES = new Uint8Array(0);

/** Where the output stands: inside an operation, or (with `closed`, in state {@link END}) just behind one. */
export interface OutputState {
  readonly grammar: ByteGrammar;
  readonly state: StateId;
  readonly closed: ClosedOperation | undefined;
}

/** Accumulates one mask. Of one writer: each matcher owns its own. */
export class MaskWalk {
  count = 0;
  hashLow = 0;
  hashHigh = 0;
  readonly #vocabulary: Vocabulary;
  readonly #index: VocabularyIndex;
  readonly #automaton: ValueAutomaton;
  readonly #stack: Int32Array;
  #bitmask: Int32Array = new Int32Array(0);

  constructor(vocabulary: Vocabulary, index: VocabularyIndex, automaton: ValueAutomaton) {
    this.#vocabulary = vocabulary;
    this.#index = index;
    this.#automaton = automaton;
    this.#stack = new Int32Array(index.longestToken + 2);
  }

  /** Sets the bits of every token that can follow. `operationSoFar` gives the bytes of the open operation, its leading separator included. */
  fill(bitmask: Int32Array, { grammar, state, closed }: OutputState, operationSoFar: () => Uint8Array): void {
    bitmask.fill(0);
    this.#bitmask = bitmask;
    this.count = 0;
    this.hashLow = 0;
    this.hashHigh = 0;
    const { trie, exceptional } = this.#index;
    if (state === END) {
      this.#afterOperation(trie, 0, trie.nodeCount, closed as ClosedOperation);
    } else {
      const freeCodePoints = state > CLOSED ? this.#automaton.freeCodePoints(state) : -1;
      if (freeCodePoints >= 0) this.#markSlice(this.#index.sliceUpTo(freeCodePoints));
      const walked = freeCodePoints >= 0 ? exceptional : trie;
      this.#stack[0] = state;
      this.#walk(walked, 0, walked.nodeCount, grammar, operationSoFar, 0);
    }
    if (state > DEAD && this.#automaton.isAccepting(state)) for (const id of this.#vocabulary.stopIds) this.#mark(id);
  }

  /** Nodes `from` to `to` are a whole subtree's children; the state in front of them is on the stack at their depth. */
  #walk(trie: TokenTrie, from: number, to: number, grammar: ByteGrammar, operationSoFar: () => Uint8Array, operationDepth: number): void {
    const { byte, depth, subtreeSize, tokenOffset } = trie;
    const stack = this.#stack;
    const automaton = this.#automaton;
    let { rows } = automaton;
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
      if (tokenOffset[node] !== tokenOffset[node + 1]) this.#markNode(trie, node);
      if (next !== END) {
        stack[level + 1] = next;
        node += 1;
        continue;
      }
      const end = node + (subtreeSize[node] as number);
      if (end > node + 1) {
        const inToken = pathOf(trie, this.#vocabulary.tokens, node).subarray(operationDepth);
        this.#afterOperation(trie, node + 1, end, grammar.close(concatBytes([operationSoFar(), inToken])));
        rows = automaton.rows;
      }
      node = end;
    }
  }

  /** Children of a node at which an operation is complete. */
  #afterOperation(trie: TokenTrie, from: number, to: number, closed: ClosedOperation): void {
    for (let node = from; node < to; node += trie.subtreeSize[node] as number) {
      const byte = trie.byte[node];
      if (byte === CLOSE_BRACKET) {
        this.#markNode(trie, node);
      } else if (byte === COMMA && closed.hasNext()) {
        this.#markNode(trie, node);
        const end = node + (trie.subtreeSize[node] as number);
        if (end === node + 1) continue;
        const next = closed.next();
        const level = trie.depth[node] as number;
        this.#stack[level + 1] = next.start;
        this.#walk(trie, node + 1, end, next, () => NO_BYTES, level);
      }
    }
  }

  #markNode(trie: TokenTrie, node: number): void {
    const end = trie.tokenOffset[node + 1] as number;
    for (let index = trie.tokenOffset[node] as number; index < end; index += 1) this.#mark(trie.ids[index] as number);
  }

  #mark(id: TokenId): void {
    const { mixLow, mixHigh } = this.#index;
    this.#bitmask[id >> 5] = (this.#bitmask[id >> 5] as number) | (1 << (id & 31));
    this.count += 1;
    this.hashLow = (this.hashLow + (mixLow[id] as number)) | 0;
    this.hashHigh = (this.hashHigh + (mixHigh[id] as number)) | 0;
  }

  /** Only into an empty mask. */
  #markSlice(slice: TokenSlice): void {
    this.#bitmask.set(slice.words);
    this.count = slice.count;
    this.hashLow = slice.hashLow;
    this.hashHigh = slice.hashHigh;
  }
}
