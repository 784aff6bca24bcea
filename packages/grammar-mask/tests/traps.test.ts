/**
 * Known traps of token masks, each by its number. What random tests cover is repeated here where a plain example says more. 15 is in forced-runs,
 * 21 in sentence-piece, 23 in token-by-token and random-contracts, 25 in token-budget and random-contracts; 22 is about sampling, in the runtime.
 */
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '@contractrl/core';
import type { MaskMatcher, TokenId, Vocabulary } from '../src/index.ts';
import { compileValueMask } from '../src/index.ts';
import { ALL_OPERATIONS, allowed, contractOf, feed, matcherOf, WEATHER } from './support/contracts.ts';
import { byteVocabulary, smollm2Vocabulary, SMOLLM2_STOP, vocabularyOf } from './support/vocabulary.ts';

const bytes = byteVocabulary([]);
const real = smollm2Vocabulary();
const utf8 = (text: string): number[] => [...Buffer.from(text, 'utf8')];

function valueMatcher(schema: JsonObject, vocabulary: Vocabulary = bytes): MaskMatcher {
  const compiled = compileValueMask(schema, vocabulary);
  if (!compiled.ok) throw new Error(compiled.error.code);
  return compiled.value.createMatcher();
}

/** Whether the bytes are a prefix of a value, and whether they are one. */
function judge(schema: JsonObject, text: readonly number[] | string, vocabulary: Vocabulary = bytes): 'dead' | 'prefix' | 'complete' {
  const matcher = valueMatcher(schema, vocabulary);
  if (!feed(matcher, typeof text === 'string' ? utf8(text) : text)) return 'dead';
  return matcher.isAccepting() ? 'complete' : 'prefix';
}

/** Feeds real text spelled with one-byte tokens of the real vocabulary. */
function feedReal(matcher: MaskMatcher, text: string): boolean {
  return feed(matcher, utf8(text).map((byte) => real.tokens.findIndex((token) => token?.length === 1 && token[0] === byte)));
}

const idOf = (text: string, vocabulary: Vocabulary = real): TokenId => vocabulary.tokens.findIndex((token) => token !== undefined && Buffer.from(token).toString('utf8') === text);

describe('strings', () => {
  const text: JsonObject = { type: 'string' };
  test.each<[string, number[], string]>([
    ['an overlong slash', [0x22, 0xc0], 'dead'],
    ['an overlong three-byte form', [0x22, 0xe0, 0x80], 'dead'],
    ['a surrogate', [0x22, 0xed, 0xa0], 'dead'],
    ['a code point above U+10FFFF', [0x22, 0xf4, 0x90], 'dead'],
    ['a closing quote inside a character', [0x22, 0xf0, 0x9f, 0x22], 'dead'],
    ['a continuation byte alone', [0x22, 0x80], 'dead'],
    ['DEL', [0x22, 0x7f, 0x22], 'complete'],
    ['a C1 control', [0x22, 0xc2, 0x80, 0x22], 'complete'],
    ['a raw control byte', [0x22, 0x1f], 'dead'],
    ['U+10FFFF', [0x22, 0xf4, 0x8f, 0xbf, 0xbf, 0x22], 'complete'],
  ])('1, 4: %s', (_, input, expected) => {
    expect(judge(text, input)).toBe(expected);
  });

  test.each([
    ['"\\u0001"', 'complete'], ['"\\u001F', 'dead'], ['"\\u000a', 'dead'], ['"\\n"', 'complete'], ['"\\/', 'dead'], ['"\\u0041', 'dead'], ['"\\ud83d', 'dead'], ['"\\u00', 'prefix'], ['"\\x', 'dead'], ['"\\""', 'complete'],
  ])('5: one spelling a character: %s is %s', (input, expected) => {
    expect(judge(text, input)).toBe(expected);
  });

  test('2: maxLength counts code points, one emoji being one', () => {
    expect(judge({ type: 'string', maxLength: 1 }, '"😀"')).toBe('complete');
    expect(judge({ type: 'string', maxLength: 1 }, '"😀a')).toBe('dead');
    expect(judge({ type: 'string', minLength: 2 }, '"😀"')).toBe('dead');
    expect(judge({ type: 'string', maxLength: 1 }, '"\\n"')).toBe('complete');
  });

  test('3: a token that starts or ends inside a character counts no plain character', () => {
    const half = byteVocabulary(['a\u00e9', 'plain']);
    const withPartial = vocabularyOf([...half.tokens, Uint8Array.of(0x61, 0xf0, 0x9f), Uint8Array.of(0x98, 0x80, 0x22)], [256 + 2]);
    const matcher = valueMatcher({ type: 'string', maxLength: 2 }, withPartial);
    feed(matcher, [0x22]);
    const [opening, closing] = [withPartial.tokens.length - 2, withPartial.tokens.length - 1];
    expect(allowed(matcher)).toContain(opening);
    expect(allowed(matcher)).not.toContain(closing);
    expect(feed(matcher, [opening])).toBe(true);
    expect(allowed(matcher)).toContain(closing);
    expect(allowed(matcher)).not.toContain(0x22);
  });

  test('8: what no token spells raw is spelled as an escaped pair, and only that', () => {
    const matcher = valueMatcher(text, real);
    expect(feedReal(matcher, '"\\ud8c0\\udc01"')).toBe(true);
    expect(matcher.isAccepting()).toBe(true);
    expect(feedReal(valueMatcher(text, real), '"\\ud83d')).toBe(false);
    expect(feedReal(valueMatcher({ const: '\u{40001}' }, real), '"\\ud8c0\\udc01"')).toBe(true);
    // a vocabulary that has the bytes spells it raw
    expect(judge({ const: '\u{40001}' }, '"\u{40001}"')).toBe('complete');
    expect(judge(text, '"\\ud8c0')).toBe('dead');
  });

  test('6: a literal has one spelling', () => {
    expect(judge({ const: '/city' }, '"/city"')).toBe('complete');
    expect(judge({ const: '/city' }, '"\\/')).toBe('dead');
    expect(judge({ enum: [0.07] }, '0.07')).toBe('complete');
  });
});

