/**
 * What one output has already done to the document, so that no later operation of it undoes or repeats that: a place is written once, what
 * was written is not taken away again, what was removed is not put back, and no document comes twice. Such patches only spend the budget; a
 * shorter one says the same. Places are kept as reference tokens of the live document and follow their elements when an array shifts.
 */
import { isJsonArray, isJsonObject, jsonEqual, memberOf, type JsonValue } from '../json/value.ts';
import { applyAdmitted } from '../patch/apply.ts';
import type { Operation, OperationKind } from '../patch/operation.ts';
import { formatPointer, lastTokenOf, parentOf, resolvePointer, tokensOf, type JsonPointer } from '../pointer.ts';

type Place = readonly string[];

/** The operations of an output so far; immutable. */
export interface OutputHistory {
  /** Places that hold what this output wrote there. */
  readonly written: readonly Place[];
  /** Members that this output removed; for an element the index at which it stood. */
  readonly removed: readonly Place[];
  readonly earlier: readonly EarlierDocument[];
}

/** A document before one of the operations. */
interface EarlierDocument {
  readonly document: JsonValue;
  /** Members of the root that are not what they are in the live document. */
  readonly changed: readonly string[];
}

export const NO_HISTORY: OutputHistory = { written: [], removed: [], earlier: [] };

/** An operation as far as it is known before its value. */
export type Move = Exclude<Operation, { readonly value: JsonValue }> | { readonly op: 'add' | 'replace'; readonly path: JsonPointer };

/** Whether `operation`, admissible on `document`, changes nothing, or takes back or repeats what the output has done. */
export function isChurn(history: OutputHistory, document: JsonValue, operation: Move, allowed: readonly OperationKind[]): boolean {
  const place = tokensOf(operation.path);
  switch (operation.op) {
    case 'replace':
      return isWritten(history, place);
    case 'remove':
      return isWritten(history, place) || isRestored(history, document, operation);
    case 'add':
      // without `replace`, removing and adding anew is the only way to write a present member
      return allowed.includes('replace') && isRefill(history, document, operation.path);
    case 'copy':
      return holdsAlready(document, operation.from, operation.path) || isRefill(history, document, operation.path) || isOverwrite(history, document, operation.path)
        || isRestored(history, document, operation);
    case 'move': {
      const from = tokensOf(operation.from);
      if (history.written.some((written) => isSame(written, from))) return true;
      const { kept, base } = taken(history, document, operation.from);
      return isRefill(kept, base, operation.path) || isOverwrite(kept, base, operation.path)
        || isUnmoved(document, operation) || isRestored(history, document, operation);
    }
  }
}

/** The values that a write at `path` would lead back to an earlier document with. */
export function restoringValues(history: OutputHistory, document: JsonValue, op: 'add' | 'replace', path: JsonPointer): readonly JsonValue[] {
  const place = formatPointer(placeIn(document, path));
  return history.earlier.flatMap((earlier) => {
    const value = resolvePointer(earlier.document, place);
    return value !== undefined && isEarlier(earlier, document, { op, path, value }) ? [value] : [];
  });
}

/** The history after `operation`, which made `result` of `document`. */
export function historyAfter(history: OutputHistory, document: JsonValue, operation: Move, result: JsonValue): OutputHistory {
  const earlier = [...history.earlier.map((one) => one.document), document].map((one) => ({ document: one, changed: changedNames(one, result) }));
  const place = tokensOf(operation.path);
  switch (operation.op) {
    case 'replace':
      // a gap at the index of an element is in front of it, and stays
      return { written: [...outside(place, history.written), place], removed: outside(place, history.removed, 'and itself'), earlier };
    case 'remove': {
      const { kept } = taken(history, document, operation.path);
      return { written: kept.written, removed: [...kept.removed, place], earlier };
    }
    case 'add':
    case 'copy':
      return { ...put(history, document, operation.path, []), earlier };
    case 'move': {
      const from = tokensOf(operation.from);
      const { kept, base } = taken(history, document, operation.from);
      const carried = (places: readonly Place[]): readonly Place[] => places.filter((one) => one.length > from.length && isWithin(from, one)).map((one) => one.slice(from.length));
      const after = put(kept, base, operation.path, carried(history.written));
      const target = placeIn(base, operation.path);
      return { written: after.written, removed: [...after.removed, ...carried(history.removed).map((rest) => [...target, ...rest])], earlier };
    }
  }
}

/** Whether `inner` is `outer` or below it. */
function isWithin(outer: Place, inner: Place): boolean {
  return inner.length >= outer.length && outer.every((token, index) => token === inner[index]);
}

function isWritten({ written }: OutputHistory, place: Place): boolean {
  return written.some((one) => isWithin(place, one));
}

function isSame(a: Place, b: Place): boolean {
  return a.length === b.length && isWithin(a, b);
}

