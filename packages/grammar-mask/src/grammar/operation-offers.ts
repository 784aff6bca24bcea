/**
 * Which of the admissible operations a mask offers next: all of them, or, by the rules it was compiled with, without those that change nothing,
 * take back what the output has done, cannot end in a valid call, or were banned after they missed. Values are excluded by their spelling.
 */
import { applyAdmitted, jsonEqual, type Contract, type JsonPointer, type JsonValue, type Operation, type OperationKind } from '@contractrl/core';
import { hasPathBelow, hasTransfer, transferPlaces, type LivePlace, type PathSet } from '@contractrl/core/schema';
import { isChurn, NO_HISTORY, type OutputHistory } from './churn.ts';
import { createDistance, isGoal, operationIn } from './goal.ts';

export interface PatchRules {
  /** No operation that changes nothing, or undoes or repeats an earlier one of the same output. */
  readonly excludeNoOps: boolean;
  /** A patch may close only where it makes the call valid. */
  readonly goal: boolean;
}

/** What is not to be spelled again behind the operations it names. */
export interface Ban {
  /** Texts of an output's operations; the last one is meant. */
  readonly operations: readonly string[];
  /** Whether no other value may be written at its path either: nothing could follow it, which was not the value's fault. */
  readonly anyValue: boolean;
}

/** What an output did before the operation at hand. */
export interface OutputPast {
  /** Their texts, kept where a goal is set. */
  readonly operations: readonly string[];
  readonly history: OutputHistory;
  /** Bans that hold behind these operations. */
  readonly bans: readonly Ban[];
}

export const NO_PAST: OutputPast = { operations: [], history: NO_HISTORY, bans: [] };

/**
 * Up to this many sources every pair of source and target is judged when the last operation is offered, about 20 µs each; above, a move or copy
 * that does not end in a valid call is found out when it closes.
 */
const MAX_JUDGED_SOURCES = 24;

export type WriteKind = 'add' | 'replace';

export class OperationOffers {
  readonly #contract: Contract;
  readonly #root: LivePlace;
  readonly #operationsLeft: number;
  readonly #rules: PatchRules;
  readonly #history: OutputHistory;
  /** Whether no rule and no ban binds. */
  readonly isPlain: boolean;
  readonly #banned: readonly (Operation & { readonly anyValue: boolean })[];
  readonly #paths: Readonly<Record<OperationKind, PathSet>>;
  #distance: ((path: JsonPointer) => number) | undefined;
  readonly #isJudged: Partial<Record<'remove' | 'move' | 'copy', boolean>> = {};
  readonly #verdicts = new Map<string, boolean>();

