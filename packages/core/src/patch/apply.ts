/**
 * Applying a patch, all or nothing: every operation is admitted on the document the ones before it left, then fast-json-patch applies it
 * to a copy of the containers it changes; all others are shared with the document before. The library alone builds wrong documents on inputs
 * that admission refuses (see the conformance tests).
 */
import fastJsonPatch, { type Operation as FastOperation } from 'fast-json-patch';
import type { Contract } from '../contract/contract.ts';
import { cloneJson, deepFreeze, isJsonArray, setMember, type JsonObject, type JsonValue } from '../json/value.ts';
import { resolvePointer, tokensOf, type JsonPointer } from '../pointer.ts';
import { ok, type Result } from '../result.ts';
import { admitOperation, withoutValue } from './admit.ts';
import type { Operation, Patch, PatchFault } from './operation.ts';

/**
 * The document after the whole patch, deep-frozen, or the first refusal with its operation's index. `document` and `patch` never change; a
 * value of a frozen `document` that the patch leaves alone is the same object in the result. `operationsLeft` counts down over the patch.
 */
export function applyPatch(contract: Contract, document: JsonValue, patch: Patch, operationsLeft: number): Result<JsonValue, PatchFault> {
  let working = Object.isFrozen(document) ? document : cloneJson(document);
  for (const [index, operation] of patch.entries()) {
    const admitted = admitOperation(contract, working, operation, operationsLeft - index, index);
    if (!admitted.ok) return admitted;
    for (const step of toSteps(working, operation)) {
      working = withOwnContainers(working, tokensOf(step.path as JsonPointer));
      fastJsonPatch.applyOperation(working, step);
    }
  }
  return ok(deepFreeze(working));
}

/** The document after one operation that is admitted on it, without asking again. Only the containers on its way are new, and nothing is frozen. */
export function applyAdmitted(document: JsonValue, operation: Operation): JsonValue {
  const { op, path } = operation;
  switch (op) {
    case 'add': return withValue(document, tokensOf(path), operation.value, 'insert');
    case 'replace': return withValue(document, tokensOf(path), operation.value, 'exchange');
    case 'remove': return withoutValue(document, path);
    case 'move':
    case 'copy': {
      const base = op === 'move' ? withoutValue(document, operation.from) : document;
      return withValue(base, tokensOf(path), resolvePointer(document, operation.from) as JsonValue, 'insert');
    }
  }
}

/** `container` with `value` at `tokens`: over what stands there, or in an array, to insert, in front of it. */
function withValue(container: JsonValue, [token = '', ...rest]: readonly string[], value: JsonValue, kind: 'insert' | 'exchange'): JsonValue {
  if (isJsonArray(container)) {
    const index = token === '-' ? container.length : Number(token);
    if (rest.length === 0 && kind === 'insert') return container.toSpliced(index, 0, value);
    return container.with(index, rest.length === 0 ? value : withValue(container[index] as JsonValue, rest, value, kind));
  }
  const members = container as JsonObject;
  return { ...members, [token]: rest.length === 0 ? value : withValue(members[token] as JsonValue, rest, value, kind) };
}

/** `value` with new containers on the way to `tokens`, so that a write there changes no other document. */
function withOwnContainers(value: JsonValue, [token, ...rest]: readonly string[]): JsonValue {
  if (token === undefined) return value;
  if (isJsonArray(value)) {
    const items = [...value];
    if (rest.length > 0) items[Number(token)] = withOwnContainers(items[Number(token)] as JsonValue, rest);
    return items;
  }
  const members = { ...(value as JsonObject) };
  if (rest.length > 0) setMember(members, token, withOwnContainers(members[token] as JsonValue, rest));
  return members;
}

/**
 * What the library is given for one admitted operation. It stores a value as it gets it, so that of a patch is copied: freezing the
 * document would otherwise freeze the patch. A move is spelled as the removal and the addition it means (RFC 6902 §4.4): the library looks up the
 * target before the removal, and throws where an array's shift is what makes the target exist.
 */
function toSteps(document: JsonValue, operation: Operation): readonly FastOperation[] {
  switch (operation.op) {
    case 'add':
    case 'replace':
      return [{ ...operation, value: cloneJson(operation.value) }];
    case 'move':
      return [
        { op: 'remove', path: operation.from },
        { op: 'add', path: operation.path, value: resolvePointer(document, operation.from) as JsonValue },
      ];
    case 'remove':
    case 'copy':
      return [operation];
  }
}
