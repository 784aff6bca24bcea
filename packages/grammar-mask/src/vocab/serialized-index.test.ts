import { describe, expect, test } from 'vitest';
import { smollm2Vocabulary, vocabularyOf } from '../../tests/support/vocabulary.ts';
import { loadVocabularyIndex, serializeVocabularyIndex } from './serialized-index.ts';
import { indexVocabulary } from './vocabulary-index.ts';
import type { Vocabulary } from './vocabulary.ts';

const utf8 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'utf8'));
const small = vocabularyOf([...'abc{}[]":,'].map(utf8).concat(['ab', 'abc', 'é', 'a"', ' ', '\n'].map(utf8)), [0], 40);

/** The same tokens as another object, which has no index yet. */
const copyOf = (vocabulary: Vocabulary): Vocabulary => ({ ...vocabulary });

const isSame = (a: Uint8Array | Uint16Array | Int32Array, b: Uint8Array | Uint16Array | Int32Array): boolean => a.length === b.length && a.every((item, index) => item === b[index]);

describe('the index read from its file', () => {
  test.each([['of a small vocabulary', small], ['of SmolLM2', smollm2Vocabulary()]])('is the one that was written: %s', (_, vocabulary) => {
    const read = copyOf(vocabulary);
    expect(loadVocabularyIndex(read, serializeVocabularyIndex(vocabulary))).toEqual({ ok: true, value: undefined });
    const [written, loaded] = [indexVocabulary(vocabulary), indexVocabulary(read)];
    expect(loaded.trie.nodeCount).toBe(written.trie.nodeCount);
    for (const column of ['byte', 'subtreeSize', 'depth', 'tokenOffset', 'ids', 'firstNodes'] as const) expect(isSame(loaded.trie[column], written.trie[column]), column).toBe(true);
    expect(loaded.longestToken).toBe(written.longestToken);
    expect(JSON.stringify(loaded.textNodes) === JSON.stringify(written.textNodes)).toBe(true);
    for (const length of [0, 1, 3, 1000]) expect(loaded.sliceUpTo(length)).toEqual(written.sliceUpTo(length));
  }, 30_000);

  test('is refused for another vocabulary, damaged, cut off or of another kind', () => {
    const file = serializeVocabularyIndex(small);
    const refused = (bytes: Uint8Array, vocabulary = small): unknown => {
      const loaded = loadVocabularyIndex(copyOf(vocabulary), bytes);
      return loaded.ok ? 'taken' : loaded.error.what;
    };
    expect(refused(file)).toBe('taken');
    expect(refused(file, vocabularyOf([...small.tokens, utf8('x')], [0], 40))).toBe('other-vocabulary');
    for (let offset = 8; offset < file.length; offset += 7) expect(refused(file.with(offset, (file[offset] as number) ^ 1))).toBe('checksum');
    expect(refused(file.subarray(0, file.length - 4))).toBe('checksum');
    for (const other of [new Uint8Array(0), file.subarray(0, 10), file.with(0, 0)]) expect(refused(other)).toBe('format');
  });
});
