import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { jsonEqual } from '../json/value.ts';
import { ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { createJudge } from '../validate/judge.ts';
import { MAX_REFERENCE_DEPTH, readSchemaNode, readSchemaPlace, schemaPlacesIn, surveySchema, type SchemaNode } from './schema.ts';

const read = (schema: JsonObject): ReturnType<typeof readSchemaNode> => readSchemaNode(schema, schema, ROOT_POINTER);

function nodeOf(schema: JsonObject): SchemaNode {
  const node = read(schema);
  if (!node.ok) throw new Error(JSON.stringify(node.error));
  return node.value;
}

const NEVER = { kind: 'union', branches: [] };
const TEXT = { kind: 'string', minLength: 0, maxLength: undefined };
const INTEGER = { kind: 'number', integer: true, lower: undefined, upper: undefined };

describe('readSchemaNode', () => {
  test.each<[string, JsonObject, unknown]>([
    ['a string with lengths', { type: 'string', minLength: 1, maxLength: 3 }, { kind: 'string', minLength: 1, maxLength: 3 }],
    ['an integer with the stronger of two lower bounds', { type: 'integer', minimum: 2, exclusiveMinimum: 2 }, { ...INTEGER, lower: { value: 2, exclusive: true } }],
    ['a list of types', { type: ['integer', 'null'] }, { kind: 'union', branches: [{ kind: 'literals', values: [null] }, INTEGER] }],
    ['nullable beside a type', { type: 'integer', nullable: true }, { kind: 'union', branches: [{ kind: 'literals', values: [null] }, INTEGER] }],
    ['enum cut by the keywords beside it', { type: 'integer', enum: [1, '1', 2.5, 7, 1.0], maximum: 5 }, { kind: 'literals', values: [1] }],
    ['enum and const together', { enum: [{ a: 1 }, 2], const: { a: 1.0 } }, { kind: 'literals', values: [{ a: 1 }] }],
    ['annotations as nothing', { type: 'string', title: 't', default: 'd', examples: [1], $comment: 'c', deprecated: true }, TEXT],
    ['members with the required ones first', { type: 'object', properties: { a: { type: 'string' }, b: { const: 1 } }, required: ['b'], additionalProperties: false }, {
      kind: 'object', members: [{ name: 'b', required: true, node: { kind: 'literals', values: [1] } }, { name: 'a', required: false, node: TEXT }],
    }],
    ['a required member nobody declares through additionalProperties', { type: 'object', required: ['x'], additionalProperties: { type: 'string' } }, {
      kind: 'object', members: [{ name: 'x', required: true, node: TEXT }],
    }],
    ['a required member that may not exist as never', { type: 'object', required: ['x'], additionalProperties: false }, { kind: 'object', members: [{ name: 'x', required: true, node: NEVER }] }],
    ['patterns of names that match a declared one', { type: 'object', properties: { ab: {} }, patternProperties: { '^a': { type: 'string' }, '^b': { type: 'null' } } }, {
      kind: 'object', members: [{ name: 'ab', required: false, node: TEXT }],
    }],
    ['a prototype name as never', { type: 'object', properties: { ['__proto__']: { type: 'string' } } }, { kind: 'object', members: [{ name: '__proto__', required: false, node: NEVER }] }],
    ['prefixItems, then items', { type: 'array', prefixItems: [{ const: 1 }], items: false, minItems: 1 }, {
      kind: 'array', prefix: [{ kind: 'literals', values: [1] }], rest: NEVER, minItems: 1, maxItems: undefined,
    }],
    ['draft-07 tuples', { type: 'array', items: [{ const: 1 }], additionalItems: { type: 'string' } }, {
      kind: 'array', prefix: [{ kind: 'literals', values: [1] }], rest: TEXT, minItems: 0, maxItems: undefined,
    }],
    ['allOf by merging', { allOf: [{ type: ['string', 'integer'] }, { type: 'string', minLength: 2 }, { maxLength: 4 }] }, { kind: 'string', minLength: 2, maxLength: 4 }],
    ['a reference beside other keywords as both', { $ref: '#/$defs/t', minLength: 2, $defs: { t: { type: 'string', minLength: 1 } } }, { kind: 'string', minLength: 2, maxLength: undefined }],
    ['anyOf as a union, keywords beside it in every branch', { maxLength: 2, anyOf: [{ type: 'string' }, { type: 'integer' }] }, {
      kind: 'union', branches: [{ kind: 'string', minLength: 0, maxLength: 2 }, INTEGER],
    }],
    ['oneOf of different types', { oneOf: [{ type: 'string' }, { type: 'integer' }] }, { kind: 'union', branches: [TEXT, INTEGER] }],
    ['contradicting types as never', { allOf: [{ type: 'string' }, { type: 'integer' }] }, NEVER],
    ['true inside anyOf as anything', { anyOf: [false, { type: 'string' }] }, TEXT],
  ])('reads %s', (_, schema, expected) => {
    expect(nodeOf(schema)).toEqual(expected);
  });

  test('ignores unsupported keywords that cannot bind the type at hand', () => {
    expect(nodeOf({ type: 'integer', pattern: 'x', format: 'date', uniqueItems: true, minProperties: 2, contains: {} })).toEqual(INTEGER);
    expect(nodeOf({ type: 'array', items: false, uniqueItems: false, multipleOf: 3 })).toMatchObject({ kind: 'array' });
    expect(nodeOf({ type: 'string', format: 'int32', multipleOf: 3, propertyNames: {} })).toEqual(TEXT);
  });

  test('discriminated objects in oneOf are read, overlapping ones refused', () => {
    const branch = (kind: string): JsonObject => ({ type: 'object', properties: { kind: { const: kind } }, required: ['kind'] });
    expect(nodeOf({ oneOf: [branch('a'), branch('b')] })).toMatchObject({ kind: 'union' });
    expect(read({ oneOf: [branch('a'), branch('a')] })).toMatchObject({ ok: false, error: { keyword: 'oneOf' } });
    expect(read({ oneOf: [{ type: 'number' }, { type: 'integer' }] })).toMatchObject({ ok: false, error: { keyword: 'oneOf' } });
  });

  test.each<[string, JsonObject, string, string, string]>([
    ['pattern', { type: 'string', pattern: 'a' }, 'pattern', '/pattern', ''],
    ['format', { type: 'string', format: 'date' }, 'format', '/format', ''],
    ['number formats', { type: 'integer', format: 'int32' }, 'format', '/format', ''],
    ['multipleOf', { type: 'number', multipleOf: 3 }, 'multipleOf', '/multipleOf', ''],
    ['uniqueItems', { type: 'array', uniqueItems: true }, 'uniqueItems', '/uniqueItems', ''],
    ['not', { not: {} }, 'not', '/not', ''],
    ['if', { if: {}, then: {} }, 'if', '/if', ''],
    ['a keyword deep inside a value', { type: 'object', properties: { list: { type: 'array', items: { type: 'string', format: 'date' } } } }, 'format', '/properties/list/items/format', '/list/-'],
    ['references to other documents', { $ref: 'other.json#/a' }, '$ref', '/$ref', ''],
    ['references to nothing', { $ref: '#/nowhere' }, '$ref', '/$ref', ''],
    ['identifiers below the root', { properties: { a: { $id: 'x', type: 'string' } } }, '$id', '/properties/a/$id', '/a'],
    ['a boolean exclusiveMinimum', { type: 'number', exclusiveMinimum: true }, 'exclusiveMinimum', '/exclusiveMinimum', ''],
    ['composite literals beside keywords of their type', { enum: [[1]], maxItems: 0 }, 'maxItems', '/maxItems', ''],
    ['keywords nobody knows', { type: 'string', shape: 'round' }, 'shape', '/shape', ''],
  ])('refuses %s by name and place', (_, schema, keyword, keywordLocation, instanceLocation) => {
    expect(read(schema)).toEqual({ ok: false, error: { code: 'mask/unsupported-keyword', keyword, keywordLocation, instanceLocation } });
  });

  test('a recursive schema is unrolled to a fixed depth, and one that refers only to itself accepts nothing', () => {
    let node = nodeOf({ type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false });
    let depth = 0;
    for (; node.kind === 'object'; depth += 1) node = node.members[0]!.node;
    expect(node).toEqual(NEVER);
    expect(depth).toBe(MAX_REFERENCE_DEPTH + 1);
    expect(nodeOf({ $ref: '#' })).toEqual(NEVER);
  });

  test('a schema that branches on itself without end is refused, not read for ever', () => {
    const names = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`m${index}`, { $ref: '#' }]));
    const schema: JsonObject = { type: 'object', properties: names };
    expect(read(schema)).toMatchObject({ ok: false, error: { code: 'mask/unsupported-keyword' } });
    expect(surveySchema(schema)).toMatchObject({ readableCount: 0 });
  });

  test('too many combined alternatives are refused', () => {
    const choice = { anyOf: Array.from({ length: 12 }, (_, index) => ({ const: index })) };
    expect(read({ allOf: [choice, choice, choice] })).toMatchObject({ ok: false, error: { keyword: 'allOf' } });
  });
});

