import { expect, test } from 'vitest';
import type { JsonValue } from './json/value.ts';
import { arrayIndexOf, isPrefix, parsePointer, resolvePointer, toUriFragment, type JsonPointer } from './pointer.ts';

// RFC 6901 §5 and §6
const DOCUMENT = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'c%d': 2, 'e^f': 3, 'g|h': 4, 'i\\j': 5, 'k"l': 6, ' ': 7, 'm~n': 8 };
test.each<[string, JsonValue, string]>([
  ['', DOCUMENT, ''], ['/foo', ['bar', 'baz'], '/foo'], ['/foo/0', 'bar', '/foo/0'], ['/', 0, '/'], ['/a~1b', 1, '/a~1b'], ['/c%d', 2, '/c%25d'],
  ['/e^f', 3, '/e%5Ef'], ['/g|h', 4, '/g%7Ch'], ['/i\\j', 5, '/i%5Cj'], ['/k"l', 6, '/k%22l'], ['/ ', 7, '/%20'], ['/m~0n', 8, '/m~0n'],
])('%j resolves as the RFC says, and is the fragment it says', (pointer, value, fragment) => {
  expect(resolvePointer(DOCUMENT, pointer as JsonPointer)).toEqual(value);
  expect(toUriFragment(pointer as JsonPointer)).toBe(fragment);
});

test.each(['/foo/-', '/foo/2', '/foo/00', '/foo/01', '/foo/-1', '/foo/1e0', '/foo/ 1', '/foo/length', '/foo/0/0', '/toString', '/__proto__', '/constructor/name', '/none/x'])('%s does not resolve', (pointer) => {
  expect(resolvePointer(DOCUMENT, pointer as JsonPointer)).toBeUndefined();
});

test.each([['a', 'pointer/no-leading-slash'], ['#/a', 'pointer/no-leading-slash'], ['/a~', 'pointer/bad-escape'], ['/~2', 'pointer/bad-escape'], ['/a/~01~', 'pointer/bad-escape']])('%s is no pointer', (text, code) => {
  expect(parsePointer(text)).toMatchObject({ ok: false, error: { code } });
});

test('a prefix ends where a token ends', () => {
  expect(isPrefix('/a' as JsonPointer, '/ab' as JsonPointer)).toBe(false);
  expect(isPrefix('' as JsonPointer, '/a' as JsonPointer)).toBe(true);
});

test('an index beyond exact integers is none', () => {
  expect([arrayIndexOf('10'), arrayIndexOf('9007199254740993'), arrayIndexOf('٣')]).toEqual([10, undefined, undefined]);
});
