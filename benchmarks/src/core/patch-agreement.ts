/**
 * Random patches that are admitted, applied three ways: by the product, by its own applier of single operations, and by fast-json-patch with its
 * validation. The library's own `move` looks up its target before the removal, so there it is given the removal and the addition that a move means.
 */
import fastJsonPatch, { type Operation as FastOperation } from 'fast-json-patch';
import {
  applyPatch, childOf, cloneJson, isJsonArray, isJsonObject, jsonEqual, loadContract, MAX_OPERATION_BUDGET, resolvePointer, ROOT_POINTER,
  type JsonPointer, type JsonValue, type Operation,
} from '@contractrl/core';
import { applyAdmitted } from '@contractrl/core/schema';
import { createWholeRandom } from './random.ts';

export interface PatchAgreement {
  readonly seed: number;
  readonly patches: number;
  readonly operations: Readonly<Record<string, number>>;
  /** Drawn, and refused by admission. */
  readonly refused: number;
  readonly disagreements: number;
  /** At most three. */
  readonly examples: readonly string[];
}

const NAMES = ['a', 'b', 'x/y', 'm~n', '', '0'];
const MAX_OPERATIONS = 4;

/** Seconds for 10^5 patches. */
export function comparePatches(patchCount: number, seed: number): PatchAgreement {
  const loaded = loadContract({ tool: { name: 'agreement', parameters: {} }, operationBudget: MAX_OPERATION_BUDGET });
  if (!loaded.ok) throw new TypeError(loaded.error.code);
  const contract = loaded.value;
  const below = createWholeRandom(seed);
  const operations: Record<string, number> = {};
  const examples: string[] = [];
  let [patches, refused, disagreements] = [0, 0, 0];
  while (patches < patchCount) {
    const document = { root: randomValue(below, 3), list: [randomValue(below, 2), randomValue(below, 1)] };
    const patch: Operation[] = [];
    let stepwise: JsonValue = document;
    for (let count = 1 + below(MAX_OPERATIONS); count > 0; count -= 1) {
      const operation = randomOperation(below, stepwise);
      if (!applyPatch(contract, stepwise, [operation], 1).ok) {
        refused += 1;
        continue;
      }
      stepwise = applyAdmitted(stepwise, operation);
      patch.push(operation);
      operations[operation.op] = (operations[operation.op] ?? 0) + 1;
    }
    if (patch.length === 0) continue;
    patches += 1;
    const ours = applyPatch(contract, document, patch, MAX_OPERATION_BUDGET);
    const theirs = throughLibrary(document, patch);
    if (ours.ok && jsonEqual(ours.value, stepwise) && theirs !== undefined && jsonEqual(ours.value, theirs)) continue;
    disagreements += 1;
    if (examples.length < 3) examples.push(JSON.stringify({ document, patch, ours, stepwise, theirs }));
  }
  return { seed, patches, operations, refused, disagreements, examples };
}

function throughLibrary(document: JsonValue, patch: readonly Operation[]): JsonValue | undefined {
  let current = cloneJson(document);
  try {
    for (const operation of patch) {
      const steps: readonly FastOperation[] = operation.op === 'move'
        ? [{ op: 'remove', path: operation.from }, { op: 'add', path: operation.path, value: resolvePointer(current, operation.from) }]
        : [operation];
      current = fastJsonPatch.applyPatch(current, structuredClone(steps), true).newDocument as JsonValue;
    }
    return current;
  } catch {
    return undefined;
  }
}

type Below = (bound: number) => number;

function randomValue(below: Below, depth: number): JsonValue {
  const kind = below(depth > 0 ? 6 : 4);
  if (kind === 4) return Array.from({ length: below(4) }, () => randomValue(below, depth - 1));
  if (kind === 5) return Object.fromEntries(Array.from({ length: below(4) }, () => [pick(below, NAMES), randomValue(below, depth - 1)]));
  return pick<JsonValue>(below, [null, true, below(100), `text ${String(below(10))}`]);
}

function randomOperation(below: Below, document: JsonValue): Operation {
  const places = placesIn(document, ROOT_POINTER);
  const path = pick(below, places);
  switch (below(5)) {
    case 0: return { op: 'add', path, value: randomValue(below, 2) };
    case 1: return { op: 'replace', path, value: randomValue(below, 2) };
    case 2: return { op: 'remove', path };
    case 3: return { op: 'move', from: pick(below, places), path };
    default: return { op: 'copy', from: pick(below, places), path };
  }
}

/** What stands there, every name that could, and one place past the end of each list. */
function placesIn(value: JsonValue, pointer: JsonPointer): readonly JsonPointer[] {
  if (isJsonArray(value)) return [...value.flatMap((item, index) => placesIn(item, childOf(pointer, String(index)))), childOf(pointer, String(value.length)), childOf(pointer, '-'), pointer];
  if (!isJsonObject(value)) return [pointer];
  const names = [...new Set([...Object.keys(value), ...NAMES])];
  return [pointer, ...names.flatMap((name) => (Object.hasOwn(value, name) ? placesIn(value[name] as JsonValue, childOf(pointer, name)) : [childOf(pointer, name)]))];
}

function pick<T>(below: Below, items: readonly T[]): T {
  return items[below(items.length)] as T;
}
