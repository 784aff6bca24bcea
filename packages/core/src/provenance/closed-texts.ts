/**
 * All closed texts as one finite automaton: a subset construction over the positions of the tracks, so that a text which stands in several
 * places is one path. Once a path is in one place only, what follows is a chain that other paths into it share: about one state a code point and case.
 * Reference: S. Inenaga, M. Takeda, On-line linear-time construction of word suffix trees, CPM 2006 (suffixes that begin at words only).
 */
import { hasLoneSurrogate } from '../json/value.ts';
import { err, ok, type Result } from '../result.ts';
import { MAX_TEXT_STATES, type TextAutomaton } from '../validate/text-automaton.ts';
import { sourceLeaves, type ProvenanceSources, type SourcePlace } from './sources.ts';
import { BEGINS, canCapitalise, derivedTracks, ENDS, inCase, isBound, verbatimTracks, type Track } from './tracks.ts';

export type ProvenanceIssue =
  /** The texts and leaves together need more states than an automaton may have: about 3,500 code points without repetition. */
  | { readonly code: 'provenance/too-long'; readonly limit: number }
  | { readonly code: 'provenance/lone-surrogate'; readonly place: SourcePlace };

export interface ClosedTexts {
  readonly automaton: TextAutomaton;
  /** False where the cases of letters did not fit: then only the first letter of a span may be capitalised. */
  readonly folded: boolean;
}

/** UTF-16 units of all sources. Above it only much repetition could fit, and finding out would take long. */
const MAX_SOURCE_LENGTH = 8 * MAX_TEXT_STATES;

/** The closed texts of `sources`, in all cases of letters where that fits, else as they stand. Fails with a {@link ProvenanceIssue}. */
export function closedTexts(sources: ProvenanceSources): Result<ClosedTexts, ProvenanceIssue> {
  const leaves = sourceLeaves(sources);
  const broken = leaves.find(([, leaf]) => typeof leaf === 'string' && hasLoneSurrogate(leaf));
  if (broken !== undefined) return err({ code: 'provenance/lone-surrogate', place: broken[0] });
  const length = leaves.reduce((sum, [, leaf]) => sum + String(leaf).length, 0);
  if (length > MAX_SOURCE_LENGTH) return err({ code: 'provenance/too-long', limit: MAX_TEXT_STATES });
  const verbatim = verbatimTracks(sources);
  for (const folded of [true, false]) {
    const automaton = build([...verbatim, ...derivedTracks(sources, verbatim, folded)].map(positionsOf));
    if (automaton !== undefined) return ok({ automaton, folded });
  }
  return err({ code: 'provenance/too-long', limit: MAX_TEXT_STATES });
}

/** A track by its code points: position i stands in front of `points[i]`. */
interface Positions {
  readonly points: readonly number[];
  readonly starts: readonly number[];
  /** 1 where a text may end. [points + 1] */
  readonly ends: readonly number[];
  /** What a text that starts at the position may begin with instead. [points] */
  readonly capitals?: readonly number[];
}

function positionsOf(track: Track): Positions {
  const characters = Array.from(track.text);
  const offsets = [0];
  for (const character of characters) offsets.push((offsets.at(-1) as number) + character.length);
  return {
    points: characters.map(pointOf),
    starts: [...characters.keys()].filter((position) => isBound(track, offsets[position] as number, BEGINS)),
    ends: offsets.map((offset) => Number(isBound(track, offset, ENDS))),
    ...(canCapitalise(track) ? { capitals: Array.from(inCase(track.text, 'toUpperCase'), pointOf) } : {}),
  };
}

function pointOf(character: string): number {
  return character.codePointAt(0) as number;
}

/** Undefined where it has too many states. */
function build(tracks: readonly Positions[]): TextAutomaton | undefined {
  // one numbering of all positions; behind the last of a track nothing stands
  const points = Int32Array.from(tracks.flatMap((track) => [...track.points, -1]));
  const ends = Uint8Array.from(tracks.flatMap((track) => [...track.ends]));
  const symbols = new Map<number, number>();
  const symbolOf = (point: number): number => {
    const known = symbols.get(point) ?? symbols.size;
    symbols.set(point, known);
    return known;
  };
  const positionSymbols = points.map((point) => (point < 0 ? -1 : symbolOf(point)));

  const sets: (readonly number[])[] = [[]];
  const byKey = new Map<string | number, number>();
  const stateOf = (positions: readonly number[]): number => {
    const key = positions.length === 1 ? positions[0] as number : positions.join();
    const known = byKey.get(key) ?? sets.push(positions) - 1;
    byKey.set(key, known);
    return known;
  };
  const edges: [from: number, symbol: number, to: number][] = [];
  const connect = (from: number, targets: ReadonlyMap<number, Set<number>>): void => {
    for (const [symbol, positions] of targets) edges.push([from, symbol, stateOf([...positions].sort((left, right) => left - right))]);
  };
  const reach = (targets: Map<number, Set<number>>, symbol: number, position: number): void => {
    const positions = targets.get(symbol);
    if (positions === undefined) targets.set(symbol, new Set([position]));
    else positions.add(position);
  };

  const first = new Map<number, Set<number>>();
  let base = 0;
  let acceptsEmpty = 0;
  for (const track of tracks) {
    if (track.points.length === 0) acceptsEmpty = 1;
    for (const start of track.starts) {
      reach(first, positionSymbols[base + start] as number, base + start + 1);
      const capital = track.capitals?.[start];
      if (capital !== undefined) reach(first, symbolOf(capital), base + start + 1);
    }
    base += track.points.length + 1;
  }
  connect(0, first);
  for (let state = 1; state < sets.length; state += 1) {
    if (sets.length > MAX_TEXT_STATES) return undefined;
    const targets = new Map<number, Set<number>>();
    for (const position of sets[state] as readonly number[]) {
      const symbol = positionSymbols[position] as number;
      if (symbol >= 0) reach(targets, symbol, position + 1);
    }
    connect(state, targets);
  }

  const symbolCount = symbols.size;
  const next = new Int32Array(sets.length * symbolCount).fill(-1);
  for (const [from, symbol, to] of edges) next[from * symbolCount + symbol] = to;
  const isAccepting = Uint8Array.from(sets, (positions) => Number(positions.some((position) => ends[position] === 1)));
  isAccepting[0] = acceptsEmpty;
  return { stateCount: sets.length, symbolCount, ...intervalsOf(symbols), next, isAccepting, freeState: -1 };
}

/** Every symbol is one code point; what lies between them stands in no text. */
function intervalsOf(symbols: ReadonlyMap<number, number>): Pick<TextAutomaton, 'intervalStarts' | 'intervalSymbols'> {
  const intervals = new Map([[0, -1]]);
  for (const [point, symbol] of [...symbols].sort(([left], [right]) => left - right)) intervals.set(point, symbol).set(point + 1, -1);
  return { intervalStarts: Int32Array.from(intervals.keys()), intervalSymbols: Int32Array.from(intervals.values()) };
}
