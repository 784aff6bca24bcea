/**
 * Several patterns at once as one finite automaton over code points, for the mask: which texts satisfy all of them, and what can still follow
 * a beginning. Code points that no pattern tells apart are one symbol; states are what the patterns' own machines reach, numbered.
 * Everything is explored when built, so that a dead end is known before it is entered; what is too large is refused, never approximated.
 * Reference: M. Rabin, D. Scott, Finite Automata and Their Decision Problems, IBM Journal 3(2), 1959 (subsets and products).
 */
import { err, ok, type Result } from '../result.ts';
import { compilePattern, type PatternIssue } from './pattern.ts';
import { machineOf, type PatternMachine, type PatternThreads } from './pattern-machine.ts';

/** Immutable. State 0 is the start. */
export interface TextAutomaton {
  readonly stateCount: number;
  /** Symbols are sets of code points. */
  readonly symbolCount: number;
  /** First code points of the intervals of equal symbols, ascending from 0. [intervals] */
  readonly intervalStarts: Int32Array;
  /** The symbol of each interval; −1 for surrogates, which stand alone in no text, and behind U+10FFFF. [intervals] */
  readonly intervalSymbols: Int32Array;
  /** `next[state * symbolCount + symbol]`; −1 where no satisfying text follows. */
  readonly next: Int32Array;
  /** 1 where the text may end. [stateCount] */
  readonly isAccepting: Uint8Array;
  /** The state from which any text at all is accepted; −1 where there is none. */
  readonly freeState: number;
}

export type TextAutomatonIssue = PatternIssue | { readonly code: 'pattern/too-many-states'; readonly limit: number };

/** A counted repetition up to 4,096 fits. Subset construction of `a.{11}b` has as many states, and twice as many with each count more. */
export const MAX_TEXT_STATES = 4_352;
/** A pattern that counts characters has a state for each count at which a place of a text can be reached. */
const MAX_PAIRED_STATES = 4 * MAX_TEXT_STATES;
/** Threads stepped while building: a bound on time, about 0.1 s. Formats stay below half of it, most patterns need some hundreds. */
const MAX_STEPPED_THREADS = 262_144;

const END_OF_CODE_POINTS = 0x110000;
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;
/** Stand for the code point before: all that a pattern may ask of it is whether there is one and whether it is a word character. */
const WORD = 0x61;
const NO_WORD = 0x20;
const MATCHED = 0;

const built = new Map<string, Result<TextAutomaton, TextAutomatonIssue>>();
/** As for compiled patterns: a guard for processes that load contracts without end. */
const MAX_CACHED_AUTOMATA = 256;

/** The texts that every pattern of `sources` matches somewhere, and no pattern of `excluded` does anywhere. Kept, so asking again is cheap. */
export function textAutomaton(sources: readonly string[], excluded: readonly string[] = []): Result<TextAutomaton, TextAutomatonIssue> {
  const [wanted, unwanted] = [sources, excluded].map((each) => [...new Set(each)].sort()) as [string[], string[]];
  const key = JSON.stringify([wanted, unwanted]);
  const known = built.get(key);
  if (known !== undefined) return known;
  const automaton = build([...wanted, ...unwanted], wanted.length);
  if (built.size >= MAX_CACHED_AUTOMATA) built.clear();
  built.set(key, automaton);
  return automaton;
}

/** The first `wantedCount` patterns are to match, the others are not. */
function build(sources: readonly string[], wantedCount: number): Result<TextAutomaton, TextAutomatonIssue> {
  const machines: PatternMachine[] = [];
  for (const source of sources) {
    const pattern = compilePattern(source);
    if (!pattern.ok) return pattern;
    machines.push(machineOf(pattern.value));
  }
  const alphabet = alphabetOf(machines.flatMap(({ ranges }) => ranges));
  const symbolCount = alphabet.representatives.length;
  const components = machines.map((machine) => new Component(machine, alphabet.representatives));

  const states = new Map<string, number>();
  const tuples: number[][] = [];
  const stateOf = (tuple: number[]): number => {
    const key = tuple.join();
    const known = states.get(key) ?? tuples.push(tuple) - 1;
    states.set(key, known);
    return known;
  };
  const rows: Int32Array[] = [];
  stateOf(components.map((component) => component.start));
  for (let state = 0; state < tuples.length; state += 1) {
    const threadCount = components.reduce((sum, component) => sum + component.threadCount, 0);
    if (tuples.length > MAX_TEXT_STATES || threadCount > MAX_STEPPED_THREADS) return err({ code: 'pattern/too-many-states', limit: MAX_TEXT_STATES });
    const tuple = tuples[state] as number[];
    rows.push(Int32Array.from({ length: symbolCount }, (_, symbol) => {
      const after = tuple.map((part, index) => (components[index] as Component).next(part, symbol));
      return after.some((part, index) => part === (index < wantedCount ? -1 : MATCHED)) ? -1 : stateOf(after);
    }));
  }

  const stateCount = tuples.length;
  const isAccepting = Uint8Array.from(tuples, (tuple) => Number(tuple.every((part, index) => (components[index] as Component).isAccepting(part) === index < wantedCount)));
  const next = new Int32Array(stateCount * symbolCount);
  for (const [state, row] of rows.entries()) next.set(row, state * symbolCount);
  cutDeadEnds(next, symbolCount, isAccepting);
  const freeState = tuples.findIndex((tuple) => tuple.every((part, index) => part === (index < wantedCount ? MATCHED : -1)));
  return ok({ stateCount, symbolCount, intervalStarts: alphabet.starts, intervalSymbols: alphabet.symbols, next, isAccepting, freeState });
}

