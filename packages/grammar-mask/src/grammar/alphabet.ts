/**
 * Code points as symbols: what a kind of text does not tell apart is one symbol. A free string knows one symbol, a content as many as its
 * automaton. Surrogates stand alone in no text and have none.
 */
import type { TextAutomaton } from '@contractrl/core/schema';

const alphabets = new WeakMap<TextAutomaton, Alphabet>();

/** The alphabet of an automaton, one for all who ask. */
export function alphabetOf(automaton: TextAutomaton): Alphabet {
  let alphabet = alphabets.get(automaton);
  if (alphabet === undefined) alphabets.set(automaton, alphabet = new Alphabet(automaton));
  return alphabet;
}

export class Alphabet {
  /** See {@link CharacterSpelling.alike}. */
  readonly partials: Map<number, number> = new Map();
  readonly #starts: Int32Array;
  readonly #symbols: Int32Array;

  constructor({ intervalStarts, intervalSymbols }: TextAutomaton) {
    this.#starts = intervalStarts;
    this.#symbols = intervalSymbols;
  }

  /** −1 for a code point that no text holds. */
  symbolOf(codePoint: number): number {
    return this.#symbols[this.#intervalOf(codePoint)] as number;
  }

  /** Whether a symbol of some code point from `first` to `last` passes `test`. */
  some(first: number, last: number, test: (symbol: number) => boolean): boolean {
    for (let index = this.#intervalOf(first); index < this.#starts.length && (this.#starts[index] as number) <= last; index += 1) {
      const symbol = this.#symbols[index] as number;
      if (symbol >= 0 && test(symbol)) return true;
    }
    return false;
  }

  /** The symbol of all code points from `first` to `last`; −1 where there are several, or none. */
  onlySymbol(first: number, last: number): number {
    const interval = this.#intervalOf(first);
    return (this.#starts[interval + 1] ?? Infinity) > last ? this.#symbols[interval] as number : -1;
  }

  /** The last interval that starts at or in front of a code point. */
  #intervalOf(codePoint: number): number {
    // of a free string all there is but for the rarest
    if (codePoint < (this.#starts[1] as number)) return 0;
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= codePoint) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Any text: every character is one symbol. */
export const ANY_TEXT: TextAutomaton = {
  stateCount: 1, symbolCount: 1, freeState: 0, next: Int32Array.of(0), isAccepting: Uint8Array.of(1),
  intervalStarts: Int32Array.of(0, 0xd800, 0xe000, 0x110000), intervalSymbols: Int32Array.of(0, -1, 0, -1),
};
