/**
 * The content of one kind of string: its automaton over code points together with its length window. A register is a state and a count of code
 * points, numbered as they are reached. Whether a text of admissible length can still be completed is exact: the shortest completion that
 * has at least so many code points more is tabled for every state, so that no string is begun that cannot end.
 */
import type { TextAutomaton } from '@contractrl/core';

/** Numbered pair of a state and the code points so far. */
export type ContentRegister = number;
/** No text of this content continues so. */
export const NO_CONTENT: ContentRegister = -1;

const FIRST_NON_ASCII = 0x80;
const LAST_CODE_POINT = 0x10ffff;
const ASCII: readonly number[] = Array.from({ length: FIRST_NON_ASCII }, (_, codePoint) => codePoint);
const NEVER = 0x7fff_ffff;

export class StringContent {
  /** {@link NO_CONTENT} where nothing has this content and a length in the window. */
  readonly start: ContentRegister;
  readonly #automaton: TextAutomaton;
  readonly #minLength: number;
  readonly #maxLength: number;
  readonly #registers = new Map<number, ContentRegister>();
  readonly #states: number[] = [];
  readonly #counts: number[] = [];
  /** Targets without repetition, per state. */
  readonly #targets: readonly (readonly number[])[];
  /** By how many code points are still needed: each state's length of the shortest completion with at least so many. */
  readonly #completions: Int32Array[] = [];
  /** Per register: 1 for the symbols that have a place. */
  readonly #openSymbols: Uint8Array[] = [];

  constructor(automaton: TextAutomaton, minLength: number, maxLength: number) {
    this.#automaton = automaton;
    this.#minLength = minLength;
    this.#maxLength = maxLength;
    const { stateCount, symbolCount, next } = automaton;
    this.#targets = Array.from({ length: stateCount }, (_, state) => [...new Set(next.subarray(state * symbolCount, (state + 1) * symbolCount))].filter((target) => target >= 0));
    this.#completions.push(this.#shortestCompletions());
    this.start = this.#fits(0, 0) ? this.#registerOf(0, 0) : NO_CONTENT;
  }

  next(register: ContentRegister, codePoint: number): ContentRegister {
    const symbol = this.#automaton.intervalSymbols[this.#intervalOf(codePoint)] as number;
    if (symbol < 0 || this.#openAt(register)[symbol] !== 1) return NO_CONTENT;
    const target = this.#automaton.next[this.#stateOf(register) * this.#automaton.symbolCount + symbol] as number;
    return this.#registerOf(target, this.codePointCount(register) + 1);
  }

  /** Whether some code point from `first` to `last` can follow. */
  admits(register: ContentRegister, first: number, last: number): boolean {
    const { intervalStarts, intervalSymbols } = this.#automaton;
    const open = this.#openAt(register);
    for (let index = this.#intervalOf(first); index < intervalStarts.length && (intervalStarts[index] as number) <= last; index += 1) {
      if (open[intervalSymbols[index] as number] === 1) return true;
    }
    return false;
  }

  /** Stands for code points between which nothing tells apart, −1 where something does. */
  symbolOf(first: number, last: number): number {
    const { intervalStarts, intervalSymbols } = this.#automaton;
    const interval = this.#intervalOf(first);
    return (intervalStarts[interval + 1] ?? Infinity) > last ? intervalSymbols[interval] as number : -1;
  }

  /** The ASCII characters that can follow, where nothing else can; undefined where beyond ASCII something can. */
  asciiAt(register: ContentRegister): readonly number[] | undefined {
    if (this.admits(register, FIRST_NON_ASCII, LAST_CODE_POINT)) return undefined;
    return ASCII.filter((codePoint) => this.admits(register, codePoint, codePoint));
  }

  isAccepting(register: ContentRegister): boolean {
    return this.codePointCount(register) >= this.#minLength && this.#automaton.isAccepting[this.#stateOf(register)] === 1;
  }

  /** Whether the length alone is left to be watched. */
  isFree(register: ContentRegister): boolean {
    return this.#stateOf(register) === this.#automaton.freeState;
  }

  codePointCount(register: ContentRegister): number {
    return this.#counts[register] as number;
  }

  #registerOf(state: number, count: number): ContentRegister {
    const key = count * this.#automaton.stateCount + state;
    const known = this.#registers.get(key) ?? this.#states.push(state) - 1;
    this.#registers.set(key, known);
    this.#counts[known] = count;
    return known;
  }

  #stateOf(register: ContentRegister): number {
    return this.#states[register] as number;
  }

  #openAt(register: ContentRegister): Uint8Array {
    const known = this.#openSymbols[register];
    if (known !== undefined) return known;
    const { symbolCount, next } = this.#automaton;
    const state = this.#stateOf(register);
    const count = this.codePointCount(register) + 1;
    const open = Uint8Array.from({ length: symbolCount }, (_, symbol) => {
      const target = next[state * symbolCount + symbol] as number;
      return target >= 0 && this.#fits(target, count) ? 1 : 0;
    });
    this.#openSymbols[register] = open;
    return open;
  }

  /** Whether a text that has led to `state` with `count` code points can be completed within the window. */
  #fits(state: number, count: number): boolean {
    const needed = Math.max(0, this.#minLength - count);
    while (this.#completions.length <= needed) this.#completions.push(this.#longerCompletions(this.#completions.at(-1) as Int32Array));
    return (this.#completions[needed]?.[state] as number) <= this.#maxLength - count;
  }

  /** Breadth first from the accepting states, backwards. */
  #shortestCompletions(): Int32Array {
    const { isAccepting } = this.#automaton;
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

  /** The last interval that starts at or in front of a code point. */
  #intervalOf(codePoint: number): number {
    const { intervalStarts } = this.#automaton;
    let [low, high] = [0, intervalStarts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((intervalStarts[middle] as number) <= codePoint) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
