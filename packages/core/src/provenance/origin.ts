/**
 * Where a written scalar comes from: the span of the request, the leaf of public state or candidate or the literal of the schema that it repeats, or
 * the named derivation that leads from one of them to it; else the model alone. It reads the tracks that the closed set is made of, so that a string
 * or number is in the set exactly where its origin is not the model (where all cases of letters fitted the set; here they always do).
 * Reference: D. Knuth, J. Morris, V. Pratt, Fast pattern matching in strings, SIAM J. Comput. 6(2), 1977 (linear whatever text and value repeat).
 */
import type { JsonPrimitive } from '../json/value.ts';
import type { JsonPointer } from '../pointer.ts';
import { sourceNumbers, type Derivation, type ProvenanceSources, type SourceNumber, type SourceSpan } from './sources.ts';
import { BEGINS, canCapitalise, derivedTracks, ENDS, inCase, isBound, verbatimTracks, type Track } from './tracks.ts';

export type SpanOrigin = SourceSpan & { readonly derivation: Derivation };
/** `keywordLocation`: of the list or value in the schema; absent for null and booleans, which need none. */
export interface LiteralOrigin {
  readonly kind: 'schema-literal';
  readonly keywordLocation?: JsonPointer;
}
export type Origin = SpanOrigin | LiteralOrigin | { readonly kind: 'model' };

/** UTF-16 units of sources that one repair may search, some tenths of a second: what is written beyond that has no origin but the model. */
const MAX_SEARCHED_LENGTH = 2 ** 26;

/**
 * Names the origin of a scalar, `literal` being the schema's own where it lists the value. The first that holds: as it stands in a request, then in
 * context and candidate; the literal (null and booleans always are one); a derivation, requests first. O(sources + value).
 */
export function originNamer(sources: ProvenanceSources): (value: JsonPrimitive, literal?: LiteralOrigin) => Origin {
  let lengthLeft = MAX_SEARCHED_LENGTH;
  const verbatim = once(() => verbatimTracks(sources));
  const derived = once(() => derivedTracks(sources, verbatim(), true));
  const numbers = once(() => sourceNumbers(sources));
  const firstIn = (text: string, tracks: readonly Track[], spanIn: typeof standing): SpanOrigin | undefined => {
    for (const track of tracks) {
      lengthLeft -= track.text.length + text.length;
      const found = lengthLeft < 0 ? undefined : spanIn(text, track);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return (value, literal) => {
    if (typeof value === 'string') {
      return firstIn(value, verbatim(), standing) ?? literal ?? firstIn(value, verbatim().filter(canCapitalise), capitalised) ?? firstIn(value, derived(), standing) ?? { kind: 'model' };
    }
    if (typeof value !== 'number') return literal ?? { kind: 'schema-literal' };
    const found = numbers().filter((number) => number.value === value);
    return numberOrigin(found.find(({ derivation }) => derivation !== 'percent-to-fraction')) ?? literal ?? numberOrigin(found[0]) ?? { kind: 'model' };
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function numberOrigin(number: SourceNumber | undefined): SpanOrigin | undefined {
  return number && { ...number.span, derivation: number.derivation };
}

/** Where a text stands in a track. */
function standing(text: string, track: Track): SpanOrigin | undefined {
  if (text === '' && track.text !== '') return undefined;
  const start = findOccurrence(text, track.text, (offset) => isBound(track, offset, BEGINS) && isBound(track, offset + text.length, ENDS));
  return start === undefined ? undefined : spanOrigin(track, start, start + text.length, track.derivation);
}

/** Where a text stands but for its first letter, which is in lower case there. */
function capitalised(text: string, track: Track): SpanOrigin | undefined {
  const [first = ''] = text;
  const rest = first === '' ? undefined : findOccurrence(text.slice(first.length), track.text, (offset) => {
    const shown = track.text.slice(offset - first.length, offset);
    return isBound(track, offset - first.length, BEGINS) && isBound(track, offset - first.length + text.length, ENDS) && shown !== first && inCase(shown, 'toUpperCase') === first;
  });
  return rest === undefined ? undefined : spanOrigin(track, rest - first.length, rest - first.length + text.length, 'capitalised');
}

function spanOrigin({ place, whole }: Track, start: number, end: number, derivation: Derivation): SpanOrigin {
  return { ...place, start: whole?.[0] ?? start, end: whole?.[1] ?? end, derivation };
}

/** The first offset at which `pattern` stands in `text` and `isWanted` says so. */
function findOccurrence(pattern: string, text: string, isWanted: (offset: number) => boolean): number | undefined {
  const size = pattern.length;
  // how much of a beginning of the pattern is matched again at its end
  const borders = new Int32Array(size + 1).fill(-1);
  for (let length = 0, border = -1; length < size; length += 1) {
    while (border >= 0 && pattern.charCodeAt(border) !== pattern.charCodeAt(length)) border = borders[border] as number;
    borders[length + 1] = border += 1;
  }
  for (let end = 0, matched = 0; end <= text.length; end += 1) {
    if (matched === size && isWanted(end - size)) return end - size;
    if (matched === 0 && size > 0) {
      end = text.indexOf(pattern.charAt(0), end);
      if (end === -1) return undefined;
    }
    while (matched >= 0 && (matched === size || pattern.charCodeAt(matched) !== text.charCodeAt(end))) matched = borders[matched] as number;
    matched += 1;
  }
  return undefined;
}
