/**
 * Admission: whether one operation may be applied to one document under a contract. It applies nothing and trusts nothing the mask promised.
 * Order: (syntax, in `parsePatch`) → applicability → immutable paths → operation count → prohibitions of the contract and its schema.
 * Reference: RFC 6902 §4 to the letter, own members only; narrower in that the root is never written and no prototype name is ever named.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { arrayIndexOf, FORBIDDEN_TOKENS, isPrefix, lastTokenOf, namesForbidden, parentOf, resolvePointer, tokensOf, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';
import type { Contract } from '../contract/contract.ts';
import { prohibits, schemaAt } from '../contract/schema-at.ts';
import { lockBrokenBy } from './locked.ts';
import type { Operation, PatchAdmissionCode, PatchFault } from './operation.ts';

/** Admits one operation on `document`, which is not changed. `index` is only carried into the issue. O(path × schema). */
export function admitOperation(
  contract: Contract, document: JsonValue, operation: Operation, operationsLeft: number, index: number = 0,
): Result<void, PatchFault> {
  const refusal = checkTokens(operation)
    ?? checkApplicable(document, operation)
    ?? checkLocked(contract, document, operation)
    ?? (operationsLeft < 1 ? { code: 'patch/operation-budget', pointer: operation.path } : undefined)
    ?? (contract.document.allowedOperations.includes(operation.op) ? undefined : { code: 'patch/operation-not-allowed', pointer: operation.path })
    ?? checkSchema(contract, document, operation);
  return refusal === undefined ? ok(undefined) : err({ ...refusal, index });
}

interface Refusal {
  readonly code: PatchAdmissionCode;
  readonly pointer: string;
}

function checkTokens(operation: Operation): Refusal | undefined {
  const pointers = operation.op === 'move' || operation.op === 'copy' ? [operation.path, operation.from] : [operation.path];
  for (const pointer of pointers) {
    if (hasForbiddenToken(pointer)) return { code: 'patch/forbidden-token', pointer };
  }
  const hasValue = operation.op === 'add' || operation.op === 'replace';
  return hasValue && namesForbidden(operation.value) ? { code: 'patch/forbidden-name', pointer: operation.path } : undefined;
}

function hasForbiddenToken(pointer: JsonPointer): boolean {
  return tokensOf(pointer).some((token) => FORBIDDEN_TOKENS.has(token));
}

function checkApplicable(document: JsonValue, operation: Operation): Refusal | undefined {
  const { path } = operation;
  if (path === '') return { code: 'patch/root-target', pointer: path };
  if (operation.op === 'add') return checkInsertable(document, path);
  if (operation.op === 'remove' || operation.op === 'replace') return checkExisting(document, path, 'patch/path-unresolved');

  const { from } = operation;
  if (from === '') return { code: 'patch/root-source', pointer: from };
  const source = checkExisting(document, from, 'patch/from-unresolved');
  if (source !== undefined) return source;
  // a member over itself, or an element to where it is; copying an element onto its own index inserts a second one
  const isIdle = path === from && (operation.op === 'move' || !isJsonArray(resolvePointer(document, parentOf(from) as JsonPointer)));
  if (isIdle) return { code: 'patch/no-effect', pointer: path };
  if (operation.op === 'copy') return checkInsertable(document, path);
  if (isPrefix(from, path)) return { code: 'patch/move-into-child', pointer: path };
  return checkInsertable(withoutValue(document, from), path);
}

function checkExisting(document: JsonValue, pointer: JsonPointer, unresolved: PatchAdmissionCode): Refusal | undefined {
  if (resolvePointer(document, pointer) !== undefined) return undefined;
  const parent = resolvePointer(document, parentOf(pointer) as JsonPointer);
  const isBadIndex = isJsonArray(parent) && arrayIndexOf(lastTokenOf(pointer) as string) === undefined;
  return { code: isBadIndex ? 'patch/bad-index' : unresolved, pointer };
}

/** RFC 6902 §4.1: the parent exists; an array takes an index up to its length, or `-`. */
function checkInsertable(document: JsonValue, path: JsonPointer): Refusal | undefined {
  const parent = resolvePointer(document, parentOf(path) as JsonPointer);
  if (isJsonObject(parent)) return undefined;
  if (!isJsonArray(parent)) return { code: 'patch/path-unresolved', pointer: path };
  const token = lastTokenOf(path) as string;
  if (token === '-') return undefined;
  const index = arrayIndexOf(token);
  if (index === undefined) return { code: 'patch/bad-index', pointer: path };
  return index <= parent.length ? undefined : { code: 'patch/index-out-of-range', pointer: path };
}

function checkLocked(contract: Contract, document: JsonValue, operation: Operation): Refusal | undefined {
  const locked = contract.immutablePaths;
  if (locked.length === 0) return undefined;
  const { op, path } = operation;
  if (op === 'remove' || op === 'replace') return asRefusal(lockBrokenBy(locked, document, op, path));
  // a copy only reads its source; a move takes it out, and inserts into what is left
  if (op !== 'move') return asRefusal(lockBrokenBy(locked, document, 'insert', path));
  return asRefusal(lockBrokenBy(locked, document, 'remove', operation.from)
    ?? lockBrokenBy(locked, withoutValue(document, operation.from), 'insert', path));
}

function asRefusal(lock: JsonPointer | undefined): Refusal | undefined {
  return lock === undefined ? undefined : { code: 'patch/locked-path', pointer: lock };
}

function checkSchema(contract: Contract, document: JsonValue, operation: Operation): Refusal | undefined {
  if (operation.op === 'remove') return undefined;
  const base = operation.op === 'move' ? withoutValue(document, operation.from) : document;
  return prohibits(schemaAt(contract, base, operation.path)) ? { code: 'patch/schema-prohibited', pointer: operation.path } : undefined;
}

/** The document a move inserts into (RFC 6902 §4.4: the removal comes first). `from` resolves and is not the root. Only containers on the way are copied. */
export function withoutValue(document: JsonValue, from: JsonPointer): JsonValue {
  const take = (value: JsonValue, [token, ...rest]: readonly string[]): JsonValue => {
    if (token === undefined) return value;
    if (isJsonArray(value)) {
      const index = Number(token);
      return rest.length === 0 ? value.toSpliced(index, 1) : value.with(index, take(value[index] as JsonValue, rest));
    }
    const members = value as JsonObject;
    if (rest.length > 0) return { ...members, [token]: take(members[token] as JsonValue, rest) };
    return Object.fromEntries(Object.entries(members).filter(([name]) => name !== token));
  };
  return take(document, tokensOf(from));
}
