import { expect, test } from 'vitest';
import * as entry from '../src/index.ts';
import * as vocab from '../src/vocab/index.ts';

test('the public names are these and no others', () => {
  expect(Object.keys(entry).sort()).toMatchInlineSnapshot(`
    [
      "DEFAULT_MAX_ITEMS",
      "DEFAULT_MAX_STRING_LENGTH",
      "allowedIdsOf",
      "applyBitmask",
      "bitmaskLength",
      "compileMask",
      "compileValueMask",
      "createVocabulary",
      "isAllowed",
    ]
  `);
});

test('the subpath of vocabularies has these', () => {
  expect(Object.keys(vocab).sort()).toMatchInlineSnapshot(`
    [
      "loadVocabularyIndex",
      "serializeVocabularyIndex",
      "tokensFromSentencePieces",
    ]
  `);
});
