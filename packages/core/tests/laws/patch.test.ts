/**
 * Laws of patches: a naive applier of RFC 6902 and fast-json-patch agree on every admitted operation, a patch is all or nothing,
 * locked places never change, and the action mask lists exactly what admission admits.
 */
import fastJsonPatch from 'fast-json-patch';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { actionMask } from '../../src/action/action-mask.ts';
import { loadContract, type Contract } from '../../src/contract/contract.ts';
import { canExist } from '../../src/contract/possible-place.ts';
import { cloneJson, deepFreeze, isJsonArray, isJsonObject, jsonEqual, type JsonValue } from '../../src/json/value.ts';
import { admitOperation } from '../../src/patch/admit.ts';
import { applyAdmitted, applyPatch } from '../../src/patch/apply.ts';
import type { Operation } from '../../src/patch/operation.ts';
import { childOf, lastTokenOf, parentOf, resolvePointer, ROOT_POINTER, tokensOf, type JsonPointer } from '../../src/pointer.ts';

const DECLARED = ['a', 'x/y', 'm~n'] as const;
/** Every object declares the same three names and no other may stand there. */
const SCHEMA = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      properties: Object.fromEntries(DECLARED.map((name) => [name, { $ref: '#/$defs/node' }])),
      additionalProperties: false,
      items: { $ref: '#/$defs/node' },
    },
  },
};

function contractWith(immutablePaths: readonly JsonPointer[]): Contract {
  const contract = loadContract({ tool: { name: 'law', parameters: SCHEMA }, immutablePaths, operationBudget: 8 });
  if (!contract.ok) throw new TypeError(contract.error.code);
  return contract.value;
}

const { node } = fc.letrec<{ node: JsonValue }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 2, depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonValue>(0, 'v', null),
    fc.dictionary(fc.constantFrom(...DECLARED, 'z'), tie('node'), { maxKeys: 2 }) as fc.Arbitrary<JsonValue>,
    fc.array(tie('node'), { maxLength: 2 }) as fc.Arbitrary<JsonValue>,
  ),
}));
const document = fc.dictionary(fc.constantFrom(...DECLARED, 'z'), node, { maxKeys: 2 }) as fc.Arbitrary<JsonValue>;

/** Every pointer an operation could name: what stands there, declared names, indices up to one past the end, and `-`. */
function places(value: JsonValue, pointer: JsonPointer = ROOT_POINTER): readonly JsonPointer[] {
  if (isJsonArray(value)) {
    const tokens = [...value.keys(), value.length, value.length + 1].map(String).concat('-', '01');
    return [pointer, ...tokens.flatMap((token) => places(value[Number(token)] ?? null, childOf(pointer, token)))];
  }
  if (!isJsonObject(value)) return [pointer];
  return [pointer, ...[...new Set([...Object.keys(value), ...DECLARED])].flatMap((name) => places(value[name] ?? null, childOf(pointer, name)))];
}

function operationsOn(value: JsonValue): readonly Operation[] {
  const pointers = [...new Set(places(value))];
  return pointers.flatMap((path): readonly Operation[] => [
    { op: 'add', path, value: 1 }, { op: 'replace', path, value: 1 }, { op: 'remove', path },
    ...pointers.map((from): Operation => ({ op: 'copy', from, path })),
  ]).concat(pointers.flatMap((from) => {
    // the target of a move is a place of the document without its source
    const isTaken = from !== '' && resolvePointer(value, from) !== undefined;
    const targets = isTaken ? [...pointers, ...places(naive(value, { op: 'remove', path: from }))] : pointers;
    return [...new Set(targets)].map((path): Operation => ({ op: 'move', from, path }));
  }));
}

/** A document with one of its places locked, or none. */
const scene = document.chain((value) => fc.record({
  value: fc.constant(value),
  // a lock on a name that nothing may have is refused with its contract
  locked: fc.option(fc.constantFrom(...places(value).filter((pointer) => pointer !== '' && canExist(SCHEMA, pointer))), { nil: undefined }),
})).map(({ value, locked }) => ({ value: deepFreeze(value), locked: locked === undefined ? [] : [locked], contract: contractWith(locked === undefined ? [] : [locked]) }));

/** RFC 6902 §4 for an operation that applies, written again without a library. */
function naive(value: JsonValue, operation: Operation): JsonValue {
  const copy = cloneJson(value);
  const edit = (pointer: JsonPointer, kind: 'put' | 'take', item?: JsonValue): JsonValue | undefined => {
    const container = resolvePointer(copy, parentOf(pointer) ?? ROOT_POINTER);
    const token = lastTokenOf(pointer) ?? '';
    if (Array.isArray(container)) {
      const index = token === '-' ? container.length : Number(token);
      return kind === 'take' ? (container.splice(index, 1)[0] as JsonValue) : void container.splice(index, 0, item);
    }
    const record = container as Record<string, JsonValue>;
    const old = record[token];
    if (kind === 'take') delete record[token];
    else record[token] = item as JsonValue;
    return old;
  };
  if (operation.op === 'remove' || operation.op === 'replace') edit(operation.path, 'take');
  if (operation.op === 'add' || operation.op === 'replace') edit(operation.path, 'put', operation.value);
  if (operation.op === 'move') edit(operation.path, 'put', edit(operation.from, 'take'));
  if (operation.op === 'copy') edit(operation.path, 'put', cloneJson(resolvePointer(copy, operation.from) as JsonValue));
  return copy;
}