describe('numbers', () => {
  test.each<[JsonObject, string, string]>([
    [{ type: 'integer', minimum: 15, maximum: 16 }, '1', 'prefix'],
    [{ type: 'integer', minimum: 15, maximum: 16 }, '2', 'dead'],
    [{ type: 'integer' }, '-0', 'dead'], [{ type: 'integer' }, '01', 'dead'], [{ type: 'integer' }, '1.', 'dead'], [{ type: 'number' }, '.5', 'dead'], [{ type: 'number' }, '+1', 'dead'],
    [{ type: 'number' }, '1e', 'dead'], [{ type: 'number', minimum: 0, maximum: 1 }, '1.5', 'dead'],
    [{ const: 12345678901234567890 }, '12345678901234567000', 'complete'],
    [{ type: 'integer', maximum: 9223372036854775807 }, '9007199254740991', 'complete'],
  ])('10, 11: %j and %s: %s', (schema, input, expected) => {
    expect(judge(schema, input)).toBe(expected);
  });

  test.each<[JsonObject, string, string]>([
    [{ type: 'number', multipleOf: 0.01 }, '19.99', 'complete'], [{ type: 'number', multipleOf: 0.01 }, '19.995', 'dead'], [{ type: 'integer', multipleOf: 5 }, '7', 'prefix'],
    [{ type: 'integer', multipleOf: 5, maximum: 60 }, '7', 'dead'], [{ type: 'integer', multipleOf: 5, maximum: 70 }, '70', 'complete'], [{ type: 'integer', multipleOf: 0.5 }, '3', 'complete'],
    [{ type: 'number', not: { type: 'integer' } }, '4.0', 'prefix'], [{ type: 'number', not: { const: 4 } }, '4.0', 'prefix'], [{ enum: [1e-7, 1e21], multipleOf: 1e-8 }, '1e-7', 'complete'],
  ])('10, 11: multiples and values left out: %j and %s: %s', (schema, input, expected) => {
    expect(judge(schema, input)).toBe(expected);
  });

  test('10: a comma or a brace only behind a number in range', () => {
    const matcher = matcherOf(contractOf({ type: 'object', properties: { n: { type: 'integer', minimum: 15, maximum: 16 } } }, { allowedOperations: ['add'] }), {}, bytes, 1);
    feed(matcher, utf8('[{"op":"add","path":"/n","value":1'));
    expect(allowed(matcher)).toEqual(utf8('56'));
    feed(matcher, utf8('5'));
    expect(allowed(matcher)).toEqual(utf8('}'));
  });
});

