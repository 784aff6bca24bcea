/**
 * The bytes of one character inside a JSON string, canonically spelled, byte by byte: raw UTF-8, a short escape, or `\u` and four digits where
 * nothing shorter exists. A partial character is one integer, and knows which code points it can still become, so that a string whose content
 * is constrained never starts a character that has no place in it.
 * References: RFC 3629 §4, RFC 8259 §7.
 */
import { toUtf8 } from '../bytes.ts';
import type { Spelling } from './spelling.ts';

/** 0 between two characters, else a partial character; {@link NO_CHARACTER}; a whole code point c as −2 − c. */
export type CharacterStep = number;
export const BETWEEN: CharacterStep = 0;
export const NO_CHARACTER: CharacterStep = -1;
/** In front of a string's opening quote, as a place where its text is entered. */
export const BEFORE_QUOTE: CharacterStep = -2;

/** Tags of partial characters. Without one: UTF-8, the bits so far << 2 | bytes to come. */
export const AFTER_BACKSLASH = 0x1000_0000;
/** `\u` and up to three digits: their number << 16 | their value. */
const UNIT = 0x2000_0000;
/** Behind a high surrogate: bytes read of `\u` and four digits << 20 | bits of the code point known so far. */
const LOW = 0x4000_0000;

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const LETTER_D = 0x64;
const SHORT_ESCAPES: ReadonlyMap<number, number> = new Map([
  [0x22, 0x22], [BACKSLASH, BACKSLASH], [0x62, 0x08], [0x66, 0x0c], [0x6e, 0x0a], [0x72, 0x0d], [0x74, 0x09],
]);
/** Least code point that needs so many bytes behind the lead. */
const LEAST: readonly number[] = [0, 0x80, 0x800, 0x10000];
const CONTINUATIONS: Uint8Array = Uint8Array.from({ length: 64 }, (_, index) => 0x80 + index);
const ESCAPES: Uint8Array = toUtf8('\\"0123456789abcdefnrtu');

/** Whether some code point from `first` to `last` has a place. */
export type Admits = (first: number, last: number) => boolean;

export class CharacterSpelling {
  readonly #isSpellable: Uint8Array;
  /** Ranges of the code points written as `\u` and digits (first, last, first, last, …), ascending. */
  readonly #escaped: readonly number[];

  constructor({ isSpellable, mustEscape }: Spelling) {
    this.#isSpellable = isSpellable;
    const escaped = [0x00, 0x07, 0x0b, 0x0b, 0x0e, 0x1f];
    if (mustEscape(0x7f)) escaped.push(0x7f, 0x7f);
    // code points with one lead byte are spelled alike
    for (let lead = 0xc2; lead <= 0xf4; lead += 1) {
      const [first, last] = rangeOf(lead & (lead < 0xe0 ? 0x1f : lead < 0xf0 ? 0x0f : 0x07), lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3);
      if (mustEscape(first)) escaped.push(first, Math.min(last, 0x10ffff));
    }
    this.#escaped = escaped;
  }

  step(partial: CharacterStep, byte: number): CharacterStep {
    if (partial === BETWEEN) return this.#begin(byte);
    if (partial === AFTER_BACKSLASH) {
      const short = SHORT_ESCAPES.get(byte);
      return byte === LETTER_U ? UNIT : short === undefined ? NO_CHARACTER : whole(short);
    }
    if (partial >= LOW) return stepLow(partial, byte);
    if (partial >= UNIT) return this.#stepUnit(partial, byte);
    if (byte < 0x80 || byte > 0xbf) return NO_CHARACTER;
    const left = (partial & 3) - 1;
    const bits = ((partial >> 2) << 6) | (byte & 0x3f);
    if (left === 0) return whole(bits);
    // an overlong form, which its second byte gives away
    return ((bits + 1) << (6 * left)) - 1 < (LEAST[left + 1] as number) ? NO_CHARACTER : (bits << 2) | left;
  }

  /**
   * A partial character that the same bytes complete, to code points of the same symbol: one for all of a kind, which `known` keeps. `symbolOf`
   * answers −1 where the code points of a range are not all of one symbol.
   */
  alike(partial: CharacterStep, symbolOf: (first: number, last: number) => number, known: Map<number, CharacterStep>): CharacterStep {
    // some bytes alone may follow the first one of UTF-8, a backslash and `u`
    if (partial < LOW && (partial >= AFTER_BACKSLASH || partial >> 2 === 0)) return partial;
    const symbol = symbolOf(...(partial >= LOW ? lowRange(partial) : rangeOf(partial >> 2, partial & 3)));
    if (symbol < 0) return partial;
    const key = symbol << 4 | (partial >= LOW ? 4 + ((partial >> 20) & 0xf) : partial & 3);
    const first = known.get(key) ?? partial;
    known.set(key, first);
    return first;
  }