  /**
   * `hasValue` tells whether there is a value to write, once a place may be written. `known` is shared by all documents, as what may be written or
   * removed at a place then depends on that place alone; with rules it also depends on what the output did.
   */
  constructor(
    contract: Contract, root: LivePlace, operationsLeft: number, rules: PatchRules, { history, bans }: OutputPast,
    hasValue: (kind: WriteKind, place: LivePlace) => boolean, known: Readonly<Record<'add' | 'replace' | 'remove', WeakMap<LivePlace, boolean>>>,
  ) {
    this.#contract = contract;
    this.#root = root;
    this.#operationsLeft = operationsLeft;
    this.#rules = rules;
    this.#history = history;
    this.#banned = bans.flatMap(({ operations, anyValue }) => (operations.length === 1 ? [{ ...operationIn(operations[0] as string), anyValue }] : []));
    this.isPlain = !rules.excludeNoOps && !rules.goal && this.#banned.length === 0;
    const set = (kind: OperationKind, admits: (place: LivePlace) => boolean): PathSet => (
      { root, isOpen: kind === 'add', admits, known: this.isPlain && kind !== 'move' && kind !== 'copy' ? known[kind] : new WeakMap() }
    );
    this.#paths = {
      add: set('add', (place) => (place.value === undefined || place.arrayLength !== undefined) && place.canInsert && this.#mayWrite('add', place) && hasValue('add', place)),
      replace: set('replace', (place) => place.canReplace && this.#mayWrite('replace', place) && hasValue('replace', place)),
      remove: set('remove', (place) => place.canRemove && this.#isOffered({ op: 'remove', path: place.pointer })),
      move: set('move', (place) => this.#mayGive('move', place)),
      copy: set('copy', (place) => this.#mayGive('copy', place)),
    };
  }

  /** Whether an operation of the kind is offered. */
  offers(kind: OperationKind): boolean {
    return this.#operationsLeft > 0 && this.#contract.document.allowedOperations.includes(kind) && hasPathBelow(this.#paths[kind], this.#root);
  }

  /** The paths that an operation may name, or the sources of a move or copy. */
  paths(kind: OperationKind): PathSet {
    return this.#paths[kind];
  }

  targets(kind: 'move' | 'copy', from: LivePlace): PathSet {
    const { root, admits } = transferPlaces(this.#contract, this.#root, kind, from);
    return { root, isOpen: true, known: new WeakMap(), admits: (place) => admits(place) && this.#isOffered({ op: kind, from: from.pointer, path: place.pointer }) };
  }

  /** Values that must not be written at `place`, each once. */
  excludedValues(kind: WriteKind, { pointer, value }: LivePlace): readonly JsonValue[] {
    const present = this.#rules.excludeNoOps && kind === 'replace' ? [value as JsonValue] : [];
    const banned = this.#banned.flatMap((operation) => ('value' in operation && operation.op === kind && operation.path === pointer ? [operation.value] : []));
    return [...present, ...banned];
  }

  /** As far as no value is known. */
  #mayWrite(kind: WriteKind, { pointer }: LivePlace): boolean {
    return this.isPlain || (!(this.#rules.excludeNoOps && this.#isChurn({ op: kind, path: pointer }))
      && !this.#banned.some((banned) => banned.anyValue && banned.op === kind && banned.path === pointer)
      && !(this.#rules.goal && this.#isTooFar(pointer)));
  }

  #mayGive(kind: 'move' | 'copy', from: LivePlace, mayGo = ({ pointer }: LivePlace): boolean => this.#isOffered({ op: kind, from: from.pointer, path: pointer })): boolean {
    return from.canGive(kind) && hasTransfer(this.#contract, this.#root, kind, from, mayGo);
  }

  /** For an operation about which nothing is open. */
  #isOffered(operation: Exclude<Operation, { readonly value: JsonValue }>): boolean {
    if (this.isPlain) return true;
    if (this.#rules.excludeNoOps && this.#isChurn(operation)) return false;
    if (this.#banned.some(({ anyValue: _, ...banned }) => jsonEqual(banned as unknown as JsonValue, operation as unknown as JsonValue))) return false;
    if (!this.#rules.goal || this.#operationsLeft !== 1 || !this.#mayJudge(operation.op)) return true;
    const key = JSON.stringify(operation);
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) this.#verdicts.set(key, verdict = isGoal(this.#contract, applyAdmitted(this.#document, operation)));
    return verdict;
  }

  #mayJudge(kind: 'remove' | 'move' | 'copy'): boolean {
    return this.#isJudged[kind] ??= kind === 'remove' || [...this.#root.all()].filter((from) => this.#mayGive(kind, from, () => true)).length <= MAX_JUDGED_SOURCES;
  }

  /** Whether a value at `path` leaves more violations alone than the operations after it can reach. */
  #isTooFar(path: JsonPointer): boolean {
    this.#distance ??= createDistance(this.#contract, this.#document);
    return this.#distance(path) >= this.#operationsLeft;
  }

  #isChurn(operation: Parameters<typeof isChurn>[2]): boolean {
    return isChurn(this.#history, this.#document, operation, this.#contract.document.allowedOperations);
  }

  get #document(): JsonValue {
    return this.#root.value as JsonValue;
  }
}
