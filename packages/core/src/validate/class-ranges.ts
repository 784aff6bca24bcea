/**
 * The code points of a character class, an escape or `.` of a pattern as ranges. What a class contains the host decides, point by point;
 * here only the points are chosen at which its answer can change, so that some 200 questions do instead of a million.
 * Reference: ECMA-262 §22.2.1 (class escapes), §12.2 and §12.3 (white space and line terminators).
 */

const MAX_CODE_POINT = 0x10ffff;
const FIRST_NON_ASCII = 0x80;
/** Where `\s` and `.` change beyond ASCII: each range's first point and the point behind its last. */
const WHITE_SPACE_EDGES: readonly number[] = [
  0xa0, 0xa1, 0x1680, 0x1681, 0x2000, 0x200b, 0x2028, 0x2029, 0x202a, 0x202f, 0x2030, 0x205f, 0x2060, 0x3000, 0x3001, 0xfeff, 0xff00,
];
const ESCAPED_POINT = /\\u\{([0-9a-fA-F]+)\}|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})/gu;

/** Unicode properties change at points that stand nowhere in the source: such classes are asked for every code point, once a process. */
const scanned = new Map<string, readonly number[]>();
/** A handful of property classes is what contracts use; the bound guards a process that loads contracts without end. */
const MAX_SCANNED = 100;

/** Ranges (first, last, first, last, …) in ascending order of the code points that `accepts`, the test of `source`, accepts. */
export function classRanges(source: string, accepts: (codePoint: number) => boolean): readonly number[] {
  if (!/\\[pP]\{/.test(source)) return rangesBetween(edgesIn(source), accepts);
  const known = scanned.get(source);
  if (known !== undefined) return known;
  const ranges = scan(new RegExp(`${source}+`, 'gu'));
  if (scanned.size >= MAX_SCANNED) scanned.clear();
  scanned.set(source, ranges);
  return ranges;
}

function edgesIn(source: string): readonly number[] {
  const edges = new Set(WHITE_SPACE_EDGES);
  for (let codePoint = 0; codePoint <= FIRST_NON_ASCII; codePoint += 1) edges.add(codePoint);
  const add = (codePoint: number): void => { edges.add(codePoint).add(codePoint + 1); };
  for (const character of source) add(character.codePointAt(0) as number);
  for (const [, braced, high, low, unit, byte] of source.matchAll(ESCAPED_POINT)) {
    if (high !== undefined && low !== undefined) add(0x10000 + ((parseInt(high, 16) - 0xd800) << 10) + parseInt(low, 16) - 0xdc00);
    else add(parseInt((braced ?? unit ?? byte) as string, 16));
  }
  return [...edges].filter((codePoint) => codePoint <= MAX_CODE_POINT).sort((left, right) => left - right);
}

function rangesBetween(edges: readonly number[], accepts: (codePoint: number) => boolean): readonly number[] {
  const ranges: number[] = [];
  for (const [index, first] of edges.entries()) {
    if (!accepts(first)) continue;
    const last = (edges[index + 1] ?? MAX_CODE_POINT + 1) - 1;
    if (ranges.at(-1) === first - 1) ranges[ranges.length - 1] = last;
    else ranges.push(first, last);
  }
  return ranges;
}

/** Code points of one text that the class is run over. */
const CHUNK = 0x1000;

/** Every run of accepted code points. Surrogates are left out: no JSON text that the mask spells holds one alone, and two would pair up here. */
function scan(run: RegExp): readonly number[] {
  const ranges: number[] = [];
  for (let start = 0; start <= MAX_CODE_POINT; start += CHUNK) {
    const length = start === 0xd000 ? 0x800 : CHUNK;
    const text = String.fromCodePoint(...Array.from({ length }, (_, index) => start + index));
    const unitsEach = start > 0xffff ? 2 : 1;
    for (const match of text.matchAll(run)) {
      const first = start + match.index / unitsEach;
      const last = first + match[0].length / unitsEach - 1;
      if (ranges.at(-1) === first - 1) ranges[ranges.length - 1] = last;
      else ranges.push(first, last);
    }
  }
  return ranges;
}
