/** What a patched document shares with the one before, and what stays untouched. That it is the right document is a law of `tests/laws/patch.test.ts`. */
import { expect, test } from 'vitest';
import { loadContract } from '../contract/contract.ts';
import { deepFreeze, type JsonObject, type JsonValue } from '../json/value.ts';
import type { JsonPointer } from '../pointer.ts';
import { applyAdmitted, applyPatch } from './apply.ts';
import type { Operation } from './operation.ts';

const loaded = loadContract({ tool: { name: 'share', parameters: {} } });
if (!loaded.ok) throw new TypeError(loaded.error.code);
const contract = loaded.value;
const at = (text: string): JsonPointer => text as JsonPointer;

function patched(document: JsonValue, ...patch: readonly Operation[]): JsonObject {
  const result = applyPatch(contract, document, patch, patch.length);
  if (!result.ok) throw new Error(result.error.code);
  return result.value as JsonObject;
}

test('only the containers on the way to a write are new', () => {
  const document = deepFreeze<JsonObject>({ a: { deep: { x: 1 }, list: [{ y: 1 }, { y: 2 }] }, b: { z: 1 } });
  const after = patched(document, { op: 'replace', path: at('/a/list/1/y'), value: 3 });
  expect(after).toEqual({ a: { deep: { x: 1 }, list: [{ y: 1 }, { y: 3 }] }, b: { z: 1 } });
  const [a, before] = [after['a'] as JsonObject, document['a'] as JsonObject];
  expect([after['b'] === document['b'], a['deep'] === before['deep'], (a['list'] as JsonValue[])[0] === (before['list'] as JsonValue[])[0]]).toEqual([true, true, true]);
  expect(document).toEqual({ a: { deep: { x: 1 }, list: [{ y: 1 }, { y: 2 }] }, b: { z: 1 } });
});

test('what was moved is written into afterwards without changing the document before', () => {
  const document = deepFreeze<JsonObject>({ a: { x: [1] } });
  const after = patched(document, { op: 'move', from: at('/a'), path: at('/b') }, { op: 'add', path: at('/b/x/-'), value: 2 }, { op: 'copy', from: at('/b/x'), path: at('/c') }, { op: 'remove', path: at('/c/0') });
  expect([after, document]).toEqual([{ b: { x: [1, 2] }, c: [2] }, { a: { x: [1] } }]);
});

test('neither a document that may still change nor the values of a patch are frozen', () => {
  const document = { a: { x: 1 }, b: { z: 1 } };
  const value = { y: [1] };
  const after = patched(document, { op: 'add', path: at('/c'), value });
  expect([Object.isFrozen(document), Object.isFrozen(document.b), Object.isFrozen(value), Object.isFrozen(value.y)]).toEqual([false, false, false, false]);
  expect([Object.isFrozen(after), Object.isFrozen(after['b']), Object.isFrozen(after['c'])]).toEqual([true, true, true]);
});

test.each<[Operation, JsonValue]>([
  [{ op: 'add', path: at('/l/1'), value: 9 }, { l: [1, 9, { x: [2] }], m: {} }],
  [{ op: 'add', path: at('/l/-'), value: 9 }, { l: [1, { x: [2] }, 9], m: {} }],
  [{ op: 'add', path: at('/m/n'), value: { o: 1 } }, { l: [1, { x: [2] }], m: { n: { o: 1 } } }],
  [{ op: 'add', path: at('/l/1/x/0'), value: 9 }, { l: [1, { x: [9, 2] }], m: {} }],
  [{ op: 'replace', path: at('/l/1/x/0'), value: 9 }, { l: [1, { x: [9] }], m: {} }],
  [{ op: 'replace', path: at('/l/0'), value: 9 }, { l: [9, { x: [2] }], m: {} }],
  [{ op: 'remove', path: at('/l/1/x') }, { l: [1, {}], m: {} }],
  [{ op: 'remove', path: at('/l/0') }, { l: [{ x: [2] }], m: {} }],
  [{ op: 'remove', path: at('/m') }, { l: [1, { x: [2] }] }],
  [{ op: 'move', from: at('/l/1/x'), path: at('/m/y') }, { l: [1, {}], m: { y: [2] } }],
  [{ op: 'copy', from: at('/l/1/x'), path: at('/m/y') }, { l: [1, { x: [2] }], m: { y: [2] } }],
])('%j gives the same by the library and by looking ahead', (operation, expected) => {
  const document = deepFreeze<JsonObject>({ l: [1, { x: [2] }], m: {} });
  expect([patched(document, operation), applyAdmitted(document, operation)]).toEqual([expected, expected]);
});