describe('containers', () => {
  const pair: JsonObject = { type: 'object', properties: { a: { type: 'integer' }, 'b"': { type: 'null' }, c: {} } };
  test.each<[JsonObject, string, string]>([
    [pair, '{"a":1,"a', 'dead'], [pair, '{"a":1,"\\u0061', 'dead'], [pair, '{"b\\"":null,"b', 'dead'],
    [{ ...pair, minProperties: 2 }, '{"a":1}', 'dead'], [{ ...pair, minProperties: 2 }, '{"a":1,"c":1}', 'complete'], [{ ...pair, minProperties: 2 }, '{"c', 'dead'],
    [{ ...pair, maxProperties: 1, required: ['c'] }, '{"a', 'dead'], [{ ...pair, maxProperties: 0 }, '{"', 'dead'], [{ ...pair, propertyNames: { const: 'c' } }, '{"a', 'dead'],
    [{ ...pair, dependentRequired: { a: ['c'] } }, '{"a":1}', 'dead'], [{ ...pair, not: { required: ['a'] } }, '{"a', 'dead'],
    [{ ...pair, if: { required: ['a'] }, then: { required: ['c'] } }, '{"a":1}', 'dead'], [{ ...pair, oneOf: [{ required: ['a'] }, { required: ['c'] }] }, '{"a":1,"c', 'dead'],
    [{ type: 'array', items: { enum: ['a', 'ab', 1, 12] }, uniqueItems: true }, '["a","ab"]', 'complete'], [{ type: 'array', items: { enum: ['a', 'ab', 1, 12] }, uniqueItems: true }, '["a","a"', 'dead'],
    [{ type: 'array', items: { enum: ['a', 'ab', 1, 12] }, uniqueItems: true }, '[12,1]', 'complete'], [{ type: 'array', items: { type: 'boolean' }, uniqueItems: true }, '[true,false,', 'dead'],
    [{ type: 'array', items: { type: 'integer' }, contains: { minimum: 5 }, maxItems: 2 }, '[1,2]', 'dead'], [{ type: 'array', items: { type: 'integer' }, contains: { minimum: 5 }, maxItems: 2 }, '[1,9]', 'complete'],
    [{ type: 'array', items: { type: 'boolean' }, contains: { const: true }, maxContains: 1, minItems: 2 }, '[true,true', 'dead'],
    [{ type: 'string', maxLength: 2, not: { enum: ['ab', ''] } }, '"ab"', 'dead'], [{ type: 'string', maxLength: 2, not: { enum: ['ab', ''] } }, '""', 'dead'], [{ type: 'string', maxLength: 2, not: { enum: ['ab', ''] } }, '"a"', 'complete'],
  ])('12, 16: %j and %s: %s', (schema, input, expected) => {
    expect(judge(schema, input)).toBe(expected);
  });

  test.each<[JsonObject]>([
    [{ type: 'integer', multipleOf: 7, minimum: 1, maximum: 6 }], [{ enum: [1, 2], not: { type: 'integer' } }], [{ type: 'boolean', not: { enum: [true, false] } }], [{ type: 'string', maxLength: 0, not: { const: '' } }],
    [{ type: 'array', items: { type: 'boolean' }, uniqueItems: true, minItems: 3 }], [{ type: 'array', items: { type: 'integer' }, contains: { type: 'string' } }], [{ type: 'array', items: { type: 'integer' }, contains: { type: 'integer' }, maxContains: 1, minItems: 2 }],
    [{ type: 'object', properties: { a: {} }, minProperties: 2 }], [{ type: 'object', required: ['a', 'b'], maxProperties: 1 }], [{ type: 'object', required: ['a'], propertyNames: { const: 'b' } }], [{ type: 'object', properties: { a: {} }, required: ['a'], not: { required: ['a'] } }],
    [{ oneOf: [{ type: 'integer' }, { type: 'integer' }] }],
  ])('16: %j is known to be empty when compiled', (schema) => {
    expect(compileValueMask(schema, bytes)).toEqual({ ok: false, error: { code: 'mask/nothing-accepted' } });
  });
});

