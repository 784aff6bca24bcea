/** Random schemas, values and contracts for fast-check: small alphabets, so that names, literals and values meet. */
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '@contractrl/core';
import { ALL_OPERATIONS } from './contracts.ts';

const NAMES = ['a', 'b', 'a/b', '~', '', 'é', '10', '1'];
const name = fc.constantFrom(...NAMES);
const text = fc.string({ unit: fc.constantFrom('a', 'b', '"', '\\', 'é', '😀', '\n', '\u0001', '/'), maxLength: 3 });
const number = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(0.5, -1.25, 0.07, 1e-6, 12345678901, 9007199254740991, 15, 16, 1e21));
const divisor = fc.constantFrom(2, 3, 7, 0.5, 0.01, 0.25, 1.5, 100, 1e-7, 2.5e20);

/** They tell apart only what the naive recognizer tries. */
const pattern = fc.constantFrom(
  'a', '^a', 'b$', '^(?:ab?)*$', 'é|😀', '^[^a"]*$', '\\\\', '"', '^.{2}$', '\\n$', '\\b', '^\\W+$', 'a\\b', '^[à-ÿ😀]?a', '^[\\u{40000}-\\u{4ffff}]+$', '\\x01', 'a^', '^$|^0$', '[]', '',
);
const format = fc.constantFrom('json-pointer', 'relative-json-pointer', 'hostname', 'date', 'password', 'duration');

export const jsonValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonValue>(null, true, false), number, text,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }).map((object) => ({ ...object })),
  ),
})).value;

/** A schema of keywords that the mask constrains. Bounds may contradict each other: then nothing is accepted. */
export const schema: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonObject>({ type: 'null' }, { type: 'boolean' }, {}, { type: ['boolean', 'null'] }, { type: ['integer', 'string'] }),
    fc.record({ type: fc.constant('string'), minLength: fc.nat(3), maxLength: fc.nat(5) }, { requiredKeys: ['type'] }),
    fc.record({ type: fc.constant('string'), maxLength: fc.nat(3), minLength: fc.nat(3), pattern }, { requiredKeys: ['type', 'maxLength', 'pattern'] }),
    fc.record({ type: fc.constant('string'), maxLength: fc.nat(3), pattern, format }, { requiredKeys: ['type', 'maxLength', 'format'] }),
    fc.record({ type: fc.constantFrom('integer', 'number'), minimum: number, maximum: number, exclusiveMinimum: number, exclusiveMaximum: number }, { requiredKeys: ['type'] }),
    fc.record({ type: fc.constantFrom('integer', 'number'), multipleOf: divisor, minimum: number, maximum: number, not: fc.oneof(number.map((value) => ({ const: value })), divisor.map((value) => ({ multipleOf: value }))) }, { requiredKeys: ['type', 'multipleOf'] }),
    fc.array(jsonValue, { minLength: 1, maxLength: 3 }).map((values) => ({ enum: values })),
    jsonValue.map((value) => ({ const: value })),
    fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2), maxItems: fc.nat(3) }, { requiredKeys: ['type'] }),
    fc.record({ type: fc.constant('array'), prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }), items: fc.oneof(tie('schema'), fc.constant(false)) }, { requiredKeys: ['type', 'prefixItems'] }),
    objectSchema(tie('schema')),
    fc.record({
      type: fc.constant('array'), uniqueItems: fc.constant(true), minItems: fc.nat(2), maxItems: fc.nat(3),
      items: fc.oneof(fc.uniqueArray(jsonValue, { minLength: 1, maxLength: 4, selector: (value) => JSON.stringify(value) }).map((values) => ({ enum: values })), fc.constant({ type: 'integer', minimum: 9, maximum: 12 })),
    }, { requiredKeys: ['type', 'uniqueItems', 'items'] }) as fc.Arbitrary<JsonObject>,
    fc.record({
      type: fc.constant('array'), items: fc.constantFrom<JsonObject>({ type: 'integer' }, { type: ['boolean', 'string'] }, { enum: [1, 'a', 20] }), minItems: fc.nat(2), maxItems: fc.nat(3),
      contains: fc.constantFrom<JsonObject>({ type: 'integer', minimum: 10 }, { type: 'string' }, { const: 1 }, {}), minContains: fc.nat(2), maxContains: fc.nat(2),
    }, { requiredKeys: ['type', 'contains'] }) as fc.Arbitrary<JsonObject>,
    fc.tuple(tie('schema'), fc.array(tie('schema'), { minLength: 2, maxLength: 2 })).map(([outer, oneOf]) => ({ ...outer, oneOf }) as JsonObject),
    fc.tuple(tie('schema'), tie('schema'), tie('schema')).map(([test, positive, negative]) => ({ if: test, then: positive, else: negative }) as JsonObject),
    fc.tuple(tie('schema'), tie('schema')).map(([outer, negated]) => ({ ...outer, not: negated }) as JsonObject),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((anyOf) => ({ anyOf })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
  ),
})).schema as fc.Arbitrary<JsonObject>;

function objectSchema(member: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(name, member, { maxKeys: 3 }).map((properties) => ({ ...properties })),
    required: fc.uniqueArray(name, { maxLength: 2 }),
    additionalProperties: fc.oneof(fc.boolean(), member),
    minProperties: fc.nat(2), maxProperties: fc.nat(3), propertyNames: fc.constantFrom<JsonObject>({ maxLength: 1 }, { not: { enum: ['a', ''] } }),
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2 }).map((dependent) => ({ ...dependent })),
  }, { requiredKeys: ['type', 'properties'] }) as fc.Arbitrary<JsonObject>;
}

export interface RandomCase {
  readonly parameters: JsonObject;
  readonly document: JsonValue;
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly operationsLeft: number;
  readonly seed: number;
}

export const randomCase: fc.Arbitrary<RandomCase> = fc.record({
  parameters: objectSchema(schema),
  document: fc.dictionary(name, jsonValue, { maxKeys: 4 }).map((object) => ({ ...object })),
  overrides: fc.record({
    allowedOperations: fc.subarray([...ALL_OPERATIONS], { minLength: 1 }),
    immutablePaths: fc.subarray(['/a', '/b/0', '/a~1b', '/a/1', '/é'], { maxLength: 2 }),
    operationBudget: fc.constant(3),
  }),
  operationsLeft: fc.integer({ min: 0, max: 3 }),
  seed: fc.nat(),
});
