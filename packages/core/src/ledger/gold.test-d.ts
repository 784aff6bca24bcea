/** Compile-time separation: a line marked `@ts-expect-error` that compiled would fail the type check. */
import type { JsonValue } from '../json/value.ts';
import type { Dispatch, Executor } from '../execute/executor.ts';
import type { AcceptedCall } from '../repair/accepted-call.ts';
import type { GateInput } from '../repair/gate.ts';
import type { RepairOutcome } from '../repair/outcome.ts';
import type { Observation } from '../repair/proposer.ts';
import type { RepairState } from '../repair/state.ts';
import type { LedgerEntry } from './entry.ts';
import type { FrozenRepair, RepairTrace } from './freeze.ts';
import { scoreFrozen, type Gold } from './gold.ts';

// checklist: F3, F6
declare const gold: Gold<{ readonly arguments: JsonValue }>;
declare const state: RepairState;
declare const observation: Observation;
declare const frozen: FrozenRepair;
declare const trace: RepairTrace;
declare const entries: readonly LedgerEntry[];
declare const outcome: RepairOutcome;
declare const executor: Executor;
declare function dispatch(call: AcceptedCall): void;

// A label is no JSON value, so no part of the online state can hold one.
// @ts-expect-error
export const asValue: JsonValue = gold;
// @ts-expect-error
export const inState: RepairState = { ...state, candidate: gold };
// @ts-expect-error
export const inHistory: RepairState = { ...state, history: [{ patch: gold, verdict: '', code: undefined, pointer: undefined }] };
// @ts-expect-error
export const inContext: Observation = { ...observation, context: { target: gold } };
// @ts-expect-error
export const beside: Observation = { ...observation, gold };
// @ts-expect-error
export const inLedger: LedgerEntry = { ...frozen.opened, context: { target: gold } };

// @ts-expect-error
export const inGate: GateInput = { tool: '', arguments: {}, state: { target: gold } };
// @ts-expect-error
export const toTool: Dispatch = { name: '', argumentsText: '', arguments: { target: gold }, idempotencyKey: frozen.digest };

// The state has six parts, no fewer and no more.
export const parts: Record<keyof RepairState, true> = { candidate: true, code: true, pointer: true, history: true, attemptsLeft: true, operationsLeft: true };

// Only a frozen repair is scored.
export const score: number = scoreFrozen(frozen, gold, (repair, label) => repair.proposals.length + (label.arguments === null ? 0 : 1));
// @ts-expect-error
scoreFrozen(trace, gold, () => 0);
// @ts-expect-error
scoreFrozen(entries, gold, () => 0);
// @ts-expect-error
scoreFrozen(state, gold, () => 0);
// @ts-expect-error
scoreFrozen(outcome, gold, () => 0);
// @ts-expect-error
scoreFrozen(frozen, { arguments: {} }, () => 0);

// Only what the validator accepted is dispatched.
if (outcome.status === 'repaired' || outcome.status === 'valid') dispatch(outcome.accepted);
// @ts-expect-error
dispatch({ name: 'transfer', argumentsText: '{}', arguments: {} });
// @ts-expect-error
if (outcome.status === 'abstained') dispatch(outcome.accepted);
// @ts-expect-error
if (outcome.status === 'failed') dispatch(outcome.arguments);
// @ts-expect-error
void executor.execute('case', { name: 'transfer', argumentsText: '{}', arguments: {} });
