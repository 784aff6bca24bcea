import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { jsonEqual } from '../json/value.ts';
import { ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { createJudge } from '../validate/judge.ts';
import type { SchemaNode } from './schema-node.ts';
import { MAX_REFERENCE_DEPTH } from './schema-reader.ts';
import { readSchemaNode, readSchemaPlace, schemaPlacesIn, surveySchema } from './schema.ts';

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
    ['annotations as nothing', { type: 'string', title: 't', $comment: 'c', deprecated: true }, TEXT],
    ['defaults and examples of the type as suggestions', { type: ['string', 'number'], default: 'd', examples: [1, 'e', null] }, {
      kind: 'union', branches: [{ kind: 'number', integer: false, lower: undefined, upper: undefined, suggested: [1] }, { ...TEXT, suggested: ['d', 'e'] }],
    }],
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
    ['patterns and formats of all conjuncts', { type: 'string', pattern: 'a', format: 'email', allOf: [{ pattern: 'a', format: 'hostname' }, { pattern: 'b', format: 'password' }] }, {
      kind: 'string', minLength: 0, maxLength: 253, content: { patterns: ['a', 'b'], formats: ['email', 'hostname'] },
    }],
    ['a format that accepts everything as none', { type: 'string', format: 'binary' }, TEXT],
    ['literals that have the content', { enum: ['ab', 'a', 'b', 1], pattern: '^a' }, { kind: 'literals', values: ['ab', 'a', 1] }],
    ['literals that have the format', { enum: ['2024-02-29', '2023-02-29'], format: 'date' }, { kind: 'literals', values: ['2024-02-29'] }],
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
    const open: JsonObject = { type: 'object', additionalProperties: { type: 'string' } };
    expect(read({ oneOf: [branch('a'), open, branch('b')] })).toMatchObject({ ok: false, error: { keyword: 'oneOf' } });
  });

  test('branches of oneOf that overlap are read without what they share', () => {
    expect(nodeOf({ oneOf: [{ type: 'number' }, { type: 'integer' }] })).toEqual({ kind: 'number', integer: false, lower: undefined, upper: undefined, notMultiplesOf: [1] });
    expect(nodeOf({ oneOf: [{ type: 'integer', maximum: 5 }, { type: 'integer', minimum: 3 }] })).toEqual({
      kind: 'union', branches: [{ ...INTEGER, upper: { value: 3, exclusive: true } }, { ...INTEGER, lower: { value: 5, exclusive: true } }],
    });
  });

  test.each<[string, JsonObject, unknown]>([
    ['divisors', { type: 'number', multipleOf: 0.01, allOf: [{ multipleOf: 0.25 }] }, { ...INTEGER, integer: false, multiplesOf: [0.01, 0.25] }],
    ['literals by their divisor', { enum: [19.99, 19.995, 'a'], multipleOf: 0.01 }, { kind: 'literals', values: [19.99, 'a'] }],
    ['not on const', { type: 'integer', not: { const: 3 } }, { ...INTEGER, excluded: [3] }],
    ['not on enum beside enum', { enum: ['a', 'b', 1], not: { enum: ['b', 2] } }, { kind: 'literals', values: ['a', 1] }],
    ['not on type', { type: ['string', 'integer'], not: { type: 'string' } }, INTEGER],
    ['not on required as a member that must not be', { type: 'object', properties: { a: {} }, not: { required: ['a'] } }, { kind: 'object', members: [{ name: 'a', required: false, node: NEVER }] }],
    ['if that always holds', { type: 'integer', if: {}, then: { maximum: 3 }, else: false }, { ...INTEGER, upper: { value: 3, exclusive: false } }],
    ['names that propertyNames refuses', { type: 'object', properties: { a: { type: 'string' }, bb: { type: 'string' } }, propertyNames: { maxLength: 1 } }, {
      kind: 'object', members: [{ name: 'a', required: false, node: TEXT }, { name: 'bb', required: false, node: NEVER }],
    }],
    ['a 32-bit integer as bounds', { type: 'number', format: 'int32' }, { ...INTEGER, lower: { value: -2147483648, exclusive: false }, upper: { value: 2147483647, exclusive: false } }],
    ['a format of floating numbers as nothing', { type: 'integer', format: 'double' }, INTEGER],
    ['not a pattern as a pattern left out', { type: 'string', not: { pattern: 'a' } }, { ...TEXT, content: { patterns: [], formats: [], excluded: ['a'] } }],
    ['counts of members', { type: 'object', minProperties: 1, maxProperties: 2 }, { kind: 'object', members: [], minProperties: 1, maxProperties: 2 }],
    ['unique elements as literals', { type: 'array', items: { type: ['integer', 'null'], minimum: 1, exclusiveMaximum: 3 }, uniqueItems: true }, {
      kind: 'array', prefix: [], rest: { kind: 'literals', values: [null, 1, 2] }, minItems: 0, maxItems: undefined, uniqueItems: true,
      listedFrom: { kind: 'union', branches: [{ kind: 'literals', values: [null] }, { ...INTEGER, lower: { value: 1, exclusive: false }, upper: { value: 3, exclusive: true } }] },
    }],
    ['unique elements of a list of one as any', { type: 'array', items: { type: 'string' }, maxItems: 1, uniqueItems: true }, { kind: 'array', prefix: [], rest: TEXT, minItems: 0, maxItems: 1 }],
    ['contains by splitting the elements', { type: 'array', items: { type: 'integer' }, contains: { minimum: 5 }, maxContains: 2 }, {
      kind: 'array', prefix: [], rest: INTEGER, minItems: 0, maxItems: undefined,
      contains: { counted: { ...INTEGER, lower: { value: 5, exclusive: false } }, other: { ...INTEGER, upper: { value: 5, exclusive: true } }, min: 1, max: 2 },
    }],
  ])('reads %s', (_, schema, expected) => {
    expect(nodeOf(schema)).toEqual(expected);
  });

  test.each<[string, JsonObject, string, string, string]>([
    ['a pattern without an automaton', { type: 'string', pattern: '(?=a)' }, 'pattern', '/pattern', ''],
    ['a pattern with too many states', { type: 'string', pattern: 'a.{20}b' }, 'pattern', '/pattern', ''],
    ['patterns that have too many states together', { allOf: [{ type: 'string' }, { pattern: '^.{0,200}$' }, { pattern: '^(?:ab?){0,200}c*$' }, { pattern: '^(?:a{3}b?)*.{1,99}$' }] }, 'pattern', '/allOf/1/pattern', ''],
    ['a content of so many states that a minimum length is too much', { type: 'string', pattern: '^[ab]{0,2000}$', minLength: 1000 }, 'pattern', '/pattern', ''],
    ['format', { type: 'string', format: 'regex' }, 'format', '/format', ''],
    ['excluded patterns of too many states', { type: 'string', not: { pattern: 'a.{20}b' } }, 'not', '/not', ''],
    ['uniqueItems over values without number', { type: 'array', uniqueItems: true }, 'uniqueItems', '/uniqueItems', ''],
    ['uniqueItems in a tuple', { type: 'array', prefixItems: [{ const: 1 }], items: { const: 2 }, uniqueItems: true }, 'uniqueItems', '/uniqueItems', ''],
    ['contains in a tuple', { type: 'array', prefixItems: [{}], contains: { const: 1 } }, 'contains', '/contains', ''],
    ['two contains', { type: 'array', contains: { const: 1 }, allOf: [{ contains: { const: 2 } }] }, 'contains', '/contains', ''],
    ['contains without a complement', { type: 'array', contains: { type: 'string', format: 'date' } }, 'contains', '/contains', '/-'],
    ['not without a complement', { not: { type: 'string', format: 'date' } }, 'not', '/not', ''],
    ['not of a closed object', { not: { additionalProperties: false } }, 'not', '/not', ''],
    ['not of a composite literal', { type: 'array', not: { const: [1] } }, 'not', '/not', ''],
    ['if without a complement', { if: { type: 'string', format: 'date' }, then: false }, 'if', '/if', ''],
    ['oneOf whose branches may overlap and have no complement', { oneOf: [{ format: 'date' }, { format: 'time' }] }, 'oneOf', '/oneOf', ''],
    ['a recursive not', { $defs: { n: { properties: { n: { $ref: '#/$defs/n' } } } }, not: { $ref: '#/$defs/n' } }, 'not', '/not', ''],
    ['dependencies that multiply beyond reading', { type: 'object', dependentRequired: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`m${index}`, ['z']])) }, 'dependentRequired', '/dependentRequired', ''],
    ['a keyword deep inside a value', { type: 'object', properties: { list: { type: 'array', items: { type: 'string', format: 'regex' } } } }, 'format', '/properties/list/items/format', '/list/-'],
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
  }, 60_000);

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
    ['an unsupported keyword of the place', { properties: { a: { type: 'string', pattern: '(?!x)' } } }, {}, '/a', 'pattern'],
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
    properties: { a: { type: 'string' }, b: { $ref: '#/$defs/date' }, c: { $ref: '#/$defs/date' }, d: { type: 'array', items: { type: 'string', pattern: '(?=x)' } }, e: { properties: { f: { type: 'null' } } } },
    $defs: { date: { type: 'string', format: 'regex' } },
  };
  expect(surveySchema(schema)).toEqual({
    readableCount: 3,
    nodes: expect.objectContaining({ size: 3 }),
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
    pattern: fc.constantFrom('a', '^b?$', 'b$'), format: fc.constantFrom('int32', 'double'),
    minLength: fc.nat(2), maxLength: fc.nat(2), minimum: fc.integer({ min: -2, max: 2 }), exclusiveMaximum: fc.constantFrom(-1, 0, 0.5, 2),
    minItems: fc.nat(2), maxItems: fc.nat(2), items: fc.constantFrom<JsonValue>({ type: 'integer' }, false, { type: 'string' }),
    prefixItems: fc.constantFrom<JsonValue[]>([{ type: 'string' }], [{ const: 1 }, {}]),
    properties: fc.constantFrom<JsonValue>({ a: { type: 'integer' } }, { a: { type: 'string' }, b: false }), required: fc.subarray(['a', 'b']), additionalProperties: fc.boolean(),
  }, { requiredKeys: [] });
  const branch = fc.oneof(keywords, fc.record({
    multipleOf: fc.constantFrom(2, 0.5, 1, 0.75), minProperties: fc.nat(2), maxProperties: fc.nat(2), dependentRequired: fc.constantFrom<JsonValue>({ a: ['b'] }, { b: ['a'] }),
    propertyNames: fc.constantFrom<JsonValue>({ const: 'a' }, { maxLength: 0 }, { not: { const: 'a' } }), uniqueItems: fc.boolean(), contains: keywords, minContains: fc.nat(2), maxContains: fc.nat(2),
    properties: fc.constantFrom<JsonValue>({ a: { type: 'integer' } }, { a: {}, b: { const: 1 } }), items: fc.constantFrom<JsonValue>({ enum: [1, 2, 'a'] }, { type: 'boolean' }),
    pattern: fc.constantFrom('a', '^a?b'), format: fc.constantFrom('int64'),
  }, { requiredKeys: [] }));
  /** One or two keywords: of more, one is bound to have no complement. */
  const few = fc.tuple(branch, fc.array(fc.nat(), { minLength: 1, maxLength: 2 })).map(([all, picks]): JsonObject => {
    const entries = Object.entries(all) as [string, JsonValue][];
    return Object.fromEntries(entries.length === 0 ? [] : picks.map((pick) => entries[pick % entries.length] as [string, JsonValue]));
  });
  const combined = fc.oneof<fc.Arbitrary<object>[]>(
    fc.record({ allOf: fc.array(few, { minLength: 1, maxLength: 2 }), anyOf: fc.array(few, { minLength: 1, maxLength: 2 }) }, { requiredKeys: [] }),
    fc.record({ not: few }), fc.record({ not: fc.oneof<fc.Arbitrary<object>[]>(fc.record({ if: few, then: few, else: few }, { requiredKeys: ['if'] }), fc.record({ oneOf: fc.array(few, { minLength: 2, maxLength: 3 }) })) }), fc.record({ if: few, then: few, else: few }, { requiredKeys: ['if'] }), fc.record({ oneOf: fc.array(few, { minLength: 2, maxLength: 3 }) }),
  );

  test('random schemas, random values (object values of declared names only)', () => {
    let comparedCount = 0;
    fc.assert(fc.property(fc.oneof(branch, few, few), combined, value, (plain, more, instance) => {
      const schema = { ...plain, ...more } as JsonObject;
      const node = read(schema);
      const judge = createJudge(schema, '2020-12');
      if (!node.ok || !judge.ok) return;
      const accepted = judge.value.judge(instance).length === 0;
      if (accepts(node.value, instance)) expect({ schema, instance, accepted }).toEqual({ schema, instance, accepted: true });
      else if (accepted && isWithinReach(node.value, instance)) expect({ schema, instance, node: node.value }).toBe('accepted');
      comparedCount += 1;
    }), { numRuns: 1000 });
    expect(comparedCount).toBeGreaterThan(400);
  }, 60_000);

  function accepts(node: SchemaNode, instance: JsonValue): boolean {
    switch (node.kind) {
      case 'literals': return node.values.some((literal) => jsonEqual(literal, instance));
      case 'string': return typeof instance === 'string' && (node.content?.patterns ?? []).every((source) => new RegExp(source, 'u').test(instance))
        && !(node.content?.excluded ?? []).some((source) => new RegExp(source, 'u').test(instance)) && [...instance].length >= node.minLength && [...instance].length <= (node.maxLength ?? Infinity);
      case 'number': {
        if (typeof instance !== 'number' || (node.integer && !Number.isInteger(instance))) return false;
        const { lower, upper, multiplesOf = [], notMultiplesOf = [], excluded = [] } = node;
        // quarters are exact in binary
        return multiplesOf.every((divisor) => instance % divisor === 0) && notMultiplesOf.every((divisor) => instance % divisor !== 0) && !excluded.includes(instance)
          && (lower === undefined || (lower.exclusive ? instance > lower.value : instance >= lower.value))
          && (upper === undefined || (upper.exclusive ? instance < upper.value : instance <= upper.value));
      }
      case 'array': return Array.isArray(instance) && (node.uniqueItems !== true || instance.every((item, index) => !instance.slice(0, index).some((other) => jsonEqual(other as JsonValue, item as JsonValue))))
        && containsFits(node.contains, instance as JsonValue[]) && instance.length >= node.minItems && instance.length <= (node.maxItems ?? Infinity)
        && instance.every((item, index) => accepts(node.prefix[index] ?? node.rest, item as JsonValue));
      case 'object': return isObject(instance) && Object.keys(instance).every((name) => node.members.some((member) => member.name === name && accepts(member.node, instance[name] as JsonValue)))
        && node.members.every((member) => !member.required || Object.hasOwn(instance, member.name))
        && Object.keys(instance).length >= (node.minProperties ?? 0) && Object.keys(instance).length <= (node.maxProperties ?? Infinity);
      case 'union': return node.branches.some((branch) => accepts(branch, instance));
    }
  }

  function containsFits(contains: Extract<SchemaNode, { kind: 'array' }>['contains'], items: readonly JsonValue[]): boolean {
    if (contains === undefined) return true;
    const counted = items.filter((item) => accepts(contains.counted, item)).length;
    return counted + items.filter((item) => accepts(contains.other, item)).length === items.length && counted >= contains.min && counted <= (contains.max ?? Infinity);
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
