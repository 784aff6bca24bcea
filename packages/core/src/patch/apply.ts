/**
 * Applying a patch, all or nothing: every operation is admitted on the document the ones before it left, then fast-json-patch applies it
 * to a private copy. The library alone builds wrong documents on inputs that admission refuses (see the conformance tests).
 */
import fastJsonPatch, { type Operation as FastOperation } from 'fast-json-patch';
import type { Contract } from '../contract/contract.ts';
import { cloneJson, deepFreeze, type JsonValue } from '../json/value.ts';
import { resolvePointer } from '../pointer.ts';
import { ok, type Result } from '../result.ts';
import { admitOperation } from './admit.ts';
import type { Operation, Patch, PatchFault } from './operation.ts';

/**
 * The document after the whole patch, deep-frozen, or the first refusal with its operation's index. `document` and `patch` never change.
 * `operationsLeft` counts down over the patch.
 */
export function applyPatch(contract: Contract, document: JsonValue, patch: Patch, operationsLeft: number): Result<JsonValue, PatchFault> {
  const working = cloneJson(document);
  for (const [index, operation] of patch.entries()) {
    const admitted = admitOperation(contract, working, operation, operationsLeft - index, index);
    if (!admitted.ok) return admitted;
    for (const step of toSteps(working, operation)) fastJsonPatch.applyOperation(working, step);
  }
  return ok(deepFreeze(working));
}

/**
 * What the library is given for one admitted operation. It stores a value as it gets it, so each is copied: a later operation would
 * otherwise write into the patch. A move is spelled as the removal and the addition it means (RFC 6902 §4.4): the library looks up the
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
        { op: 'add', path: operation.path, value: cloneJson(resolvePointer(document, operation.from) as JsonValue) },
      ];
    case 'remove':
    case 'copy':
      return [operation];
  }
}