describe('schemaPlacesIn', () => {
  const nodeAt = (schema: JsonObject, document: JsonValue, pointer: string): SchemaNode | string => {
    const place = schemaPlacesIn(schema, document)(pointer as JsonPointer);
    const node = place.ok ? readSchemaPlace(schema, place.value) : place;
    return node.ok ? node.value : node.error.keyword;
  };
  const byKind = {
    oneOf: [
      { type: 'object', properties: { kind: { const: 'a' }, value: { type: 'integer' } } },
      { type: 'object', properties: { kind: { const: 'b' }, value: { type: 'string' } } },
    ],
  };

  test.each<[string, JsonObject, JsonValue, string, unknown]>([
    ['a declared member', { properties: { a: { type: 'string' } } }, {}, '/a', TEXT],
    ['an element and the place behind the last', { properties: { a: { items: { type: 'integer' } } } }, { a: [1] }, '/a/-', INTEGER],
    ['the branch that a present sibling chooses', byKind, { kind: 'b' }, '/value', TEXT],
    ['all branches where the sibling fits none', byKind, { kind: 'c' }, '/value', { kind: 'union', branches: [INTEGER, TEXT] }],
    ['the sibling itself under every branch', byKind, { kind: 'b', value: 1 }, '/kind', { kind: 'union', branches: [{ kind: 'literals', values: ['a'] }, { kind: 'literals', values: ['b'] }] }],
    ['a forbidden name as nothing', { properties: {}, additionalProperties: false }, { a: 1 }, '/a', NEVER],
    ['a name below a forbidden one as nothing', { properties: {}, additionalProperties: false }, { a: { b: 1 } }, '/a/b', NEVER],
    ['allOf as all of it', { allOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { maxLength: 3 } } }] }, {}, '/a', { ...TEXT, maxLength: 3 }],
    ['branches that differ in required only as one', { properties: { a: { type: 'string' } }, oneOf: [{ required: ['a'] }, { required: ['b'] }] }, {}, '/a', TEXT],
    ['patterns of names', { patternProperties: { '^x': { type: 'string' } } }, { xa: 1 }, '/xa', TEXT],
    ['an unsupported keyword of the place', { properties: { a: { type: 'string', pattern: 'x' } } }, {}, '/a', 'pattern'],
  ])('finds %s', (_, schema, document, pointer, expected) => {
    expect(nodeAt(schema, document, pointer)).toEqual(expected);
  });

  test('a name that nobody speaks of takes any value, to a fixed depth', () => {
    expect(nodeAt({ type: 'object' }, { a: 1 }, '/a')).toMatchObject({ kind: 'union' });
  });

  test('nothing accepted and anything accepted are different places', () => {
    const find = schemaPlacesIn({ properties: {}, additionalProperties: false }, { a: { b: 1 } });
    const open = schemaPlacesIn({ type: 'object' }, { a: 1 });
    const [nothing, anything] = [find('/a/b' as JsonPointer), open('/a' as JsonPointer)];
    expect(nothing.ok && anything.ok && nothing.value.key !== anything.value.key).toBe(true);
  });
});

