/**
 * How an attempt moves the state. Every proposal costs one attempt; only an applied patch also costs its operations and
 * replaces the candidate. States are values: each step gives a new frozen one, and the history only grows.
 */
import { cloneJson, deepFreeze, type JsonValue } from '../json/value.ts';
import type { Patch } from '../patch/operation.ts';
import type { HistoryEntry, InvalidReport, RepairState } from './state.ts';

/** The verdict of a patch that was applied and left the call invalid. */
export const STILL_INVALID = 'repair/still-invalid';

/** An applied patch: `candidate` is the document read back from its serialised bytes, `report` what the validator says of it. */
export function transition(state: RepairState, patch: Patch, candidate: JsonValue, report: InvalidReport): RepairState {
  const [{ code, pointer }] = report.violations;
  return deepFreeze({
    candidate: cloneJson(candidate),
    code,
    pointer,
    history: extend(state, { patch, verdict: STILL_INVALID, code, pointer }),
    attemptsLeft: state.attemptsLeft - 1,
    operationsLeft: state.operationsLeft - patch.length,
  });
}

/** A proposal that was refused with `verdict` (`patch/…`, `mask/…`, `engine/…`): the candidate and its report stay. */
export function refuse(state: RepairState, patch: Patch | undefined, verdict: string): RepairState {
  const { code, pointer } = state;
  return deepFreeze({ ...state, history: extend(state, { patch, verdict, code, pointer }), attemptsLeft: state.attemptsLeft - 1 });
}

function extend(state: RepairState, entry: HistoryEntry): readonly HistoryEntry[] {
  return [...state.history, entry];
}
