import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSchemaNode } from '../contract/schema.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { ROOT_POINTER, resolvePointer } from '../pointer.ts';
import type { Origin } from './origin.ts';
import { originFinder } from './origin-finder.ts';
import type { ProvenanceSources } from './sources.ts';

const REQUEST = 'Book a table for 4 in san francisco at 7:30pm, tell Ana O\'Neil; budget 1,200.50 dollars (a 15% tip). Mail jo.doe@mail.example or "Le Petit"';

function originOf(value: JsonValue, sources: Partial<ProvenanceSources>, schema: JsonObject = {}): Origin | undefined {
  const node = readSchemaNode(schema, schema, ROOT_POINTER);
  if (!node.ok) throw new Error(node.error.keyword);
  return originFinder({ texts: [], candidate: null, ...sources })(value, node.value)[0]?.origin;
}

describe('the origin of a value in a request', () => {
  test.each([
    ['a span as it stands', 'san francisco', 'san francisco', 'verbatim'],
    ['one word of it', 'francisco', 'francisco', 'verbatim'],
    ['the beginning of a longer one', 'san', 'san', 'verbatim'],
    ['an e-mail address', 'jo.doe@mail.example', 'jo.doe@mail.example', 'verbatim'],
    ['a quoted text, with or without its quotes', '"Le Petit"', '"Le Petit"', 'verbatim'],
    ['a time', '7:30pm', '7:30pm', 'verbatim'],
    ['a span with a capital', 'Table for 4', 'table for 4', 'capitalised'],
    ['a name in title case', 'San Francisco', 'san francisco', 'title-case'],
    ['a code in upper case', 'DOLLARS', 'dollars', 'upper-case'],
    ['a name in lower case', 'ana', 'Ana', 'lower-case'],
    ['a number', 4, '4', 'string-to-number'],
    ['a number in groups of three', 1200.5, '1,200.50', 'string-to-number'],
    ['a percentage as it is written', 15, '15', 'string-to-number'],
    ['a percentage as a fraction', 0.15, '15%', 'percent-to-fraction'],
    ['a number as a string', '1200.5', '1,200.50', 'number-to-string'],
  ] as const)('is named with its place: %s', (_name, value, shown, derivation) => {
    const origin = originOf(value, { texts: ['Hello!', REQUEST] });
    if (origin?.kind !== 'request') throw new Error(JSON.stringify(origin));
    expect({ ...origin, shown: REQUEST.slice(origin.start, origin.end) }).toMatchObject({ text: 1, shown, derivation });
  });

  test.each([
    ['part of a word', 'fran'], ['words in another order', 'francisco san'], ['words across a gap', 'Book table'], ['nothing', ''], ['a mixed case', 'sAn'],
    ['space at the ends', ' san '], ['the hour inside a name', 'A7'], ['another number', 5], ['a sum', 5.5],
  ])('is the model alone: %s', (_name, value) => {
    expect(originOf(value, { texts: [REQUEST] })).toEqual({ kind: 'model' });
  });
});