/**
 * The texts of `listed` that `other` accepts too; undefined where they need too many states. `listed` has one code point a symbol and few ways on
 * from a state, so pairs are followed along those, and states from which nothing is accepted are never numbered.
 */
export function textsOfBoth(listed: TextAutomaton, other: TextAutomaton): TextAutomaton | undefined {
  const { symbolCount, stateCount } = listed;
  const waysOf: number[][] = Array.from({ length: stateCount }, () => []);
  for (let index = 0; index < listed.next.length; index += 1) if ((listed.next[index] as number) >= 0) (waysOf[Math.floor(index / symbolCount)] as number[]).push(index % symbolCount);
  const otherSymbols = new Int32Array(symbolCount);
  let interval = 0;
  for (const [index, symbol] of listed.intervalSymbols.entries()) {
    while ((other.intervalStarts[interval + 1] ?? Infinity) <= (listed.intervalStarts[index] as number)) interval += 1;
    if (symbol >= 0) otherSymbols[symbol] = other.intervalSymbols[interval] as number;
  }

  /** Pairs in the order in which they are met. */
  const pairs: number[] = [0];
  const known = new Map([[0, 0]]);
  const edges: (readonly [from: number, symbol: number, to: number])[] = [];
  for (let from = 0; from < pairs.length; from += 1) {
    if (pairs.length > MAX_PAIRED_STATES) return undefined;
    const pair = pairs[from] as number;
    const [left, right] = [Math.floor(pair / other.stateCount), pair % other.stateCount];
    for (const symbol of waysOf[left] as readonly number[]) {
      const otherSymbol = otherSymbols[symbol] as number;
      const after = otherSymbol < 0 ? -1 : other.next[right * other.symbolCount + otherSymbol] as number;
      if (after < 0) continue;
      const key = (listed.next[left * symbolCount + symbol] as number) * other.stateCount + after;
      const to = known.get(key) ?? pairs.push(key) - 1;
      known.set(key, to);
      edges.push([from, symbol, to]);
    }
  }

  const isAccepting = Uint8Array.from(pairs, (pair) => (listed.isAccepting[Math.floor(pair / other.stateCount)] as number) & (other.isAccepting[pair % other.stateCount] as number));
  const before: number[][] = pairs.map(() => []);
  for (const [from, , to] of edges) (before[to] as number[]).push(from);
  const isLive = liveStates(before, isAccepting);
  const live = [...pairs.keys()].filter((pair) => pair === 0 || isLive[pair] === 1);
  const numbers = new Int32Array(pairs.length);
  for (const [number, pair] of live.entries()) numbers[pair] = number;
  const next = new Int32Array(live.length * symbolCount).fill(-1);
  for (const [from, symbol, to] of edges) if (isLive[to] === 1) next[(numbers[from] as number) * symbolCount + symbol] = numbers[to] as number;
  return { ...listed, stateCount: live.length, next, isAccepting: Uint8Array.from(live, (pair) => isAccepting[pair] as number) };
}

/** Rewrites to −1 every transition into a state from which no accepting one is reached. */
function cutDeadEnds(next: Int32Array, symbolCount: number, isAccepting: Uint8Array): void {
  const before: number[][] = Array.from(isAccepting, () => []);
  for (const [index, target] of next.entries()) if (target >= 0) (before[target] as number[]).push(Math.floor(index / symbolCount));
  const isLive = liveStates(before, isAccepting);
  for (const [index, target] of next.entries()) if (target >= 0 && isLive[target] === 0) next[index] = -1;
}

