import { describe, expect, test } from 'vitest';
import { loadContract } from '../contract/contract.ts';
import type { JsonObject } from '../json/value.ts';
import { ROOT_POINTER } from '../pointer.ts';
import { readHabits } from './schema-habits.ts';

const DRAFT_4 = 'http://json-schema.org/draft-04/schema#';
const DRAFT_6 = 'http://json-schema.org/draft-06/schema';
const DRAFT_2019 = 'https://json-schema.org/draft/2019-09/schema';
const [DRAFT_7, DRAFT_2020] = ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema'];

describe('an older draft is converted where that is exact', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['exclusive bounds', { $schema: DRAFT_4, properties: { a: { minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false } } }, { $schema: DRAFT_7, properties: { a: { exclusiveMinimum: 1, maximum: 5 } } }],
    ['a flag without its bound', { $schema: DRAFT_4, properties: { a: { exclusiveMinimum: true } } }, { $schema: DRAFT_7, properties: { a: {} } }],
    ['the name of the schema', { $schema: DRAFT_4, id: 'https://example.org/s', type: 'object' }, { $schema: DRAFT_7, $id: 'https://example.org/s', type: 'object' }],
    ['a property named id', { $schema: DRAFT_4, properties: { id: { type: 'string' } } }, { $schema: DRAFT_7, properties: { id: { type: 'string' } } }],
    ['draft 6', { $schema: DRAFT_6, properties: { a: { const: 1 } } }, { $schema: DRAFT_7, properties: { a: { const: 1 } } }],
    ['a tuple', { $schema: DRAFT_2019, properties: { a: { items: [{ type: 'string' }], additionalItems: false } } }, { $schema: DRAFT_2020, properties: { a: { prefixItems: [{ type: 'string' }], items: false } } }],
    ['a tuple in a tuple', { $schema: DRAFT_2019, properties: { a: { items: [{ items: [{}] }] } } }, { $schema: DRAFT_2020, properties: { a: { prefixItems: [{ prefixItems: [{}] }] } } }],
    ['additionalItems beside no tuple', { $schema: DRAFT_2019, properties: { a: { items: {}, additionalItems: false } } }, { $schema: DRAFT_2020, properties: { a: { items: {} } } }],
  ])('%s', (_, schema, expected) => {
    const read = readHabits(schema, ROOT_POINTER, {});
    expect(read.ok && read.value.schema).toEqual(expected);
    expect(read.ok && loadContract({ tool: { name: 't', parameters: read.value.schema } }).ok).toBe(true);
  });
});

describe('and refused where it would mean something else', () => {
  test.each<[string, JsonObject, string]>([
    ['a word that draft 4 ignores', { $schema: DRAFT_4, properties: { a: { const: 1 } } }, '/properties/a/const'],
    ['a bound of draft 6 in draft 4', { $schema: DRAFT_4, properties: { a: { exclusiveMinimum: 1 } } }, '/properties/a'],
    ['a nested base', { $schema: DRAFT_4, properties: { a: { id: 'urn:x' } } }, '/properties/a'],
    ['a condition in draft 6', { $schema: DRAFT_6, if: {}, then: false }, '/if'],
    ['a recursive reference', { $schema: DRAFT_2019, properties: { a: { $recursiveRef: '#' } } }, '/properties/a'],
    ['a tuple of 2020-12 in 2019-09', { $schema: DRAFT_2019, properties: { a: { prefixItems: [{}] } } }, '/properties/a/prefixItems'],
  ])('%s', (_, schema, pointer) => {
    expect(readHabits(schema, ROOT_POINTER, {})).toMatchObject({ ok: false, error: { code: 'source/not-convertible', pointer } });
  });
});

test('an unknown dialect is left for the contract to refuse, and a supported one is not touched', () => {
  for (const $schema of ['http://json-schema.org/draft-03/schema#', DRAFT_7, DRAFT_2020]) {
    expect(readHabits({ $schema, type: 'object' }, ROOT_POINTER, {})).toEqual({ ok: true, value: { schema: { $schema, type: 'object' }, notes: [] } });
  }
});

describe('python-like types', () => {
  test.each<[JsonObject, JsonObject]>([
    [{ type: 'dict' }, { type: 'object' }], [{ type: 'tuple' }, { type: 'array' }], [{ type: 'any' }, {}],
    [{ type: ['str', 'None'] }, { type: ['string', 'null'] }], [{ type: ['list', 'tuple'] }, { type: 'array' }], [{ type: ['int', 'any'] }, {}],
    [{ type: 'string' }, { type: 'string' }], [{ enum: ['dict'] }, { enum: ['dict'] }], [{ properties: { type: { type: 'bool' } } }, { properties: { type: { type: 'boolean' } } }],
  ])('%j is read as %j', (schema, expected) => {
    const read = readHabits(schema, ROOT_POINTER, { pythonTypes: true });
    expect(read.ok && read.value.schema).toEqual(expected);
  });
});
