/**
 * Which of the admissible operations a mask offers next: all of them, or, by the rules it was compiled with, without those that change nothing,
 * take back what the output has done, cannot end in a valid call, or were banned after they missed. Values are excluded by their spelling.
 */
import {
  actionMask, jsonEqual, parsePatch, resolvePointer,
  type ActionMask, type Contract, type JsonPointer, type JsonValue, type Operation, type TransferTargets,
} from '@contractrl/core';
import { isChurn, NO_HISTORY, type OutputHistory } from './churn.ts';
import { createDistance, reachesGoal } from './goal.ts';

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

export class OperationOffers {
  readonly #contract: Contract;
  readonly #document: JsonValue;
  readonly #operationsLeft: number;
  readonly #rules: PatchRules;
  readonly #history: OutputHistory;
  readonly #banned: readonly (Operation & { readonly anyValue: boolean })[];
  readonly #admissible: ActionMask;
  #distance: ((path: JsonPointer) => number) | undefined;
  readonly #verdicts = new Map<string, boolean>();

  constructor(contract: Contract, document: JsonValue, operationsLeft: number, rules: PatchRules, { history, bans }: OutputPast) {
    this.#contract = contract;
    this.#document = document;
    this.#operationsLeft = operationsLeft;
    this.#rules = rules;
    this.#history = history;
    this.#banned = bans.flatMap(({ operations, anyValue }) => (operations.length === 1 ? operationOf(operations[0] as string).map((operation) => ({ ...operation, anyValue })) : []));
    this.#admissible = actionMask(contract, document, operationsLeft);
  }

  /** Where a value may be written, as far as no value is known. */
  valuePaths(kind: 'add' | 'replace'): readonly JsonPointer[] {
    const isOffered = (path: JsonPointer): boolean => !(this.#rules.excludeNoOps && this.#isChurn({ op: kind, path }))
      && !this.#banned.some((banned) => banned.anyValue && banned.op === kind && banned.path === path)
      && !(this.#rules.goal && this.#isTooFar(path));
    return this.#admissible[kind].filter(isOffered);
  }

  /** Values that must not be written at `path`, each once. */
  excludedValues(kind: 'add' | 'replace', path: JsonPointer): readonly JsonValue[] {
    const present = this.#rules.excludeNoOps && kind === 'replace' ? [resolvePointer(this.#document, path) as JsonValue] : [];
    const banned = this.#banned.flatMap((operation) => ((operation.op === 'add' || operation.op === 'replace') && operation.op === kind && operation.path === path ? [operation.value] : []));
    return [...present, ...banned];
  }

  removals(): readonly JsonPointer[] {
    return this.#admissible.remove.filter((path) => this.#isOffered({ op: 'remove', path }, true));
  }

  sources(kind: 'move' | 'copy'): readonly TransferTargets[] {
    const transfers = this.#admissible[kind];
    if (!this.#rules.excludeNoOps && !this.#rules.goal && this.#banned.length === 0) return transfers;
    return transfers.filter((transfer) => transfer.some((path) => this.#isOffered({ op: kind, from: transfer.from, path }, transfers.length <= MAX_JUDGED_SOURCES)));
  }

  targets(kind: 'move' | 'copy', { from, paths }: TransferTargets): readonly JsonPointer[] {
    return paths().filter((path) => this.#isOffered({ op: kind, from, path }, this.#admissible[kind].length <= MAX_JUDGED_SOURCES));
  }

  /** For an operation about which nothing is open. */
  #isOffered(operation: Exclude<Operation, { readonly value: JsonValue }>, mayJudge: boolean): boolean {
    if (this.#rules.excludeNoOps && this.#isChurn(operation)) return false;
    if (this.#banned.some(({ anyValue: _, ...banned }) => jsonEqual(banned as unknown as JsonValue, operation as unknown as JsonValue))) return false;
    if (!this.#rules.goal || this.#operationsLeft !== 1 || !mayJudge) return true;
    const key = JSON.stringify(operation);
    let verdict = this.#verdicts.get(key);
    if (verdict === undefined) {
      verdict = reachesGoal(this.#contract, this.#document, operation, this.#operationsLeft);
      this.#verdicts.set(key, verdict);
    }
    return verdict;
  }

  /** Whether a value at `path` leaves more violations alone than the operations after it can reach. */
  #isTooFar(path: JsonPointer): boolean {
    this.#distance ??= createDistance(this.#contract, this.#document);
    return this.#distance(path) >= this.#operationsLeft;
  }

  #isChurn(operation: Parameters<typeof isChurn>[2]): boolean {
    return isChurn(this.#history, this.#document, operation, this.#contract.document.allowedOperations);
  }
}

function operationOf(text: string): readonly Operation[] {
  const patch = parsePatch(`[${text}]`);
  return patch.ok ? patch.value : [];
}
