import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { resolvePointer, type JsonPointer } from '../pointer.ts';
import { loadContract } from './contract.ts';
import { canExist } from './possible-place.ts';

describe('a place that the schema rules out for certain', () => {
  test.each<[string, JsonObject, string]>([
    ['an undeclared name of a closed object', { properties: { a: {} }, additionalProperties: false }, '/b'],
    ['a name that must not be', { properties: { a: false } }, '/a'],
    ['below a scalar', { properties: { a: { type: 'string' } } }, '/a/b'],
    ['below any of several scalars', { properties: { a: { type: ['string', 'null'] } } }, '/a/0'],
    ['an index of an object', { properties: { a: { type: 'object', properties: { b: {} }, additionalProperties: false } } }, '/a/0'],
    ['a name of a list', { properties: { a: { type: 'array' } } }, '/a/b'],
    ['the end of a list', { properties: { a: { type: 'array' } } }, '/a/-'],
    ['an index above the longest list', { properties: { a: { type: 'array', maxItems: 2 } } }, '/a/2'],
    ['an index behind a closed tuple', { properties: { a: { type: 'array', prefixItems: [{}], items: false } } }, '/a/1'],
    ['an index behind a closed tuple of draft-07', { properties: { a: { type: 'array', items: [{}], additionalItems: false } } }, '/a/1'],
    ['an index of the arguments, which are an object', { items: {}, additionalProperties: false }, '/0'],
    ['behind a reference', { $defs: { n: { type: 'object', properties: { x: { type: 'integer' } }, additionalProperties: false } }, properties: { a: { $ref: '#/$defs/n' } } }, '/a/y'],
    ['in every branch', { properties: { a: { anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: false }] } } }, '/a/b'],
    ['by one of all conditions', { allOf: [{ properties: { a: {} }, additionalProperties: false }, {}] }, '/b'],
    ['by every literal', { properties: { a: { enum: [{ b: 1 }, 'x'] } } }, '/a/c'],
    ['by a constant', { properties: { a: { const: { b: 1 } } } }, '/a/c'],
    ['in an object without members', { properties: { a: { type: 'object', maxProperties: 0 } } }, '/a/b'],
    ['a name of a prototype', {}, '/a/__proto__'],
    ['a matched name that must not be', { patternProperties: { '^x': false } }, '/x1'],
  ])('%s', (_, schema, pointer) => {
    expect(canExist(schema, pointer as JsonPointer)).toBe(false);
    expect(loadContract({ tool: { name: 't', parameters: schema }, immutablePaths: [pointer] }))
      .toMatchObject({ error: { code: pointer.includes('__proto__') ? 'contract/forbidden-name' : expect.stringMatching(/impossible-path|schema-invalid/) as string } });
  });
});

describe('a place that may be there', () => {
  test.each<[string, JsonObject, string]>([
    ['the whole', { type: 'object' }, ''],
    ['an undeclared name of an open object', { properties: { a: {} } }, '/b'],
    ['a name that a pattern takes', { patternProperties: { '^x': {} }, additionalProperties: false }, '/x1'],
    ['in one branch', { oneOf: [{ properties: { a: { type: 'object' } } }, { properties: { a: { type: 'string' } } }] }, '/a/b'],
    ['an element', { properties: { a: { items: { properties: { b: {} }, additionalProperties: false } } } }, '/a/7/b'],
    ['a name like an index', { properties: { a: { type: 'object' } } }, '/a/0'],
    ['in a schema that refers to itself', { $defs: { n: { properties: { next: { $ref: '#/$defs/n' } }, additionalProperties: false } }, $ref: '#/$defs/n' }, '/next/next/next'],
    ['what only `not` rules out, which is not consulted', { not: { required: ['a'] } }, '/a'],
  ])('%s', (_, schema, pointer) => {
    expect(canExist(schema, pointer as JsonPointer)).toBe(true);
  });
});

test('references and conjunctions that share much are walked once', () => {
  const width = 60;
  const $defs = Object.fromEntries(Array.from({ length: width }, (_, index) => [`d${index}`, { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] }]));
  expect(canExist({ $defs: { ...$defs, [`d${width}`]: {} }, $ref: '#/$defs/d0' }, '/a' as JsonPointer)).toBe(true);
});

test('no document that a schema accepts has a place that was said to be impossible', () => {
  const names = ['a', '0', 'b'] as const;
  // of many keywords at once nothing would be accepted
  const schemaOver = (sub: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> => fc.tuple(fc.record<Record<string, unknown>>({
    type: fc.constantFrom('object', 'array', 'string', ['object', 'array']),
    properties: fc.dictionary(fc.constantFrom(...names), sub, { maxKeys: 2 }),
    patternProperties: fc.dictionary(fc.constantFrom('^a', '[0-9]'), sub, { maxKeys: 1 }),
    additionalProperties: fc.boolean(),
    items: sub,
    prefixItems: fc.tuple(sub),
    maxItems: fc.constantFrom(0, 1),
    maxProperties: fc.constantFrom(0, 1),
    anyOf: fc.array(sub, { minLength: 1, maxLength: 2 }),
    allOf: fc.array(sub, { minLength: 1, maxLength: 2 }),
    enum: fc.constantFrom([{ a: 1 }, 'x'], [[1], { b: { a: 1 } }]),
  }), fc.integer({ min: 0, max: 10 }), fc.integer({ min: 1, max: 3 })).map(([whole, start, step]) => (
    Object.fromEntries(Object.entries(whole).filter((_, index) => index >= start && (index - start) % step === 0).slice(0, 3)) as JsonObject
  ));
  const schema = schemaOver(schemaOver(fc.boolean())).map((one): JsonObject => ({ ...one, type: 'object' }));
  const valueOver = (sub: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.oneof(
    fc.constantFrom<unknown>(1, 'x'), fc.dictionary(fc.constantFrom(...names), sub, { maxKeys: 2 }), fc.array(sub, { maxLength: 2 }),
  );
  const value = valueOver(valueOver(fc.constantFrom<unknown>(1, 'x')));
  const document = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 });
  const pointer = fc.array(fc.constantFrom(...names, '1'), { minLength: 1, maxLength: 3 }).map((tokens) => `/${tokens.join('/')}` as JsonPointer);
  let [accepted, impossible] = [0, 0];
  fc.assert(fc.property(schema, fc.array(document, { minLength: 20, maxLength: 20 }), fc.array(pointer, { minLength: 12, maxLength: 12 }), (parameters, documents, pointers) => {
    const contract = loadContract({ tool: { name: 't', parameters } });
    if (!contract.ok) return;
    const judged = documents.filter((one) => contract.value.judge.judge(one as JsonObject).length === 0);
    accepted += judged.length;
    for (const place of pointers.filter((one) => !canExist(contract.value.schema, one))) {
      impossible += 1;
      expect(judged.filter((one) => resolvePointer(one as JsonObject, place) !== undefined)).toEqual([]);
    }
  }), { numRuns: 150 });
  expect(Math.min(accepted, impossible)).toBeGreaterThan(100);
});
