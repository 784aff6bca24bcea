import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findLeaks } from './leaks.ts';

const GOLD = [{ name: 'acceptable', value: [{ account: 'ACC-77781', amount: 15000000 }] }];
const PUBLIC = ['{"account":"ACC","amount":"many"}', 'Send it to the usual account.'];

test.each<[string, string, number]>([
  ['nothing of it', 'Repair {"account":"ACC","amount":"many"}', 0],
  ['the target as JSON', 'Repair it to {"account":"ACC-77781","amount":15000000}', 3],
  ['the target, laid out', JSON.stringify(GOLD[0]?.value, null, 2), 4],
  ['the target inside a string', JSON.stringify(JSON.stringify(GOLD[0]?.value)), 4],
  ['one value of it', 'the account is ACC-77781, I think', 1],
  ['the name of the field alone', '{"acceptable": null}', 1],
  ['the word in a sentence', 'whatever is acceptable', 0],
])('a prompt with %s', (_, prompt, count) => {
  expect(findLeaks(['hello', prompt], GOLD, PUBLIC)).toHaveLength(count);
  expect(findLeaks(['hello', prompt], GOLD, PUBLIC).every(({ text, field }) => text === 1 && field === 'acceptable')).toBe(true);
});

test('what the public record says is no leak', () => {
  expect(findLeaks(['ACC-77781'], GOLD, [...PUBLIC, 'My account is ACC-77781.'])).toEqual([]);
});

// checklist: D13
test('a planted target is seen wherever it stands and however it is spelled', () => {
  const target = fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(fc.string(), fc.integer()), { minKeys: 1 });
  fc.assert(fc.property(fc.string(), target, fc.string(), fc.nat(4), fc.boolean(), (before, value, after, indent, isNested) => {
    const spelled = JSON.stringify(value, null, indent);
    const prompt = before + (isNested ? JSON.stringify({ text: spelled }) : spelled) + after;
    expect(findLeaks([prompt], [{ name: 'target', value }], [])).not.toEqual([]);
  }), { numRuns: 300 });
});