/** 1 for each state from which an accepting one is reached, by the states before each. */
function liveStates(before: readonly (readonly number[])[], isAccepting: Uint8Array): Uint8Array {
  const isLive = isAccepting.slice();
  const stack = [...isAccepting.keys()].filter((state) => isLive[state] === 1);
  while (stack.length > 0) {
    for (const state of before[stack.pop() as number] as readonly number[]) {
      if (isLive[state] === 1) continue;
      isLive[state] = 1;
      stack.push(state);
    }
  }
  return isLive;
}

/** Code points by the sets that hold them: equal membership, equal symbol. */
function alphabetOf(sets: readonly (readonly number[])[]): { readonly starts: Int32Array; readonly symbols: Int32Array; readonly representatives: readonly number[] } {
  /** Sets entered or left at a code point. */
  const changes = new Map<number, number[]>([[0, []], [FIRST_SURROGATE, []], [AFTER_SURROGATES, []], [END_OF_CODE_POINTS, []]]);
  const changeAt = (codePoint: number, set: number): void => {
    const at = changes.get(codePoint);
    if (at === undefined) changes.set(codePoint, [set]);
    else at.push(set);
  };
  for (const [set, ranges] of sets.entries()) {
    for (let index = 0; index < ranges.length; index += 2) {
      changeAt(ranges[index] as number, set);
      changeAt((ranges[index + 1] as number) + 1, set);
    }
  }
  const starts: number[] = [];
  const symbols: number[] = [];
  const representatives: number[] = [];
  const known = new Map<string, number>();
  const members = new Set<number>();
  for (const start of [...changes.keys()].sort((left, right) => left - right)) {
    for (const set of changes.get(start) as number[]) if (!members.delete(set)) members.add(set);
    let symbol = -1;
    if (start < FIRST_SURROGATE || (start >= AFTER_SURROGATES && start < END_OF_CODE_POINTS)) {
      const key = [...members].sort((left, right) => left - right).join();
      symbol = known.get(key) ?? representatives.push(start) - 1;
      known.set(key, symbol);
    }
    if (symbols.length > 0 && symbols.at(-1) === symbol) continue;
    starts.push(start);
    symbols.push(symbol);
  }
  return { starts: Int32Array.from(starts), symbols: Int32Array.from(symbols), representatives };
}

/** One pattern's machine with its states numbered as they are reached; state 0 is "matched, whatever follows". */
class Component {
  readonly start: number;
  threadCount = 0;
  readonly #machine: PatternMachine;
  readonly #representatives: readonly number[];
  readonly #numbers = new Map<string, number>();
  readonly #states: { readonly threads: PatternThreads; readonly previous: number | undefined }[] = [{ threads: [], previous: undefined }];
  readonly #rows: Int32Array[] = [];

  constructor(machine: PatternMachine, representatives: readonly number[]) {
    this.#machine = machine;
    this.#representatives = representatives;
    this.start = this.#numberOf(machine.start, undefined);
  }

  next(state: number, symbol: number): number {
    if (state === MATCHED || state === -1) return state;
    const row = (this.#rows[state] ??= new Int32Array(this.#representatives.length).fill(-2));
    const known = row[symbol] as number;
    if (known !== -2) return known;
    const { threads, previous } = this.#states[state] as { threads: PatternThreads; previous: number | undefined };
    const codePoint = this.#representatives[symbol] as number;
    this.threadCount += threads.length;
    const isWord = this.#machine.looksBehind && codePoint < 0x80 && /\w/.test(String.fromCharCode(codePoint));
    const after = this.#numberOf(this.#machine.step(threads, previous, codePoint), isWord ? WORD : NO_WORD);
    row[symbol] = after;
    return after;
  }

  isAccepting(state: number): boolean {
    if (state === MATCHED || state === -1) return state === MATCHED;
    const { threads, previous } = this.#states[state] as { threads: PatternThreads; previous: number | undefined };
    return this.#machine.step(threads, previous, undefined) === 'matched';
  }

  /** −1 where nothing waits: the pattern cannot match any more. */
  #numberOf(threads: PatternThreads | 'matched', previous: number | undefined): number {
    if (threads === 'matched') return MATCHED;
    if (threads.length === 0) return -1;
    const key = `${previous ?? ''}:${threads.join()}`;
    const known = this.#numbers.get(key) ?? this.#states.push({ threads, previous }) - 1;
    this.#numbers.set(key, known);
    return known;
  }
}
