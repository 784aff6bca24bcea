/**
 * Provenance: what the written values of a repair may be made of. Public texts (the user's request, a verifier's message), the public state and the
 * leaves of the candidate are the sources; what is neither a span of them nor one of a few named derivations is the model's own invention. This
 * file names the sources and reads the numbers that stand in them.
 */
import type { ConversionRule } from '../deterministic/conversions.ts';
import { isJsonArray, isJsonObject, type JsonPrimitive, type JsonValue } from '../json/value.ts';
import { childOf, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import type { Observation } from '../repair/proposer.ts';

export interface ProvenanceSources {
  /** Public texts, whatever they hold: they are never read as anything but text. */
  readonly texts: readonly string[];
  /** Public state, of which every scalar counts as one of the candidate does. */
  readonly context?: JsonValue;
  readonly candidate: JsonValue;
}

/** Every message counts, whoever speaks: a verifier's or a tool's words are as public as the user's. The call is the one that the first proposal saw. */
export function publicSources({ request, context, state, given = state.candidate }: Pick<Observation, 'request' | 'context' | 'state' | 'given'>): ProvenanceSources {
  return { texts: request.map(({ content }) => content), context, candidate: given };
}

/** How a value comes of the place it is from. Each but the first is a change that a reader can redo. */
export type Derivation =
  | 'verbatim' | 'capitalised' | 'lower-case' | 'title-case' | 'upper-case' | 'string-to-number' | 'percent-to-fraction' | 'number-to-string' | 'boolean-to-string';

/** `rule`: the deterministic step rewrote the value of the call at `pointer` by this rule, and what it made of it is the leaf. */
export type SourcePlace =
  | { readonly kind: 'request'; readonly text: number }
  | { readonly kind: 'context'; readonly pointer: JsonPointer }
  | { readonly kind: 'candidate'; readonly pointer: JsonPointer; readonly rule?: ConversionRule };

/** UTF-16 offsets in the text of that index, or in the leaf (a number or boolean as JSON writes it): `text.slice(start, end)`. */
export type SourceSpan = SourcePlace & { readonly start: number; readonly end: number };

/** A number that stands in a source. */
export interface SourceNumber {
  readonly value: number;
  readonly derivation: Derivation;
  readonly span: SourceSpan;
}

/** Scripts whose words have no space between them, or particles joined to them: there a digit or letter does not go on from the one before. */
const UNSPACED = '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]';
/** One code point of a word, as the source of a pattern. */
export const WORD_CHARACTER: string = `(?!${UNSPACED})[\\p{L}\\p{N}\\p{RI}]`;
/** Plain numerals and ones in groups of three. Behind a letter digits are part of a name; with a letter behind them they have a unit. */
const NUMERALS: readonly RegExp[] = ['(?:\\d+(?:\\.\\d+)?|(?<!\\.)\\.\\d+)(?:e[-+]?\\d+)?', '(?<![.,])\\d{1,3}(?:,\\d{3})+(?!\\d)(?:\\.\\d+)?']
  .map((digits) => new RegExp(`(?<!${WORD_CHARACTER})([-\u2212]?)(${digits})(\\s?(?:%|percent))?`, 'giu'));

/** Texts of the request, then every scalar of context and candidate but null. */
export function sourceLeaves({ texts, context = null, candidate }: ProvenanceSources): readonly (readonly [SourcePlace, Exclude<JsonPrimitive, null>])[] {
  const leavesOf = (kind: 'context' | 'candidate', value: JsonValue, pointer: JsonPointer): (readonly [SourcePlace, Exclude<JsonPrimitive, null>])[] => {
    if (isJsonArray(value) || isJsonObject(value)) return Object.entries(value).flatMap(([name, member]) => leavesOf(kind, member as JsonValue, childOf(pointer, name)));
    return value === null ? [] : [[{ kind, pointer }, value]];
  };
  return [
    ...texts.map((text, index) => [{ kind: 'request', text: index }, text] as const), ...leavesOf('context', context, ROOT_POINTER), ...leavesOf('candidate', candidate, ROOT_POINTER),
  ];
}

/** Numbers of the sources, as often as they stand there. With a sign also the number without it, since it may be a dash. O(text). */
export function sourceNumbers(sources: ProvenanceSources): readonly SourceNumber[] {
  return sourceLeaves(sources).flatMap(([place, leaf]) => (
    typeof leaf === 'string' ? numeralsOf(place, leaf) : typeof leaf === 'number' ? [{ value: leaf, derivation: 'verbatim', span: { ...place, start: 0, end: String(leaf).length } }] : []
  ));
}

function numeralsOf(place: SourcePlace, text: string): readonly SourceNumber[] {
  const found: SourceNumber[] = [];
  for (const match of NUMERALS.flatMap((pattern) => [...text.matchAll(pattern)])) {
    const [whole, sign = '', shown = '', percent = ''] = match;
    const add = (start: number, end: number, numeral: string, derivation: Derivation): void => {
      // `+ 0` turns −0 into 0
      const value = Number(numeral) + 0;
      if (Number.isFinite(value)) found.push({ value, derivation, span: { ...place, start: match.index + start, end: match.index + end } });
    };
    const digits = shown.replaceAll(',', '');
    for (const [start, numeral] of sign === '' ? [[0, digits] as const] : [[0, `-${digits}`] as const, [sign.length, digits] as const]) {
      add(start, whole.length - percent.length, numeral, 'string-to-number');
      // the decimal point moves: no arithmetic on doubles
      if (percent !== '' && !/e/i.test(digits)) add(start, whole.length, `${numeral}e-2`, 'percent-to-fraction');
    }
  }
  return found;
}
