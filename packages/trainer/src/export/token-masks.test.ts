import { isAllowed, type TokenId } from '@contractrl/grammar-mask';
import { expect, test } from 'vitest';
import { STOP, TINY_VOCABULARY, tinyDataset } from '../../tests/support/tiny-policy.ts';
import { createMaskAlong } from './token-masks.ts';

const examples = tinyDataset(40).examples.filter(({ noise }) => noise === null);
const masks = createMaskAlong(TINY_VOCABULARY);
const idsOf = (answer: string): readonly TokenId[] => [...TINY_VOCABULARY.encode(answer), STOP];

test('every right answer passes, token by token, and may stop at its end alone', () => {
  for (const example of examples) {
    const ids = [...new TextEncoder().encode(example.answer), STOP];
    const along = masks(example, ids, 0);
    if (!along.ok) throw new Error(`${example.id}: ${along.error.code}`);
    expect(along.value).toHaveLength(ids.length);
    for (const [index, id] of ids.entries()) {
      expect(isAllowed(along.value[index]!, id)).toBe(true);
      if (id !== STOP && index < ids.length - 2) expect(isAllowed(along.value[index]!, STOP)).toBe(false);
    }
  }
});

test('what is asked from a later token on is the same', () => {
  const [example] = examples;
  const ids = idsOf(example!.answer).slice(0, -1);
  const [whole, rest] = [masks(example!, ids, 0), masks(example!, ids, ids.length)];
  expect(whole.ok && rest.ok && [whole.value.length, whole.value.slice(-1), rest.value.length]).toEqual([ids.length + 1, rest.ok && rest.value, 1]);
});

test.each([
  ['a token that the contract forbids', 'x', 0], ['a token after the end', `${examples[0]!.answer}\u0000`, new TextEncoder().encode(examples[0]!.answer).length],
])('%s is refused with its index', (_, text, index) => {
  expect(masks(examples[0]!, [...new TextEncoder().encode(text)], 0)).toEqual({ ok: false, error: { code: 'masks/refused', index } });
});

test('without a task that can be opened there is no mask', () => {
  expect(masks({ record: {}, noise: null }, [], 0)).toMatchObject({ ok: false, error: { code: 'request/missing-field' } });
});
