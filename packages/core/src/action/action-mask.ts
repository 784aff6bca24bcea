/**
 * The admissible actions in a state: for every operation, the pointers it may name in the live document.
 * One source for the mask, which offers no other action, and for the gate, which accepts no other: candidates are enumerated here,
 * and admission alone decides which of them stay. Two spellings of one edit are listed once: a present member is written with
 * `replace`, not `add`, and an element is appended at `-`, not at the length.
 */
import type { Contract } from '../contract/contract.ts';
import { declaredNames, isUnionFree, schemaSitesIn, type SitesAt } from '../contract/schema-at.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../json/value.ts';
import { admitOperation, admitsSource, admitsTarget, withoutValue } from '../patch/admit.ts';
import type { Operation, OperationKind } from '../patch/operation.ts';
import { childOf, isPrefix, parentOf, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';

/** ABSTAIN is always admissible and therefore not listed. Every list is empty where no operation is left. */
export interface ActionMask {
  readonly add: readonly JsonPointer[];
  readonly replace: readonly JsonPointer[];
  readonly remove: readonly JsonPointer[];
  readonly move: readonly TransferTargets[];
  readonly copy: readonly TransferTargets[];
}

/** Where one value may go: at least one place. For a move they are read in the document without `from`, as RFC 6902 §4.4 applies it. */
export interface TransferTargets {
  readonly from: JsonPointer;
  /** Listed when first asked for: all pairs of a document are quadratic, and an operation names one source. */
  readonly paths: () => readonly JsonPointer[];
  /** Whether some place passes `test`, without listing all. */
  readonly some: (test: (path: JsonPointer) => boolean) => boolean;
}

/**
 * Lists the admissible actions on `document`, each list in document order. New member names are those the schema declares at their place.
 * O(n) in the number of values, times the schema's depth; the targets of one source cost as much again when asked for.
 */
export function actionMask(contract: Contract, document: JsonValue, operationsLeft: number): ActionMask {
  const sitesAt = schemaSitesIn(contract, document);
  const admits = (operation: Operation): boolean => admitOperation(contract, document, operation, operationsLeft, 0, sitesAt).ok;
  const offers = (kind: OperationKind): boolean => operationsLeft > 0 && contract.document.allowedOperations.includes(kind);
  const existing = [...pointersIn(document)].slice(1);
  const targets = offers('move') || offers('copy') ? [...targetsIn(contract, document, sitesAt)] : [];

  return {
    add: offers('add') ? [...listElements(document), ...insertionsIn(document, sitesAt)].filter((path) => admits({ op: 'add', path, value: null })) : [],
    replace: offers('replace') ? existing.filter((path) => admits({ op: 'replace', path, value: null })) : [],
    remove: offers('remove') ? existing.filter((path) => admits({ op: 'remove', path })) : [],
    move: offers('move') ? listTransfers(contract, document, existing, 'move', (from) => moveTargets(contract, document, from, targets)) : [],
    copy: offers('copy') ? listTransfers(contract, document, existing, 'copy', (from) => copyTargets(document, from, targets)) : [],
  };
}

function listTransfers(
  contract: Contract, document: JsonValue, existing: readonly JsonPointer[], kind: 'move' | 'copy', targetsOf: (from: JsonPointer) => Iterable<JsonPointer>,
): readonly TransferTargets[] {
  return existing
    .filter((from) => admitsSource(contract, document, kind, from) && hasAny(targetsOf(from)))
    .map((from) => {
      let paths: readonly JsonPointer[] | undefined;
      return { from, paths: () => paths ??= [...targetsOf(from)], some: (test) => paths?.some(test) ?? hasAny(targetsOf(from), test) };
    });
}

/**
 * Targets are read in the document without the source. Taking a member out shifts nothing, so without unions in the schema all other
 * places stay as they are; after an element, or where a branch may open, they are listed anew.
 */
function* moveTargets(contract: Contract, document: JsonValue, from: JsonPointer, targets: readonly JsonPointer[]): Generator<JsonPointer> {
  const isShifting = isElement(document, from) || !isUnionFree(contract);
  const base = isShifting ? withoutValue(document, from) : document;
  for (const path of isShifting ? targetsIn(contract, base, schemaSitesIn(contract, base)) : targets) if (!isPrefix(from, path)) yield path;
}

function* copyTargets(document: JsonValue, from: JsonPointer, targets: readonly JsonPointer[]): Generator<JsonPointer> {
  for (const path of targets) if (path !== from || isElement(document, from)) yield path;
}

/** Places in `base` that may receive a value: what stands there is overwritten, or shifted in an array. */
function* targetsIn(contract: Contract, base: JsonValue, sitesAt: SitesAt): Generator<JsonPointer> {
  for (const path of pointersIn(base)) if (path !== ROOT_POINTER && admitsTarget(contract, base, path, sitesAt)) yield path;
  for (const path of insertionsIn(base, sitesAt)) if (admitsTarget(contract, base, path, sitesAt)) yield path;
}

function hasAny<T>(items: Iterable<T>, test: (item: T) => boolean = () => true): boolean {
  for (const item of items) if (test(item)) return true;
  return false;
}

/** Every value's pointer, the root first, in document order. */
function* pointersIn(value: JsonValue, pointer: JsonPointer = ROOT_POINTER): Generator<JsonPointer> {
  yield pointer;
  if (isJsonArray(value)) for (const [index, item] of value.entries()) yield* pointersIn(item, childOf(pointer, String(index)));
  else if (isJsonObject(value)) for (const name of Object.keys(value)) yield* pointersIn(value[name] as JsonValue, childOf(pointer, name));
}

/** The places of present elements: adding there inserts before them. */
function listElements(document: JsonValue): readonly JsonPointer[] {
  return [...pointersIn(document)].slice(1).filter((pointer) => isElement(document, pointer));
}

function isElement(document: JsonValue, pointer: JsonPointer): boolean {
  return isJsonArray(resolvePointer(document, parentOf(pointer) as JsonPointer));
}

/** Places that hold nothing yet: declared member names that are absent, and `-` of every array. */
function* insertionsIn(document: JsonValue, sitesAt: SitesAt): Generator<JsonPointer> {
  for (const pointer of pointersIn(document)) {
    const value = resolvePointer(document, pointer);
    if (isJsonArray(value)) yield childOf(pointer, '-');
    else if (isJsonObject(value)) {
      for (const name of declaredNames(sitesAt(pointer))) if (!Object.hasOwn(value, name)) yield childOf(pointer, name);
    }
  }
}
