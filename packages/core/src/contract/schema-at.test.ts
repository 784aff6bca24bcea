import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../json/value.ts';
import type { JsonPointer } from '../pointer.ts';
import { loadContract } from './contract.ts';
import { declaredNames, schemaAt } from './schema-at.ts';

const SCHEMA = {
  $defs: {
    address: { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false },
    tree: { properties: { kids: { items: { $ref: '#/$defs/tree' } } } },
  },
  properties: {
    home: { $ref: '#/$defs/address', description: 'where' },
    both: { allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
    shape: {
      oneOf: [
        { properties: { kind: { const: 'circle' }, radius: { type: 'number' } } },
        { properties: { kind: { enum: ['box', 'cube'] }, width: { type: 'number' } } },
      ],
    },
    row: { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
    tree: { $ref: '#/$defs/tree' },
    map: { patternProperties: { '^n': { type: 'number' } }, additionalProperties: { type: 'string' } },
    none: false,
  },
};

/** `location`, with `?` where the site is conditional. */
function sites(document: JsonValue, pointer: string, schema: unknown = SCHEMA): readonly string[] {
  const contract = loadContract({ tool: { name: 'at', parameters: schema } });
  if (!contract.ok) throw new TypeError(contract.error.code);
  return schemaAt(contract.value, document, pointer as JsonPointer).map((site) => site.keywordLocation + (site.isConditional ? '?' : ''));
}

describe('the sub-schemas at a place', () => {
  test.each<[string, JsonValue, string, readonly string[]]>([
    ['the root has the schema itself', {}, '', ['']],
    ['a member and the target of its reference', { home: {} }, '/home', ['/properties/home', '/$defs/address']],
    ['through the reference', { home: { city: '' } }, '/home/city', ['/$defs/address/properties/city']],
    ['an absent member has its schema too', { home: {} }, '/home/city', ['/$defs/address/properties/city']],
    ['what additionalProperties forbids', { home: {} }, '/home/street', ['/$defs/address/additionalProperties']],
    ['a conjunction', { both: {} }, '/both', ['/properties/both', '/properties/both/allOf/0', '/properties/both/allOf/1']],
    ['a branch is conditional', { shape: {} }, '/shape', ['/properties/shape', '/properties/shape/oneOf/0?', '/properties/shape/oneOf/1?']],
    ['a branch that a sibling contradicts is out', { shape: { kind: 'cube' } }, '/shape/width', ['/properties/shape/oneOf/1/properties/width?']],
    ['the discriminator itself is open to every branch', { shape: { kind: 'cube' } }, '/shape/kind', ['/properties/shape/oneOf/0/properties/kind?', '/properties/shape/oneOf/1/properties/kind?']],
    ['where the siblings contradict all, all stay', { shape: { kind: 'ball' } }, '/shape', ['/properties/shape', '/properties/shape/oneOf/0?', '/properties/shape/oneOf/1?']],
    ['a tuple element', { row: ['a', 1] }, '/row/0', ['/properties/row/prefixItems/0']],
    ['an element after the tuple', { row: ['a', 1] }, '/row/1', ['/properties/row/items']],
    ['the next element', { row: [] }, '/row/-', ['/properties/row/prefixItems/0']],
    ['down a recursive schema', { tree: { kids: [{ kids: [] }] } }, '/tree/kids/0/kids', ['/$defs/tree/properties/kids']],
    ['a name by its pattern', { map: {} }, '/map/n1', ['/properties/map/patternProperties/^n']],
    ['a name by nothing else', { map: {} }, '/map/x', ['/properties/map/additionalProperties']],
    ['false is a schema that nothing fits', {}, '/none', ['/properties/none']],
    ['a place the schema is silent about', { other: { a: 1 } }, '/other/a', []],
  ])('%s', (_, document, pointer, expected) => {
    expect(sites(document, pointer)).toEqual(expected);
  });

  test('draft-07 tuples', () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', properties: { row: { items: [{}], additionalItems: { type: 'number' } } } };
    expect([sites({ row: [1] }, '/row/0', schema), sites({ row: [1] }, '/row/-', schema)]).toEqual([['/properties/row/items/0'], ['/properties/row/additionalItems']]);
  });
});

test('declared names are those of every site, once, in schema order', () => {
  const contract = loadContract({ tool: { name: 'at', parameters: SCHEMA } });
  const names = (document: JsonValue, pointer: string): unknown => contract.ok && declaredNames(schemaAt(contract.value, document, pointer as JsonPointer));
  expect(names({ both: {} }, '/both')).toEqual(['a', 'b']);
  expect(names({ shape: {} }, '/shape')).toEqual(['kind', 'radius', 'width']);
});
