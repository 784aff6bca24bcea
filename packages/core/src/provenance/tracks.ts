/**
 * The one definition of the texts that a string may be, for the automaton of the mask and for naming an origin afterwards. A span is a run of
 * whole atoms without space at its ends. An atom is a word, or one character that is in none: signs, white space, and every character of scripts
 * that are written without spaces. No dictionary and no locale, so that it is the same everywhere.
 * Reference: Unicode Standard Annex #29 §3 and §4, simplified: full stops, apostrophes and hyphens always stand alone.
 */
import { sourceLeaves, sourceNumbers, WORD_CHARACTER, type Derivation, type ProvenanceSources, type SourcePlace, type SourceSpan } from './sources.ts';

/** Texts of one source, with the letters in one case: each leads from an offset that begins one to a later one that ends one. */
export interface Track {
  readonly place: SourcePlace;
  readonly derivation: Derivation;
  /** As long as the source, each character at its own offset; where `whole` is given, it stands as a whole for that span of it. */
  readonly text: string;
  /** {@link BEGINS} and {@link ENDS} by UTF-16 offset. [text.length + 1] */
  readonly bounds: Uint8Array;
  readonly whole?: readonly [start: number, end: number];
}

export const BEGINS = 1;
export const ENDS = 2;

/** Whether the texts of a track may begin, or end, at the offset. */
export function isBound({ bounds }: Pick<Track, 'bounds'>, offset: number, bit: typeof BEGINS | typeof ENDS): boolean {
  return ((bounds[offset] ?? 0) & bit) !== 0;
}

function setBound(bounds: Uint8Array, offset: number, bit: typeof BEGINS | typeof ENDS): void {
  bounds[offset] = (bounds[offset] ?? 0) | bit;
}

/** Combining marks, skin tones and what a joiner joins belong to the character before them. */
const ATOM = new RegExp(`${WORD_CHARACTER}(?:${WORD_CHARACTER}|[\\p{M}\\u200d])*|[^](?:[\\p{M}\\p{EMod}]|\\u200d[^])*`, 'gu');

/** Spans as they stand, a copied leaf whole too where there is space around it. O(text). */
export function verbatimTracks(sources: ProvenanceSources): readonly Track[] {
  return sourceLeaves(sources).flatMap(([place, leaf]) => {
    if (typeof leaf !== 'string') return [];
    const bounds = boundsOf(leaf);
    const isTrimmed = isBound({ bounds }, 0, BEGINS) && isBound({ bounds }, leaf.length, ENDS);
    const hasSpans = bounds.some((bits) => bits !== 0);
    return [
      ...(hasSpans ? [{ place, derivation: 'verbatim', text: leaf, bounds } as const] : []),
      ...(place.kind === 'request' || isTrimmed ? [] : [wholeTrack({ ...place, start: 0, end: leaf.length }, leaf, 'verbatim')]),
    ];
  });
}

/** What can be derived, `spans` being the verbatim tracks; without `folded`, letters keep their case. O(text). */
export function derivedTracks(sources: ProvenanceSources, spans: readonly Track[], folded: boolean): readonly Track[] {
  return [
    ...(folded ? spans.filter(({ whole }) => whole === undefined).flatMap(foldedTracks) : []),
    ...sourceLeaves(sources).flatMap(([place, leaf]) => (
      typeof leaf === 'boolean' ? [wholeTrack({ ...place, start: 0, end: String(leaf).length }, String(leaf), 'boolean-to-string')] : []
    )),
    ...sourceNumbers(sources).map(({ value, span }) => wholeTrack(span, String(value), 'number-to-string')),
  ];
}

/** A span that stands as it is may begin with a capital instead. */
export function canCapitalise({ derivation, whole }: Track): boolean {
  return derivation === 'verbatim' && whole === undefined;
}

function boundsOf(text: string): Uint8Array {
  const bounds = new Uint8Array(text.length + 1);
  for (const { 0: atom, index } of text.matchAll(ATOM)) {
    if (/^\s/u.test(atom)) continue;
    setBound(bounds, index, BEGINS);
    setBound(bounds, index + atom.length, ENDS);
  }
  return bounds;
}

function foldedTracks({ place, text, bounds }: Track): readonly Track[] {
  const [lower, upper] = [inCase(text, 'toLowerCase'), inCase(text, 'toUpperCase')];
  const title = lower.replaceAll(/[^]/gu, (character, start: number) => (
    isBound({ bounds }, start, BEGINS) && !/['\u2019]/.test(text.charAt(start - 1)) ? upper.slice(start, start + character.length) : character
  ));
  return ([['lower-case', lower], ['title-case', title], ['upper-case', upper]] as const).map(([derivation, changed]) => ({ place, derivation, text: changed, bounds }));
}

function wholeTrack({ start, end, ...place }: SourceSpan, text: string, derivation: Derivation): Track {
  const bounds = new Uint8Array(text.length + 1);
  setBound(bounds, 0, BEGINS);
  setBound(bounds, text.length, ENDS);
  return { place, derivation, text, bounds, whole: [start, end] };
}

/** Character for character, so that offsets stay: where a case has another number of them (`ß`), the letter stays. */
export function inCase(text: string, change: 'toLowerCase' | 'toUpperCase'): string {
  return text.replaceAll(/[\0-\x7f]+|[^]/gu, (run) => {
    const changed = run[change]();
    return changed.length === run.length && (run < '\x80' || Array.from(changed).length === 1) ? changed : run;
  });
}
