/**
 * Which of the admissible operations a mask offers next: all of them, or, by the rules it was compiled with, without those that change nothing,
 * take back what the output has done, cannot end in a valid call, or were banned after they missed. Values are excluded by their spelling.
 */
import type { Contract } from '../contract/contract.ts';
import { jsonEqual, type JsonValue } from '../json/value.ts';
import { applyAdmitted } from '../patch/apply.ts';
import type { Operation, OperationKind } from '../patch/operation.ts';
import type { JsonPointer } from '../pointer.ts';
import { validateValue } from '../validate/validate.ts';
import { isChurn, restoringValues, type OutputHistory } from './churn.ts';
import { createDistance, type Distance } from './distance.ts';
import { hasPathBelow, hasTransfer, transferPlaces, type LivePlace, type PathSet } from './live-place.ts';

export interface PatchRules {
  /** No operation that changes nothing, or undoes or repeats an earlier one of the same output. */
  readonly excludeNoOps: boolean;
  /** A patch may close only where it makes the call valid. */
  readonly goal: boolean;
  /** No operation that leads no nearer to that: none that {@link Distance.isStray}. */
  readonly nearer: boolean;
}

/** What is not to be offered again. */
export interface BannedOperation {
  readonly operation: Operation;
  /** Whether no other value may be written at its path either. */
  readonly anyValue: boolean;
}

/** Places by what may be asked of each, once for all documents that hold them. */
export type KnownPlaces = Readonly<Record<'add' | 'replace' | 'remove', WeakMap<LivePlace, boolean>>>;

/**
 * Up to this many sources every pair of source and target is judged when the last operation is offered, about 20 µs each; above, a move or copy
 * that does not end in a valid call is found out when it closes.
 */
const MAX_JUDGED_SOURCES = 24;

/** Operations that carry a value. */
export type ValueOperation = 'add' | 'replace';

export interface OfferParts {
  readonly contract: Contract;
  /** Of the live document. */
  readonly root: LivePlace;
  readonly operationsLeft: number;
  readonly rules: PatchRules;
  /** What the output did so far. */
  readonly history: OutputHistory;
  readonly banned: readonly BannedOperation[];
  /** Shared by all documents: what may be written or removed at a place depends on that place alone, unless rules bind. */
  readonly known: KnownPlaces;
  /** Whether there is a value to write, once a place may be written. */
  hasValue(kind: ValueOperation, place: LivePlace): boolean;
}

export class OperationOffers {
  /** Whether no rule and no ban binds. */
  readonly isPlain: boolean;
  readonly #parts: OfferParts;
  readonly #document: JsonValue;
  readonly #paths: Readonly<Record<OperationKind, PathSet>>;
  #distance: Distance | undefined;
  readonly #isJudged: Partial<Record<'remove' | 'move' | 'copy', boolean>> = {};
  readonly #verdicts = new Map<string, boolean>();

