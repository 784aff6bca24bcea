import { expect, test } from 'vitest';
import { createVocabulary } from './vocabulary.ts';

const encode = (): readonly number[] => [];
const a = Uint8Array.of(0x61);
const b = Uint8Array.of(0x62);

test.each([
  ['a stop id that no logit has', { logitWidth: 3, tokens: [a, b], stopIds: [3] }, { code: 'vocabulary/stop-id-out-of-range', id: 3 }],
  ['a negative stop id', { logitWidth: 3, tokens: [a, b], stopIds: [-1] }, { code: 'vocabulary/stop-id-out-of-range', id: -1 }],
  ['more tokens than logits', { logitWidth: 1, tokens: [a, b], stopIds: [0] }, { code: 'vocabulary/wider-than-logits', tokenCount: 2, logitWidth: 1 }],
  ['no text at all', { logitWidth: 2, tokens: [undefined, new Uint8Array(0)], stopIds: [0] }, { code: 'vocabulary/empty' }],
])('refuses %s', (_, source, error) => {
  expect(createVocabulary({ ...source, encode })).toEqual({ ok: false, error });
});

test('a stop token is never text, and an empty token is none', () => {
  const created = createVocabulary({ logitWidth: 8, tokens: [a, b, new Uint8Array(0)], stopIds: [1, 1, 5], encode });
  expect(created).toMatchObject({ ok: true, value: { tokens: [a, undefined, undefined], stopIds: [1, 5] } });
});

test('the digest tells apart tokens, their order, the logit width and the stop ids', () => {
  const digest = (logitWidth: number, tokens: Uint8Array[], stopIds: number[]): string => {
    const created = createVocabulary({ logitWidth, tokens, stopIds, encode });
    return created.ok ? created.value.digest : '';
  };
  const ab = Uint8Array.of(0x61, 0x62);
  const all = [digest(4, [a, b], []), digest(4, [b, a], []), digest(4, [ab], []), digest(5, [a, b], []), digest(4, [a, b], [3]), digest(4, [a, b], [2])];
  expect(new Set(all).size).toBe(all.length);
  expect(digest(4, [a, b], [])).toBe(all[0]);
});

test('a logit width that is no width is a bug of the caller', () => {
  expect(() => createVocabulary({ logitWidth: 0, tokens: [a], stopIds: [], encode })).toThrow(RangeError);
});
