/**
 * The frame of the arms that answer with a whole object at once (CHECKLIST K1, K2, K10): the call is judged as it arrived, the method has
 * one shot, and what it writes must pass the same reader, validator, gates and immutable paths as a patch before it counts as
 * dispatched. Every step goes into a trace that is frozen like a repair's.
 */
import {
  ACCEPTED, digestOf, digestOfText, freeze, jsonEqual, judgeArguments, loadContract, parseJson, recordText, resolvePointer, type AbortSignalLike,
  type AttemptEntry, type ClosedEntry, type Contract, type JsonObject, type JsonPointer, type JsonValue, type LedgerEntry, type OpenedEntry,
  type RepairRequest, type Violation,
} from '@contractrl/core';
import type { RepairRecord } from '@contractrl/core/records';
import type { Arm, ArmAnswer, Clock } from './arm.ts';

export interface ShotCost {
  readonly tokens: RepairRecord['tokens'];
  readonly prefillMs: number;
  readonly decodeMs: number;
  readonly maskMs: number;
}

export const NO_COST: ShotCost = { tokens: { prompt: 0, generated: 0, forced: 0 }, prefillMs: 0, decodeMs: 0, maskMs: 0 };

export type Shot =
  /** The text of a whole arguments object; `isComplete` is false where it was cut. */
  | { readonly kind: 'text'; readonly text: string; readonly isComplete: boolean; readonly cost: ShotCost }
  /** The method has nothing to offer. */
  | { readonly kind: 'declined'; readonly reason: string; readonly cost: ShotCost }
  /** The method could not run at all. */
  | { readonly kind: 'failed'; readonly reason: string; readonly cost: ShotCost };

export interface SingleShotMethod extends Pick<Arm, 'name' | 'description' | 'identity'> {
  /** `violations`: the verifier's report on the call as it arrived. */
  shoot(contract: Contract, request: RepairRequest, violations: readonly Violation[], signal: AbortSignalLike): Promise<Shot>;
}

/** Text that holds a rounded number is refused when it is read; nothing that was rounded gets this far. */
const NO_NUMBERS: ReadonlySet<number> = new Set();

/** What the arm ends with; `attempt` is the shot, where there was one. */
interface Ending {
  readonly status: RepairRecord['status'];
  readonly reason?: string;
  readonly arguments?: JsonObject;
  readonly violations: readonly Violation[];
  readonly attempt?: { readonly text: string; readonly isComplete: boolean; readonly verdict: string; readonly report: readonly Violation[] };
  readonly cost: ShotCost;
}

export function singleShot(method: SingleShotMethod, clock: Clock): Arm {
  const { name, description, identity } = method;
  return {
    name,
    description,
    output: 'object',
    identity,
    async answer(request, signal) {
      const startedAt = clock();
      const contract = loadContract(request.contract);
      const ending: Ending = contract.ok
        ? await settle(method, contract.value, request, signal)
        : { status: 'failed', reason: contract.error.code, violations: [], cost: NO_COST };
      return toAnswer(request, contract.ok ? contract.value : undefined, identity, ending, clock() - startedAt);
    },
  };
}

async function settle(method: SingleShotMethod, contract: Contract, request: RepairRequest, signal: AbortSignalLike): Promise<Ending> {
  if (request.call.name !== request.contract.tool.name) return { status: 'abstained', reason: 'abstain/unknown-tool', violations: [], cost: NO_COST };
  const arrived = judgeArguments(contract, request.call.argumentsText, request.context, NO_NUMBERS);
  if (arrived.kind === 'accepted') return { status: 'valid', arguments: arrived.call.arguments, violations: [], cost: NO_COST };
  if (arrived.kind === 'rejected') return { status: 'rejected', reason: arrived.reason, violations: [], cost: NO_COST };
  const { violations } = arrived.report;
  const shot = await method.shoot(contract, request, violations, signal);
  const { cost } = shot;
  if (shot.kind === 'failed') return { status: 'failed', reason: shot.reason, violations, cost };
  if (shot.kind === 'declined') return { status: 'abstained', reason: shot.reason, violations, cost };
  const { report, ...verdict } = shot.isComplete ? judgeShot(contract, request, shot.text) : { status: 'failed' as const, reason: 'shot/incomplete', report: violations };
  const attempt = { text: shot.text, isComplete: shot.isComplete, verdict: verdict.reason ?? ACCEPTED, report };
  return { ...verdict, violations, attempt, cost };
}

