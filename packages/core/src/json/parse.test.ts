import { describe, expect, test } from 'vitest';
import type { JsonPointer } from '../pointer.ts';
import { parseJson, type JsonIssue } from './parse.ts';

function issueOf(text: string, limits?: Parameters<typeof parseJson>[1]): JsonIssue | undefined {
  const value = parseJson(text, limits);
  return value.ok ? undefined : value.error;
}

describe('each fault has its code, offset and place', () => {
  test.each<[string, JsonIssue]>([
    ['', { code: 'json/empty' }],
    ['{"a":[1,}', { code: 'json/syntax', expected: 'a value', offset: 8, pointer: '/a/1' as JsonPointer }],
    ['{"a" 1}', { code: 'json/syntax', expected: '":" after the member name', offset: 5, pointer: '/a' as JsonPointer }],
    ['{"a":1,}', { code: 'json/syntax', expected: 'a member name in double quotes', offset: 7, pointer: '' as JsonPointer }],
    ['"\u0001"', { code: 'json/syntax', expected: 'a character or an escape of RFC 8259 §7', offset: 1, pointer: '' as JsonPointer }],
    ['"\\x"', { code: 'json/syntax', expected: 'a character or an escape of RFC 8259 §7', offset: 1, pointer: '' as JsonPointer }],
    ['"\\u12g4"', { code: 'json/syntax', expected: 'a character or an escape of RFC 8259 §7', offset: 1, pointer: '' as JsonPointer }],
    ['{"a":{"b":tru', { code: 'json/truncated', offset: 10, pointer: '/a/b' as JsonPointer }],
    ['[-', { code: 'json/truncated', offset: 1, pointer: '/0' as JsonPointer }],
    ['[1.', { code: 'json/truncated', offset: 1, pointer: '/0' as JsonPointer }],
    ['[1e', { code: 'json/truncated', offset: 1, pointer: '/0' as JsonPointer }],
    ['"\\u12', { code: 'json/truncated', offset: 5, pointer: '' as JsonPointer }],
    ['{} {}', { code: 'json/trailing', offset: 3, pointer: '' as JsonPointer }],
    ['01', { code: 'json/trailing', offset: 1, pointer: '' as JsonPointer }],
    ['{"a":1,"b":{"c":1,"c":1}}', { code: 'json/duplicate-name', name: 'c', offset: 18, pointer: '/b/c' as JsonPointer }],
    ['[9007199254740993]', { code: 'json/precision-loss', literal: '9007199254740993', offset: 1, pointer: '/0' as JsonPointer }],
    ['["\\udc00"]', { code: 'json/lone-surrogate', offset: 1, pointer: '/0' as JsonPointer }],
  ])('%s', (text, issue) => {
    expect(issueOf(text)).toEqual(issue);
  });
});

test.each<[string, boolean]>([
  ['9007199254740992', true], ['9007199254740993', false], ['2512292042121000417', false], ['100000000000000000000', true], ['9223372036854775808', false],
  ['-9007199254740993', false], ['0.1', true], ['0.1234567890123456789012345', true], ['1e400', false], ['-1e400', false], ['1e-400', false], ['0e-400', true],
  ['5e-324', true], ['-0', true], [`1${'0'.repeat(400)}`, false],
])('%s is held: %s', (literal, isHeld) => {
  expect(issueOf(literal)?.code).toBe(isHeld ? undefined : 'json/precision-loss');
});

test('depth and size are limited, and the limits can be given', () => {
  expect(issueOf('['.repeat(128) + ']'.repeat(128))).toBeUndefined();
  expect(issueOf('['.repeat(129) + ']'.repeat(129))).toMatchObject({ code: 'json/too-deep', limit: 128, offset: 128 });
  expect(issueOf('{"a":'.repeat(10_000))).toMatchObject({ code: 'json/too-deep' });
  expect(issueOf('[[1]]', { maxDepth: 1, maxLength: 100 })).toMatchObject({ code: 'json/too-deep', limit: 1 });
  expect(issueOf('[1, 2]', { maxDepth: 1, maxLength: 5 })).toEqual({ code: 'json/too-large', length: 6, limit: 5 });
  expect(() => parseJson('1', { maxDepth: 1_000_000, maxLength: 5 })).toThrow(RangeError);
});

test('__proto__ stays an own member', () => {
  const value = parseJson('{"__proto__":{"a":1}}');
  expect(value.ok && Object.keys(value.value as object)).toEqual(['__proto__']);
  expect(value.ok && Object.getPrototypeOf(value.value)).toBe(Object.prototype);
});

test('1 MiB of any shape is read in time linear in its length', () => {
  const texts = [`"${'x'.repeat(1_000_000)}"`, `[${'1,'.repeat(400_000)}1]`, `"${'\\n'.repeat(500_000)}"`, ' '.repeat(1_000_000), '9'.repeat(1_000_000), `{${Array.from({ length: 80_000 }, (_, index) => `"k${index}":1`).join(',')}}`];
  for (const text of texts) expect(['json/empty', 'json/precision-loss', undefined]).toContain(issueOf(text)?.code);
}, 2_000);

test('a string of twenty million escapes is read, or found to be cut, without exhausting the host', () => {
  const text = `"${'\\n'.repeat(20_000_000)}`;
  const limits = { maxDepth: 1, maxLength: 67_108_864 };
  expect(issueOf(text, limits)).toEqual({ code: 'json/truncated', offset: text.length, pointer: '' });
  const whole = parseJson(`${text}"`, limits);
  expect(whole.ok && (whole.value as string).length).toBe(20_000_000);
});
