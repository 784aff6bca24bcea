import { describe, expect, test } from 'vitest';
import { loadContract, type Contract } from '../contract/contract.ts';
import { cloneJson, deepFreeze, type JsonValue } from '../json/value.ts';
import { applyPatch } from './apply.ts';
import { parsePatch } from './operation.ts';

function contractOf(fields: Readonly<Record<string, unknown>> = {}, parameters: unknown = {}): Contract {
  const contract = loadContract({ tool: { name: 'admit', parameters }, ...fields });
  if (!contract.ok) throw new TypeError(contract.error.code);
  return contract.value;
}

/** The document after the patch text, or the code of its refusal. */
function outcome(document: JsonValue, patch: string, contract: Contract = contractOf(), operationsLeft: number = 2): JsonValue {
  const parsed = parsePatch(patch);
  const result = parsed.ok ? applyPatch(contract, deepFreeze(document), parsed.value, operationsLeft) : parsed;
  return result.ok ? result.value : result.error.code;
}

// checklist: B6, B7
describe('what JSON Patch libraries were measured to get wrong is refused', () => {
  test.each<[string, JsonValue, string, string]>([
    ['replace a missing member', {}, '[{"op":"replace","path":"/a","value":1}]', 'patch/path-unresolved'],
    ['remove a missing member', {}, '[{"op":"remove","path":"/a"}]', 'patch/path-unresolved'],
    ['add at index 9 of 1', { a: [0] }, '[{"op":"add","path":"/a/9","value":1}]', 'patch/index-out-of-range'],
    ['index 01', { a: [0, 1] }, '[{"op":"replace","path":"/a/01","value":1}]', 'patch/bad-index'],
    ['index -1', { a: [0, 1] }, '[{"op":"remove","path":"/a/-1"}]', 'patch/bad-index'],
    ['index foo', { a: [0] }, '[{"op":"add","path":"/a/foo","value":1}]', 'patch/bad-index'],
    ['the length of an array', { a: [0] }, '[{"op":"replace","path":"/a/length","value":0}]', 'patch/bad-index'],
    ['move into its own child', { m: [[1], [2]] }, '[{"op":"move","from":"/m/0","path":"/m/0/0"}]', 'patch/move-into-child'],
    ['a member of __proto__', {}, '[{"op":"add","path":"/__proto__/x","value":1}]', 'patch/forbidden-token'],
    ['__proto__ itself', {}, '[{"op":"add","path":"/__proto__","value":{"flag":true}}]', 'patch/forbidden-token'],
    ['copy from __proto__', { a: 1 }, '[{"op":"copy","from":"/__proto__","path":"/b"}]', 'patch/forbidden-token'],
    ['copy from constructor', { a: 1 }, '[{"op":"copy","from":"/constructor/name","path":"/b"}]', 'patch/forbidden-token'],
    ['replace an inherited member', {}, '[{"op":"replace","path":"/toString","value":1}]', 'patch/path-unresolved'],
    ['operation toString', { a: 1 }, '[{"op":"toString","path":"/a"}]', 'patch/op-unknown'],
    ['operation _get', { a: 1 }, '[{"op":"_get","path":"/a"}]', 'patch/op-unknown'],
    ['a missing value', {}, '[{"op":"add","path":"/a"}]', 'patch/value-missing'],
    ['the escape ~2', {}, '[{"op":"add","path":"/a~2","value":1}]', 'patch/path-syntax'],
    ['a value with a member __proto__', {}, '[{"op":"add","path":"/a","value":{"b":[{"__proto__":{}}]}}]', 'patch/forbidden-name'],
  ])('%s', (_, document, patch, code) => {
    expect(outcome(document, patch)).toBe(code);
  });

  test('a patch whose second operation fails leaves the input whole', () => {
    const document = { a: 1, list: [{ b: 1 }] };
    const before = cloneJson(document);
    expect(outcome(document, '[{"op":"replace","path":"/list/0/b","value":2},{"op":"remove","path":"/c"}]')).toBe('patch/path-unresolved');
    expect(document).toEqual(before);
  });

  test('a move whose target exists only after the removal is applied, where the library alone throws', () => {
    expect(outcome({ m: [[1], 0, { z: {} }] }, '[{"op":"move","from":"/m/0","path":"/m/1/z/a"}]')).toEqual({ m: [0, { z: { a: [1] } }] });
  });

  test('a later operation does not write into the value of an earlier one', () => {
    const patch = parsePatch('[{"op":"add","path":"/a","value":{}},{"op":"add","path":"/a/b","value":1}]');
    expect(patch.ok && applyPatch(contractOf(), {}, patch.value, 2)).toEqual({ ok: true, value: { a: { b: 1 } } });
    expect(patch.ok && patch.value[0]).toEqual({ op: 'add', path: '/a', value: {} });
  });
});

