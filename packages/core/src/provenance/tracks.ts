/**
 * The one definition of the texts that a string may be, for the automaton of the mask and for naming an origin afterwards. A span is a run of
 * whole atoms without space at its ends. An atom is a word, or one character that is in none: signs, white space, and every character of scripts
 * that are written without spaces. No dictionary and no locale, so that it is the same everywhere.
 * Reference: Unicode Standard Annex #29 §3 and §4, simplified: full stops, apostrophes and hyphens always stand alone.
 */
import { sourceLeaves, sourceNumbers, WORD_CHARACTER, type Derivation, type ProvenanceSources, type SourcePlace, type SourceSpan } from './sources.ts';

/** Texts of one source, with the letters in one case: each leads from a position of `starts` to a later one of `ends`. Position i stands in front of `points[i]`. */
export interface Track {
  readonly place: SourcePlace;
  readonly derivation: Derivation;
  /** Code points. */
  readonly points: readonly number[];
  readonly starts: readonly number[];
  /** 1 where a text may end. [points + 1] */
  readonly ends: Uint8Array;
  /** Offset in the source. [points + 1] */
  readonly offsets: readonly number[];
  /** What a text that starts at the position may begin with instead: then it is capitalised. [points] */
  readonly capitals?: readonly number[];
}

/** Combining marks, skin tones and what a joiner joins belong to the character before them. */
const ATOM = new RegExp(`${WORD_CHARACTER}(?:${WORD_CHARACTER}|[\\p{M}\\u200d])*|[^](?:[\\p{M}\\p{EMod}]|\\u200d[^])*`, 'gu');

const APOSTROPHES: ReadonlySet<number | undefined> = new Set([0x27, 0x2019]);

/** All tracks, those of verbatim texts first; without `folded`, letters keep their case but for the first. O(text). */
export function tracksOf(sources: ProvenanceSources, folded: boolean): readonly Track[] {
  const verbatim: Track[] = [];
  const derived: Track[] = [];
  for (const [place, leaf] of sourceLeaves(sources)) {
    const whole = { ...place, start: 0, end: String(leaf).length };
    if (typeof leaf === 'boolean') derived.push(wholeTrack(whole, String(leaf), 'boolean-to-string'));
    if (typeof leaf !== 'string') continue;
    const spans = spanTrack(place, leaf);
    if (spans.starts.length > 0) {
      verbatim.push(spans);
      if (folded) derived.push(...foldedTracks(spans));
    }
    // a leaf is copied whole too, with the space around it
    if (place.kind === 'candidate' && (leaf === '' || spans.offsets[0] !== 0 || spans.offsets.at(-1) !== leaf.length)) verbatim.push(wholeTrack(whole, leaf, 'verbatim'));
  }
  for (const { value, span } of sourceNumbers(sources)) derived.push(wholeTrack(span, String(value), 'number-to-string'));
  return [...verbatim, ...derived];
}

function spanTrack(place: SourcePlace, text: string): Track {
  const atoms = [...text.matchAll(ATOM)].filter(([atom]) => !/^\s/u.test(atom));
  const first = atoms[0]?.index ?? 0;
  const last = atoms.at(-1);
  const isStart = new Set(atoms.map(({ index }) => index));
  const isEnd = new Set(atoms.map(({ index, 0: atom }) => index + atom.length));
  const points = pointsOf(last === undefined ? '' : text.slice(first, last.index + last[0].length));
  const offsets = [first];
  for (const point of points) offsets.push((offsets.at(-1) as number) + (point > 0xffff ? 2 : 1));
  return {
    place, derivation: 'verbatim', points, offsets,
    starts: [...points.keys()].filter((position) => isStart.has(offsets[position] as number)),
    ends: Uint8Array.from(offsets, (offset) => Number(isEnd.has(offset))),
    capitals: points.map((point) => inCase(point, 'toUpperCase')),
  };
}

function foldedTracks(spans: Track): readonly Track[] {
  const { place, offsets, starts, ends } = spans;
  const [lower, upper] = (['toLowerCase', 'toUpperCase'] as const).map((change) => spans.points.map((point) => inCase(point, change))) as [number[], number[]];
  const title = [...lower];
  for (const start of starts) if (!APOSTROPHES.has(title[start - 1])) title[start] = upper[start] as number;
  return ([['lower-case', lower], ['title-case', title], ['upper-case', upper]] as const).map(([derivation, points]) => ({ place, derivation, points, offsets, starts, ends }));
}

function wholeTrack({ start, end, ...place }: SourceSpan, text: string, derivation: Derivation): Track {
  const points = pointsOf(text);
  const ends = new Uint8Array(points.length + 1);
  ends[points.length] = 1;
  return { place, derivation, points, starts: [0], ends, offsets: [start, ...Array<number>(points.length).fill(end)].with(-1, end) };
}

function pointsOf(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) as number);
}

/** One code point for one: where a case has another number of them (`ß`), the letter stays. */
function inCase(point: number, change: 'toLowerCase' | 'toUpperCase'): number {
  const text = String.fromCodePoint(point)[change]();
  const changed = text.codePointAt(0) as number;
  return String.fromCodePoint(changed).length === text.length ? changed : point;
}
