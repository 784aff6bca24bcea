/**
 * Texts that a `not` leaves out, as a pattern that matches every other text: the strings are then read like any string with a `pattern`.
 * A text is another one if it ends inside the tree of those left out, where none ends, or leaves the tree at some code point.
 */

/** A pattern (`u` semantics) that matches the texts not among `texts`; undefined where they are too long to nest. */
export function patternWithout(texts: readonly string[]): string | undefined {
  return texts.some((text) => text.length > MAX_TEXT_LENGTH) ? undefined : `^${otherThan(texts.map((text) => [...text]))}$`;
}

/** Each character is one group inside another. */
const MAX_TEXT_LENGTH = 200;
const ANY_TEXT = '[\\s\\S]*';

function otherThan(texts: readonly (readonly string[])[]): string {
  if (texts.length === 0) return ANY_TEXT;
  const heads = [...new Set(texts.flatMap(([head]) => head ?? []))];
  const branches = heads.map((head) => `${escaped(head)}${otherThan(texts.filter((text) => text[0] === head).map((text) => text.slice(1)))}`);
  branches.push(heads.length === 0 ? `[\\s\\S]${ANY_TEXT}` : `[^${heads.map(escaped).join('')}]${ANY_TEXT}`);
  if (!texts.some((text) => text.length === 0)) branches.push('');
  return `(?:${branches.join('|')})`;
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
}