describe('paths', () => {
  const open = (document: object, properties: JsonObject, operationsLeft = 1, overrides: object = {}): MaskMatcher => (
    matcherOf(contractOf({ type: 'object', properties }, { allowedOperations: ALL_OPERATIONS, ...overrides }), document as never, bytes, operationsLeft)
  );
  const admits = (matcher: MaskMatcher, output: string): boolean => {
    matcher.reset();
    return feed(matcher, utf8(output)) && matcher.isCompleted();
  };

  test('7: both escape layers, and names that differ only by normalisation', () => {
    const matcher = open({ 'a"b/c~d': 1, '': 2, '~1': 3, 'café': 4 }, {});
    expect(admits(matcher, '[{"op":"remove","path":"/a\\"b~1c~0d"}]')).toBe(true);
    expect(admits(matcher, '[{"op":"remove","path":"/"}]')).toBe(true);
    expect(admits(matcher, '[{"op":"remove","path":"/~01"}]')).toBe(true);
    expect(admits(matcher, '[{"op":"remove","path":"/café"}]')).toBe(true);
    for (const wrong of ['', '/~1', '/~2', '/a\\"b/c~0d', '/cafe\u0301', '/~01/']) expect(admits(matcher, `[{"op":"remove","path":"${wrong}"}]`)).toBe(false);
  });

  test('9: prototype names are never offered, in paths or values', () => {
    const matcher = open(JSON.parse('{"__proto__": {"x": 1}, "constructor": 1, "a": 1}') as object, {});
    feed(matcher, utf8('[{"op":"remove","path":"/'));
    expect(allowed(matcher)).toEqual(utf8('a'));
    const named = { type: 'object', properties: JSON.parse('{"__proto__": {"type": "null"}, "b": {"type": "null"}}') as JsonObject };
    expect(judge(named, '{"b":null}')).toBe('complete');
    expect(judge(named, '{"_')).toBe('dead');
  });

  test('24: an index stays open until the quote, and the second operation counts anew', () => {
    const matcher = open({ list: Array.from({ length: 11 }, (_, index) => index) }, {}, 2);
    feed(matcher, utf8('[{"op":"remove","path":"/list/1'));
    expect(allowed(matcher)).toEqual(utf8('"0'));
    expect(admits(matcher, '[{"op":"remove","path":"/list/0"},{"op":"remove","path":"/list/9"}]')).toBe(true);
    expect(admits(matcher, '[{"op":"remove","path":"/list/0"},{"op":"remove","path":"/list/10"}]')).toBe(false);
    expect(admits(matcher, '[{"op":"move","from":"/list/0","path":"/list/9"}]')).toBe(true);
    expect(admits(matcher, '[{"op":"move","from":"/list/0","path":"/list/10"}]')).toBe(false);
    expect(admits(matcher, '[{"op":"move","from":"/list/0","path":"/list/-"}]')).toBe(true);
    expect(admits(matcher, '[{"op":"add","path":"/list/01","value":1}]')).toBe(false);
  });

  test('24: a locked element does not shift', () => {
    const matcher = open({ list: [1, 2, 3] }, {}, 1, { immutablePaths: ['/list/1'] });
    for (const path of ['/list/0', '/list/1', '/list']) expect(admits(matcher, `[{"op":"remove","path":"${path}"}]`)).toBe(false);
    expect(admits(matcher, '[{"op":"remove","path":"/list/2"}]')).toBe(true);
  });

  test('12: no member of an operation twice, and no other order', () => {
    const matcher = open({ a: 1 }, {});
    expect(admits(matcher, '[{"op":"remove","op":"remove","path":"/a"}]')).toBe(false);
    expect(admits(matcher, '[{"path":"/a","op":"remove"}]')).toBe(false);
    expect(admits(matcher, '[{"op":"remove","path":"/a","path":"/a"}]')).toBe(false);
    expect(admits(matcher, '[]')).toBe(false);
    expect(admits(matcher, '[{"op":"test","path":"/a","value":1}]')).toBe(false);
  });
});

