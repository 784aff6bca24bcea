/**
 * How far an output is from its end: what a token budget needs, so that no output is begun that cannot be finished in time. The way taken is
 * one of fewest bytes, always the same one from the same state, spelled with the fewest tokens. Behind the first of these tokens the rest is the
 * way that is taken from there: so a state that fits its budget always has a token that leads to another one that does. Another way of more
 * bytes may have fewer tokens; the count is an upper bound, which refuses a few long outputs near the end of a budget and never strands one.
 */
import type { ByteGrammar, ClosedOperation } from '../grammar/operation-grammar.ts';
import { ShortestEnds } from '../grammar/shortest-end.ts';
import { DEAD, END, type StateId, type ValueAutomaton } from '../grammar/value-automaton.ts';
import type { TokenTrie } from '../vocab/token-trie.ts';

const CLOSE_BRACKET = 0x5d;

/** Bytes after which the first way is given up: an excluded text may go on for long. */
const LONGEST_BOUND = 512;

/** A place in an output, as far as its future goes. `closed` counts in state {@link END} alone. */
export interface Place {
  readonly grammar: ByteGrammar;
  readonly state: StateId;
  readonly closed: ClosedOperation | undefined;
}

export class Completion {
  readonly #automaton: ValueAutomaton;
  readonly #trie: TokenTrie;
  readonly #ends: ShortestEnds;
  readonly #known = new WeakMap<ByteGrammar, Map<StateId, number>>();
  readonly #bounds = new WeakMap<ByteGrammar, Map<StateId, number>>();

  constructor(automaton: ValueAutomaton, trie: TokenTrie) {
    this.#automaton = automaton;
    this.#trie = trie;
    this.#ends = new ShortestEnds(automaton);
  }

  /** Bytes of the shortest way to the end of the output; an operation that is complete counts as one that may be the last. */
  bytesFrom(grammar: ByteGrammar, state: StateId): number {
    if (state >= DEAD) return this.#ends.bytesFrom(state);
    let known = this.#known.get(grammar);
    if (known === undefined) this.#known.set(grammar, known = new Map());
    let bytes = known.get(state);
    if (bytes === undefined) known.set(state, bytes = this.#search(grammar, state));
    return bytes;
  }

  /** Bytes of a way to the end, the first that the grammar names: never fewer than {@link bytesFrom}, and no other way is built for it. */
  boundFrom(grammar: ByteGrammar, state: StateId): number {
    let known = this.#bounds.get(grammar);
    if (known === undefined) this.#bounds.set(grammar, known = new Map());
    const way: StateId[] = [];
    let current = state;
    while (current < DEAD && way.length < LONGEST_BOUND && !known.has(current)) {
      way.push(current);
      const byte = grammar.bytesAt(current).find((each) => grammar.next(current, each) !== DEAD);
      current = byte === undefined ? DEAD : grammar.next(current, byte);
    }
    const end = current >= DEAD ? this.#ends.bytesFrom(current) : (known.get(current) ?? Infinity);
    way.reverse().forEach((each, index) => known.set(each, end + index + 1));
    return known.get(state) ?? end;
  }

  /** Tokens of the way from `place` to the end, stop token included. */
  tokensFrom(place: Place): number {
    const { state, closed } = place;
    if (state === END) return (closed as ClosedOperation).canEnd() ? 2 : this.#tokensBehind(closed as ClosedOperation);
    const way = this.#wayFrom(place);
    return way === undefined ? Infinity : this.#fewestTokens(way) + 1;
  }

  /** With a goal: an operation that may not be the last. */
  #tokensBehind(closed: ClosedOperation): number {
    if (!closed.hasNext()) return Infinity;
    const grammar = closed.next();
    return 1 + this.tokensFrom({ grammar, state: grammar.start, closed: undefined });
  }

  /** Breadth first, and no deeper than the best end found: a tree that is built when it is chosen stays unbuilt where it cannot be shorter. */
  #search(grammar: ByteGrammar, start: StateId): number {
    let best = Infinity;
    const guard = grammar.guardAt(start);
    if (guard !== undefined) {
      // the way without the excluded values, where it leaves them at once
      const bytes = this.bytesFrom(grammar, guard.unguarded);
      const first = this.#firstToward(grammar, guard.unguarded, bytes - 1);
      if (first !== undefined && guard.watched[first.byte] === 0) return bytes;
    }
    let layer = [start];
    const seen = new Set(layer);
    for (let depth = 1; layer.length > 0 && depth < best; depth += 1) {
      const deeper: StateId[] = [];
      for (const state of layer) {
        for (const byte of grammar.bytesAt(state)) {
          const next = grammar.next(state, byte);
          if (next === DEAD || seen.has(next)) continue;
          seen.add(next);
          if (next > 0) best = Math.min(best, depth + this.bytesFrom(grammar, next));
          else deeper.push(next);
        }
      }
      layer = deeper;
    }
    return best;
  }

  /** The bytes of the way; undefined where there is none. */
  #wayFrom({ grammar, state }: Place): Uint8Array | undefined {
    const way: number[] = [];
    let current = state;
    let left = this.bytesFrom(grammar, state);
    if (left === Infinity) return undefined;
    while (left > 0) {
      if (current === END) {
        way.push(CLOSE_BRACKET);
        break;
      }
      left -= 1;
      const step = this.#firstToward(grammar, current, left);
      if (step === undefined) return undefined;
      way.push(step.byte);
      current = step.next;
    }
    return Uint8Array.from(way);
  }

  /** The lowest byte behind which `left` bytes are still to come. */
  #firstToward(grammar: ByteGrammar, state: StateId, left: number): { readonly byte: number; readonly next: StateId } | undefined {
    let found: { readonly byte: number; readonly next: StateId } | undefined;
    const tryByte = (byte: number): void => {
      if (found !== undefined && found.byte < byte) return;
      const next = state > 0 ? this.#automaton.next(state, byte) : grammar.next(state, byte);
      if (next !== DEAD && this.bytesFrom(grammar, next) === left) found = { byte, next };
    };
    const bytes = state > 0 ? this.#automaton.firstBytes(state) : grammar.bytesAt(state);
    if (bytes !== undefined) bytes.forEach(tryByte);
    else for (let byte = 0; byte < 256 && found === undefined; byte += 1) tryByte(byte);
    return found;
  }

  /** Fewest tokens that spell `bytes`, from the end backwards. */
  #fewestTokens(bytes: Uint8Array): number {
    const { byte, subtreeSize, tokenOffset, firstNodes } = this.#trie;
    const fewest = new Float64Array(bytes.length + 1).fill(Infinity);
    fewest[bytes.length] = 0;
    for (let start = bytes.length - 1; start >= 0; start -= 1) {
      let node = firstNodes[bytes[start] as number] as number;
      for (let end = start + 1; node >= 0; end += 1) {
        if (tokenOffset[node] !== tokenOffset[node + 1]) fewest[start] = Math.min(fewest[start] as number, 1 + (fewest[end] as number));
        const last = node + (subtreeSize[node] as number);
        let child = node + 1;
        while (child < last && byte[child] !== bytes[end]) child += subtreeSize[child] as number;
        node = end < bytes.length && child < last ? child : -1;
      }
    }
    return fewest[0] as number;
  }
}
