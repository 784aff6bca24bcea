import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateGates, type ContractDocument, type CrossFieldCheck, type GateDocument, type JsonObject, type RepairRequest } from '@contractrl/core';
import { refusal } from './revalidate.ts';

const contract: ContractDocument = {
  tool: { name: 't', description: '', parameters: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' }, id: { type: 'string' }, l: { type: 'array' } }, required: ['a'], additionalProperties: false } },
  allowedOperations: ['replace'], operationBudget: 2, attemptBudget: 2, immutablePaths: ['/id'], crossField: [{ kind: 'lte', a: '/a', b: '/b' }], gates: [],
};
const request: RepairRequest = {
  id: 'x', request: [], contract, toolNames: ['t'], call: { name: 't', argumentsText: '{"a":"1","id":"k"}' }, finishReason: undefined, context: { known: ['k'] },
};

describe('refusal', () => {
  test.each([
    { what: 'nothing of a valid call', finalArguments: { a: 1, id: 'k' }, reason: undefined },
    { what: 'a schema violation', finalArguments: { a: '1', id: 'k' }, reason: 'schema' },
    { what: 'an inherited member in place of a required one', finalArguments: Object.create({ a: 1 }) as Record<string, never>, reason: 'schema' },
    { what: 'a broken comparison', finalArguments: { a: 2, b: 1, id: 'k' }, reason: 'cross-field lte' },
    { what: 'an edited immutable value', finalArguments: { a: 1, id: 'other' }, reason: 'immutable /id' },
    { what: 'a lost immutable value', finalArguments: { a: 1 }, reason: 'immutable /id' },
  ])('names $what', ({ finalArguments, reason }) => {
    expect(refusal(request, finalArguments)).toBe(reason);
  });

  test('an immutable value in a call whose text is not JSON counts as absent before', () => {
    const broken = { ...request, call: { name: 't', argumentsText: '{"a":1,"id":"k"' } };
    expect(refusal(broken, { a: 1, id: 'k' })).toBe('immutable /id');
  });

  test('a gate refuses a reference that the context does not know, and any reference where the context has no list', () => {
    const gated = { ...request, contract: { ...contract, gates: [{ kind: 'reference_exists', pointer: '/id', in: 'known' } as const] } };
    expect(refusal(gated, { a: 1, id: 'k' })).toBeUndefined();
    expect(refusal({ ...gated, context: { known: ['other'] } }, { a: 1, id: 'k' })).toBe('gate');
    expect(refusal({ ...gated, context: {} }, { a: 1, id: 'k' })).toBe('gate');
  });

  const READ: GateDocument = { kind: 'read_before_write', pointer: '/id', log: 'reads', tool: 'get', argument: '/key' };
  const OPEN: GateDocument = { kind: 'in', a: { state: '/orders', by: '/id', then: '/status' }, b: { value: ['open', 'new'] } };

  test.each<{ what: string; gate: GateDocument; context: JsonObject; isRefused: boolean }>([
    { what: 'a record that was read', gate: READ, context: { reads: [{ tool: 'get', arguments: { key: 'k' } }] }, isRefused: false },
    { what: 'another record that was read', gate: READ, context: { reads: [{ tool: 'get', arguments: { key: 'l' } }] }, isRefused: true },
    { what: 'a record that another tool read', gate: READ, context: { reads: [{ tool: 'list', arguments: { key: 'k' } }] }, isRefused: true },
    { what: 'a log that is missing', gate: READ, context: {}, isRefused: true },
    { what: 'a state that allows it', gate: OPEN, context: { orders: { k: { status: 'new' } } }, isRefused: false },
    { what: 'a state that does not', gate: OPEN, context: { orders: { k: { status: 'sent' } } }, isRefused: true },
    { what: 'a record that is not there', gate: OPEN, context: { orders: {} }, isRefused: true },
    { what: 'a name that every object inherits', gate: { ...OPEN, a: { state: '/orders', by: '/id', then: '' } } as GateDocument, context: { orders: { toString: 'open' } }, isRefused: true },
    { what: 'a kind of gate that has no second opinion', gate: { kind: 'absent', pointer: '/x' }, context: {}, isRefused: true },
  ])('of gates over the state: $what', ({ gate, context, isRefused }) => {
    expect(refusal({ ...request, context, contract: { ...contract, gates: [gate] } }, { a: 1, id: 'k' })).toBe(isRefused ? 'gate' : undefined);
  });

  test('of gates over the state it says what the product says', () => {
    const name = fc.constantFrom('k', 'l', 'toString');
    const status = fc.constantFrom('open', 'new', 'sent', null, ['open']);
    const contexts = fc.record({ reads: fc.array(fc.record({ tool: fc.constantFrom('get', 'list'), arguments: fc.record({ key: fc.oneof(name, fc.array(name)) }) })), orders: fc.dictionary(name, fc.record({ status })) }, { requiredKeys: [] });
    fc.assert(fc.property(contexts, fc.option(name, { nil: undefined }), fc.constantFrom(READ, OPEN), (context, id, gate) => {
      const plain = JSON.parse(JSON.stringify(context)) as JsonObject;
      const args: JsonObject = { a: 1, ...(id === undefined ? {} : { id }) };
      const ours = refusal({ ...request, context: plain, contract: { ...contract, immutablePaths: [], gates: [gate] } }, args);
      expect(ours).toBe(evaluateGates([gate], 't', args, plain).kind === 'reject' ? 'gate' : undefined);
    }));
  });

  test.each<{ check: CrossFieldCheck; good: JsonObject; bad: JsonObject }>([
    { check: { kind: 'lt', a: '/a', b: '/b' }, good: { a: 1, b: 2 }, bad: { a: 2, b: 2 } },
    { check: { kind: 'gt', a: '/a', b: '/b' }, good: { a: 3, b: 2 }, bad: { a: 2, b: 2 } },
    { check: { kind: 'gte', a: '/a', b: '/b' }, good: { a: 2, b: 2 }, bad: { a: 1, b: 2 } },
    { check: { kind: 'eq', a: '/a', b: '/b' }, good: { a: 2, b: 2 }, bad: { a: 1, b: 2 } },
    { check: { kind: 'ne', a: '/a', b: '/b' }, good: { a: 1, b: 2 }, bad: { a: 2, b: 2 } },
    { check: { kind: 'requires', pointer: '/a', required: ['/b'] }, good: { a: 1, b: 2 }, bad: { a: 1 } },
    { check: { kind: 'excludes', pointer: '/a', excluded: ['/b'] }, good: { a: 1 }, bad: { a: 1, b: 2 } },
    { check: { kind: 'exactly_one_of', pointers: ['/a', '/b'] }, good: { a: 1 }, bad: { a: 1, b: 2 } },
    { check: { kind: 'at_least_one_of', pointers: ['/b', '/id'] }, good: { a: 1, b: 2 }, bad: { a: 1 } },
    { check: { kind: 'sum', pointers: ['/a', '/b'], total: '/a' }, good: { a: 1, b: 0 }, bad: { a: 1, b: 2 } },
    { check: { kind: 'list_length', pointer: '/l', compare: 'lte', to: '/a' }, good: { a: 1, l: [5] }, bad: { a: 1, l: [5, 6] } },
    { check: { kind: 'member_of', pointer: '/a', in: '/l' }, good: { a: 1, l: [1] }, bad: { a: 1, l: ['1'] } },
    { check: { kind: 'unique_by', pointer: '/l', by: '/k' }, good: { a: 1, l: [{ k: 1 }, { k: 2 }] }, bad: { a: 1, l: [{ k: 1 }, { k: 1 }] } },
    { check: { kind: 'requires', pointer: '/a', required: ['/b'], when: { pointer: '/a', equals: 2 } }, good: { a: 1 }, bad: { a: 2 } },
  ])('holds and breaks $check.kind', ({ check, good, bad }) => {
    const checked = { ...request, contract: { ...contract, immutablePaths: [], crossField: [check] } };
    expect(refusal(checked, good)).toBeUndefined();
    expect(refusal(checked, bad)).toBe(`cross-field ${check.kind}`);
  });
});
