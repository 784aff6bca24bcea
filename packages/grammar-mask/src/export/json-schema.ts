/**
 * The patch language as a JSON Schema of the parsed output: an array of operations, or an abstention. It speaks of values, so it leaves
 * their spelling free. Reference: JSON Schema 2020-12.
 */
import { assertNever, type JsonObject, type JsonPointer, type JsonValue, type OperationKind } from '@contractrl/core';
import type { NumberBound, SchemaNode } from '@contractrl/core/schema';
import type { Omissions } from './omission.ts';
import type { OperationForm, PatchForms } from './patch-forms.ts';
import type { ValueLimits } from '../grammar/value-grammar.ts';

/** A reference token is any text in which `~` is followed by 0 or 1 (RFC 6901 §3). */
const ANY_POINTER: JsonObject = { type: 'string', pattern: '^(/([^/~]|~[01])*)+$' };
const LIMIT = Number.MAX_SAFE_INTEGER;

export function toJsonSchema(forms: PatchForms, omissions: Omissions): JsonObject {
  const { first, laterKinds, maxOperations, abstainCodes } = forms;
  const abstain = closedObject({ abstain: anyOfValues(abstainCodes) });
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  if (first.length === 0) return { $schema, ...abstain };
  omissions.add('spelling');
  const firstOperation = anyOf(first.map((form) => operationOf(form, forms.limits, omissions)));
  const items = laterKinds.length === 0 ? { items: firstOperation } : { prefixItems: [firstOperation], items: anyOf(laterKinds.map(laterOperationOf)) };
  return { $schema, anyOf: [{ type: 'array', ...items, minItems: 1, maxItems: maxOperations }, abstain] };
}

function operationOf(form: OperationForm, limits: ValueLimits, omissions: Omissions): JsonObject {
  switch (form.kind) {
    case 'write': return closedObject({ op: { const: form.op }, path: anyOfValues(form.paths), value: schemaOf(form.node, form.paths[0], limits, omissions) });
    case 'remove': return closedObject({ op: { const: 'remove' }, path: anyOfValues(form.paths) });
    case 'transfer': return closedObject({ op: { const: form.op }, from: { const: form.from }, path: form.paths === undefined ? ANY_POINTER : anyOfValues(form.paths) });
    default: return assertNever(form);
  }
}

function laterOperationOf(op: OperationKind): JsonObject {
  if (op === 'remove') return closedObject({ op: { const: op }, path: ANY_POINTER });
  return closedObject(op === 'move' || op === 'copy' ? { op: { const: op }, from: ANY_POINTER, path: ANY_POINTER } : { op: { const: op }, path: ANY_POINTER, value: {} });
}

/** As the grammar of the mask reads a node: `grammar/value-grammar.ts`. */
function schemaOf(node: SchemaNode, at: JsonPointer, limits: ValueLimits, omissions: Omissions): JsonValue {
  const inner = (child: SchemaNode): JsonValue => schemaOf(child, at, limits, omissions);
  switch (node.kind) {
    case 'literals': return anyOfValues(node.values);
    case 'string': {
      const { patterns = [], formats = [], excluded = [] } = node.content ?? {};
      if (formats.length > 0) omissions.add('string-format', at);
      const content = [...patterns.map((pattern) => ({ pattern })), ...formats.map((format) => ({ format })), ...excluded.map((pattern) => ({ not: { pattern } }))];
      return { type: 'string', minLength: node.minLength, maxLength: node.maxLength ?? Math.max(limits.maxStringLength, node.minLength), ...allOf(content) };
    }
    case 'number': {
      if (!node.integer) omissions.add('number-spelling', at);
      // the mask spells nothing beyond the integers that a double holds exactly
      const { multiplesOf = [], notMultiplesOf = [], excluded = [] } = node;
      const divisors = [...multiplesOf.map((multipleOf) => ({ multipleOf })), ...notMultiplesOf.map((multipleOf) => ({ not: { multipleOf } })), ...excluded.map((value) => ({ not: { const: value } }))];
      return { type: node.integer ? 'integer' : 'number', minimum: -LIMIT, maximum: LIMIT, ...boundOf('inimum', node.lower), ...boundOf('aximum', node.upper), ...allOf(divisors) };
    }
    case 'array': {
      const prefix = node.prefix.length === 0 ? {} : { prefixItems: node.prefix.map(inner) };
      const { minItems, contains, uniqueItems = false } = node;
      const counted = contains === undefined ? {} : { contains: inner(contains.counted), minContains: contains.min, ...(contains.max === undefined ? {} : { maxContains: contains.max }) };
      const maxItems = node.maxItems ?? Math.max(limits.maxItems, minItems, contains?.min ?? 0);
      return { type: 'array', ...prefix, items: inner(node.rest), minItems, maxItems, ...(uniqueItems ? { uniqueItems } : {}), ...counted };
    }
    case 'object': return {
      type: 'object',
      properties: Object.fromEntries(node.members.map(({ name, node: member }) => [name, inner(member)])),
      required: node.members.flatMap(({ name, required }) => (required ? [name] : [])),
      additionalProperties: false,
      ...(node.minProperties === undefined ? {} : { minProperties: node.minProperties }),
      ...(node.maxProperties === undefined ? {} : { maxProperties: node.maxProperties }),
    };
    case 'union': return node.branches.length === 0 ? false : anyOf(node.branches.map(inner));
    default: return assertNever(node);
  }
}

function boundOf(name: 'inimum' | 'aximum', bound: NumberBound | undefined): JsonObject {
  if (bound === undefined) return {};
  return bound.exclusive ? { [`exclusiveM${name}`]: bound.value } : { [`m${name}`]: bound.value };
}

/** Keywords beside others where there is one of them, several in their own schemas. */
function allOf(schemas: readonly JsonObject[]): JsonObject {
  return schemas.length < 2 ? schemas[0] ?? {} : { allOf: schemas };
}

function closedObject(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function anyOfValues(values: readonly JsonValue[]): JsonValue {
  return values.length === 0 ? false : values.length === 1 ? { const: values[0] as JsonValue } : { enum: values };
}

function anyOf(schemas: readonly JsonValue[]): JsonValue {
  return schemas.length === 1 ? schemas[0] as JsonValue : { anyOf: schemas };
}