  /** Bytes among which are all that can follow inside a character. */
  bytesAfter(partial: CharacterStep): Uint8Array {
    return partial >= AFTER_BACKSLASH ? ESCAPES : CONTINUATIONS;
  }

  /** Whether a partial character can become one that has a place. */
  isViable(partial: CharacterStep, admits: Admits): boolean {
    if (partial === AFTER_BACKSLASH) return [...SHORT_ESCAPES.values()].some((codePoint) => admits(codePoint, codePoint)) || this.isViable(UNIT, admits);
    if (partial >= LOW) {
      const [first, last] = lowRange(partial);
      return admits(first, last);
    }
    if (partial >= UNIT) {
      const digitsLeft = 4 - ((partial >> 16) & 0xf);
      const first = (partial & 0xffff) << (4 * digitsLeft);
      return this.#someEscaped(first, first + (1 << (4 * digitsLeft)) - 1, admits);
    }
    const [first, last] = rangeOf(partial >> 2, partial & 3);
    return admits(first, last);
  }

  #begin(byte: number): CharacterStep {
    if (byte === BACKSLASH) return AFTER_BACKSLASH;
    if (byte < 0x20 || this.#isSpellable[byte] === 0) return NO_CHARACTER;
    if (byte < 0x80) return whole(byte);
    if (byte < 0xc2 || byte > 0xf4) return NO_CHARACTER;
    return byte < 0xe0 ? ((byte & 0x1f) << 2) | 1 : byte < 0xf0 ? ((byte & 0x0f) << 2) | 2 : ((byte & 0x07) << 2) | 3;
  }

  #stepUnit(partial: CharacterStep, byte: number): CharacterStep {
    const digit = digitOf(byte);
    if (digit < 0) return NO_CHARACTER;
    const count = ((partial >> 16) & 0xf) + 1;
    const value = ((partial & 0xffff) << 4) | digit;
    if (count < 4) return UNIT | (count << 16) | value;
    if (value >= 0xd800 && value < 0xdc00) return LOW | (value - 0xd800);
    return this.#someEscaped(value, value, () => true) ? whole(value) : NO_CHARACTER;
  }

  /** Whether a code point with a place is written with a first code unit from `first` to `last`. */
  #someEscaped(first: number, last: number, admits: Admits): boolean {
    const within = (from: number, to: number): boolean => {
      for (let index = 0; index < this.#escaped.length; index += 2) {
        const start = Math.max(from, this.#escaped[index] as number);
        const end = Math.min(to, this.#escaped[index + 1] as number);
        if (start <= end && admits(start, end)) return true;
      }
      return false;
    };
    const [high, highest] = [Math.max(first, 0xd800), Math.min(last, 0xdbff)];
    return within(first, Math.min(last, 0xffff)) || (high <= highest && within(0x10000 + ((high - 0xd800) << 10), 0x10000 + ((highest - 0xd800) << 10) + 0x3ff));
  }
}

/** UTF-8: the code points with these leading bits and so many bytes to come, overlong forms left out. */
function rangeOf(bits: number, left: number): readonly [number, number] {
  return [Math.max(bits << (6 * left), bits === 0 ? LEAST[left] as number : 0), ((bits + 1) << (6 * left)) - 1];
}

function stepLow(partial: CharacterStep, byte: number): CharacterStep {
  const read = (partial >> 20) & 0xf;
  const bits = partial & 0xf_ffff;
  const at = (more: number): CharacterStep => LOW | ((read + 1) << 20) | more;
  switch (read) {
    case 0: return byte === BACKSLASH ? at(bits) : NO_CHARACTER;
    case 1: return byte === LETTER_U ? at(bits) : NO_CHARACTER;
    case 2: return byte === LETTER_D ? at(bits) : NO_CHARACTER;
    // low surrogates are dc00 to dfff
    case 3: return byte >= 0x63 && byte <= 0x66 ? at((bits << 2) | (byte - 0x63)) : NO_CHARACTER;
    default: {
      const digit = digitOf(byte);
      if (digit < 0) return NO_CHARACTER;
      return read === 4 ? at((bits << 4) | digit) : whole(0x10000 + ((bits << 4) | digit));
    }
  }
}

function lowRange(partial: CharacterStep): readonly [number, number] {
  const read = (partial >> 20) & 0xf;
  const unknownBits = read <= 3 ? 10 : read === 4 ? 8 : 4;
  const first = 0x10000 + ((partial & 0xf_ffff) << unknownBits);
  return [first, first + (1 << unknownBits) - 1];
}

/** Lower case only: one spelling. */
function digitOf(byte: number): number {
  return byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
}

function whole(codePoint: number): CharacterStep {
  return -2 - codePoint;
}

/** The code point of a step that completed one. */
export function codePointOf(step: CharacterStep): number {
  return -2 - step;
}
