/**
 * RFC 8259 text → JsonValue, stricter than `JSON.parse`: duplicate names, excess depth or size, and numbers a double cannot hold
 * are issues with their offset, since each of them makes the value judged differ from the value somebody else would read.
 * One pass, linear in the text; recursion stops at the depth limit. `__proto__` stays an own member, as with `JSON.parse`.
 * Lone surrogates (RFC 8259 §8.2 leaves them open) are refused: no UTF-8 text can carry them to a tool.
 */
import { formatPointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';
import { toDecimal } from './decimal.ts';
import { DEFAULT_MAX_DEPTH, hasLoneSurrogate, setMember, type JsonValue } from './value.ts';

export interface JsonLimits {
  /** Nested arrays and objects, the outermost counting 1. At most 1,000. */
  readonly maxDepth: number;
  /** UTF-16 units of text. */
  readonly maxLength: number;
}

export const DEFAULT_JSON_LIMITS: JsonLimits = { maxDepth: DEFAULT_MAX_DEPTH, maxLength: 1_048_576 };
/** The parser recurses; beyond this the host's stack is at risk. */
const MAX_MAX_DEPTH = 1_000;

/** `offset` counts UTF-16 units from 0; `pointer` is the innermost value being read. */
interface At { readonly offset: number; readonly pointer: JsonPointer }
export type JsonIssue =
  | { readonly code: 'json/empty' }
  | ({ readonly code: 'json/syntax'; readonly expected: string } & At)
  | ({ readonly code: 'json/truncated' } & At)
  | ({ readonly code: 'json/trailing' } & At)
  | ({ readonly code: 'json/duplicate-name'; readonly name: string } & At)
  | ({ readonly code: 'json/precision-loss'; readonly literal: string } & At)
  | ({ readonly code: 'json/lone-surrogate' } & At)
  | ({ readonly code: 'json/too-deep'; readonly limit: number } & At)
  | { readonly code: 'json/too-large'; readonly length: number; readonly limit: number };

/** A number literal that a double cannot hold; reading goes on with the nearest double. */
export type PrecisionLoss = Extract<JsonIssue, { readonly code: 'json/precision-loss' }>;

/** Reads one JSON text whole. The first issue ends it. */
export function parseJson(text: string, limits: JsonLimits = DEFAULT_JSON_LIMITS): Result<JsonValue, JsonIssue> {
  const read = parseJsonWithLosses(text, limits);
  if (!read.ok) return read;
  const [loss] = read.value.losses;
  return loss === undefined ? ok(read.value.value) : err(loss);
}

/** As {@link parseJson}, but numbers that lose precision are listed beside the value, so that a judge can still report on the rest. */
export function parseJsonWithLosses(
  text: string, limits: JsonLimits = DEFAULT_JSON_LIMITS,
): Result<{ readonly value: JsonValue; readonly losses: readonly PrecisionLoss[] }, JsonIssue> {
  if (limits.maxDepth > MAX_MAX_DEPTH) throw new RangeError(`limits.maxDepth must be at most ${MAX_MAX_DEPTH}`);
  if (text.length > limits.maxLength) return err({ code: 'json/too-large', length: text.length, limit: limits.maxLength });
  return new Reader(text, limits.maxDepth).read();
}

const WHITESPACE = ' \t\n\r';
// what may stand in a string (RFC 8259 §7), up to its closing quote; not all of a long one at once, since the host remembers every step of a match
const CHARACTERS = /(?:[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){0,10000}/y;
// an escape that the end of the text cut short
const ESCAPE_PREFIX = /(?:\\(?:u[0-9a-fA-F]{0,3})?)?$/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
// a number literal that the end of the text cut short
const NUMBER_PREFIX = /-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?)?$/y;
const LITERALS: ReadonlyMap<string, readonly [string, JsonValue]> = new Map([['t', ['true', true]], ['f', ['false', false]], ['n', ['null', null]]]);

/** Carries an issue out of the recursion; never leaves this file. */
class Stop {
  readonly issue: JsonIssue;
  constructor(issue: JsonIssue) { this.issue = issue; }
}

class Reader {
  readonly #text: string;
  readonly #maxDepth: number;
  /** Asked once of the whole text: most have no surrogate, raw or escaped, and asking every string takes a tenth of the time. */
  readonly #hasSurrogates: boolean;
  readonly #losses: PrecisionLoss[] = [];
  /** Tokens down to the value being read: a pointer is only made of them where there is an issue. */
  readonly #path: string[] = [];
  #offset = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#hasSurrogates = /[\uD800-\uDFFF]|\\u[dD][89a-fA-F]/.test(text);
  }

  read(): Result<{ readonly value: JsonValue; readonly losses: readonly PrecisionLoss[] }, JsonIssue> {
    this.#skipWhitespace();
    if (this.#atEnd()) return err({ code: 'json/empty' });
    const value = this.#value();
    if (value instanceof Stop) return err(value.issue);
    this.#skipWhitespace();
    if (!this.#atEnd()) return err({ code: 'json/trailing', offset: this.#offset, pointer: ROOT_POINTER });
    return ok({ value, losses: this.#losses });
  }

  #value(): JsonValue | Stop {
    switch (this.#text[this.#offset]) {
      case '{': return this.#enter() ?? this.#object();
      case '[': return this.#enter() ?? this.#array();
      case '"': return this.#string();
      default: return this.#scalar();
    }
  }

  #enter(): Stop | undefined {
    if (this.#path.length >= this.#maxDepth) return new Stop({ code: 'json/too-deep', limit: this.#maxDepth, ...this.#at() });
    this.#offset += 1;
    this.#skipWhitespace();
    return undefined;
  }

  #object(): JsonValue | Stop {
    const object: Record<string, JsonValue> = {};
    if (this.#take('}')) return object;
    for (;;) {
      const nameOffset = this.#offset;
      if (this.#text[nameOffset] !== '"') return this.#unexpected('a member name in double quotes');
      const name = this.#string();
      if (name instanceof Stop) return name;
      this.#path.push(name);
      if (Object.hasOwn(object, name)) return new Stop({ code: 'json/duplicate-name', name, ...this.#at(nameOffset) });
      this.#skipWhitespace();
      if (!this.#take(':')) return this.#unexpected('":" after the member name');
      this.#skipWhitespace();
      const value = this.#value();
      if (value instanceof Stop) return value;
      setMember(object, name, value);
      this.#path.pop();
      this.#skipWhitespace();
      if (this.#take('}')) return object;
      if (!this.#take(',')) return this.#unexpected('"," or "}"');
      this.#skipWhitespace();
    }
  }

  #array(): JsonValue | Stop {
    const items: JsonValue[] = [];
    if (this.#take(']')) return items;
    for (;;) {
      this.#path.push(String(items.length));
      const value = this.#value();
      if (value instanceof Stop) return value;
      items.push(value);
      this.#path.pop();
      this.#skipWhitespace();
      if (this.#take(']')) return items;
      if (!this.#take(',')) return this.#unexpected('"," or "]"');
      this.#skipWhitespace();
    }
  }

  #string(): string | Stop {
    const start = this.#offset;
    let end = start;
    CHARACTERS.lastIndex = start + 1;
    while (CHARACTERS.lastIndex !== end) {
      end = CHARACTERS.lastIndex;
      CHARACTERS.test(this.#text);
    }
    if (this.#text[end] !== '"') {
      ESCAPE_PREFIX.lastIndex = end;
      this.#offset = ESCAPE_PREFIX.test(this.#text) ? this.#text.length : end;
      return this.#unexpected('a character or an escape of RFC 8259 §7');
    }
    this.#offset = end + 1;
    const literal = this.#text.slice(start, end + 1);
    const value = literal.includes('\\') ? JSON.parse(literal) as string : literal.slice(1, -1);
    return this.#hasSurrogates && hasLoneSurrogate(value) ? new Stop({ code: 'json/lone-surrogate', ...this.#at(start) }) : value;
  }

  #scalar(): JsonValue | Stop {
    const literal = LITERALS.get(this.#text[this.#offset] ?? '');
    return literal === undefined ? this.#number() : this.#literal(...literal);
  }

  #literal(literal: string, value: JsonValue): JsonValue | Stop {
    const found = this.#text.slice(this.#offset, this.#offset + literal.length);
    if (found !== literal) return literal.startsWith(found) ? new Stop({ code: 'json/truncated', ...this.#at() }) : this.#unexpected('a value');
    this.#offset += literal.length;
    return value;
  }

  #number(): JsonValue | Stop {
    NUMBER.lastIndex = this.#offset;
    const match = NUMBER.exec(this.#text);
    const end = this.#offset + (match?.[0].length ?? 0);
    NUMBER_PREFIX.lastIndex = this.#offset;
    if ((match === null || /[.eE]/.test(this.#text[end] ?? '')) && NUMBER_PREFIX.test(this.#text)) return new Stop({ code: 'json/truncated', ...this.#at() });
    if (match === null) return this.#unexpected('a value');
    const [literal, fraction, exponent] = match;
    const number = Number(literal);
    if (losesPrecision(literal, number, fraction === undefined && exponent === undefined)) {
      this.#losses.push({ code: 'json/precision-loss', literal, ...this.#at() });
    }
    this.#offset = end;
    return Number.isFinite(number) ? number : Math.sign(number) * Number.MAX_VALUE;
  }

  /** At the end of the text every expectation fails because the text was cut; elsewhere the character is wrong. */
  #unexpected(expected: string): Stop {
    return new Stop(this.#atEnd() ? { code: 'json/truncated', ...this.#at() } : { code: 'json/syntax', expected, ...this.#at() });
  }

  #take(character: string): boolean {
    if (this.#text[this.#offset] !== character) return false;
    this.#offset += 1;
    return true;
  }

  #skipWhitespace(): void {
    while (WHITESPACE.includes(this.#text[this.#offset] ?? '.')) this.#offset += 1;
  }

  #atEnd(): boolean {
    return this.#offset >= this.#text.length;
  }

  #at(offset: number = this.#offset): At {
    return { offset, pointer: formatPointer(this.#path) };
  }
}

/**
 * Decimals are lost only when they overflow, or are not zero and become zero. An integer literal is lost when writing its double again
 * gives other digits: 2512292042121000417 comes back as 2512292042121000400, another identifier. That is stricter than exactness for
 * 9223372036854775808, which is a double but is printed as 9223372036854776000, and it keeps every text that `canonicalText` writes readable.
 */
function losesPrecision(literal: string, number: number, isInteger: boolean): boolean {
  if (!Number.isFinite(number)) return true;
  if (number === 0) return /[1-9]/.test(literal.split(/[eE]/)[0] ?? '');
  // 15 digits always fit; above 309 the value was infinite, so BigInt stays small
  return isInteger && literal.length > 15 && BigInt(literal) !== toDecimal(number).units;
}
