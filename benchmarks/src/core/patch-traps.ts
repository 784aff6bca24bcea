/**
 * Sixteen patches that JSON Patch libraries are known to get wrong, each given to ours and to fast-json-patch, without and with its
 * validation. Right is to refuse, by a code, and to leave the document alone.
 */
import fastJsonPatch, { type Operation } from 'fast-json-patch';
import { applyPatch, canonicalText, loadContract, MAX_OPERATION_BUDGET, readPatch, type JsonValue } from '@contractrl/core';

interface Trap {
  readonly name: string;
  /** As text: in a literal of the language a member named `__proto__` would be none. */
  readonly document: string;
  readonly patch: string;
}

const op = (...operations: readonly string[]): string => `[${operations.join(',')}]`;

const TRAPS: readonly Trap[] = [
  { name: 'replace a missing member', document: '{"a":1}', patch: op('{"op":"replace","path":"/b","value":2}') },
  { name: 'remove a missing member', document: '{"a":1}', patch: op('{"op":"remove","path":"/b"}') },
  { name: 'add at index 9 of 1', document: '{"a":[1]}', patch: op('{"op":"add","path":"/a/9","value":2}') },
  { name: 'index 01', document: '{"a":[1,2]}', patch: op('{"op":"replace","path":"/a/01","value":3}') },
  { name: 'remove index -1', document: '{"a":[1,2]}', patch: op('{"op":"remove","path":"/a/-1"}') },
  { name: 'add at index foo', document: '{"a":[1,2]}', patch: op('{"op":"add","path":"/a/foo","value":3}') },
  { name: 'replace /a/length', document: '{"a":[1,2]}', patch: op('{"op":"replace","path":"/a/length","value":0}') },
  { name: 'move into its own child', document: '{"a":[[1],2]}', patch: op('{"op":"move","from":"/a/0","path":"/a/0/0"}') },
  { name: 'add below /__proto__', document: '{"a":1}', patch: op('{"op":"add","path":"/__proto__/x","value":1}') },
  { name: 'copy from /__proto__', document: '{"a":1}', patch: op('{"op":"copy","from":"/__proto__","path":"/b"}') },
  { name: 'replace an inherited member', document: '{"a":1}', patch: op('{"op":"replace","path":"/toString","value":1}') },
  { name: 'an operation named toString', document: '{"a":1}', patch: op('{"op":"toString","path":"/a"}') },
  { name: 'add without a value', document: '{"a":1}', patch: op('{"op":"add","path":"/b"}') },
  { name: 'the escape ~2', document: '{"a":1}', patch: op('{"op":"add","path":"/b~2","value":1}') },
  { name: 'one that applies, then one that fails', document: '{"a":1}', patch: op('{"op":"replace","path":"/a","value":2}', '{"op":"remove","path":"/b"}') },
  { name: 'a value with a member __proto__', document: '{"a":1}', patch: op('{"op":"add","path":"/b","value":{"__proto__":{"x":1}}}') },
];

export interface TrapOutcome {
  /** Name of the error, or the document as text. */
  readonly outcome: string;
  readonly isRefused: boolean;
  /** Whether the document that was given in is another one now. */
  readonly changedInput: boolean;
}

export interface TrapResult {
  readonly name: string;
  readonly patch: string;
  readonly ours: TrapOutcome;
  readonly fastJsonPatch: TrapOutcome;
  readonly fastJsonPatchValidate: TrapOutcome;
}

export function springTraps(): readonly TrapResult[] {
  const loaded = loadContract({ tool: { name: 'traps', parameters: {} }, operationBudget: MAX_OPERATION_BUDGET });
  if (!loaded.ok) throw new TypeError(loaded.error.code);
  const contract = loaded.value;
  return TRAPS.map(({ name, document, patch }) => {
    const run = (work: (document: JsonValue) => { readonly outcome: string; readonly isRefused: boolean }): TrapOutcome => {
      const given = JSON.parse(document) as JsonValue;
      return { ...work(given), changedInput: textOf(given) !== textOf(JSON.parse(document) as JsonValue) };
    };
    return {
      name, patch,
      ours: run((given) => {
        const read = readPatch(JSON.parse(patch) as JsonValue);
        const result = read.ok ? applyPatch(contract, given, read.value, MAX_OPERATION_BUDGET) : read;
        return result.ok ? { outcome: textOf(result.value as JsonValue), isRefused: false } : { outcome: result.error.code, isRefused: true };
      }),
      fastJsonPatch: run((given) => throughLibrary(given, patch, false)),
      fastJsonPatchValidate: run((given) => throughLibrary(given, patch, true)),
    };
  });
}

function throughLibrary(document: JsonValue, patch: string, validate: boolean): { readonly outcome: string; readonly isRefused: boolean } {
  try {
    return { outcome: textOf(fastJsonPatch.applyPatch(document, JSON.parse(patch) as Operation[], validate).newDocument as JsonValue), isRefused: false };
  } catch (error) {
    return { outcome: error instanceof Error ? error.name : 'error', isRefused: true };
  }
}

/** The host's own text where the document is no JSON value any more, with a member that holds nothing. */
function textOf(document: JsonValue): string {
  return JSON.stringify(document) === undefined ? 'nothing' : hasHoles(document) ? `${JSON.stringify(document)} and a member without a value` : canonicalText(document);
}

function hasHoles(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.values(value).some(hasHoles));
}
