/**
 * What the mask prepares once per vocabulary: the whole tree, and for free text the slice: tokens that are plain text of whole characters
 * (no quote, backslash, control byte or partial character), pre-masked by their length in code points. Inside a free string the slice is
 * OR-ed in and only the tree of the other, exceptional tokens is walked (SmolLM2: 671 of 49,135).
 * The idea of slices is llguidance's (`docs/optimizations.md`).
 */
import { codePointLength } from '../bytes.ts';
import { createSpelling, type Spelling } from '../grammar/spelling.ts';
import { buildTokenTrie, type TokenTrie } from './token-trie.ts';
import type { TokenId, Vocabulary } from './vocabulary.ts';

/** A pre-computed set of tokens, in the form in which it is added to a mask. */
export interface TokenSlice {
  readonly words: Int32Array;
  readonly count: number;
  readonly hashLow: number;
  readonly hashHigh: number;
}

export interface VocabularyIndex {
  readonly spelling: Spelling;
  readonly trie: TokenTrie;
  readonly exceptional: TokenTrie;
  readonly longestToken: number;
  /** Two independent mixes of every id; a mask's hash is their sum over its ids, whatever the order. */
  readonly mixLow: Int32Array;
  readonly mixHigh: Int32Array;
  /** Plain tokens of at most `codePoints` code points. */
  sliceUpTo(codePoints: number): TokenSlice;
}

const prepared = new WeakMap<Vocabulary, VocabularyIndex>();

/** The index of a vocabulary, built on first use. O(total bytes + sorting). */
export function indexVocabulary(vocabulary: Vocabulary): VocabularyIndex {
  const known = prepared.get(vocabulary);
  if (known !== undefined) return known;
  const index = buildIndex(vocabulary);
  prepared.set(vocabulary, index);
  return index;
}

function buildIndex({ tokens, logitWidth }: Vocabulary): VocabularyIndex {
  const spelling = createSpelling(tokens);
  const all: TokenId[] = [];
  const exceptional: TokenId[] = [];
  /** Plain tokens by length in code points. */
  const plain: TokenId[][] = [];
  for (const [id, bytes] of tokens.entries()) {
    if (bytes === undefined || bytes.length === 0) continue;
    all.push(id);
    const length = plainLength(bytes, spelling);
    if (length < 0) exceptional.push(id);
    else (plain[length] ??= []).push(id);
  }
  const mixLow = Int32Array.from({ length: logitWidth }, (_, id) => mix(id, 0x9e3779b1));
  const mixHigh = Int32Array.from({ length: logitWidth }, (_, id) => mix(id, 0x7feb352d));

  const slices: TokenSlice[] = [{ words: new Int32Array((logitWidth + 31) >> 5), count: 0, hashLow: 0, hashHigh: 0 }];
  const sliceUpTo = (codePoints: number): TokenSlice => {
    const longest = Math.min(codePoints, plain.length - 1);
    while (slices.length <= longest) {
      const shorter = slices.at(-1) as TokenSlice;
      const added = plain[slices.length] ?? [];
      const words = shorter.words.slice();
      let { hashLow, hashHigh } = shorter;
      for (const id of added) {
        words[id >> 5] = (words[id >> 5] as number) | (1 << (id & 31));
        hashLow = (hashLow + (mixLow[id] as number)) | 0;
        hashHigh = (hashHigh + (mixHigh[id] as number)) | 0;
      }
      slices.push({ words, count: shorter.count + added.length, hashLow, hashHigh });
    }
    return slices[Math.max(0, longest)] as TokenSlice;
  };
  const longestToken = all.reduce((longest, id) => Math.max(longest, (tokens[id] as Uint8Array).length), 0);
  return { spelling, trie: buildTokenTrie(tokens, all), exceptional: buildTokenTrie(tokens, exceptional), longestToken, mixLow, mixHigh, sliceUpTo };
}

/** Code points of a token that any free string accepts as it stands; −1 for every other token. */
function plainLength(bytes: Uint8Array, spelling: Spelling): number {
  let length = 0;
  for (let offset = 0; offset < bytes.length; length += 1) {
    const byte = bytes[offset] as number;
    const size = byte < 0x20 || byte === 0x22 || byte === 0x5c || spelling.isSpellable[byte] === 0 ? 0 : codePointLength(bytes, offset);
    if (size === 0) return -1;
    offset += size;
  }
  return length;
}

function mix(id: number, seed: number): number {
  let mixed = Math.imul(id + 1, seed);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 13);
}
