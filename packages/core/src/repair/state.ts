/**
 * The public state of a repair, with exactly the six parts of the decision process:
 * candidate x, verifier code e, pointer q, history h, attempts left b, operations left k.
 */
import type { Contract } from '../contract/contract.ts';
import { cloneJson, deepFreeze, type JsonValue } from '../json/value.ts';
import type { Patch } from '../patch/operation.ts';
import type { JsonPointer } from '../pointer.ts';
import type { ValidationReport, ViolationCode } from '../validate/violation.ts';

export interface RepairState {
  readonly candidate: JsonValue;
  readonly code: ViolationCode;
  readonly pointer: JsonPointer;
  readonly history: readonly HistoryEntry[];
  readonly attemptsLeft: number;
  readonly operationsLeft: number;
}

/** One spent attempt: what was proposed and what the gate or the verifier answered. */
export interface HistoryEntry {
  readonly patch: Patch | undefined;
  readonly verdict: string;
  readonly code: ViolationCode | undefined;
  readonly pointer: JsonPointer | undefined;
}

/** The report of a candidate that needs repair: there is always a first violation. */
export type InvalidReport = Extract<ValidationReport, { readonly kind: 'invalid' }>;

/** The state before the first attempt, deep-frozen; budgets are whole, save for operations that the deterministic step took. `candidate` is copied: the caller's own value stays as it was. */
export function openRepair(
  contract: Contract, report: InvalidReport, candidate: JsonValue, operationsLeft: number = contract.document.operationBudget,
): RepairState {
  const [{ code, pointer }] = report.violations;
  const { attemptBudget } = contract.document;
  return deepFreeze({ candidate: cloneJson(candidate), code, pointer, history: [], attemptsLeft: attemptBudget, operationsLeft });
}