describe('patch text that is not a patch', () => {
  test.each<[string, string]>([
    ['', 'json/empty'],
    ['[{"op":"add"', 'json/truncated'],
    ['[{"op":"remove","path":"/a"}] done', 'json/trailing'],
    ['[{"op":"remove","op":"add","path":"/a"}]', 'json/duplicate-name'],
    ['{"op":"remove","path":"/a"}', 'patch/not-array'],
    ['[]', 'patch/empty'],
    ['[[]]', 'patch/not-object'],
    ['[{"path":"/a"}]', 'patch/op-missing'],
    ['[{"op":"test","path":"/a","value":1}]', 'patch/op-unknown'],
    ['[{"op":["add"],"path":"/a","value":1}]', 'patch/op-unknown'],
    ['[{"op":"remove"}]', 'patch/path-missing'],
    ['[{"op":"remove","path":"a"}]', 'patch/path-syntax'],
    ['[{"op":"remove","path":null}]', 'patch/path-syntax'],
    ['[{"op":"move","path":"/a"}]', 'patch/from-missing'],
    ['[{"op":"copy","path":"/a","from":"/~"}]', 'patch/from-syntax'],
  ])('%s', (patch, code) => {
    expect(outcome({ a: 1 }, patch)).toBe(code);
  });

  test('members an operation does not define are ignored (RFC 6902 §4)', () => {
    expect(outcome({ a: 1 }, '[{"op":"remove","path":"/a","value":5,"from":"/b","note":""}]')).toEqual({});
  });
});

describe('applicability', () => {
  test.each<[string, JsonValue, string, JsonValue]>([
    ['add over a present member replaces it', { a: 1 }, '[{"op":"add","path":"/a","value":2}]', { a: 2 }],
    ['add at the length appends', { a: [0] }, '[{"op":"add","path":"/a/1","value":1}]', { a: [0, 1] }],
    ['add at - appends', { a: [0] }, '[{"op":"add","path":"/a/-","value":1}]', { a: [0, 1] }],
    ['- never names a present element', { a: [0] }, '[{"op":"remove","path":"/a/-"}]', 'patch/bad-index'],
    ['the parent must exist', {}, '[{"op":"add","path":"/a/b","value":1}]', 'patch/path-unresolved'],
    ['a scalar has no members', { a: 's' }, '[{"op":"add","path":"/a/0","value":1}]', 'patch/path-unresolved'],
    ['the root is never written', { a: 1 }, '[{"op":"replace","path":"","value":{}}]', 'patch/root-target'],
    ['the root is never a source', { a: 1 }, '[{"op":"copy","from":"","path":"/a"}]', 'patch/root-source'],
    ['a source must exist', { a: 1 }, '[{"op":"move","from":"/b","path":"/a"}]', 'patch/from-unresolved'],
    ['a move to its own place does nothing', { a: 1 }, '[{"op":"move","from":"/a","path":"/a"}]', 'patch/no-effect'],
    ['copying an element onto its index inserts', { a: [5] }, '[{"op":"copy","from":"/a/0","path":"/a/0"}]', { a: [5, 5] }],
    ['a copy into its own child is the copy of before', { a: {} }, '[{"op":"copy","from":"/a","path":"/a/b"}]', { a: { b: {} } }],
    ['a move within an array counts after the removal', { a: [1, 2] }, '[{"op":"move","from":"/a/0","path":"/a/1"}]', { a: [2, 1] }],
    ['and not before', { a: [1, 2] }, '[{"op":"move","from":"/a/0","path":"/a/2"}]', 'patch/index-out-of-range'],
    ['the second operation sees the first', { a: [1, 2] }, '[{"op":"remove","path":"/a/0"},{"op":"remove","path":"/a/1"}]', 'patch/path-unresolved'],
  ])('%s', (_, document, patch, expected) => {
    expect(outcome(document, patch)).toEqual(expected);
  });
});

