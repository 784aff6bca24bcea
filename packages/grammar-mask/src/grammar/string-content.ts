/**
 * The content of one kind of string: its automaton over code points together with its length window. A register is a state and a count of code
 * points, numbered as they are reached. Whether a text of admissible length can still be completed is exact: the shortest completion that
 * has at least so many code points more is tabled for every state, so that no string is begun that cannot end.
 */
import type { TextAutomaton } from '@contractrl/core/schema';
import { alphabetOf, type Alphabet } from './alphabet.ts';

/** Numbered pair of a state and the code points so far. */
export type ContentRegister = number;
/** No text of this content continues so. */
export const NO_CONTENT: ContentRegister = -1;

/** Characters of one byte in every spelling: `#` to `[`, `]` to `~`. */
const PLAIN: readonly number[] = Array.from({ length: 0x7f - 0x23 }, (_, index) => 0x23 + index).filter((codePoint) => codePoint !== 0x5c);
/** Bytes of a surrogate pair written as escapes. */
export const LONGEST_SPELLING = 12;
const NEVER = 0x7fff_ffff;

export class StringContent {
  /** {@link NO_CONTENT} where nothing has this content and a length in the window. */
  readonly start: ContentRegister;
  readonly automaton: TextAutomaton;
  readonly alphabet: Alphabet;
  readonly #minLength: number;
  readonly #maxLength: number;
  readonly #registers = new Map<number, ContentRegister>();
  readonly #states: number[] = [];
  readonly #counts: number[] = [];
  /** Targets without repetition, per state. */
  readonly #targets: readonly (readonly number[])[];
  readonly #longestCompletion: number;
  /** Of the cheapest character of every symbol. */
  #bytesPerCharacter: number | undefined;
  /** By how many code points are still needed: each state's length of the shortest completion with at least so many. */
  readonly #completions: Int32Array[] = [];

  constructor(automaton: TextAutomaton, minLength: number, maxLength: number) {
    this.automaton = automaton;
    this.alphabet = alphabetOf(automaton);
    this.#minLength = minLength;
    this.#maxLength = maxLength;
    const { stateCount, symbolCount, next } = automaton;
    this.#targets = Array.from({ length: stateCount }, (_, state) => {
      // a set for each row takes ten times as long, and closed texts have thousands of rows with one target
      const targets: number[] = [];
      for (let index = state * symbolCount; index < (state + 1) * symbolCount; index += 1) {
        const target = next[index] as number;
        if (target >= 0 && !targets.includes(target)) targets.push(target);
      }
      return targets;
    });
    this.#completions.push(this.#shortestCompletions());
    this.#longestCompletion = (this.#completions[0] as Int32Array).reduce((longest, length) => (length === NEVER ? longest : Math.max(longest, length)), 0);
    this.start = this.#fits(0, 0) ? this.registerOf(0, 0) : NO_CONTENT;
  }

  next(register: ContentRegister, codePoint: number): ContentRegister {
    const symbol = this.alphabet.symbolOf(codePoint);
    const count = this.codePointCount(register);
    const target = symbol < 0 ? -1 : this.step(this.stateOf(register), count, symbol);
    return target < 0 ? NO_CONTENT : this.registerOf(target, count + 1);
  }

  /** The state behind a symbol that follows `count` code points; −1 where none can. */
  step(state: number, count: number, symbol: number): number {
    const target = this.automaton.next[state * this.automaton.symbolCount + symbol] as number;
    return target >= 0 && this.#fits(target, count + 1) ? target : -1;
  }

  /** Whether some code point from `first` to `last` can follow. */
  admits(register: ContentRegister, first: number, last: number): boolean {
    return this.alphabet.some(first, last, (symbol) => this.step(this.stateOf(register), this.codePointCount(register), symbol) >= 0);
  }

  /**
   * A number that is the same where texts of at most `reach` code points cannot tell two places apart: the state, the code points that are
   * still needed, and those that are still free where a bound comes near.
   */
  keyOf(register: ContentRegister, reach: number): number {
    const count = this.codePointCount(register);
    const needed = this.#neededAfter(count);
    const horizon = reach + this.#longestCompletion;
    const room = Math.min(this.#maxLength - count, horizon + needed);
    return (needed * (horizon + this.#minLength + 1) + room) * this.automaton.stateCount + this.stateOf(register);
  }

  /** Bytes that are enough to complete whatever text of at least `count` code points was begun. */
  mostBytes(count: number): number {
    if (this.#bytesPerCharacter === undefined) {
      const short = new Set(PLAIN.map((codePoint) => this.alphabet.symbolOf(codePoint)));
      this.#bytesPerCharacter = this.automaton.intervalSymbols.every((symbol) => symbol < 0 || short.has(symbol)) ? 1 : LONGEST_SPELLING;
    }
    return (this.#neededAfter(count) + this.#longestCompletion) * this.#bytesPerCharacter;
  }

  isAccepting(register: ContentRegister): boolean {
    return this.accepts(this.stateOf(register), this.codePointCount(register));
  }

  accepts(state: number, count: number): boolean {
    return count >= this.#minLength && this.automaton.isAccepting[state] === 1;
  }

  /** Code points that may still follow where their count alone is left to be watched; −1 elsewhere. */
  freeCodePoints(register: ContentRegister): number {
    return this.stateOf(register) === this.automaton.freeState ? this.#maxLength - this.codePointCount(register) : -1;
  }

  codePointCount(register: ContentRegister): number {
    return this.#counts[register] as number;
  }

  registerOf(state: number, count: number): ContentRegister {
    const key = count * this.automaton.stateCount + state;
    const known = this.#registers.get(key);
    if (known !== undefined) return known;
    this.#registers.set(key, this.#counts.push(count) - 1);
    return this.#states.push(state) - 1;
  }

  stateOf(register: ContentRegister): number {
    return this.#states[register] as number;
  }

  #neededAfter(count: number): number {
    return Math.max(0, this.#minLength - count);
  }

  /** Whether a text that has led to `state` with `count` code points can be completed within the window. */
  #fits(state: number, count: number): boolean {
    if (state === this.automaton.freeState) return count <= this.#maxLength;
    const needed = this.#neededAfter(count);
    while (this.#completions.length <= needed) this.#completions.push(this.#longerCompletions(this.#completions.at(-1) as Int32Array));
    return (this.#completions[needed]?.[state] as number) <= this.#maxLength - count;
  }

  /** Breadth first from the accepting states, backwards. */
  #shortestCompletions(): Int32Array {
    const { isAccepting } = this.automaton;
    const before: number[][] = this.#targets.map(() => []);
    for (const [state, targets] of this.#targets.entries()) for (const target of targets) (before[target] as number[]).push(state);
    const shortest = Int32Array.from(isAccepting, (accepting) => (accepting === 1 ? 0 : NEVER));
    const queue = [...isAccepting.keys()].filter((state) => isAccepting[state] === 1);
    for (const state of queue) {
      for (const earlier of before[state] as number[]) {
        if (shortest[earlier] !== NEVER) continue;
        shortest[earlier] = (shortest[state] as number) + 1;
        queue.push(earlier);
      }
    }
    return shortest;
  }

  #longerCompletions(shorter: Int32Array): Int32Array {
    return Int32Array.from(this.#targets, (targets) => {
      const least = targets.reduce((smallest, target) => Math.min(smallest, shorter[target] as number), NEVER);
      return least === NEVER ? NEVER : least + 1;
    });
  }
}
