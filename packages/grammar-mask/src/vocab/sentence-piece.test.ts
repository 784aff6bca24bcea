import { describe, expect, test } from 'vitest';
import { allowed, contractOf, feed, stateOf } from '../../tests/support/contracts.ts';
import { vocabularyOf } from '../../tests/support/vocabulary.ts';
import { compileMask } from '../mask/compile.ts';
import { tokensFromSentencePieces, type SentencePiece } from './sentence-piece.ts';

const normal = (piece: string): SentencePiece => ({ piece, type: 1 });
const utf8 = (text: string): number[] => [...Buffer.from(text, 'utf8')];
/** `<unk>`, `<s>`, `</s>`, the 256 bytes, then pieces. */
const PIECES: readonly SentencePiece[] = [
  { piece: '<unk>', type: 2 }, { piece: '<s>', type: 3 }, { piece: '</s>', type: 3 },
  ...Array.from({ length: 256 }, (_, byte) => ({ piece: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, type: 6 })),
  ...['A', '▁', '▁the', 'é', '"', '▁▁', '":"'].map(normal), { piece: '<tool>', type: 4 }, { piece: 'unused', type: 5 },
];
const [FIRST_BYTE, FIRST_PIECE] = [3, 259];

function tokens(): readonly (Uint8Array | undefined)[] {
  const read = tokensFromSentencePieces(PIECES);
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
}

test('pieces are UTF-8 with spaces for ▁, byte pieces one byte, all others no text', () => {
  const read = tokens().map((bytes) => (bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8')));
  expect(read.slice(0, 3)).toEqual([undefined, undefined, undefined]);
  expect(tokens().slice(FIRST_BYTE, FIRST_PIECE).map((bytes) => bytes?.[0])).toEqual(Array.from({ length: 256 }, (_, byte) => byte));
  expect(read.slice(FIRST_PIECE)).toEqual(['A', ' ', ' the', 'é', '"', '  ', '":"', undefined, undefined]);
});

test.each<[string, SentencePiece, string]>([
  ['a byte piece written otherwise', { piece: '0x41', type: 6 }, 'vocabulary/bad-byte-piece'],
  ['half a character', normal('\ud83d'), 'vocabulary/bad-piece'],
])('refuses %s', (_, piece, code) => {
  expect(tokensFromSentencePieces([normal('a'), piece])).toMatchObject({ ok: false, error: { code, id: 1 } });
});

describe('a mask over such a vocabulary', () => {
  const vocabulary = vocabularyOf(tokens(), [1, 2], PIECES.length + 5);
  const contract = contractOf({ type: 'object', properties: { s: { type: 'string', maxLength: 4 } }, additionalProperties: false }, { allowedOperations: ['add'] });
  const compiled = compileMask(contract, vocabulary);
  const open = () => {
    const bound = compiled.ok ? compiled.value.bind(stateOf({}, 1)) : compiled;
    if (!bound.ok) throw new Error(bound.error.code);
    return bound.value;
  };
  const bytePieces = (text: string): number[] => utf8(text).map((byte) => FIRST_BYTE + byte);

  test('sets a piece and the byte pieces of the same bytes alike', () => {
    const matcher = open();
    expect(feed(matcher, bytePieces('[{"op":"add","path":"/s","value":"'))).toBe(true);
    const ids = allowed(matcher);
    for (const id of [FIRST_PIECE, FIRST_BYTE + 0x41, FIRST_PIECE + 3, FIRST_BYTE + 0xc3, FIRST_PIECE + 2]) expect(ids).toContain(id);
    expect(feed(matcher, [FIRST_BYTE + 0xc3])).toBe(true);
    expect(allowed(matcher)).toEqual(Array.from({ length: 64 }, (_, index) => FIRST_BYTE + 0x80 + index));
    expect(feed(matcher, [FIRST_BYTE + 0xa9, FIRST_PIECE + 4, ...bytePieces('}]')])).toBe(true);
    expect(matcher.text()).toBe('[{"op":"add","path":"/s","value":"é"}]');
  });

  test('offers every stop token at the end, and never unknown, control, user-defined or padding ids', () => {
    const matcher = open();
    const seen = new Set<number>();
    for (const id of bytePieces('[{"op":"add","path":"/s","value":"a b"}]')) {
      for (const allowedId of allowed(matcher)) seen.add(allowedId);
      expect(feed(matcher, [id])).toBe(true);
    }
    expect(allowed(matcher)).toEqual([1, 2]);
    expect([...seen].filter((id) => id < FIRST_BYTE || id >= FIRST_PIECE + 7)).toEqual([]);
  });

  test('21: is bound to the model it was made for, and to no other', () => {
    if (!compiled.ok) throw new Error(compiled.error.code);
    const bind = (logitWidth: number, vocabularyDigest?: string) => compiled.value.bind(stateOf({}, 1), { model: { logitWidth, ...(vocabularyDigest === undefined ? {} : { vocabularyDigest }) } });
    expect(bind(vocabulary.logitWidth, vocabulary.digest).ok).toBe(true);
    expect(bind(vocabulary.logitWidth).ok).toBe(true);
    expect(bind(PIECES.length)).toMatchObject({ ok: false, error: { code: 'mask/vocabulary-mismatch', what: 'logitWidth', expected: PIECES.length + 5, actual: PIECES.length } });
    expect(bind(vocabulary.logitWidth, 'f'.repeat(64))).toMatchObject({ ok: false, error: { code: 'mask/vocabulary-mismatch', what: 'vocabularyDigest', expected: vocabulary.digest } });
  });
});
