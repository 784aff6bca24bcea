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
  /** Tokens that are not plain and add at most {@link MAX_SHARED_REACH} code points to a string. */
  readonly exceptional: TokenTrie;
  /** The few that add more, such as a ruled line with its closing quote. */
  readonly farReaching: TokenTrie;
  readonly longestToken: number;
  /** Two independent mixes of every id; a mask's hash is their sum over its ids, whatever the order. */
  readonly mixLow: Int32Array;
  readonly mixHigh: Int32Array;
  /** Plain tokens by their length in code points. */
  readonly plainTokens: readonly (readonly TokenId[] | undefined)[];
  /** Plain tokens of at most `codePoints` code points. */
  sliceUpTo(codePoints: number): TokenSlice;
}

/** What is worth keeping between two processes: the rest follows from it and the vocabulary at once. */
export type IndexFields = Pick<VocabularyIndex, 'trie' | 'exceptional' | 'farReaching' | 'longestToken' | 'plainTokens'>;

/**
 * States of a string whose bounds lie further away share what exceptional tokens may follow: of 1,000 to 3,000 such tokens all but a few dozen
 * reach no further, while the longest reach 80.
 */
export const MAX_SHARED_REACH = 8;

const prepared = new WeakMap<Vocabulary, VocabularyIndex>();

/** The index of a vocabulary, built on first use. O(total bytes + sorting). */
export function indexVocabulary(vocabulary: Vocabulary): VocabularyIndex {
  const known = prepared.get(vocabulary);
  if (known !== undefined) return known;
  const index = buildIndex(vocabulary);
  prepared.set(vocabulary, index);
  return index;
}

/** Makes an index that was read from a file that of `vocabulary`. */
export function adoptIndex(vocabulary: Vocabulary, fields: IndexFields): void {
  prepared.set(vocabulary, completeIndex(vocabulary, createSpelling(vocabulary.tokens), fields));
}

function buildIndex(vocabulary: Vocabulary): VocabularyIndex {
  const { tokens } = vocabulary;
  const spelling = createSpelling(tokens);
  const all: TokenId[] = [];
  const exceptional: TokenId[] = [];
  const farReaching: TokenId[] = [];
  /** Plain tokens by length in code points. */
  const plain: TokenId[][] = [];
  for (const [id, bytes] of tokens.entries()) {
    if (bytes === undefined || bytes.length === 0) continue;
    all.push(id);
    const length = plainLength(bytes, spelling);
    if (length < 0) (reachInString(bytes) > MAX_SHARED_REACH ? farReaching : exceptional).push(id);
    else (plain[length] ??= []).push(id);
  }
  const longestOf = (ids: readonly TokenId[]): number => ids.reduce((longest, id) => Math.max(longest, (tokens[id] as Uint8Array).length), 0);
  return completeIndex(vocabulary, spelling, {
    trie: buildTokenTrie(tokens, all), exceptional: buildTokenTrie(tokens, exceptional), farReaching: buildTokenTrie(tokens, farReaching), longestToken: longestOf(all), plainTokens: plain,
  });
}

function completeIndex({ logitWidth }: Vocabulary, spelling: Spelling, fields: IndexFields): VocabularyIndex {
  const { plainTokens: plain } = fields;
  const mixLow = new Int32Array(logitWidth);
  const mixHigh = new Int32Array(logitWidth);
  for (let id = 0; id < logitWidth; id += 1) {
    mixLow[id] = mix(id, 0x9e3779b1);
    mixHigh[id] = mix(id, 0x7feb352d);
  }

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
  return { ...fields, spelling, mixLow, mixHigh, sliceUpTo };
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

/** Code points up to the end of the string or of the token: at most so many a token adds. A raw control byte ends all. */
function reachInString(bytes: Uint8Array): number {
  let reach = 0;
  for (let offset = 0; offset < bytes.length; offset += 1) {
    const byte = bytes[offset] as number;
    if (byte < 0x20 || byte === 0x22) break;
    if (byte === 0x5c) offset += 1;
    // a continuation byte belongs to a character begun before
    if (offset === 0 || (byte & 0xc0) !== 0x80) reach += 1;
  }
  return reach;
}

function mix(id: number, seed: number): number {
  let mixed = Math.imul(id + 1, seed);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 13);
}