describe('a locked pointer', () => {
  const document = { a: { b: 1, c: 2 }, list: [{ id: 1 }, { id: 2 }, { id: 3 }], x: 1 };
  test.each<[string, string, string, boolean]>([
    ['forbids a write at itself', '/a/b', '{"op":"replace","path":"/a/b","value":2}', false],
    ['forbids a write at an ancestor', '/a/b', '{"op":"replace","path":"/a","value":{"b":1}}', false],
    ['forbids a write at a descendant', '/a', '{"op":"add","path":"/a/d","value":1}', false],
    ['allows a write beside it', '/a/b', '{"op":"replace","path":"/a/c","value":3}', true],
    ['is no prefix by text alone', '/a/b', '{"op":"add","path":"/a/bb","value":3}', true],
    ['stays absent', '/a/d', '{"op":"add","path":"/a/d","value":1}', false],
    ['forbids a removal before it in its array', '/list/1/id', '{"op":"remove","path":"/list/0"}', false],
    ['allows a removal after it', '/list/1/id', '{"op":"remove","path":"/list/2"}', true],
    ['forbids an insert at its index', '/list/1', '{"op":"add","path":"/list/1","value":{}}', false],
    ['allows an insert after it', '/list/1', '{"op":"add","path":"/list/2","value":{}}', true],
    ['allows appending', '/list/1', '{"op":"add","path":"/list/-","value":{}}', true],
    ['forbids appending where it is the absent next element', '/list/3', '{"op":"add","path":"/list/-","value":{}}', false],
    ['allows a change of an element before it', '/list/1', '{"op":"replace","path":"/list/0","value":{}}', true],
    ['may be copied from', '/a/b', '{"op":"copy","from":"/a/b","path":"/x"}', true],
    ['may not be moved from', '/a/b', '{"op":"move","from":"/a/b","path":"/y"}', false],
    ['forbids a move out of the array before it', '/list/1', '{"op":"move","from":"/list/0","path":"/y"}', false],
    ['forbids a copy onto it', '/a/b', '{"op":"copy","from":"/x","path":"/a/b"}', false],
    ['at the root forbids everything', '', '{"op":"add","path":"/y","value":1}', false],
  ])('%s', (_, locked, operation, isAllowed) => {
    const result = outcome(document, `[${operation}]`, contractOf({ immutablePaths: [locked] }));
    expect(result === 'patch/locked-path').toBe(!isAllowed);
    expect(typeof result === 'object').toBe(isAllowed);
  });
});

// checklist: B3
describe('the order of the checks', () => {
  const parameters = { properties: { a: {}, l: {} }, additionalProperties: false };
  const contract = contractOf({ immutablePaths: ['/l'], allowedOperations: ['add', 'remove'] }, parameters);
  test.each<[string, string, number, string]>([
    ['syntax comes first', '[{"op":"remove","path":"l"}]', 0, 'patch/path-syntax'],
    ['then applicability, also on a locked path', '[{"op":"remove","path":"/l/x"}]', 0, 'patch/path-unresolved'],
    ['then immutable paths, also without budget', '[{"op":"remove","path":"/l"}]', 0, 'patch/locked-path'],
    ['then the count, also of an operation not allowed', '[{"op":"replace","path":"/a","value":1}]', 0, 'patch/operation-budget'],
    ['then the allowed operations', '[{"op":"replace","path":"/a","value":1}]', 1, 'patch/operation-not-allowed'],
    ['and last what the schema prohibits', '[{"op":"add","path":"/b","value":1}]', 1, 'patch/schema-prohibited'],
  ])('%s', (_, patch, operationsLeft, code) => {
    expect(outcome({ a: 1, l: 1 }, patch, contract, operationsLeft)).toBe(code);
  });

  test('the budget counts down over one patch', () => {
    const patch = '[{"op":"remove","path":"/a"},{"op":"remove","path":"/b"},{"op":"remove","path":"/c"}]';
    expect(outcome({ a: 1, b: 1, c: 1 }, patch)).toBe('patch/operation-budget');
    expect(outcome({ a: 1, b: 1, c: 1 }, patch, contractOf(), 3)).toEqual({});
  });
});

describe('what the schema prohibits plainly', () => {
  const closed = { type: 'object', properties: { a: {} }, patternProperties: { '^x-': {} }, additionalProperties: false };
  const parameters = { properties: { o: closed, list: { items: closed }, gone: false, u: { anyOf: [closed, {}] } } };
  test.each<[string, string, boolean]>([
    ['a name that is not declared', '/o/b', false],
    ['a declared one', '/o/a', true],
    ['one a pattern admits', '/o/x-b', true],
    ['a name below an element', '/list/0/b', false],
    ['a member whose schema is false', '/gone', false],
    ['a name that only one branch of a union forbids', '/u/b', true],
    ['a name of an open object', '/other', true],
  ])('%s', (_, path, isAllowed) => {
    const result = outcome({ o: {}, list: [{}], u: {} }, JSON.stringify([{ op: 'add', path, value: 1 }]), contractOf({}, parameters));
    expect(result === 'patch/schema-prohibited').toBe(!isAllowed);
  });
});