test('the survey names each unsupported keyword once and counts the places that can be written', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { $ref: '#/$defs/date' }, c: { $ref: '#/$defs/date' }, d: { type: 'array', items: { type: 'string', pattern: 'x' } }, e: { properties: { f: { type: 'null' } } } },
    $defs: { date: { type: 'string', format: 'date' } },
  };
  expect(surveySchema(schema)).toEqual({
    readableCount: 3,
    unsupported: [
      { code: 'mask/unsupported-keyword', keyword: 'format', keywordLocation: '/$defs/date/format', instanceLocation: '/b' },
      { code: 'mask/unsupported-keyword', keyword: 'pattern', keywordLocation: '/properties/d/items/pattern', instanceLocation: '/d/-' },
    ],
  });
});

describe('a node accepts what the judge accepts', () => {
  const scalar = fc.oneof(fc.constantFrom<JsonValue>(null, true, false), fc.integer({ min: -3, max: 3 }), fc.constantFrom<JsonValue>(0.5, 2.5, '', 'a', 'ab', '😀'));
  const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.dictionary(fc.constantFrom('a', 'b'), scalar, { maxKeys: 2 }).map((object): JsonValue => ({ ...object })));
  const keywords = fc.record({
    type: fc.oneof(fc.constantFrom('string', 'integer', 'number', 'array', 'object', 'null', 'boolean'), fc.uniqueArray(fc.constantFrom('string', 'integer', 'array', 'object', 'null'), { minLength: 1, maxLength: 3 })),
    enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3, comparator: jsonEqual }), const: scalar,
    minLength: fc.nat(2), maxLength: fc.nat(2), minimum: fc.integer({ min: -2, max: 2 }), exclusiveMaximum: fc.constantFrom(-1, 0, 0.5, 2),
    minItems: fc.nat(2), maxItems: fc.nat(2), items: fc.constantFrom<JsonValue>({ type: 'integer' }, false, { type: 'string' }),
    prefixItems: fc.constantFrom<JsonValue[]>([{ type: 'string' }], [{ const: 1 }, {}]),
    properties: fc.constantFrom<JsonValue>({ a: { type: 'integer' } }, { a: { type: 'string' }, b: false }), required: fc.subarray(['a', 'b']), additionalProperties: fc.boolean(),
  }, { requiredKeys: [] });
  const combined = fc.record({ allOf: fc.array(keywords, { minLength: 1, maxLength: 2 }), anyOf: fc.array(keywords, { minLength: 1, maxLength: 2 }) }, { requiredKeys: [] });

  test('random schemas, random values (object values of declared names only)', () => {
    let comparedCount = 0;
    fc.assert(fc.property(keywords, combined, value, (plain, more, instance) => {
      const schema = { ...plain, ...more } as JsonObject;
      const node = read(schema);
      const judge = createJudge(schema, '2020-12');
      if (!node.ok || !judge.ok) return;
      const accepted = judge.value.judge(instance).length === 0;
      if (accepts(node.value, instance)) expect({ schema, instance, accepted }).toEqual({ schema, instance, accepted: true });
      else if (accepted && isWithinReach(node.value, instance)) expect({ schema, instance, node: node.value }).toBe('accepted');
      comparedCount += 1;
    }), { numRuns: 600 });
    expect(comparedCount).toBeGreaterThan(200);
  }, 60_000);

  function accepts(node: SchemaNode, instance: JsonValue): boolean {
    switch (node.kind) {
      case 'literals': return node.values.some((literal) => jsonEqual(literal, instance));
      case 'string': return typeof instance === 'string' && [...instance].length >= node.minLength && [...instance].length <= (node.maxLength ?? Infinity);
      case 'number': {
        if (typeof instance !== 'number' || (node.integer && !Number.isInteger(instance))) return false;
        const { lower, upper } = node;
        return (lower === undefined || (lower.exclusive ? instance > lower.value : instance >= lower.value))
          && (upper === undefined || (upper.exclusive ? instance < upper.value : instance <= upper.value));
      }
      case 'array': return Array.isArray(instance) && instance.length >= node.minItems && instance.length <= (node.maxItems ?? Infinity)
        && instance.every((item, index) => accepts(node.prefix[index] ?? node.rest, item as JsonValue));
      case 'object': return isObject(instance) && Object.keys(instance).every((name) => node.members.some((member) => member.name === name && accepts(member.node, instance[name] as JsonValue)))
        && node.members.every((member) => !member.required || Object.hasOwn(instance, member.name));
      case 'union': return node.branches.some((branch) => accepts(branch, instance));
    }
  }

  /** Objects with names nobody declared are valid and never spelled. */
  function isWithinReach(node: SchemaNode, instance: JsonValue): boolean {
    if (Array.isArray(instance)) return instance.every((item) => isWithinReach(node, item as JsonValue));
    if (!isObject(instance)) return true;
    const declared = (found: SchemaNode): readonly string[] => (found.kind === 'object' ? found.members.map(({ name }) => name) : found.kind === 'union' ? found.branches.flatMap(declared) : []);
    const objects = (found: SchemaNode): readonly SchemaNode[] => (found.kind === 'object' ? [found] : found.kind === 'union' ? found.branches.flatMap(objects) : []);
    return objects(node).length > 0 && objects(node).every((object) => Object.keys(instance).every((name) => declared(object).includes(name)));
  }

  function isObject(instance: JsonValue): instance is JsonObject {
    return typeof instance === 'object' && instance !== null && !Array.isArray(instance);
  }
});
