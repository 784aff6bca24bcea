/**
 * Why a token is masked: the clause of the contract, or of the one spelling, that its first wrong byte breaks. Not on the way of decoding, so it may
 * ask core's admission and the judge what the mask has only compiled; for a value that is not complete it asks about its shortest end.
 */
import {
  admitOperation, applyPatch, isPrefix, jsonEqual, OPERATION_KINDS, parseJson, resolvePointer, validateValue,
  type JsonPointer, type JsonValue, type OperationKind, type PatchFault,
} from '@contractrl/core';
import type { Scene } from '../grammar/operation-grammar.ts';

export type Verdict =
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly clause: MaskClause };

export type MaskClause =
  /** Special tokens, padding and ids that nothing has are never part of an output. */
  | { readonly kind: 'no-text' }
  /** A stop token in front of the end. */
  | { readonly kind: 'not-complete' }
  /** Nothing follows: a stop token was consumed, or only one can come. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed' }
  /** The output could not be finished in time. */
  | { readonly kind: 'token-budget'; readonly tokensLeft: number }
  /** The patch does not make the call valid yet. */
  | { readonly kind: 'goal' }
  /** No further operation: none is left, or the document admits none. */
  | { readonly kind: 'operation-budget' }
  | { readonly kind: 'operation'; readonly operation: string }
  /** `pointer` as far as the token spells it; `code` where admission or a lock refuses it. */
  | { readonly kind: 'pointer'; readonly pointer: string; readonly code: PatchFault['code'] | undefined }
  /** What the value would break, and where in the schema. */
  | { readonly kind: 'value'; readonly pointer: string; readonly keyword: string; readonly keywordLocation: string }
  /** The value that already stands there, or one that was banned. */
  | { readonly kind: 'excluded-value'; readonly pointer: string }
  /** A value that the schema would take, but that comes from no source. */
  | { readonly kind: 'provenance'; readonly pointer: string }
  | { readonly kind: 'whitespace' }
  /** Not the one spelling of anything. */
  | { readonly kind: 'spelling' };