// checklist: B3
describe('the fault of a patch names the operation and the place', () => {
  test.each<[string, string, string, number, string]>([
    ['no list', '{}', 'patch/not-array', 0, ''],
    ['no operation', '[]', 'patch/empty', 0, ''],
    ['an operation that is a text', '["add"]', 'patch/not-object', 0, ''],
    ['no kind', '[{"path":"/a"}]', 'patch/op-missing', 0, ''],
    ['no path', '[{"op":"remove","path":"/a"},{"op":"remove"}]', 'patch/path-missing', 1, ''],
    ['a path without its slash', '[{"op":"remove","path":"a"}]', 'patch/path-syntax', 0, 'a'],
    ['a path that is a number', '[{"op":"remove","path":7}]', 'patch/path-syntax', 0, ''],
    ['no value', '[{"op":"add","path":"/b"}]', 'patch/value-missing', 0, '/b'],
    ['no source', '[{"op":"copy","path":"/b"}]', 'patch/from-missing', 0, ''],
    ['a source without its slash', '[{"op":"move","from":"a","path":"/b"}]', 'patch/from-syntax', 0, 'a'],
    ['a source that is a list', '[{"op":"move","from":["/a"],"path":"/b"}]', 'patch/from-syntax', 0, ''],
    ['a place that is not there', '[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]', 'patch/path-unresolved', 1, '/a'],
    ['a source of forbidden name', '[{"op":"move","from":"/__proto__","path":"/b"}]', 'patch/forbidden-token', 0, '/__proto__'],
    ['a value with a forbidden name', '[{"op":"replace","path":"/a","value":{"__proto__":1}}]', 'patch/forbidden-name', 0, '/a'],
    ['a move that does nothing', '[{"op":"move","from":"/a","path":"/a"}]', 'patch/no-effect', 0, '/a'],
    ['a copy that does nothing', '[{"op":"copy","from":"/a","path":"/a"}]', 'patch/no-effect', 0, '/a'],
    ['a move of an element to where it is', '[{"op":"move","from":"/l/0","path":"/l/0"}]', 'patch/no-effect', 0, '/l/0'],
  ])('%s', (_, text, code, index, pointer) => {
    const patch = parsePatch(text);
    const result = patch.ok ? applyPatch(contractOf(), deepFreeze({ a: 1, l: [1] } as JsonValue), patch.value, 2) : patch;
    expect(result).toEqual({ ok: false, error: { code, index, pointer } });
  });

  test('a copy of an element onto its own index inserts a second one', () => {
    expect(outcome({ l: [1, 2] }, '[{"op":"copy","from":"/l/0","path":"/l/0"}]')).toEqual({ l: [1, 1, 2] });
  });

  test('a move into a closed object is judged where it arrives, in the document without its source', () => {
    const parameters = { properties: { o: { type: 'object', properties: { a: {} }, additionalProperties: false }, l: { type: 'array', prefixItems: [{}, { type: 'object', properties: {}, additionalProperties: false }] } } };
    const contract = contractOf({}, parameters);
    expect(outcome({ o: {}, x: 1 }, '[{"op":"move","from":"/x","path":"/o/a"}]', contract)).toEqual({ o: { a: 1 } });
    expect(outcome({ o: {}, x: 1 }, '[{"op":"move","from":"/x","path":"/o/b"}]', contract)).toBe('patch/schema-prohibited');
    expect(outcome({ o: {}, x: 1 }, '[{"op":"copy","from":"/x","path":"/o/b"}]', contract)).toBe('patch/schema-prohibited');
    expect(outcome({ l: [0, 0, {}], x: 1 }, '[{"op":"move","from":"/l/0","path":"/l/1/y"}]', contract)).toBe('patch/schema-prohibited');
  });
});

describe('a locked element', () => {
  const lists = { l: [[1], [2], [3]], m: { 0: 1, 1: 2 } };
  test.each<[string, string, string, boolean]>([
    ['of an inner list is kept from a removal before its list', '/l/1/0', '{"op":"remove","path":"/l/0"}', false],
    ['of an inner list is not touched by a removal in the list beside it', '/l/1/0', '{"op":"remove","path":"/l/0/0"}', true],
    ['is not touched by a change behind it', '/l/1', '{"op":"replace","path":"/l/2","value":0}', true],
    ['is kept from a change of itself', '/l/1', '{"op":"replace","path":"/l/1","value":0}', false],
    ['is kept from a change inside', '/l/1', '{"op":"replace","path":"/l/1/0","value":0}', false],
    ['is not touched by a member of the same name elsewhere', '/l/1', '{"op":"remove","path":"/m/1"}', true],
    ['that is a member is not touched by a smaller name', '/m/1', '{"op":"remove","path":"/m/0"}', true],
    ['is kept from a move to its place', '/l/1', '{"op":"move","from":"/m/0","path":"/l/1"}', false],
    ['is not touched by a move from behind it to the end', '/l/1', '{"op":"move","from":"/l/2","path":"/l/-"}', true],
    ['whose list is longer than the path is kept from the whole list', '/l/1', '{"op":"replace","path":"/l","value":[]}', false],
  ])('%s', (_, locked, operation, isAllowed) => {
    const result = outcome(lists, `[${operation}]`, contractOf({ immutablePaths: [locked] }));
    expect([result === 'patch/locked-path', typeof result === 'object']).toEqual([!isAllowed, isAllowed]);
  });
});