/** The tokens of a target, `-` read as the index it stands for. */
function placeIn(document: JsonValue, path: JsonPointer): Place {
  const parent = resolvePointer(document, parentOf(path) as JsonPointer);
  const place = tokensOf(path);
  return isJsonArray(parent) && lastTokenOf(path) === '-' ? [...place.slice(0, -1), String(parent.length)] : place;
}

function isRefill({ removed }: OutputHistory, document: JsonValue, path: JsonPointer): boolean {
  const place = placeIn(document, path);
  return removed.some((one) => isSame(one, place));
}

/** Whether a write at `path` exchanges something that was written: an element is inserted beside it instead. */
function isOverwrite(history: OutputHistory, document: JsonValue, path: JsonPointer): boolean {
  return isJsonObject(resolvePointer(document, parentOf(path) as JsonPointer)) && isWritten(history, tokensOf(path));
}

function holdsAlready(document: JsonValue, from: JsonPointer, path: JsonPointer): boolean {
  const present = isJsonObject(resolvePointer(document, parentOf(path) as JsonPointer)) ? resolvePointer(document, path) : undefined;
  return present !== undefined && jsonEqual(present, resolvePointer(document, from) as JsonValue);
}

/** Whether an element stays what and where it is, moved inside its own array; any other move changes which members there are. */
function isUnmoved(document: JsonValue, operation: Extract<Operation, { readonly op: 'move' }>): boolean {
  const parent = parentOf(operation.from) as JsonPointer;
  return parent === parentOf(operation.path) && isJsonArray(resolvePointer(document, parent)) && jsonEqual(document, applyAdmitted(document, operation));
}

/** Whether `operation` leads back to an earlier document. */
function isRestored({ earlier }: OutputHistory, document: JsonValue, operation: Operation): boolean {
  return earlier.some((one) => isEarlier(one, document, operation));
}

function isEarlier(earlier: EarlierDocument, document: JsonValue, operation: Operation): boolean {
  // it can change these members alone, which spares most comparisons
  const touched = [operation.path, 'from' in operation ? operation.from : operation.path].map((pointer) => tokensOf(pointer)[0]);
  return earlier.changed.every((name) => touched.includes(name)) && jsonEqual(earlier.document, applyAdmitted(document, operation));
}

/** The members in which two roots differ; none where they are no objects, which says nothing. */
function changedNames(before: JsonValue, after: JsonValue): readonly string[] {
  if (!isJsonObject(before) || !isJsonObject(after)) return [];
  return Object.keys({ ...before, ...after }).filter((name) => {
    const [left, right] = [memberOf(before, name), memberOf(after, name)];
    return left === undefined || right === undefined || !jsonEqual(left, right);
  });
}

interface Taken {
  readonly kept: OutputHistory;
  /** The document without the value. */
  readonly base: JsonValue;
}

/** Takes the value at `path` out: places in it are dropped, later elements of its array move up. */
function taken(history: OutputHistory, document: JsonValue, path: JsonPointer): Taken {
  const from = tokensOf(path);
  const base = applyAdmitted(document, { op: 'remove', path });
  if (!isJsonArray(resolvePointer(document, parentOf(path) as JsonPointer))) return { kept: afterOverwrite(history, from), base };
  const index = Number(from.at(-1));
  const shift = shiftIn(from.slice(0, -1), (at) => (at > index ? at - 1 : at));
  return { kept: { ...history, written: outside(from, history.written).map(shift), removed: distinct(outside(from, history.removed, 'and itself').map(shift)) }, base };
}

/** Puts a written value at `path`; `inside` are the written places below it. */
function put(history: OutputHistory, document: JsonValue, path: JsonPointer, inside: readonly Place[]): OutputHistory {
  const place = placeIn(document, path);
  const parentPlace = place.slice(0, -1);
  const index = Number(place.at(-1));
  const isElement = isJsonArray(resolvePointer(document, parentOf(path) as JsonPointer));
  const shift = shiftIn(parentPlace, (at) => (at >= index ? at + 1 : at));
  const { written, removed } = isElement ? { written: history.written.map(shift), removed: history.removed.map(shift) } : afterOverwrite(history, place);
  return { ...history, written: [...written, place, ...inside.map((rest) => [...place, ...rest])], removed };
}

/** What lay at a place or below it is gone. */
function afterOverwrite(history: OutputHistory, place: Place): OutputHistory {
  return { ...history, written: outside(place, history.written), removed: outside(place, history.removed) };
}

/** The places that are not at `place` or below it; `place` itself may be kept. */
function outside(place: Place, places: readonly Place[], kept?: 'and itself'): readonly Place[] {
  return places.filter((one) => !isWithin(place, one) || (kept !== undefined && one.length === place.length));
}

function shiftIn(array: Place, shifted: (index: number) => number): (place: Place) => Place {
  return (place) => (place.length > array.length && isWithin(array, place) ? place.with(array.length, String(shifted(Number(place[array.length])))) : place);
}

function distinct(places: readonly Place[]): readonly Place[] {
  return places.filter((one, index) => places.findIndex((other) => isSame(one, other)) === index);
}
