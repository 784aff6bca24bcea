/**
 * The tool that a wrong name stands for, where the contract allows to ask (`toolNames: 'closest'`): the one offered name that differs by case,
 * separators and a namespace only, else the one that is a slip of the keyboard away. Two that fit are none.
 */

/** The offered name that `name` stands for; undefined where none fits, or more than one. */
export function closestTool(name: string, offered: readonly string[]): string | undefined {
  for (const fits of [isSameWords, isNamespaced, isMisspelt]) {
    const [first, ...others] = new Set(offered.filter((each) => fits(name, each)));
    if (first !== undefined) return others.length === 0 ? first : undefined;
  }
  return undefined;
}

function isSameWords(name: string, offered: string): boolean {
  const letters = wordsOf(name).join('');
  return letters !== '' && letters === wordsOf(offered).join('');
}

/** `functions.read_file`, `mcp__files__read_file`, `default_api:read_file`. */
function isNamespaced(name: string, offered: string): boolean {
  const bare = name.split(/[.:/]|__/).at(-1) ?? '';
  return bare !== name && bare !== '' && isSameWords(bare, offered);
}

/** Shorter words are one letter from their opposites: get and set, lock and dock. */
const SHORTEST_MISSPELT_WORD = 5;
const MAX_MISSPELT_WORDS = 2;

/** The same words, of which one or two differ by one letter: put in, left out, exchanged, or swapped with its neighbour; never the first one. */
function isMisspelt(name: string, offered: string): boolean {
  const [given, meant] = [wordsOf(name), wordsOf(offered)];
  const wrong = given.filter((word, index) => word !== meant[index]);
  return given.length === meant.length && wrong.length > 0 && wrong.length <= MAX_MISSPELT_WORDS && given.every((word, index) => {
    const other = meant[index] ?? '';
    return word === other || (Math.min(word.length, other.length) >= SHORTEST_MISSPELT_WORD && word[0] === other[0] && isOneSlip(word, other));
  });
}

function isOneSlip(a: string, b: string): boolean {
  if (a.length > b.length) return isOneSlip(b, a);
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  if (a.slice(start) === b.slice(start + 1)) return true;
  if (a.length !== b.length) return false;
  if (a.slice(start + 1) === b.slice(start + 1)) return true;
  return a[start] === b[start + 1] && a[start + 1] === b[start] && a.slice(start + 2) === b.slice(start + 2);
}

function wordsOf(name: string): readonly string[] {
  return name.replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}
