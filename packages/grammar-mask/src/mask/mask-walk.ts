/**
 * From automaton states to token masks: one pass over the token tree with a stack of states, one per depth. A walk goes on through the
 * ends of lexemes and of operations inside a token (`"},{`): the document after the operation is then that token's own.
 */
import { concatBytes, toUtf8 } from '../bytes.ts';
import type { ByteGrammar, ClosedOperation } from '../grammar/operation-grammar.ts';
import type { GuardView } from '../grammar/value-guards.ts';
import { CLOSE_BRACKET, COMMA, QUOTE } from '../grammar/position.ts';
import { BETWEEN } from '../grammar/character-spelling.ts';
import { LONGEST_SPELLING } from '../grammar/string-content.ts';
import { CLOSED, DEAD, END, type StateId, type TextPlace, type ValueAutomaton } from '../grammar/value-automaton.ts';
import { Completion } from './completion.ts';
import { pathOf, type TokenTrie } from '../vocab/token-trie.ts';
import type { TextNode } from '../vocab/text-tree.ts';
import { sliceOf, type TokenGroup, type TokenSlice } from '../vocab/token-group.ts';
import type { VocabularyIndex } from '../vocab/vocabulary-index.ts';
import type { TokenId, Vocabulary } from '../vocab/vocabulary.ts';
import { bytesBetween, NO_BYTES, stepAfter, type Step } from './step.ts';
import { findText, type FoundText, type TextMask } from './text-mask.ts';

/** Every operation begins with these bytes. */
const OPENING = toUtf8('{"op":"');

