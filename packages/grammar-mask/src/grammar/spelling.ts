/**
 * The one spelling of a string in canonical mode: minimal escapes, everything else raw UTF-8, and a `\u` pair for the code points that no
 * token of the vocabulary can spell. Reachability is over tokens, not bytes: a byte counts as spellable where a token consists of it alone,
 * so that any sequence of spellable bytes can be spelled from any position.
 * Reference: RFC 8259 §7; the escapes are those of `JSON.stringify` (ECMA-262 §25.5.2.3).
 */
import { toUtf8 } from '../bytes.ts';

export interface Spelling {
  /** 1 where a one-byte token exists. */
  readonly isSpellable: Uint8Array;
  /** Whether a code point above 0x1f other than `"` and `\` must be escaped. */
  mustEscape(codePoint: number): boolean;
  /** Bytes of a JSON string's content, without the quotes. */
  contentOf(text: string): Uint8Array;
  /** Bytes of `JSON.stringify(value)` with the escapes of this vocabulary. */
  literalOf(value: unknown): Uint8Array;
}

/** First and last byte that every JSON text may need; DEL and the rest can be escaped. */
const FIRST_PRINTABLE = 0x20;
const LAST_PRINTABLE = 0x7e;

/** Text that is its own spelling in every vocabulary that spells patches at all: printable ASCII without quote and backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;

export function createSpelling(tokens: readonly (Uint8Array | undefined)[]): Spelling {
  const isSpellable = new Uint8Array(256);
  for (const bytes of tokens) if (bytes?.length === 1) isSpellable[bytes[0] as number] = 1;
  // a missing continuation byte would leave some characters unfinished: then no multi-byte character is spelled raw
  if (isSpellable.subarray(0x80, 0xc0).includes(0)) isSpellable.fill(0, 0x80);
  const mustEscape = (codePoint: number): boolean => isSpellable[leadByteOf(codePoint)] === 0;
  const escaped = (text: string): string => [...text].map((character) => (
    mustEscape(character.codePointAt(0) as number) ? [...Array(character.length).keys()].map((unit) => escapeUnit(character.charCodeAt(unit))).join('') : character
  )).join('');
  // JSON.stringify leaves no raw control byte, so whatever must still be escaped stands inside a string
  const literalOf = (value: unknown): Uint8Array => toUtf8(escaped(JSON.stringify(value)));
  const contentOf = (text: string): Uint8Array => (PLAIN.test(text) ? toUtf8(text) : literalOf(text).slice(1, -1));
  return { isSpellable, mustEscape, literalOf, contentOf };
}

/** A printable ASCII byte that no token spells alone, without which the skeleton of a patch is out of reach; undefined where all exist. */
export function missingPrintable(spelling: Spelling): number | undefined {
  for (let byte = FIRST_PRINTABLE; byte <= LAST_PRINTABLE; byte += 1) if (spelling.isSpellable[byte] === 0) return byte;
  return undefined;
}

/** `\u` and four lower-case hexadecimal digits. */
export function escapeUnit(codeUnit: number): string {
  return `\\u${codeUnit.toString(16).padStart(4, '0')}`;
}

function leadByteOf(codePoint: number): number {
  if (codePoint < 0x80) return codePoint;
  if (codePoint < 0x800) return 0xc0 | (codePoint >> 6);
  return codePoint < 0x10000 ? 0xe0 | (codePoint >> 12) : 0xf0 | (codePoint >> 18);
}