  constructor(parts: OfferParts) {
    const { root, rules, banned, known } = parts;
    this.#parts = parts;
    this.#document = root.value as JsonValue;
    this.isPlain = !rules.excludeNoOps && !rules.goal && !rules.nearer && banned.length === 0;
    const set = (kind: OperationKind, admits: (place: LivePlace) => boolean): PathSet => (
      { root, isOpen: kind === 'add', admits, known: this.isPlain && kind !== 'move' && kind !== 'copy' ? known[kind] : new WeakMap() }
    );
    const mayWrite = (kind: ValueOperation, place: LivePlace): boolean => this.#mayWrite(kind, place) && parts.hasValue(kind, place);
    this.#paths = {
      add: set('add', (place) => (place.value === undefined || place.arrayLength !== undefined) && place.canInsert && mayWrite('add', place)),
      replace: set('replace', (place) => place.canReplace && mayWrite('replace', place)),
      remove: set('remove', (place) => place.canRemove && this.#isOffered({ op: 'remove', path: place.pointer })),
      move: set('move', (place) => this.#mayGive('move', place)),
      copy: set('copy', (place) => this.#mayGive('copy', place)),
    };
  }

  /** Whether an operation of the kind is offered. */
  offers(kind: OperationKind): boolean {
    return this.#parts.operationsLeft > 0 && this.#parts.contract.document.allowedOperations.includes(kind) && hasPathBelow(this.#paths[kind], this.#parts.root);
  }

  /** The paths that an operation may name, or the sources of a move or copy. */
  paths(kind: OperationKind): PathSet {
    return this.#paths[kind];
  }

  targets(kind: 'move' | 'copy', from: LivePlace): PathSet {
    const { root, admits } = transferPlaces(this.#parts.contract, this.#parts.root, kind, from);
    return { root, isOpen: true, known: new WeakMap(), admits: (place) => admits(place) && this.#isOffered({ op: kind, from: from.pointer, path: place.pointer }) };
  }

  /** Values that must not be written at `place`. */
  excludedValues(kind: ValueOperation, { pointer, value }: LivePlace): readonly JsonValue[] {
    const banned = this.#parts.banned.flatMap(({ operation }) => ('value' in operation && operation.op === kind && operation.path === pointer ? [operation.value] : []));
    if (!this.#parts.rules.excludeNoOps) return banned;
    return [...(kind === 'replace' ? [value as JsonValue] : []), ...restoringValues(this.#parts.history, this.#document, kind, pointer), ...banned];
  }

  /** As far as no value is known. */
  #mayWrite(kind: ValueOperation, { pointer }: LivePlace): boolean {
    return this.isPlain || (!(this.#parts.rules.excludeNoOps && this.#isChurn({ op: kind, path: pointer }))
      && !this.#parts.banned.some(({ operation, anyValue }) => anyValue && operation.op === kind && operation.path === pointer)
      && !(this.#parts.rules.nearer && this.#toGoal.isStray({ op: kind, path: pointer }))
      && !(this.#parts.rules.goal && this.#isTooFar(pointer)));
  }

  #mayGive(kind: 'move' | 'copy', from: LivePlace, mayGo = ({ pointer }: LivePlace): boolean => this.#isOffered({ op: kind, from: from.pointer, path: pointer })): boolean {
    return from.canGive(kind) && hasTransfer(this.#parts.contract, this.#parts.root, kind, from, mayGo);
  }

  /** For an operation about which nothing is open. */
  #isOffered(operation: Exclude<Operation, { readonly value: JsonValue }>): boolean {
    if (this.isPlain) return true;
    if (this.#parts.rules.excludeNoOps && this.#isChurn(operation)) return false;
    if (this.#parts.banned.some((banned) => jsonEqual(banned.operation as unknown as JsonValue, operation as unknown as JsonValue))) return false;
    if (this.#parts.rules.nearer && this.#toGoal.isStray(operation)) return false;
    if (!this.#parts.rules.goal || this.#parts.operationsLeft !== 1 || !this.#mayJudge(operation.op)) return true;
    const key = JSON.stringify(operation);
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) this.#verdicts.set(key, verdict = validateValue(this.#parts.contract, applyAdmitted(this.#document, operation)).kind === 'valid');
    return verdict;
  }

  #mayJudge(kind: 'remove' | 'move' | 'copy'): boolean {
    return this.#isJudged[kind] ??= kind === 'remove' || [...this.#parts.root.all()].filter((from) => this.#mayGive(kind, from, () => true)).length <= MAX_JUDGED_SOURCES;
  }

  /** Whether a value at `path` leaves more violations alone than the operations after it can reach. */
  #isTooFar(path: JsonPointer): boolean {
    return this.#toGoal.afterWrite(path) >= this.#parts.operationsLeft;
  }

  get #toGoal(): Distance {
    return this.#distance ??= createDistance(this.#parts.contract, this.#document);
  }

  #isChurn(operation: Parameters<typeof isChurn>[2]): boolean {
    return isChurn(this.#parts.history, this.#document, operation, this.#parts.contract.document.allowedOperations);
  }
}