describe('tokens', () => {
  const weather = contractOf(WEATHER, { allowedOperations: ALL_OPERATIONS });
  const inValue = (operationsLeft: number): MaskMatcher => {
    const matcher = matcherOf(weather, { city: 5 }, real, operationsLeft);
    feedReal(matcher, '[{"op":"replace","path":"/city","value":"Rome');
    return matcher;
  };

  test('13: tokens that cross the end of a value are set where legal', () => {
    const ids = allowed(inValue(2));
    for (const token of ['"', '"}', '"},']) expect(ids, token).toContain(idOf(token));
    for (const token of ['",', '"]', '":', '"/']) expect(ids, token).not.toContain(idOf(token));
    expect(allowed(inValue(1))).not.toContain(idOf('"},'));
  });

  test('13: a token may hold the end of one operation and the start of the next', () => {
    const wide = byteVocabulary(['"},{"op":"remove","path":"/city"}]', '"},{"op":"remove","path":"/none"}]', '"}]']);
    const matcher = matcherOf(weather, { city: 5 }, wide, 2);
    feed(matcher, utf8('[{"op":"replace","path":"/city","value":"Rome'));
    expect(allowed(matcher)).toEqual(expect.arrayContaining([256, 258]));
    expect(allowed(matcher)).not.toContain(257);
    expect(feed(matcher, [256])).toBe(true);
    expect(allowed(matcher)).toEqual([259]);
  });

  test('14: no whitespace, and no leading space, where the output starts', () => {
    const matcher = matcherOf(weather, { city: 5 }, real);
    expect(allowed(matcher)).toEqual([idOf('['), idOf('{'), idOf('{"')].sort((a, b) => a - b));
  });

  test('17: several stop tokens, each exactly where the output is complete', () => {
    const stops = vocabularyOf([...byteVocabulary([]).tokens.slice(0, 256), undefined, undefined], [256, 257]);
    const matcher = matcherOf(weather, {}, stops, 0);
    feed(matcher, utf8('{"abstain":"locked"'));
    expect(allowed(matcher)).toEqual(utf8('}'));
    feed(matcher, utf8('}'));
    expect(allowed(matcher)).toEqual([256, 257]);
    expect(matcher.acceptToken(257).ok).toBe(true);
  });

  test('18: special tokens never match by their text, which ordinary tokens may spell', () => {
    const matcher = valueMatcher({ type: 'string' }, real);
    feedReal(matcher, '"');
    expect(allowed(matcher).filter((id) => id < 17)).toEqual([]);
    expect(feed(matcher, real.encode('<|im_end|>"'))).toBe(true);
    expect(allowed(matcher)).toEqual([SMOLLM2_STOP]);
  });

  test('19: padding ids are always masked, and the bitmask is as wide as the logits', () => {
    const padded = byteVocabulary([], 355);
    const matcher = valueMatcher({ type: 'string' }, padded);
    feed(matcher, [0x22]);
    expect(matcher.logitWidth).toBe(257 + 355);
    expect(Math.max(...allowed(matcher))).toBeLessThan(257);
  });

  test('20: every id that shares bytes with a legal one is set, empty tokens never', () => {
    const shared = vocabularyOf([...byteVocabulary([]).tokens.slice(0, 256), utf8('"') as never, new Uint8Array(0), undefined].map((token) => (Array.isArray(token) ? Uint8Array.from(token) : token)), [258]);
    const ids = allowed(valueMatcher({ type: 'string' }, shared));
    expect(ids).toEqual([0x22, 256]);
  });

  test('16: empty intersections leave nothing to write', () => {
    const contract = contractOf({ type: 'object', properties: {
      a: { type: 'string', minLength: 2, maxLength: 1 }, b: { enum: [1, 2], minimum: 3, type: 'integer' }, c: { type: 'array', items: false, minItems: 1 }, d: { type: 'object', required: ['x'], properties: { x: false } },
    } }, { allowedOperations: ['add'] });
    expect(allowed(matcherOf(contract, {}, bytes, 1))).toEqual(utf8('{'));
  });
});
