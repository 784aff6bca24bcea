/**
 * The admissible actions in a state: for every operation, the pointers it may name in the live document.
 * One source for the mask, which offers no other action, and for the gate, which accepts no other: the places of the document, and what may
 * be done at each. Two spellings of one edit are listed once: a present member is written with `replace`, not `add`, and an element is
 * appended at `-`, not at the length.
 */
import type { Contract } from '../contract/contract.ts';
import type { JsonValue } from '../json/value.ts';
import type { OperationKind } from '../patch/operation.ts';
import type { JsonPointer } from '../pointer.ts';
import { hasTransfer, livePlacesOf, transferPlaces, type LivePlace } from './live-place.ts';

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
  /** Listed when asked for: all pairs of a document are quadratic, and an operation names one source. */
  readonly paths: () => readonly JsonPointer[];
}

/**
 * Lists the admissible actions on `document`, each list in document order. New member names are those the schema declares at their place.
 * O(n) in the number of values, times the schema's depth; the targets of one source cost as much again when asked for.
 */
export function actionMask(contract: Contract, document: JsonValue, operationsLeft: number): ActionMask {
  const root = livePlacesOf(contract, document);
  const offers = (kind: OperationKind): boolean => operationsLeft > 0 && contract.document.allowedOperations.includes(kind);
  const existing = [...root.all()];
  const transfers = (kind: 'move' | 'copy'): readonly TransferTargets[] => (offers(kind) ? existing : [])
    .filter((from) => from.canGive(kind) && hasTransfer(contract, root, kind, from, () => true))
    .map((from) => ({ from: from.pointer, paths: () => targetsOf(transferPlaces(contract, root, kind, from)) }));
  return {
    add: offers('add') ? pointersOf([...existing.filter(({ arrayLength }) => arrayLength !== undefined), ...root.allOpen()].filter((place) => place.canInsert)) : [],
    replace: offers('replace') ? pointersOf(existing.filter((place) => place.canReplace)) : [],
    remove: offers('remove') ? pointersOf(existing.filter((place) => place.canRemove)) : [],
    move: transfers('move'),
    copy: transfers('copy'),
  };
}

function targetsOf({ root, admits }: ReturnType<typeof transferPlaces>): readonly JsonPointer[] {
  return pointersOf([...root.all(), ...root.allOpen()].filter(admits));
}

function pointersOf(places: readonly LivePlace[]): readonly JsonPointer[] {
  return places.map(({ pointer }) => pointer);
}
