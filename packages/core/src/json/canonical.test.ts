import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalText, readCanonicalText } from './canonical.ts';
import { digestOf, digestOfText } from './digest.ts';
import { parseJson } from './parse.ts';
import { hasLoneSurrogate, type JsonValue } from './value.ts';

test.each<[string, JsonValue, string]>([
  // RFC 8785 §3.2.2 and §3.2.3
  ['the example of the RFC', { numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001], string: '€$\u000f\nA\'B"\\\\"/', literals: [null, true, false] },
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'],
  ['names in UTF-16 order', { '\u20ac': 1, '\r': 1, '\ufb33': 1, '1': 1, '\u{1f600}': 1, '\u0080': 1, '\u00f6': 1 }, '{"\\r":1,"1":1,"\u0080":1,"\u00f6":1,"\u20ac":1,"\u{1f600}":1,"\ufb33":1}'],
  ['-0 as 0', [-0], '[0]'],
  ['an own __proto__', JSON.parse('{"b":1,"__proto__":2}') as JsonValue, '{"__proto__":2,"b":1}'],
  ['a member named toJSON', { toJSON: 'x' }, '{"toJSON":"x"}'],
])('%s', (_, value, text) => {
  expect(canonicalText(value)).toBe(text);
});

test.each<[string, unknown]>([['NaN', NaN], ['Infinity', [Infinity]], ['a lone surrogate', '\ud83d'], ['a lone surrogate in a name', { '\udc00': 1 }], ['undefined', undefined], ['a toJSON function', { toJSON: () => 1 }], ['a Map', new Map()]])('%s is a caller\'s bug', (_, value) => {
  expect(() => canonicalText(value as JsonValue)).toThrow(TypeError);
});

test('digests are SHA-256 of UTF-8 in lower-case hexadecimal', () => {
  // FIPS 180-4 example values
  expect(digestOfText('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(digestOfText('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(digestOf({})).toBe(digestOfText('{}'));
});

describe('reading canonical text by the host\'s parser', () => {
  /** What the strict reader and the canonical writer say of the text. */
  function slowly(text: string): JsonValue | undefined {
    const parsed = parseJson(text);
    return parsed.ok && canonicalText(parsed.value) === text ? parsed.value : undefined;
  }

  test('never differs from the strict reader where it gives a value', () => {
    fc.assert(fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.string({ maxLength: 1 }), (text, at, insert) => {
      const value = JSON.parse(text) as JsonValue;
      const texts = [text, text.slice(0, at % text.length) + insert + text.slice(at % text.length)];
      if (!hasLoneSurrogate(text)) texts.push(slowly(text) === undefined ? text : canonicalText(value));
      for (const each of texts) {
        const read = readCanonicalText(each, 128);
        if (read !== undefined) expect(slowly(each)).toEqual(read);
      }
    }), { numRuns: 2_000 });
  });

  test.each(['{"a":[1,-2.5,1e+21,"\u20ac\\n"],"b":{"c":null}}', '[]', '"x"', '{"__proto__":1}', '0'])('takes %s, deep-frozen', (text) => {
    const value = readCanonicalText(text, 8);
    expect(value).toEqual(slowly(text));
    expect(Object.isFrozen(value)).toBe(true);
  });

  test.each<[string, string]>([
    ['spaces', '{"a": 1}'], ['names out of order', '{"b":1,"a":2}'], ['names out of order inside', '[{"b":1,"a":2}]'], ['a name twice', '{"a":1,"a":1}'], ['another number', '1.0'],
    ['minus zero', '-0'], ['digits a double loses', '9007199254740993'], ['another escape', '"\\u0041"'], ['half a surrogate pair, escaped', '"\\ud800"'],
    ['half a surrogate pair', '"\ud800"'], ['no JSON', '{'], ['nothing', ''], ['too many levels', '[[[[[[[[[]]]]]]]]]'], ['names that the host sorts as numbers', '{"10":1,"9":2}'],
  ])('leaves %s to the strict reader', (_, text) => {
    expect(readCanonicalText(text, 8)).toBeUndefined();
  });
});
