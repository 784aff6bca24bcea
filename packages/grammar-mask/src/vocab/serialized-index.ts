/**
 * The index of a vocabulary as bytes, so that a page or a process that starts often reads it instead of sorting all tokens again. It is bound
 * to its vocabulary by digest and guarded by a checksum: a stale or damaged file is refused and the index built anew. The file is a cache of one's
 * own, not a message from others: the checksum finds accidents, not forgeries.
 * Layout: little-endian words; header, then per tree its columns, then the plain tokens; narrow columns last, each padded to whole words.
 */
import { err, ok, type Result } from '@contractrl/core';
import { firstNodesOf, type TokenTrie } from './token-trie.ts';
import { adoptIndex, indexVocabulary } from './vocabulary-index.ts';
import type { TokenId, Vocabulary } from './vocabulary.ts';

export interface IndexFileIssue {
  readonly code: 'vocabulary/bad-index-file';
  readonly what: 'format' | 'checksum' | 'other-vocabulary';
}

/** "CRLX" and the version of the layout. */
const MAGIC = 0x584c5202;
const DIGEST_WORDS = 8;
/** Magic, checksum, digest, longest token, the sizes of the trees, and how many lengths plain tokens have. */
const HEADER_WORDS = 2 + DIGEST_WORDS + 1 + 6 + 1;

/** Writes the index of a vocabulary, building it where it is not there yet. About 1 MB at 49,152 tokens. */
export function serializeVocabularyIndex(vocabulary: Vocabulary): Uint8Array {
  const { trie, exceptional, farReaching, longestToken, plainTokens } = indexVocabulary(vocabulary);
  const trees = [trie, exceptional, farReaching];
  const lengths = Int32Array.from({ length: plainTokens.length }, (_, length) => plainTokens[length]?.length ?? 0);
  const header = [
    MAGIC, 0, ...digestWords(vocabulary.digest), longestToken, ...trees.flatMap((tree) => [tree.nodeCount, tree.ids.length]), plainTokens.length,
  ];
  const columns = [Int32Array.from(header), ...trees.flatMap(wordsOf), lengths, ...Array.from(plainTokens, (ids) => Int32Array.from(ids ?? [])), ...trees.flatMap(padded)];
  const words = new Int32Array(columns.reduce((total, column) => total + column.length, 0));
  let offset = 0;
  for (const column of columns) {
    words.set(column, offset);
    offset += column.length;
  }
  words[1] = checksumOf(words);
  return new Uint8Array(words.buffer);
}

/** Reads an index for `vocabulary`, which is then not built again. Fails with an {@link IndexFileIssue}. O(file), without sorting. */
export function loadVocabularyIndex(vocabulary: Vocabulary, file: Uint8Array): Result<void, IndexFileIssue> {
  const refuse = (what: IndexFileIssue['what']): Result<void, IndexFileIssue> => err({ code: 'vocabulary/bad-index-file', what });
  if (file.length % 4 !== 0 || file.length < HEADER_WORDS * 4) return refuse('format');
  const words = new Int32Array(file.slice().buffer);
  if (words[0] !== MAGIC) return refuse('format');
  if (words[1] !== checksumOf(words)) return refuse('checksum');
  if (digestWords(vocabulary.digest).some((word, index) => word !== words[2 + index])) return refuse('other-vocabulary');
  const [longestToken = 0, ...sizes] = words.subarray(2 + DIGEST_WORDS, HEADER_WORDS);
  let offset = HEADER_WORDS;
  const take = (length: number): Int32Array => words.subarray(offset, offset += length);
  const wide = (nodes: number, ids: number): Pick<TokenTrie, 'subtreeSize' | 'tokenOffset' | 'ids'> => ({ subtreeSize: take(nodes), tokenOffset: take(nodes + 1), ids: take(ids) });
  const sizeAt = (index: number): number => sizes[index] as number;
  const columns = [0, 1, 2].map((tree) => wide(sizeAt(2 * tree), sizeAt(2 * tree + 1)));
  const plainTokens: (readonly TokenId[] | undefined)[] = Array.from(take(sizeAt(6))).map((length) => (length === 0 ? undefined : Array.from(take(length))));
  const [trie, exceptional, farReaching] = columns.map((wideColumns, tree): TokenTrie => {
    const nodes = sizeAt(2 * tree);
    const depth = take((nodes + 1) >> 1);
    const byte = take((nodes + 3) >> 2);
    const all = { nodeCount: nodes, byte: new Uint8Array(byte.buffer, byte.byteOffset, nodes), depth: new Uint16Array(depth.buffer, depth.byteOffset, nodes), ...wideColumns };
    return { ...all, firstNodes: firstNodesOf(all) };
  }) as [TokenTrie, TokenTrie, TokenTrie];
  adoptIndex(vocabulary, { trie, exceptional, farReaching, longestToken, plainTokens });
  return ok(undefined);
}

function wordsOf({ subtreeSize, tokenOffset, ids }: TokenTrie): readonly Int32Array[] {
  return [subtreeSize, tokenOffset, ids];
}

function padded({ nodeCount, depth, byte }: TokenTrie): readonly Int32Array[] {
  const depths = new Int32Array((nodeCount + 1) >> 1);
  new Uint16Array(depths.buffer).set(depth);
  const bytes = new Int32Array((nodeCount + 3) >> 2);
  new Uint8Array(bytes.buffer).set(byte);
  return [depths, bytes];
}

function digestWords(digest: string): readonly number[] {
  return Array.from({ length: DIGEST_WORDS }, (_, index) => Number.parseInt(digest.slice(index * 8, index * 8 + 8), 16) | 0);
}

/** Of all words behind the checksum's own. */
function checksumOf(words: Int32Array): number {
  let sum = MAGIC;
  for (let index = 2; index < words.length; index += 1) {
    sum = Math.imul(sum ^ (words[index] as number), 0x01000193);
    sum ^= sum >>> 15;
  }
  return sum;
}
