/**
 * Inside strings a mask is not walked byte by byte: tokens are looked up by the symbols they spell, and places that no token can tell apart share
 * what was found. Here every id of the real vocabulary is asked alone, byte by byte, at states of random walks.
 */
import { afterAll, expect, test } from 'vitest';
import type { JsonObject } from '@contractrl/core';
import { bitmaskLength, compileMask, isAllowed, type MaskMatcher } from '../src/index.ts';
import { contractOf, randomFrom, stateOf } from './support/contracts.ts';
import { smollm2Vocabulary, vocabularyOf } from './support/vocabulary.ts';

const vocabulary = smollm2Vocabulary();
/** Several characters and closing quotes in one token, escapes, halves of characters; ids that share their bytes. */
const odd = vocabularyOf([
  ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  ...['ab', 'ba', 'a"', 'ab"}', '"}]', 'b"},{"', '\\n', 'a\\n"', '\\u00', '\\"', 'é', 'éa"', '東京', '😀b', 'ab', '12', '2-', '-0', '@a', '.c"}'].map((text) => Uint8Array.from(Buffer.from(text))),
  Uint8Array.of(0x61, 0xe6, 0x9d), Uint8Array.of(0xb1, 0x62), Uint8Array.of(0x80, 0x80, 0x61), Uint8Array.of(0x61, 0x5c), undefined,
], [280], 290);
const TIMEOUT_MS = 120_000;
const LONGEST_WALK = 24;

const STRINGS: readonly (readonly [name: string, schema: JsonObject])[] = [
  ['free', {}], ['short', { maxLength: 5 }], ['long enough', { minLength: 6, maxLength: 70 }], ['as long as a token', { minLength: 1, maxLength: 64 }],
  ...['email', 'uri', 'hostname', 'date', 'date-time', 'uuid', 'ipv4', 'ipv6', 'duration', 'json-pointer'].map((format) => [format, { format }] as const),
  ...['^.*$', '^\\p{L}+$', '^[A-Z]{3}-\\d+$', '^[a-z][a-z0-9_]*$', '^(a|b)+c', '["\\\\é]', '^(ab|ba)*$', '^[^a"]+$', '\\n$'].map((pattern) => [pattern, { pattern }] as const),
  ['pattern within a length', { pattern: '^[a-z]+(-[a-z]+)*$', minLength: 3, maxLength: 9 }], ['pattern of a minimal length', { pattern: '^a.*b$', minLength: 12, maxLength: 80 }],
];

let stateCount = 0;
let pairCount = 0;

function checkState(matcher: MaskMatcher): readonly number[] {
  const bitmask = new Int32Array(bitmaskLength(matcher.logitWidth));
  const count = matcher.fillBitmask(bitmask);
  const wrong: number[] = [];
  const allowed: number[] = [];
  for (let id = 0; id < matcher.logitWidth; id += 1) {
    const expected = matcher.isAllowed(id);
    if (expected) allowed.push(id);
    if (isAllowed(bitmask, id) !== expected) wrong.push(id);
  }
  expect({ text: matcher.text(), wrong: wrong.slice(0, 5), count }).toEqual({ text: matcher.text(), wrong: [], count: allowed.length });
  const out = new Int32Array(count);
  expect(matcher.allowedIds(out)).toBe(count);
  expect([...out].every((id, index) => id === allowed[index])).toBe(true);
  stateCount += 1;
  pairCount += matcher.logitWidth;
  return allowed;
}

test.each(STRINGS.flatMap(([name, schema]) => [
  { name, schema, rules: 'no rule', options: {}, tokenBudget: undefined },
  { name, schema, rules: 'a budget that comes near, values excluded', options: { excludeNoOps: true }, tokenBudget: name === 'uuid' ? 80 : 44 },
]))('inside a string ($name, $rules) the mask is every id that is allowed alone', ({ schema, options, tokenBudget }) => {
  const random = randomFrom(JSON.stringify(schema).length);
  for (const words of [odd, vocabulary]) {
    const contract = contractOf({ type: 'object', properties: { a: { type: 'string', ...schema } } }, { allowedOperations: ['add', 'replace'] });
    const compiled = compileMask(contract, words, options);
    if (!compiled.ok) throw new Error(compiled.error.code);
    const head = '[{"op":"replace","path":"/a","value":"';
    for (let walk = 0; walk < (words === odd ? 8 : 1); walk += 1) {
      const bound = compiled.value.bind(stateOf({ a: walk % 2 === 0 ? 'abab' : '2024-01-31' }), tokenBudget === undefined ? {} : { tokenBudget: tokenBudget + (words === odd ? 40 : 0) });
      if (!bound.ok) continue;
      const matcher = bound.value;
      for (const id of words.encode(head)) if (!matcher.acceptToken(id).ok) throw new Error(`refused ${matcher.text()}`);
      for (let step = 0; step < LONGEST_WALK && !matcher.isTerminated() && matcher.text().indexOf('"}') < 0; step += 1) {
        const allowed = words === odd || step % 6 === 0 ? checkState(matcher) : idsOf(matcher);
        const id = allowed[Math.floor(random() * allowed.length)] as number;
        expect(matcher.acceptToken(id).ok).toBe(true);
      }
    }
  }
}, TIMEOUT_MS);

function idsOf(matcher: MaskMatcher): readonly number[] {
  const out = new Int32Array(matcher.logitWidth);
  return [...out.subarray(0, matcher.allowedIds(out))];
}

afterAll(() => {
  expect(stateCount).toBeGreaterThan(1000);
  console.log(`inside strings: mask = ids one by one on ${pairCount.toLocaleString('en')} (state, token) pairs in ${stateCount} states`);
});
