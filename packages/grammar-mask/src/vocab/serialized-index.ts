/**
 * The index of a vocabulary as bytes, so that a page or a process that starts often reads it instead of sorting all tokens again. It is bound
 * to its vocabulary by digest and guarded by a checksum: a stale or damaged file is refused and the index built anew. The file is a cache of one's
 * own, not a message from others: the checksum finds accidents, not forgeries.
 * Layout: little-endian words; header, then the columns of the byte tree; narrow columns last, each padded to whole words.
 */
import { err, ok, type Result } from '@contractrl/core';
import { firstNodesOf } from './token-trie.ts';
import { adoptIndex, indexVocabulary } from './vocabulary-index.ts';
import type { Vocabulary } from './vocabulary.ts';

export interface IndexFileIssue {
  readonly code: 'vocabulary/bad-index-file';
  readonly what: 'format' | 'checksum' | 'other-vocabulary';
}

/** "CRLX" and the version of the layout. */
const MAGIC = 0x584c5203;
const DIGEST_WORDS = 8;
/** Magic, checksum, digest, longest token, and the counts of the tree's nodes and ids. */
const HEADER_WORDS = 2 + DIGEST_WORDS + 3;

/** Writes the index of a vocabulary, building it where it is not there yet. About 1 MB at 49,152 tokens. */
export function serializeVocabularyIndex(vocabulary: Vocabulary): Uint8Array {
  const { trie: { nodeCount, byte, depth, subtreeSize, tokenOffset, ids }, longestToken } = indexVocabulary(vocabulary);
  const depths = new Int32Array((nodeCount + 1) >> 1);
  new Uint16Array(depths.buffer).set(depth);
  const bytes = new Int32Array((nodeCount + 3) >> 2);
  new Uint8Array(bytes.buffer).set(byte);
  const header = Int32Array.of(MAGIC, 0, ...digestWords(vocabulary.digest), longestToken, nodeCount, ids.length);
  const columns = [header, subtreeSize, tokenOffset, ids, depths, bytes];
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
  const [longestToken, nodeCount, idCount] = words.subarray(2 + DIGEST_WORDS, HEADER_WORDS) as unknown as readonly [number, number, number];
  let offset = HEADER_WORDS;
  const take = (length: number): Int32Array => words.subarray(offset, offset += length);
  const [subtreeSize, tokenOffset, ids, depths, bytes] = [take(nodeCount), take(nodeCount + 1), take(idCount), take((nodeCount + 1) >> 1), take((nodeCount + 3) >> 2)];
  const depth = new Uint16Array(depths.buffer, depths.byteOffset, nodeCount);
  const byte = new Uint8Array(bytes.buffer, bytes.byteOffset, nodeCount);
  adoptIndex(vocabulary, { trie: { nodeCount, byte, depth, subtreeSize, tokenOffset, ids, firstNodes: firstNodesOf({ nodeCount, byte, subtreeSize }) }, longestToken });
  return ok(undefined);
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