const STRING_CONTENT = String.raw`(?:[^"\\]|\\.)*`;
const IN_OPERATION = /^[[,]\{"op":"([a-z]*)$/;
const IN_POINTER = new RegExp(String.raw`^[[,]\{"op":"([a-z]+)",(?:"from":"(${STRING_CONTENT})",)?"(?:path|from)":"((?:[^"\\]|\\.)*\\?)$`, 'su');
const IN_VALUE = new RegExp(String.raw`^[[,]\{"op":"(add|replace)","path":"(${STRING_CONTENT})","value":(.*)$`, 'su');

/** The clause that refuses `attempt` behind `operation`, the text of the open operation with the separator in front of it. */
export function clauseAgainst(operation: string, attempt: string, scene: Scene | undefined): MaskClause {
  if (scene === undefined) return isSpace(attempt) && !isInString(operation) ? { kind: 'whitespace' } : { kind: 'value', pointer: '', keyword: '', keywordLocation: '' };
  const inValue = IN_VALUE.exec(operation);
  if (inValue !== null) {
    const [, op, path, value] = inValue as unknown as [string, 'add' | 'replace', string, string];
    if (isSpace(attempt) && !isInString(value)) return { kind: 'whitespace' };
    return clauseAgainstValue(op, JSON.parse(`"${path}"`) as JsonPointer, value, attempt, scene);
  }
  const inPointer = IN_POINTER.exec(operation);
  if (inPointer !== null) {
    const [, op, from, start] = inPointer as unknown as [string, OperationKind, string | undefined, string];
    return clauseAgainstPointer(op, from === undefined ? undefined : JSON.parse(`"${from}"`) as JsonPointer, start + attempt, scene);
  }
  const inOperation = IN_OPERATION.exec(operation);
  if (inOperation !== null) {
    const name = /^[a-z]*/.exec((inOperation[1] as string) + attempt)?.[0] ?? '';
    return OPERATION_KINDS.some((kind) => kind.startsWith(name)) && name !== '' ? { kind: 'operation', operation: name } : { kind: 'spelling' };
  }
  return { kind: isSpace(attempt) ? 'whitespace' : 'spelling' };
}

function clauseAgainstPointer(op: OperationKind, from: JsonPointer | undefined, text: string, scene: Scene): MaskClause {
  const [content = '', quote] = new RegExp(`^(${STRING_CONTENT})("?)`, 'su').exec(text)?.slice(1) ?? [];
  const json = parseJson(`"${content}"`);
  if (!json.ok) return { kind: 'spelling' };
  const pointer = json.value as JsonPointer;
  if (quote !== '"') {
    const isLocked = scene.contract.immutablePaths.some((locked) => locked.startsWith(pointer) || isPrefix(locked, pointer));
    return { kind: 'pointer', pointer, code: isLocked && op !== 'copy' ? 'patch/locked-path' : undefined };
  }
  return { kind: 'pointer', pointer, code: refusalOf(op, from, pointer, scene) };
}

/** Core's own reason; a source is asked about alone, as its target is not known. */
function refusalOf(op: OperationKind, from: JsonPointer | undefined, pointer: JsonPointer, { contract, document, operationsLeft }: Scene): PatchFault['code'] | undefined {
  const isTransfer = op === 'move' || op === 'copy';
  if (isTransfer && from === undefined) {
    if (resolvePointer(document, pointer) === undefined) return 'patch/from-unresolved';
    const isLocked = op === 'move' && contract.immutablePaths.some((locked) => isPrefix(locked, pointer) || isPrefix(pointer, locked));
    return isLocked ? 'patch/locked-path' : undefined;
  }
  const operation = isTransfer ? { op, from: from as JsonPointer, path: pointer } : op === 'remove' ? { op, path: pointer } : { op, path: pointer, value: null };
  const admitted = admitOperation(contract, document, operation, operationsLeft);
  return admitted.ok ? undefined : admitted.error.code;
}

function clauseAgainstValue(op: 'add' | 'replace', path: JsonPointer, text: string, attempt: string, { contract, document, operationsLeft, isClosedAt }: Scene): MaskClause {
  // what follows the first wrong character may be no JSON at all
  const value = readStart(text + attempt) ?? readStart(text + [...attempt].slice(0, 1).join(''));
  if (value === undefined) return { kind: 'spelling' };
  const applied = applyPatch(contract, document, [{ op, path, value }], operationsLeft);
  if (!applied.ok) return { kind: 'pointer', pointer: path, code: applied.error.code as PatchFault['code'] };
  const report = validateValue(contract, applied.value);
  const violation = report.kind === 'valid' ? undefined : report.violations.find(({ pointer, keyword }) => keyword !== '' && isPrefix(path, pointer));
  if (violation !== undefined) return { kind: 'value', pointer: violation.pointer, keyword: violation.keyword, keywordLocation: violation.keywordLocation };
  const present = resolvePointer(document, path);
  return op === 'replace' && present !== undefined && jsonEqual(present, value) ? { kind: 'excluded-value', pointer: path } : isClosedAt(path) ? { kind: 'provenance', pointer: path } : { kind: 'spelling' };
}

/** The value that `text` begins with, closed where it is open; undefined where it is none. */
function readStart(text: string): JsonValue | undefined {
  const closers: string[] = [];
  let isQuoted = false;
  let end = 0;
  for (; end < text.length; end += 1) {
    const character = text[end] as string;
    if (isQuoted) {
      if (character === '\\') end += 1;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === '[') closers.push(']');
    else if (character === '{') closers.push('}');
    else if ((character === ',' || character === ']' || character === '}') && closers.length === 0) break;
    else if (character === ']' || character === '}') closers.pop();
  }
  const json = parseJson(text.slice(0, end) + (isQuoted ? '"' : '') + closers.reverse().join(''));
  return json.ok ? json.value : undefined;
}

function isSpace(text: string): boolean {
  return /^[\t\n\r ]/.test(text);
}

/** Whether JSON text ends inside a string. */
function isInString(text: string): boolean {
  return (text.replace(/\\./gsu, '').match(/"/g) ?? []).length % 2 === 1;
}
