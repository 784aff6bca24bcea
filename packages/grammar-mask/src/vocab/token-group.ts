/** Sets of tokens that are known before a mask asks for them, in two forms: few ids as a list, many as the bitmask that is OR-ed in. */
import type { TokenId } from './vocabulary.ts';

/** Tokens that are allowed together, with the sums of their mixes. */
export interface TokenGroup {
  readonly ids: TokenId[];
  hashLow: number;
  hashHigh: number;
  /** As a bitmask, once it was OR-ed into a slice. */
  words: Int32Array | undefined;
}

/** A pre-computed set of tokens, in the form in which it is added to a mask. */
export interface TokenSlice {
  readonly words: Int32Array;
  count: number;
  hashLow: number;
  hashHigh: number;
}

export function newGroup(): TokenGroup {
  return { ids: [], hashLow: 0, hashHigh: 0, words: undefined };
}

/** The tokens of `slice`, if given, and of `groups`, which share none. */
export function sliceOf(groups: readonly TokenGroup[], words: Int32Array, slice?: TokenSlice): TokenSlice {
  const joined: TokenSlice = slice === undefined ? { words, count: 0, hashLow: 0, hashHigh: 0 } : { ...slice, words };
  for (const group of groups) {
    joined.count += group.ids.length;
    joined.hashLow = (joined.hashLow + group.hashLow) | 0;
    joined.hashHigh = (joined.hashHigh + group.hashHigh) | 0;
    // below that a list is written faster than a bitmask is read
    if (group.ids.length < words.length) {
      setIds(words, group.ids);
      continue;
    }
    if (group.words === undefined) setIds(group.words = new Int32Array(words.length), group.ids);
    for (let word = 0; word < words.length; word += 1) words[word] = (words[word] as number) | (group.words[word] as number);
  }
  return joined;
}

function setIds(words: Int32Array, ids: readonly TokenId[]): void {
  for (const id of ids) words[id >> 5] = (words[id >> 5] as number) | (1 << (id & 31));
}
