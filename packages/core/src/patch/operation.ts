/**
 * The action of a repair: RFC 6902 operations. `test` is not among them: it repairs nothing.
 * `parsePatch` reads the text a policy wrote; what it returns is well-formed but not yet admitted on any document.
 * Reference: RFC 6902 §3, §4; members that an operation does not define are ignored (§4), duplicate names are not JSON here.
 */
import { parseJson, type JsonIssue } from '../json/parse.ts';
import { deepFreeze, isJsonArray, isJsonObject, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { parsePointer, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';

export const OPERATION_KINDS = ['add', 'remove', 'replace', 'move', 'copy'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

export type Operation =
  | { readonly op: 'add'; readonly path: JsonPointer; readonly value: JsonValue }
  | { readonly op: 'replace'; readonly path: JsonPointer; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: JsonPointer }
  | { readonly op: 'move'; readonly from: JsonPointer; readonly path: JsonPointer }
  | { readonly op: 'copy'; readonly from: JsonPointer; readonly path: JsonPointer };

export type Patch = readonly Operation[];

/** Step 1 of the admission order: the text is not a patch. */
export type PatchSyntaxCode =
  | 'patch/not-array' | 'patch/empty' | 'patch/not-object' | 'patch/op-missing' | 'patch/op-unknown'
  | 'patch/path-missing' | 'patch/path-syntax' | 'patch/from-missing' | 'patch/from-syntax' | 'patch/value-missing';

/** Steps 2 to 5: the operation is well-formed and not admissible on this document, in the order they are tried. */
export type PatchAdmissionCode =
  // applicability
  | 'patch/forbidden-token' | 'patch/forbidden-name' | 'patch/root-target' | 'patch/root-source' | 'patch/from-unresolved'
  | 'patch/no-effect' | 'patch/move-into-child' | 'patch/path-unresolved' | 'patch/bad-index' | 'patch/index-out-of-range'
  // immutable paths
  | 'patch/locked-path'
  // operation count
  | 'patch/operation-budget'
  // prohibitions of the contract, then of its schema
  | 'patch/operation-not-allowed' | 'patch/schema-prohibited';

/**
 * Why a patch is refused. `index` is the operation's place in the patch, from 0; `pointer` is the text at fault
 * (`path` or `from`, or the locked pointer that would be written), empty where none is involved.
 */
export interface PatchFault {
  readonly code: PatchSyntaxCode | PatchAdmissionCode;
  readonly index: number;
  readonly pointer: string;
}

export type PatchIssue = JsonIssue | PatchFault;

/** Reads patch text: JSON, then an array of one or more operations. The first issue ends it. */
export function parsePatch(text: string): Result<Patch, PatchIssue> {
  const json = parseJson(text);
  return json.ok ? readPatch(json.value) : json;
}

/** As {@link parsePatch}, from a JSON value. */
export function readPatch(value: JsonValue): Result<Patch, PatchFault> {
  if (!isJsonArray(value)) return err({ code: 'patch/not-array', index: 0, pointer: '' });
  if (value.length === 0) return err({ code: 'patch/empty', index: 0, pointer: '' });
  const operations: Operation[] = [];
  for (const [index, item] of value.entries()) {
    const operation = readOperation(item, index);
    if (!operation.ok) return operation;
    operations.push(operation.value);
  }
  return ok(deepFreeze(operations));
}

function readOperation(item: JsonValue, index: number): Result<Operation, PatchFault> {
  const refuse = (code: PatchSyntaxCode, pointer = ''): Result<never, PatchFault> => err({ code, index, pointer });
  if (!isJsonObject(item)) return refuse('patch/not-object');
  const op = memberOf(item, 'op');
  if (op === undefined) return refuse('patch/op-missing');
  // a list, not a lookup in an object: `toString` and its like are inherited by every object
  const kind = OPERATION_KINDS.find((known) => known === op);
  if (kind === undefined) return refuse('patch/op-unknown');

  const path = readPointerMember(item, 'path');
  if (!path.ok) return refuse(path.error === 'missing' ? 'patch/path-missing' : 'patch/path-syntax', textOf(item, 'path'));
  switch (kind) {
    case 'remove':
      return ok({ op: kind, path: path.value });
    case 'add':
    case 'replace': {
      const value = memberOf(item, 'value');
      return value === undefined ? refuse('patch/value-missing', path.value) : ok({ op: kind, path: path.value, value });
    }
    case 'move':
    case 'copy': {
      const from = readPointerMember(item, 'from');
      if (!from.ok) return refuse(from.error === 'missing' ? 'patch/from-missing' : 'patch/from-syntax', textOf(item, 'from'));
      return ok({ op: kind, from: from.value, path: path.value });
    }
  }
}

function readPointerMember(item: JsonObject, name: 'path' | 'from'): Result<JsonPointer, 'missing' | 'syntax'> {
  const text = memberOf(item, name);
  if (text === undefined) return err('missing');
  const pointer = typeof text === 'string' ? parsePointer(text) : undefined;
  return pointer?.ok === true ? ok(pointer.value) : err('syntax');
}

function textOf(item: JsonObject, name: string): string {
  const text = memberOf(item, name);
  return typeof text === 'string' ? text : '';
}