describe('the origin of a value elsewhere', () => {
  const candidate = { city: 'Berkeley, CA ', days: ['5', 7], open: true, 'a/b': { note: '' } };

  test.each([
    ['a leaf, outer space included', 'Berkeley, CA ', { pointer: '/city', start: 0, end: 13, derivation: 'verbatim' }],
    ['a leaf trimmed', 'Berkeley, CA', { pointer: '/city', start: 0, end: 12, derivation: 'verbatim' }],
    ['a numeral in a string', 5, { pointer: '/days/0', start: 0, end: 1, derivation: 'string-to-number' }],
    ['a number', 7, { pointer: '/days/1', start: 0, end: 1, derivation: 'verbatim' }],
    ['a number as a string', '7', { pointer: '/days/1', start: 0, end: 1, derivation: 'number-to-string' }],
    ['a boolean as a string', 'true', { pointer: '/open', start: 0, end: 4, derivation: 'boolean-to-string' }],
    ['an empty string', '', { pointer: '/a~1b/note', start: 0, end: 0, derivation: 'verbatim' }],
  ])('is a leaf of the candidate: %s', (_name, value, expected) => {
    expect(originOf(value, { candidate })).toEqual({ kind: 'candidate', ...expected });
  });

  test('is a literal of the schema where neither source has the value as it stands', () => {
    const schema = { enum: ['celsius', 'kelvin'] };
    expect(originOf('kelvin', { texts: ['in Kelvin'] }, schema)).toEqual({ kind: 'schema-literal' });
    expect(originOf('kelvin', { texts: ['in kelvin'] }, schema)).toMatchObject({ kind: 'request', start: 3 });
    expect(originOf('none', {}, { type: 'string', default: 'none' })).toEqual({ kind: 'schema-literal' });
    expect(originOf(3, {}, { type: 'integer', examples: [3] })).toEqual({ kind: 'schema-literal' });
    expect(originOf(null, {})).toEqual({ kind: 'schema-literal' });
  });

  test('is given for each scalar of a whole value, with its schema beside it', () => {
    const schema: JsonObject = {
      type: 'object', properties: { unit: { enum: ['km', 'mi'] }, stops: { type: 'array', items: { type: 'string' } }, box: { const: { w: 1, h: [2] } }, flags: { type: 'array', uniqueItems: true, items: { type: 'integer', minimum: 0, maximum: 3 } } },
    };
    const node = readSchemaNode(schema, schema, ROOT_POINTER);
    if (!node.ok) throw new Error(node.error.keyword);
    const value = { unit: 'km', stops: ['Rome', 'Oz'], box: { w: 1, h: [2] }, flags: [2] };
    const origins = originFinder({ texts: ['to Rome'], candidate: {} })(value, node.value);
    expect(origins.map(({ pointer, origin }) => [pointer, origin.kind])).toEqual([
      ['/unit', 'schema-literal'], ['/stops/0', 'request'], ['/stops/1', 'model'], ['/box/w', 'schema-literal'], ['/box/h/0', 'schema-literal'], ['/flags/0', 'model'],
    ]);
  });

  test('prefers the request to the candidate, and either to a derivation', () => {
    expect(originOf('Rome', { texts: ['rome', 'Rome'], candidate: { city: 'Rome' } })).toEqual({ kind: 'request', text: 1, start: 0, end: 4, derivation: 'verbatim' });
    expect(originOf('Rome', { texts: ['rome'], candidate: { city: 'Rome' } })).toMatchObject({ kind: 'candidate', derivation: 'verbatim' });
  });
});

/** What a derivation makes of the text at an origin. */
const REDONE: Readonly<Record<string, (text: string) => readonly JsonValue[]>> = {
  'verbatim': (text) => [text],
  'lower-case': (text) => [text.toLowerCase()],
  'upper-case': (text) => [text.toUpperCase()],
  'capitalised': (text) => [text.charAt(0).toUpperCase() + text.slice(1)],
  'title-case': (text) => [text.toLowerCase().replace(/(?<![a-z0-9'])[a-z]/g, (letter) => letter.toUpperCase())],
  'string-to-number': (text) => [Number(text.replaceAll(',', '')) + 0],
  'percent-to-fraction': (text) => [Number(`${text.replace(/[,%]|\s*percent/g, '')}e-2`) + 0],
  'number-to-string': (text) => [text.includes('%') ? String(Number(`${text.replace(/[,%]/g, '')}e-2`)) : '', String(Number(text.replaceAll(',', '')) + 0)],
};

test('whatever is named as an origin gives the value back', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'B', 'c', ' ', '1', '20', '.', ',', '-', "'", '%', '"', '\\'), maxLength: 12 });
  fc.assert(fc.property(fc.array(text, { minLength: 1, maxLength: 2 }), fc.nat(), fc.nat(), fc.constantFrom(...Object.keys(REDONE)), (texts, from, length, change) => {
    const source = texts[0] as string;
    const start = from % (source.length + 1);
    const piece = source.slice(start, start + (length % 6));
    const value = REDONE[change]?.(piece)[0] as JsonValue;
    const origin = originFinder({ texts, candidate: null })(Number.isNaN(value) ? piece : value)[0]?.origin;
    if (origin?.kind !== 'request') return;
    const { text: index, start: at, end, derivation } = origin;
    expect(REDONE[derivation]?.((texts[index] as string).slice(at, end))).toContain(Number.isNaN(value) ? piece : value);
  }), { numRuns: 1000 });
});

test('names places that resolve', () => {
  const candidate = { 'a/b': ['x', { '~': 'deep' }] };
  const origin = originOf('deep', { candidate });
  expect(origin?.kind === 'candidate' && resolvePointer(candidate, origin.pointer)).toBe('deep');
});
