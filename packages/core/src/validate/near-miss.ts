/**
 * What a wrong name or value was probably meant to be, said in a report as data and never put in its place: the one candidate that differs
 * by case and separators only, else the one that shares a whole word at the end (`filePath`, `path`), else the one within a small edit distance.
 * Two that fit equally are none.
 */
import type { JsonValue } from '../json/value.ts';

/** Longer texts and lists are no names, and comparing them would cost more than the rest of the report. */
const MAX_LENGTH = 64;
const MAX_CANDIDATES = 256;

/** The only candidate nearest to `given`; undefined where none is near, or several are. */
export function nearestOf<T extends JsonValue>(given: JsonValue, candidates: readonly T[]): T | undefined {
  const text = spellingOf(given);
  if (text === undefined || candidates.length > MAX_CANDIDATES) return undefined;
  let best = Infinity;
  let nearest: T[] = [];
  for (const candidate of candidates) {
    const distance = distanceOf(text, spellingOf(candidate));
    if (distance < best) [best, nearest] = [distance, [candidate]];
    else if (distance === best) nearest.push(candidate);
  }
  return best === Infinity || nearest.length > 1 ? undefined : nearest[0];
}

function spellingOf(value: JsonValue): string | undefined {
  const text = typeof value === 'object' ? '' : String(value);
  return text === '' || text.length > MAX_LENGTH ? undefined : text;
}

/** 0 the same letters, 0.5 the same last word, n that many edits of letters (a quarter of them at most), else infinite. */
function distanceOf(a: string, b: string | undefined): number {
  if (b === undefined) return Infinity;
  const [one, other] = [lettersOf(a), lettersOf(b)];
  if (one === other) return 0;
  if (lettersOf(lastWordOf(a)) === other || lettersOf(lastWordOf(b)) === one) return 0.5;
  const edits = editsBetween(one, other);
  return edits <= Math.min(one.length, other.length) / 4 ? edits : Infinity;
}

/** A name without case and separators. */
export function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_.-]+/g, '');
}

function lastWordOf(text: string): string {
  return text.split(/[\s_.-]+|(?<=[a-z0-9])(?=[A-Z])/).at(-1) ?? '';
}

/** Letters put in, left out or exchanged (Levenshtein), O(a · b). */
export function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
