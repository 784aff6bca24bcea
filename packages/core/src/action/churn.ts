/**
 * What one output has already done to the document, so that no later operation of it undoes or repeats that: a place is written once, what
 * was written is not taken away again, what was removed is not put back. Such patches only spend the budget; a shorter one says the same.
 * Places are kept as reference tokens of the live document and follow their elements when an array shifts.
 */
import { applyAdmitted, isJsonArray, isJsonObject, jsonEqual, lastTokenOf, parentOf, resolvePointer, tokensOf, type JsonPointer, type JsonValue, type Operation, type OperationKind } from '@contractrl/core';

type Place = readonly string[];

/** The operations of an output so far; immutable. */
export interface OutputHistory {
  /** Places that hold what this output wrote there. */
  readonly written: readonly Place[];
  /** Members that this output removed; for an element the index at which it stood. */
  readonly removed: readonly Place[];
  /** The documents before each operation. */
  readonly documents: readonly JsonValue[];
}

export const NO_HISTORY: OutputHistory = { written: [], removed: [], documents: [] };

/** An operation as far as it is known before its value. */
type Move = Exclude<Operation, { readonly value: JsonValue }> | { readonly op: 'add' | 'replace'; readonly path: JsonPointer };

/** Whether `operation`, admissible on `document`, changes nothing, or takes back or repeats what the output has done. */
export function isChurn(history: OutputHistory, document: JsonValue, operation: Move, allowed: readonly OperationKind[]): boolean {
  const place = tokensOf(operation.path);
  switch (operation.op) {
    case 'replace':
    case 'remove':
      return history.written.some((written) => isWithin(place, written));
    case 'add':
      // without `replace`, removing and adding anew is the only way to write a present member
      return allowed.includes('replace') && isRefill(history, document, operation.path);
    case 'copy':
      return holdsAlready(document, operation.from, operation.path) || isRefill(history, document, operation.path) || isOverwrite(history, document, operation.path);
    case 'move': {
      const from = tokensOf(operation.from);
      if (history.written.some((written) => isWithin(written, from) && written.length === from.length)) return true;
      const { kept, base } = taken(history, document, operation.from);
      return isRefill(kept, base, operation.path) || isOverwrite(kept, base, operation.path)
        || [...history.documents, document].some((seen) => isRearrangedTo(seen, document, operation.from, operation.path));
    }
  }
}

/** The history after `operation` was applied to `document`. */
export function historyAfter(history: OutputHistory, document: JsonValue, operation: Move): OutputHistory {
  const documents = [...history.documents, document];
  const place = tokensOf(operation.path);
  switch (operation.op) {
    case 'replace':
      return { ...afterOverwrite(history, place), written: [...history.written, place], documents };
    case 'remove': {
      const { kept } = taken(history, document, operation.path);
      return { written: kept.written, removed: [...kept.removed, place], documents };
    }
    case 'add':
    case 'copy':
      return { ...put(history, document, operation.path, []), documents };
    case 'move': {
      const from = tokensOf(operation.from);
      const { kept, base } = taken(history, document, operation.from);
      const carried = (places: readonly Place[]): readonly Place[] => places.filter((one) => one.length > from.length && isWithin(from, one)).map((one) => one.slice(from.length));
      const after = put(kept, base, operation.path, carried(history.written));
      const target = placeIn(base, operation.path);
      return { written: after.written, removed: [...after.removed, ...carried(history.removed).map((rest) => [...target, ...rest])], documents };
    }
  }
}

/** Whether `inner` is `outer` or below it. */
function isWithin(outer: Place, inner: Place): boolean {
  return inner.length >= outer.length && outer.every((token, index) => token === inner[index]);
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
function isOverwrite({ written }: OutputHistory, document: JsonValue, path: JsonPointer): boolean {
  const place = tokensOf(path);
  return isJsonObject(resolvePointer(document, parentOf(path) as JsonPointer)) && written.some((one) => isWithin(place, one));
}

function holdsAlready(document: JsonValue, from: JsonPointer, path: JsonPointer): boolean {
  const present = isJsonObject(resolvePointer(document, parentOf(path) as JsonPointer)) ? resolvePointer(document, path) : undefined;
  return present !== undefined && jsonEqual(present, resolvePointer(document, from) as JsonValue);
}

/** Whether moving an element inside its own array leads to `seen`; any other move changes which members there are. */
function isRearrangedTo(seen: JsonValue, document: JsonValue, from: JsonPointer, path: JsonPointer): boolean {
  const parent = parentOf(from) as JsonPointer;
  return parent === parentOf(path) && isJsonArray(resolvePointer(document, parent)) && jsonEqual(seen, applyAdmitted(document, { op: 'move', from, path }));
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
  const outside = (places: readonly Place[], keepsOwn: boolean): readonly Place[] => places.filter((one) => !isWithin(from, one) || (keepsOwn && one.length === from.length));
  if (!isJsonArray(resolvePointer(document, parentOf(path) as JsonPointer))) return { kept: { ...history, written: outside(history.written, false), removed: outside(history.removed, false) }, base };
  const index = Number(from.at(-1));
  const shift = shiftIn(from.slice(0, -1), (at) => (at > index ? at - 1 : at));
  // a gap at the index of the element is in front of it, and stays
  return { kept: { ...history, written: outside(history.written, false).map(shift), removed: distinct(outside(history.removed, true).map(shift)) }, base };
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
  const outside = (places: readonly Place[]): readonly Place[] => places.filter((one) => !isWithin(place, one));
  return { ...history, written: outside(history.written), removed: outside(history.removed) };
}

function shiftIn(array: Place, shifted: (index: number) => number): (place: Place) => Place {
  return (place) => (place.length > array.length && isWithin(array, place) ? place.with(array.length, String(shifted(Number(place[array.length])))) : place);
}

function distinct(places: readonly Place[]): readonly Place[] {
  return places.filter((one, index) => places.findIndex((other) => isSame(one, other)) === index);
}
