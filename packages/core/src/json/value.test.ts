import { expect, test } from 'vitest';
import { cloneJson, deepFreeze, jsonEqual, readJsonValue, type JsonValue } from './value.ts';

class Money { readonly amount = 1; }
const shared: unknown[] = [[[[[[[[[[[[]]]]]]]]]]]];
const bomb = Array.from({ length: 22 }).reduce<unknown>((inner) => [inner, inner], shared);

test.each<[string, unknown, string]>([
  ['a class instance', { m: new Money() }, 'json/not-json /m'],
  ['a date', new Date(0), 'json/not-json '],
  ['a function', [() => 1], 'json/not-json /0'],
  ['undefined in an object', { a: undefined }, 'json/not-json /a'],
  ['a hole in an array', new Array(1), 'json/not-json /0'],
  ['a bigint', 1n, 'json/not-json '],
  ['a symbol member', { [Symbol('s')]: 1 }, 'json/not-json '],
  ['an accessor', { get a() { return 1; } }, 'json/not-json /a'],
  ['NaN', { a: [NaN] }, 'json/not-json /a/0'],
  ['half a surrogate pair', { a: '\ud800' }, 'json/lone-surrogate /a'],
  ['a value that shares one array four million times', bomb, 'json/too-large'],
])('%s is no JSON value', (_, input, expected) => {
  const read = readJsonValue(input);
  expect(read.ok ? 'read' : `${read.error.code} ${read.error.pointer}`).toMatch(new RegExp(`^${expected}`));
});

test('objects without a prototype are read, and an own __proto__ stays one', () => {
  const input = Object.assign(Object.create(null) as Record<string, unknown>, JSON.parse('{"a":{"__proto__":{"x":1}}}') as object);
  const read = readJsonValue(input);
  expect(read.ok && JSON.stringify(read.value)).toBe('{"a":{"__proto__":{"x":1}}}');
  expect(read.ok && Object.getPrototypeOf((read.value as { a: object }).a)).toBe(Object.prototype);
});

test.each<[JsonValue, JsonValue, boolean]>([
  [1, 1.0, true], [0, -0, true], ['1', 1, false], [null, false, false], [[], {}, false], [[1], [1, 2], false], [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 1 }, false], [{}, { toString: 1 }, false], [{ toString: 1 }, {}, false], [JSON.parse('{"__proto__":1}') as JsonValue, {}, false],
])('equality of %j and %j is %s', (a, b, expected) => {
  expect([jsonEqual(a, b), jsonEqual(b, a)]).toEqual([expected, expected]);
});

test('a copy of a frozen value can be written to, own __proto__ included', () => {
  const copy = cloneJson(deepFreeze(JSON.parse('{"__proto__":{"a":[1]},"b":[]}') as JsonValue)) as { b: number[] };
  copy.b.push(1);
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":[1]},"b":[1]}');
});
