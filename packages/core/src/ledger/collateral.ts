/**
 * Collateral edits: leaves that a repair changed and had no business with. The two definitions in use differ, so both are counted:
 * outside the paths of the emitted operations (zero for every well-formed patch), and outside the pointers the verifier reported.
 * Arrays are compared after their common head and tail, so that one element removed or inserted is one change, not a shift of all.
 */
import { isJsonArray, isJsonObject, jsonEqual, memberOf, type JsonArray, type JsonValue } from '../json/value.ts';
import type { Patch } from '../patch/operation.ts';
import { arrayIndexOf, childOf, isPrefix, lastTokenOf, parentOf, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';

export interface Collateral {
  readonly collateralOp: number;
  readonly collateralPtr: number;
}

/** `reported`: every pointer the verifier named in this repair. O(size of both values). */
export function countCollateral(before: JsonValue, after: JsonValue, patch: Patch, reported: readonly JsonPointer[]): Collateral {
  const leaves = changedLeaves(before, after);
  const named = patch.flatMap((operation) => ('from' in operation ? [operation.from, operation.path] : [operation.path]));
  // An operation on an element shifts its neighbours: it answers for the whole array.
  const covered = named.map((pointer) => (isElement(before, pointer) || isElement(after, pointer) ? (parentOf(pointer) ?? pointer) : pointer));
  return { collateralOp: countOutside(leaves, covered), collateralPtr: countOutside(leaves, reported) };
}

function countOutside(leaves: readonly JsonPointer[], covered: readonly JsonPointer[]): number {
  return leaves.filter((leaf) => !covered.some((pointer) => isPrefix(pointer, leaf))).length;
}

function isElement(document: JsonValue, pointer: JsonPointer): boolean {
  const token = lastTokenOf(pointer);
  const parent = parentOf(pointer);
  if (token === undefined || parent === undefined) return false;
  return (token === '-' || arrayIndexOf(token) !== undefined) && isJsonArray(resolvePointer(document, parent));
}

/** Pointers of the leaves (primitives and empty containers) that differ; a leaf on one side only counts as changed. */
export function changedLeaves(before: JsonValue | undefined, after: JsonValue | undefined, at: JsonPointer = ROOT_POINTER): readonly JsonPointer[] {
  if (before === undefined) return leavesOf(after, at);
  if (after === undefined) return leavesOf(before, at);
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => changedLeaves(memberOf(before, name), memberOf(after, name), childOf(at, name)));
  }
  if (isJsonArray(before) && isJsonArray(after)) return changedElements(before, after, at);
  return jsonEqual(before, after) ? [] : [...new Set([...leavesOf(before, at), ...leavesOf(after, at)])];
}

function changedElements(before: JsonArray, after: JsonArray, at: JsonPointer): readonly JsonPointer[] {
  const { head, tail } = commonEnds(before, after);
  const leaves: JsonPointer[] = [];
  for (let index = head; index < Math.max(before.length, after.length) - tail; index += 1) {
    const old = index < before.length - tail ? before[index] : undefined;
    const now = index < after.length - tail ? after[index] : undefined;
    leaves.push(...changedLeaves(old, now, childOf(at, String(index))));
  }
  return leaves;
}

/** How many elements two arrays share at the beginning, and of the others at the end. */
export function commonEnds(before: JsonArray, after: JsonArray): { readonly head: number; readonly tail: number } {
  const shorter = Math.min(before.length, after.length);
  const isSame = (a: number, b: number): boolean => jsonEqual(before[a] as JsonValue, after[b] as JsonValue);
  let head = 0;
  while (head < shorter && isSame(head, head)) head += 1;
  let tail = 0;
  while (tail < shorter - head && isSame(before.length - 1 - tail, after.length - 1 - tail)) tail += 1;
  return { head, tail };
}

function leavesOf(value: JsonValue | undefined, at: JsonPointer): readonly JsonPointer[] {
  if (value === undefined) return [];
  const members: readonly (readonly [string, JsonValue])[] = isJsonArray(value)
    ? value.map((element, index) => [String(index), element])
    : isJsonObject(value) ? Object.entries(value) : [];
  return members.length === 0 ? [at] : members.flatMap(([token, member]) => leavesOf(member, childOf(at, token)));
}
