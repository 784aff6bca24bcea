/** Origins in sources that somebody made to confuse or to delay. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonPointer } from '../pointer.ts';
import { originNamer, type LiteralOrigin } from './origin.ts';

const LISTED: LiteralOrigin = { kind: 'schema-literal', keywordLocation: '/enum' as JsonPointer };

describe('the text of a request is text', () => {
  test.each<[string, string, string, object]>([
    ['a pointer in it is quoted, not followed', 'copy /account/id to /memo', '/account/id', { kind: 'request', text: 0, start: 5, end: 16, derivation: 'verbatim' }],
    ['an escape of a pointer stays two characters', 'take a~1b', 'a/b', { kind: 'model' }],
    ['JSON in it is not read', '{"id":"ACC-2041"}', 'ACC-2041', { kind: 'request', text: 0, start: 7, end: 15, derivation: 'verbatim' }],
    ['nor are escapes in it', 'say "caf\\u00e9"', 'café', { kind: 'model' }],
    ['composed letters are not decomposed ones', 'at the cafe\u0301', 'café', { kind: 'model' }],
    ['decomposed letters are not composed ones', 'at the café', 'cafe\u0301', { kind: 'model' }],
    ['a mark belongs to its letter', 'at the cafe\u0301', 'cafe', { kind: 'model' }],
    ['half a surrogate pair is nothing', 'I am \u{1f600} happy', '\ud83d', { kind: 'model' }],
    ['a lone half in the request hides nothing else', 'bad \ud83d text for ACC-2041', 'ACC-2041', { kind: 'request', text: 0, start: 15, end: 23, derivation: 'verbatim' }],
    ['a character of two units counts as two', '\u{1f600} Rome', 'Rome', { kind: 'request', text: 0, start: 3, end: 7, derivation: 'verbatim' }],
    ['a mark of direction is a character of its own', 'pay \u202eACC-1', 'ACC-1', { kind: 'request', text: 0, start: 5, end: 10, derivation: 'verbatim' }],
    ['a letter whose capital is two stays as it is', 'in der straße', 'STRAßE', { kind: 'request', text: 0, start: 7, end: 13, derivation: 'upper-case' }],
    ['a beginning that is met again is not missed', 'aab aaab aaaab aab', 'aaab aaaab aab', { kind: 'request', text: 0, start: 4, end: 18, derivation: 'verbatim' }],
  ])('%s', (_, text, value, origin) => {
    expect(originNamer({ texts: [text], candidate: null })(value)).toEqual(origin);
  });

  test.each<[string, number, object]>([
    ['1e3 dollars', 1000, { start: 0, end: 3, derivation: 'string-to-number' }],
    ['1,000 dollars', 1000, { start: 0, end: 5, derivation: 'string-to-number' }],
    ['1,00,000 rupees', 100_000, { kind: 'model' }],
    ['1.000 Euro', 1000, { kind: 'model' }],
    ['0x10 and one thousand', 16, { kind: 'model' }],
    ['1,000,000', 1_000_000, { start: 0, end: 9 }],
    ['account ACC1000', 1000, { kind: 'model' }],
    ['\u2212 5, \u22125', -5, { start: 5, end: 7 }],
    ['1e999', Infinity, { kind: 'model' }],
    ['12345678901234567890', 12345678901234567000, { start: 0, end: 20 }],
  ])('a number of "%s" is %d', (text, value, origin) => {
    expect(originNamer({ texts: [text], candidate: null })(value)).toMatchObject(origin);
  });
});

test('public state is named by its pointer, behind the request and before the call', () => {
  const originOf = originNamer({ texts: ['to Rome'], context: { user: { home: 'Oslo', age: 41, city: 'Rome' } }, candidate: { city: 'Oslo' } });
  expect(originOf('Rome')).toMatchObject({ kind: 'request' });
  expect(originOf('Oslo')).toEqual({ kind: 'context', pointer: '/user/home', start: 0, end: 4, derivation: 'verbatim' });
  expect(originOf(41)).toEqual({ kind: 'context', pointer: '/user/age', start: 0, end: 2, derivation: 'verbatim' });
});

test('a literal of the schema comes behind what stands there and before what is derived', () => {
  const originOf = originNamer({ texts: ['in Celsius, 5 %'], candidate: null });
  expect(originOf('Celsius', LISTED)).toMatchObject({ kind: 'request', start: 3 });
  expect(originOf('celsius', LISTED)).toEqual(LISTED);
  expect(originOf('celsius')).toMatchObject({ kind: 'request', derivation: 'lower-case' });
  expect(originOf(0.05, LISTED)).toEqual(LISTED);
  expect(originOf(5, LISTED)).toMatchObject({ kind: 'request' });
  expect([null, true, false].map((value) => originOf(value))).toEqual(Array(3).fill({ kind: 'schema-literal' }));
});

test('an origin is found wherever a listing of all spans finds one', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b', 'ß', ' ', '-', '\u0301', '\u{1f600}', '東'), maxLength: 14 });
  let foundCount = 0;
  fc.assert(fc.property(text, text, fc.nat(), fc.nat(), (source, other, from, length) => {
    const start = from % (source.length + 1);
    for (const value of [source.slice(start, start + (length % 7)), other.slice(0, 3)]) {
      const origin = originNamer({ texts: [source], candidate: null })(value);
      const stands = value !== '' && spansIn(source).includes(value);
      if (stands) foundCount += 1;
      expect({ value, stands: origin.kind === 'request' && origin.derivation === 'verbatim' }).toEqual({ value, stands });
      if (origin.kind === 'request' && stands) expect(source.slice(origin.start, origin.end)).toBe(value);
    }
  }), { numRuns: 2000, seed: 5 });
  expect(foundCount).toBeGreaterThan(200);
});

/** All spans of whole atoms, written down naively. */
function spansIn(text: string): readonly string[] {
  const atoms = text.match(/(?:(?!\p{sc=Han})[\p{L}\p{N}])(?:(?!\p{sc=Han})[\p{L}\p{N}]|\p{M})*|[^]\p{M}*/gu) ?? [];
  return atoms.flatMap((_, first) => atoms.slice(first).map((__, count) => atoms.slice(first, first + count + 1)))
    .filter((run) => !/^\s/u.test(run[0] ?? '') && !/^\s/u.test(run.at(-1) ?? '')).map((run) => run.join(''));
}

describe('time', () => {
  test('of text and value that repeat themselves is linear', () => {
    const pathological = (length: number): number => {
      const started = process.cpuUsage();
      const originOf = originNamer({ texts: ['a '.repeat(length / 2)], candidate: null });
      expect(originOf(`${'a '.repeat(length / 8)}b`)).toEqual({ kind: 'model' });
      return process.cpuUsage(started).user;
    };
    const low = (length: number): number => Math.min(...[1, 2, 3].map(() => pathological(length)));
    pathological(2 ** 14);
    // a quadratic search would take 256 times as long for 16 times the text
    expect(low(2 ** 19)).toBeLessThan(80 * Math.max(low(2 ** 15), 1_000));
  });

  test('of very many values ends: what is written beyond it has no origin but the model', () => {
    const text = `${'lorem ipsum '.repeat(90_000)}ACC-2041`;
    const originOf = originNamer({ texts: [text], candidate: null });
    expect(originOf('ACC-2041').kind).toBe('request');
    for (let count = 0; count < 60; count += 1) originOf(`made up ${count}`);
    expect(originOf('ACC-2041').kind).toBe('model');
  });
});