/** Masks of strings with content that are kept; a text that goes on alike meets the same few again and again. */
const MAX_TEXT_COUNT = 64;

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
  /** By kind of string, entry and {@link StringContent.keyOf}. Insertion order is age. */
  readonly #texts = new Map<string, TextMask>();
  #last: Step | undefined;
  /** Behind the value that the last mask was in, where the same follows whatever was written. */
  #behind: { readonly value: object; readonly closed: ClosedOperation } | undefined;
  /** Tokens of the budget that are left, the one to be chosen included. */
  #left = Infinity;
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

  /** Tokens from `step` to the end on the way that a budget is measured with, stop token included. */
  shortestCompletion(step: Step): number {
    return this.#completion.tokensFrom(step);
  }

  /** Whether the output can be finished from a state when the token that leads to it is one of `left`. An operation that is complete counts as the last. */
  fits(grammar: ByteGrammar, state: StateId, left: number): boolean {
    if (left === Infinity) return true;
    const place = state > CLOSED ? this.#automaton.textAt(state) : undefined;
    // the shortest end of a content is searched for only where it matters
    if (place !== undefined && 1 + this.#mostBytes(place, grammar) + 1 <= left) return true;
    // far from the end of a budget some way is enough, and the shortest is not searched for
    if (state < DEAD && 1 + this.#completion.boundFrom(grammar, state) + 1 <= left) return true;
    const bytes = this.#completion.bytesFrom(grammar, state);
    // a byte is a token at most, and the stop token comes last
    if (1 + bytes + 1 <= left) return true;
    return state !== END && bytes < Infinity && 1 + this.#completion.tokensFrom({ grammar, state, closed: undefined }) <= left;
  }

  /** Finds every token that can follow `step`: asked again at once, it is not computed anew. `left` counts the tokens that are left, this one included. */
  find(step: Step, left: number): void {
    if (this.#last === step) return;
    const { grammar, state, closed } = step;
    this.#last = step;
    this.#left = left;
    if (left < Infinity) this.#fitting.clear();
    this.count = 0;
    this.hashLow = 0;
    this.hashHigh = 0;
    this.#listed = 0;
    if (this.#removed.length > 0) this.#removed = [];
    this.#slice = undefined;
    const { trie } = this.#index;
    if (state === END) {
      const behind = closed as ClosedOperation;
      this.#afterOperation(trie, 0, trie.nodeCount, behind, () => behind);
    } else if (state !== CLOSED) {
      const guard = state < 0 ? grammar.guardAt(state) : undefined;
      this.#fromState(guard === undefined ? state : guard.unguarded, grammar);
      // a walk in this state would compute every token anew, of which the excluded values take away a handful
      if (guard !== undefined) this.#removeExcluded(guard, state, 0, 0, trie.nodeCount, grammar);
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

  #fromState(state: StateId, grammar: ByteGrammar): void {
    const place = state > CLOSED ? this.#automaton.textAt(state) : undefined;
    if (place === undefined) this.#fromRoot(this.#index.trie, state, grammar);
    else for (const node of this.#insideString(state, place, grammar)) this.#close(node, place.closed, grammar);
  }

  /** Takes away what an excluded value forbids, following it through the tree: nodes `from` to `to`, at `depth`, whole subtrees of one parent. */
  #removeExcluded({ unguarded, watched }: GuardView, state: StateId, depth: number, from: number, to: number, grammar: ByteGrammar): void {
    const { trie } = this.#index;
    for (let node = from; node < to; node += trie.subtreeSize[node] as number) {
      const byte = trie.byte[node] as number;
      if (watched[byte] === 0) continue;
      const free = this.#automaton.next(unguarded, byte);
      const next = grammar.next(state, byte);
      const end = node + (trie.subtreeSize[node] as number);
      if (free === DEAD || next > 0) continue;
      if (next === DEAD) {
        this.#stack[depth] = this.#automaton.baseOf(unguarded);
        this.#isRemoving = true;
        this.#walk(trie, node, end, grammar, 0);
        this.#isRemoving = false;
        continue;
      }
      const isStranded = this.#left < Infinity && this.#hasRoom(grammar, free) && !this.#hasRoom(grammar, next);
      if (isStranded) {
        this.#isRemoving = true;
        this.#markIds(trie, node);
        this.#isRemoving = false;
      }
      this.#removeExcluded(grammar.guardAt(next) as GuardView, next, depth + 1, node + 1, end, grammar);
    }
  }

  /** Marks what goes on inside a string; answers behind which texts it may be closed. */
  #insideString(state: StateId, place: TextPlace, grammar: ByteGrammar): readonly TextNode[] {
    const { id, content, register, entry, at } = place;
    const { closings, longestToken, sliceUpTo, textTree } = this.#index;
    const count = content.codePointCount(register);
    const find = (hasRoom: (state: number, count: number) => boolean): FoundText => {
      const found: FoundText = { groups: [], partial: [], closing: [] };
      const tree = textTree(content.automaton);
      const root = tree.rootAt(entry);
      if (root.whole.ids.length > 0 && hasRoom(content.stateOf(register), count)) found.groups.push(root.whole);
      findText(tree, root, content, content.stateOf(register), count, found, hasRoom);
      return found;
    };
    if (this.#left < Infinity && 1 + LONGEST_SPELLING + this.#mostBytes(place, grammar) + 1 > this.#left) {
      // not every token leaves room to finish
      const found = find((next, length) => this.#hasRoom(grammar, at(content.registerOf(next, length))));
      for (const group of found.groups) this.#addGroup(group);
      for (const { ids } of found.partial) for (const one of ids) {
        const after = (this.#vocabulary.tokens[one] as Uint8Array).reduce((next, byte) => this.#automaton.next(next, byte), state);
        if (this.#hasRoom(grammar, after)) this.#mark(one);
      }
      return found.closing;
    }
    const free = entry === BETWEEN ? content.freeCodePoints(register) : -1;
    if (free >= 0) {
      this.#addSlice(sliceUpTo(free));
      return closings.filter(({ codePoints }) => codePoints <= free && content.accepts(content.stateOf(register), count + codePoints)).map(({ node }) => node);
    }
    const key = `${id} ${entry} ${content.keyOf(register, longestToken)}`;
    let mask = this.#texts.get(key);
    if (mask === undefined) {
      const { groups, partial, closing } = find(() => true);
      mask = { slice: sliceOf([...groups, ...partial], new Int32Array((this.#ids.length + 31) >> 5)), closing };
      const [oldest] = this.#texts.keys();
      if (this.#texts.size >= MAX_TEXT_COUNT && oldest !== undefined) this.#texts.delete(oldest);
      this.#texts.set(key, mask);
    }
    this.#addSlice(mask.slice);
    return mask.closing;
  }

  /** Bytes that are enough from there, and from wherever a token leads in the same string, between two characters. */
  #mostBytes({ content, register, entry, closed }: TextPlace, grammar: ByteGrammar): number {
    return (entry === BETWEEN ? 0 : LONGEST_SPELLING) + content.mostBytes(content.codePointCount(register)) + 1 + this.#completion.bytesFrom(grammar, closed);
  }

  /** Tokens that close a string behind the text of `node`; `closed` is the state behind the quote. */
  #close({ quoted, closing }: TextNode, closed: StateId, grammar: ByteGrammar): void {
    if (this.#left === Infinity || this.#hasRoom(grammar, closed)) this.#addGroup(quoted);
    const { trie } = this.#index;
    for (const quote of closing) {
      this.#stack[(trie.depth[quote] as number) + 1] = this.#automaton.baseOf(closed);
      this.#walk(trie, quote + 1, quote + (trie.subtreeSize[quote] as number), grammar, 0);
    }
  }

  #addSlice(slice: TokenSlice): void {
    this.#slice = slice;
    this.count = slice.count;
    this.hashLow = slice.hashLow;
    this.hashHigh = slice.hashHigh;
  }

  #addGroup({ ids, hashLow, hashHigh }: TokenGroup): void {
    for (const id of ids) {
      this.#ids[this.#listed] = id;
      this.#listed += 1;
    }
    this.count += ids.length;
    this.hashLow = (this.hashLow + hashLow) | 0;
    this.hashHigh = (this.hashHigh + hashHigh) | 0;
  }

  #hasRoom(grammar: ByteGrammar, state: StateId): boolean {
    if (state < 0) return this.fits(grammar, state, this.#left);
    let hasRoom = this.#fitting.get(state);
    if (hasRoom === undefined) this.#fitting.set(state, hasRoom = this.fits(grammar, state, this.#left));
    return hasRoom;
  }

  /** A whole tree. */
  #fromRoot(trie: TokenTrie, state: StateId, grammar: ByteGrammar): void {
    this.#stack[0] = state > 0 ? this.#automaton.baseOf(state) : state;
    const bytes = state > 0 ? this.#automaton.firstBytes(state) : grammar.bytesAt(state);
    if (bytes === undefined) {
      this.#walk(trie, 0, trie.nodeCount, grammar, 0);
      return;
    }
    for (const byte of bytes) {
      const node = trie.firstNodes[byte] as number;
      if (node >= 0) this.#walk(trie, node, node + (trie.subtreeSize[node] as number), grammar, 0);
    }
  }

  /**
   * Nodes `from` to `to` are whole subtrees of one parent. In front of them, on the stack at their depth: the base of a row of the automaton,
   * or a state of the grammar, which is negative. Only a state that tokens go on from gets a row.
   */
  #walk(trie: TokenTrie, from: number, to: number, grammar: ByteGrammar, operationDepth: number): void {
    const { byte, depth, subtreeSize, tokenOffset } = trie;
    const stack = this.#stack;
    const automaton = this.#automaton;
    let { rows } = automaton;
    let ends: number[] | undefined;
    let node = from;
    while (node < to) {
      const level = depth[node] as number;
      const base = stack[level] as number;
      let next: StateId;
      if (base >= 0) {
        next = rows[base | (byte[node] as number)] as number;
        if (next < 0) next = automaton.fill(base, byte[node] as number);
      } else {
        next = grammar.next(base, byte[node] as number);
        ({ rows } = automaton);
      }
      const size = subtreeSize[node] as number;
      if (next === DEAD) {
        node += size;
        continue;
      }
      if (tokenOffset[node] !== tokenOffset[node + 1]) this.#markNode(trie, node, grammar, next);
      if (next === END || size === 1) {
        if (size > 1) (ends ??= []).push(node);
        node += size;
        continue;
      }
      stack[level + 1] = next > 0 ? automaton.baseOf(next) : next;
      ({ rows } = automaton);
      node += 1;
    }
    if (ends !== undefined) this.#walkBehind(trie, ends, grammar, operationDepth);
  }

  /** The subtrees of nodes at which the operation that began at depth `operationDepth` of the token is complete. */
  #walkBehind(trie: TokenTrie, ends: readonly number[], grammar: ByteGrammar, operationDepth: number): void {
    const value = operationDepth === 0 ? this.#last?.value : undefined;
    for (const node of ends) {
      const close = (): ClosedOperation => grammar.close(concatBytes([this.#operationSoFar(grammar), pathOf(trie, this.#vocabulary.tokens, node).subarray(operationDepth)]));
      const closed = value !== undefined && this.#behind?.value === value ? this.#behind.closed : close();
      if (value !== undefined && closed.again !== undefined) this.#behind = { value, closed };
      this.#afterOperation(trie, node + 1, node + (trie.subtreeSize[node] as number), closed, close);
    }
  }

  /** Children of a node at which an operation is complete. Only what does not depend on its value is asked of `closed`. */
  #afterOperation(trie: TokenTrie, from: number, to: number, closed: ClosedOperation, close: () => ClosedOperation): void {
    for (let node = from; node < to; node += trie.subtreeSize[node] as number) {
      const byte = trie.byte[node];
      if (byte === CLOSE_BRACKET) {
        if (closed.canEnd() && this.#left >= 2) this.#markIds(trie, node);
      } else if (byte === COMMA && closed.hasNext()) {
        const end = node + (trie.subtreeSize[node] as number);
        // the next grammar is built only where a token reaches beyond what begins every operation, or where the budget may be too small for one
        if (1 + (closed.again ?? Infinity) + 1 <= this.#left) {
          this.#markIds(trie, node);
          if (this.#isOpening(trie, node + 1, end)) continue;
        } else {
          this.#markNode(trie, node, close().next(), close().next().start);
        }
        if (end === node + 1) continue;
        const next = close().next();
        const level = trie.depth[node] as number;
        this.#stack[level + 1] = next.start;
        this.#walk(trie, node + 1, end, next, level);
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

  /** Bytes of an operation of `grammar` in front of the token, its leading separator included. */
  #operationSoFar(grammar: ByteGrammar): Uint8Array {
    const step = this.#last as Step;
    return step.grammar === grammar ? bytesBetween(step, step.operationStart) : NO_BYTES;
  }

  #markNode(trie: TokenTrie, node: number, grammar: ByteGrammar, state: StateId): void {
    const exact = this.#exactly(trie, node) ?? { grammar, state };
    if (this.#left < Infinity && !this.#hasRoom(exact.grammar, exact.state)) return;
    this.#markIds(trie, node);
  }

  /** Where a token leads that may end an open name and go on in the same object, as no walk keeps such names; undefined for all others. */
  #exactly(trie: TokenTrie, node: number): Pick<Step, 'grammar' | 'state'> | undefined {
    if (!this.#automaton.hasOpenNames) return undefined;
    const bytes = pathOf(trie, this.#vocabulary.tokens, node);
    const quote = bytes.indexOf(QUOTE);
    if (quote < 0 || !bytes.includes(COMMA, quote)) return undefined;
    const step = this.#last as Step;
    return stepAfter(step, bytes, this.#automaton) ?? { grammar: step.grammar, state: DEAD };
  }

  #markIds(trie: TokenTrie, node: number): void {
    if (this.#exactly(trie, node)?.state === DEAD) return;
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