/** `report` is the verifier's on what the shot wrote. */
function judgeShot(contract: Contract, request: RepairRequest, text: string): Pick<Ending, 'status' | 'reason' | 'arguments'> & { readonly report: readonly Violation[] } {
  const judged = judgeArguments(contract, text, request.context, NO_NUMBERS);
  if (judged.kind === 'invalid') return { status: 'failed', reason: 'shot/still-invalid', report: judged.report.violations };
  if (judged.kind === 'rejected') return { status: 'rejected', reason: judged.reason, report: judged.report.violations };
  const original = parseJson(request.call.argumentsText);
  const before = original.ok ? original.value : undefined;
  const isEdited = contract.immutablePaths.some((pointer) => !isSame(before, judged.call.arguments, pointer));
  if (isEdited) return { status: 'failed', reason: 'shot/immutable-path', report: [] };
  return { status: 'repaired', arguments: judged.call.arguments, report: [] };
}

function isSame(before: JsonValue | undefined, after: JsonValue, pointer: JsonPointer): boolean {
  const [old, now] = [before === undefined ? undefined : resolvePointer(before, pointer), resolvePointer(after, pointer)];
  return old === undefined || now === undefined ? old === now : jsonEqual(old, now);
}

function toAnswer(request: RepairRequest, contract: Contract | undefined, identity: JsonObject, ending: Ending, totalMs: number): ArmAnswer {
  const { status, reason, violations, attempt, cost: { tokens, ...times } } = ending;
  const frozen = freeze(toEntries(request, contract, identity, ending));
  return {
    frozen,
    record: {
      id: request.id, status, name: request.call.name,
      ...(ending.arguments === undefined ? {} : { arguments: ending.arguments }),
      reports: violations.map(({ code, pointer, keyword, params }) => ({ code, pointer, keyword, params })),
      ...(reason === undefined ? {} : { reason }),
      attempts: attempt === undefined ? 0 : 1, operations: 0, confidence: null, tokens, timing: { totalMs, ...times }, ledger: frozen.digest,
    },
  };
}

function toEntries(request: RepairRequest, contract: Contract | undefined, identity: JsonObject, ending: Ending): readonly LedgerEntry[] {
  const { status, reason, violations, attempt, cost: { tokens, ...times } } = ending;
  const caseId = request.id;
  const opened: OpenedEntry = {
    kind: 'opened', caseId, contractDigest: contract?.digest ?? null, contract: (contract?.document ?? null) as JsonObject | null,
    call: { name: request.call.name, arguments: recordText(request.call.argumentsText) },
    toolNames: request.toolNames, finishReason: request.finishReason ?? null, context: request.context,
    requestDigest: digestOfText(JSON.stringify(request.request)), report: violations, proposer: identity, seed: null, manifest: {},
  };
  const attempts: readonly AttemptEntry[] = attempt === undefined ? [] : [{
    kind: 'attempt', caseId, number: 1, proposal: recordText(attempt.text), isComplete: attempt.isComplete, patch: null, verdict: attempt.verdict,
    report: attempt.report, tokens, maskDigest: null,
  }];
  const closed: ClosedEntry = {
    kind: 'closed', caseId, status, reason: reason ?? null, params: {}, patch: null,
    argumentsDigest: ending.arguments === undefined ? null : digestOf(ending.arguments),
    attempts: attempts.length, retries: 0, operations: 0, attemptsLeft: 0, operationsLeft: 0, validatorCalls: 1 + attempts.length,
    collateralOp: 0, collateralPtr: 0,
  };
  return [opened, ...attempts, closed, { kind: 'resources', caseId, ...times, confidence: null }];
}
