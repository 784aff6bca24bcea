import { describe, expect, test } from 'vitest';
import { hasLoneSurrogate, type JsonObject, type SchemaSite } from '@contractrl/core';
import { fieldText, shortDescription } from './field-text.ts';

const site = (schema: JsonObject, isConditional = false): SchemaSite => ({ schema, isConditional, keywordLocation: '' as SchemaSite['keywordLocation'] });

test.each<{ readonly name: string; readonly sites: readonly SchemaSite[]; readonly text: string }>([
  { name: 'nothing', sites: [], text: '' },
  { name: 'a type', sites: [site({ type: 'integer' })], text: 'integer' },
  { name: 'several types', sites: [site({ type: ['string', 'null'] })], text: 'string|null' },
  { name: 'bounds in a fixed order', sites: [site({ maximum: 9, type: 'integer', minimum: 0, title: 't' })], text: 'integer {"minimum":0,"maximum":9}' },
  { name: 'an enumeration without a type', sites: [site({ enum: ['a', 1, null] })], text: 'one of ["a",1,null]' },
  { name: 'one literal', sites: [site({ const: 'x' })], text: 'exactly "x"' },
  { name: 'a list', sites: [site({ type: 'array', minItems: 1, items: { type: 'string', maxLength: 3, description: 'hidden' } })], text: 'array of string {"maxLength":3} {"minItems":1}' },
  { name: 'a list of anything', sites: [site({ type: 'array', items: {} })], text: 'array of any' },
  {
    name: 'an object', sites: [site({ type: 'object', properties: { a: { type: 'string' }, b: {}, c: { properties: { d: { type: 'array', items: { type: 'object', properties: { e: {} } } } } } }, required: ['a'] })],
    text: '{a*: string, b: any, c: {d: array of object}}',
  },
  { name: 'words behind the shape', sites: [site({ type: 'string', description: 'City\n and state' })], text: 'string: City and state' },
  { name: 'branches behind what is certain', sites: [site({ description: 'n' }), site({ type: 'integer', description: 'm' }, true), site({ type: 'boolean' }, true)], text: 'n, integer: m or boolean' },
  { name: 'the first of two that apply', sites: [site({ minimum: 1 }), site({ type: 'integer', minimum: 2 })], text: 'integer {"minimum":1}' },
])('the field shows $name', ({ sites, text }) => {
  expect(fieldText(sites, '')).toBe(text);
});

test('of many literals those are shown that share most words with the request, in their own order', () => {
  const values = Array.from({ length: 30 }, (_, index) => `colour ${String(index)}`);
  expect(fieldText([site({ enum: values })], 'colour 29, or 17?')).toBe(
    `one of ${JSON.stringify([...values.slice(0, 10), 'colour 17', 'colour 29'])}`,
  );
});

test('a field is cut at 320 characters, never inside one', () => {
  const text = fieldText([site({ type: 'object', properties: Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`🙂${String(index)}`, {}])) })], '');
  expect(Array.from(text)).toHaveLength(320);
  expect(hasLoneSurrogate(text)).toBe(false);
});

describe('a description', () => {
  test('is whole where it is short', () => {
    expect(shortDescription(' The  city.\nAs in "Rome". ')).toBe('The city. As in "Rome".');
  });

  test('keeps, where it is long, its first sentence and those that tell a form', () => {
    const text = `The order. ${'It was placed by somebody at some time. '.repeat(5)}Written as #W and seven digits. It is kept.`;
    expect(shortDescription(text)).toBe('The order. Written as #W and seven digits.');
  });

  test('is cut', () => {
    expect(shortDescription('a'.repeat(10_000), 50)).toBe('a'.repeat(50));
  });
});