test('an admitted operation gives what a naive applier and fast-json-patch with its validation give', () => {
  fc.assert(fc.property(scene, fc.nat(), ({ value, contract }, seed) => {
    const operations = operationsOn(value);
    // the first admitted one from a random place on
    const operation = [...operations.slice(seed % operations.length), ...operations].find((candidate) => admitOperation(contract, value, candidate, 1).ok);
    if (operation === undefined) return;
    const result = applyPatch(contract, value, [operation], 1);
    expect(result).toEqual({ ok: true, value: naive(value, operation) });
    // what the mask looks ahead with; `value` is frozen, so a write into it would throw
    expect(applyAdmitted(value, operation)).toEqual(naive(value, operation));
    // the library's own `move` looks up its target before the removal, so it cannot be asked about moves
    if (operation.op !== 'move') expect(result.ok && result.value).toEqual(fastJsonPatch.applyPatch(cloneJson(value), [cloneJson(operation as unknown as JsonValue) as never], true).newDocument);
  }), { numRuns: 200 });
});

// checklist: B7
test('operations one by one give the patch at once, the input is never changed, and the result is frozen', () => {
  fc.assert(fc.property(scene, fc.array(fc.nat(), { maxLength: 3 }), ({ value, contract }, seeds) => {
    const before = cloneJson(value);
    let current = value;
    const patch: Operation[] = [];
    for (const [count, seed] of seeds.entries()) {
      const operations = operationsOn(current);
      const operation = operations[seed % operations.length] as Operation;
      const step = applyPatch(contract, current, [operation], 3 - count);
      patch.push(operation);
      if (!step.ok) {
        expect(applyPatch(contract, value, patch, 3)).toEqual({ ok: false, error: { ...step.error, index: count } });
        return;
      }
      current = step.value;
    }
    const whole = applyPatch(contract, value, patch, 3);
    expect(whole).toEqual({ ok: true, value: current });
    expect(whole.ok && Object.isFrozen(whole.value)).toBe(true);
    expect(value).toEqual(before);
  }), { numRuns: 200 });
});

// checklist: B4
test('no admitted operation changes what stands at a locked place', () => {
  fc.assert(fc.property(scene, ({ value, locked, contract }) => {
    const [lock] = locked;
    if (lock === undefined) return;
    for (const operation of operationsOn(value)) {
      const result = applyPatch(contract, value, [operation], 1);
      const [before, after] = [resolvePointer(value, lock), result.ok ? resolvePointer(result.value, lock) : undefined];
      if (result.ok) expect(before === undefined ? after === undefined : after !== undefined && jsonEqual(before, after)).toBe(true);
    }
  }), { numRuns: 60 });
});

// checklist: B4
test('the action mask lists every admitted operation on declared names, in its one spelling, and no other', () => {
  fc.assert(fc.property(scene, ({ value, contract }) => {
    const mask = actionMask(contract, value, 1);
    const listed = new Set([
      ...mask.add.map((path) => `add ${path}`), ...mask.replace.map((path) => `replace ${path}`), ...mask.remove.map((path) => `remove ${path}`),
      ...mask.move.flatMap(({ from, paths }) => paths().map((path) => `move ${from} ${path}`)),
      ...mask.copy.flatMap(({ from, paths }) => paths().map((path) => `copy ${from} ${path}`)),
    ]);
    const admitted = new Set(operationsOn(value).filter((operation) => admitOperation(contract, value, operation, 1).ok).flatMap((operation) => {
      const base = operation.op === 'move' ? naive(value, { op: 'remove', path: operation.from }) : value;
      const parent = resolvePointer(base, parentOf(operation.path) ?? ROOT_POINTER);
      // appending is spelled `-`, and writing a present member `replace`; below the undeclared `z` no name is declared
      if (operation.op !== 'replace' && operation.op !== 'remove' && isJsonArray(parent) && lastTokenOf(operation.path) === String(parent.length)) return [];
      if (operation.op === 'add' && isJsonObject(parent) && resolvePointer(value, operation.path) !== undefined) return [];
      if (tokensOf(operation.path).includes('z') && isJsonObject(parent) && resolvePointer(base, operation.path) === undefined) return [];
      return ['from' in operation ? `${operation.op} ${operation.from} ${operation.path}` : `${operation.op} ${operation.path}`];
    }));
    expect(listed).toEqual(admitted);
    // a source without a target would lead the mask to a dead end
    expect([...mask.move, ...mask.copy].filter(({ paths }) => paths().length === 0)).toEqual([]);
  }), { numRuns: 100 });
});

test('without an operation left, or an allowed kind, nothing is listed', () => {
  const contract = loadContract({ tool: { name: 'law', parameters: SCHEMA }, allowedOperations: ['remove'] });
  const empty = { add: [], replace: [], remove: [], move: [], copy: [] };
  expect(actionMask(contractWith([]), { a: 1 }, 0)).toEqual(empty);
  expect(contract.ok && actionMask(contract.value, { a: 1 }, 1)).toEqual({ ...empty, remove: ['/a'] });
});
