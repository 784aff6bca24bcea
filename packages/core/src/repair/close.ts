/** The last stage, Freeze: what the loop did becomes ledger entries, one sealed trace and the outcome. Nothing here decides anything. */
import type { Contract } from '../contract/contract.ts';
import type { DeterministicRule } from '../deterministic/deterministic-patch.ts';
import type { RepairRequest } from '../intake/request.ts';
import { digestOf, digestOfText } from '../json/digest.ts';
import { deepFreeze, type JsonObject, type JsonValue } from '../json/value.ts';
import { countCollateral, type Collateral } from '../ledger/collateral.ts';
import { LEDGER_VERSION, recordText, type AbstentionEntry, type AttemptEntry, type ClosedEntry, type DeterministicEntry, type OpenedEntry, type OpenedReading, type TokenCounts } from '../ledger/entry.ts';
import { freeze } from '../ledger/freeze.ts';
import type { Patch } from '../patch/operation.ts';
import type { JsonPointer } from '../pointer.ts';
import { writtenSince, type Traced, type WrittenValue } from '../provenance/written.ts';
import { assertNever } from '../result.ts';
import type { Violation } from '../validate/violation.ts';
import type { AcceptedCall } from './accepted-call.ts';
import type { RepairOutcome } from './outcome.ts';
import type { Proposal, ProposalCost } from './proposer.ts';
import type { HistoryEntry } from './state.ts';

/** How the loop ended. */
export type Ending =
  | { readonly status: 'valid'; readonly call: AcceptedCall }
  | { readonly status: 'repaired'; readonly call: AcceptedCall }
  | { readonly status: 'abstained'; readonly reason: string }
  | { readonly status: 'rejected'; readonly reason: string; readonly params: JsonObject }
  | { readonly status: 'failed'; readonly reason: string; readonly message: string };

/** What is fixed before the first proposal. */
export interface Case {
  readonly request: RepairRequest;
  /** Undefined where it could not be loaded. */
  readonly contract: Contract | undefined;
  readonly report: readonly Violation[];
  readonly isDeterministic: boolean;
  /** Absent where the call is taken as it stands. */
  readonly reading?: OpenedReading;
  readonly proposer: JsonObject;
  readonly seed: number | undefined;
  readonly manifest: JsonObject;
}

/** What the attempts added up to. */
export interface Progress {
  readonly entries: readonly (DeterministicEntry | AttemptEntry | AbstentionEntry)[];
  readonly history: readonly HistoryEntry[];
  /** Every applied operation, in order. */
  readonly applied: Patch;
  /** The arguments before the first and after the last applied patch, these with their origins; undefined where the text could not be read. */
  readonly before: JsonValue | undefined;
  readonly after: Traced | undefined;
  /** Every pointer the verifier named. */
  readonly reported: readonly JsonPointer[];
  readonly validatorCalls: number;
  readonly cost: ProposalCost;
  readonly confidence: number | undefined;
  /** One element a proposal. */
  readonly signals: readonly (JsonObject | null)[];
}

/** The verdict of the patch that made the call acceptable. */
export const ACCEPTED = 'accepted';

export const NO_COST: ProposalCost = { promptTokenCount: 0, generatedTokenCount: 0, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };

export const NO_PROGRESS: Progress = {
  entries: [], history: [], applied: [], before: undefined, after: undefined, reported: [], validatorCalls: 0, cost: NO_COST, confidence: undefined, signals: [],
};

export function addCosts(a: ProposalCost, b: ProposalCost): ProposalCost {
  return {
    promptTokenCount: a.promptTokenCount + b.promptTokenCount,
    generatedTokenCount: a.generatedTokenCount + b.generatedTokenCount,
    forcedTokenCount: a.forcedTokenCount + b.forcedTokenCount,
    prefillMs: a.prefillMs + b.prefillMs,
    decodeMs: a.decodeMs + b.decodeMs,
    maskMs: a.maskMs + b.maskMs,
  };
}

export function tokenCounts(cost: ProposalCost): TokenCounts {
  return { prompt: cost.promptTokenCount, generated: cost.generatedTokenCount, forced: cost.forcedTokenCount };
}

export function attemptEntry(
  caseId: string, number: number, proposal: Proposal, patch: Patch | undefined, verdict: string, report: readonly Violation[], written: readonly WrittenValue[],
): AttemptEntry {
  return {
    kind: 'attempt', caseId, number, proposal: recordText(proposal.text), isComplete: proposal.kind === 'text', patch: patch ?? null, verdict, report,
    ...(written.length === 0 ? {} : { written }), ...recordMask(proposal),
  };
}

export function abstentionEntry(caseId: string, proposal: Extract<Proposal, { readonly kind: 'text' }>, verdict: string): AbstentionEntry {
  return { kind: 'abstention', caseId, proposal: recordText(proposal.text), verdict, ...recordMask(proposal) };
}

function recordMask({ cost, maskDigest, maskTrail }: Proposal): Pick<AttemptEntry, 'tokens' | 'maskDigest' | 'maskTrail'> {
  return { tokens: tokenCounts(cost), maskDigest: maskDigest ?? null, ...(maskTrail === undefined ? {} : { maskTrail }) };
}

/** Seals the trace and makes the outcome. */
export function close(of: Case, progress: Progress, ending: Ending): RepairOutcome {
  const { request, contract, report } = of;
  const { before, after } = progress;
  const written = before === undefined || after === undefined ? [] : deepFreeze(writtenSince(before, after));
  const closed = closedEntry(request.id, contract, progress, ending, written);
  const { prefillMs, decodeMs, maskMs } = progress.cost;
  const { confidence, signals } = progress;
  const frozen = freeze([
    openedEntry(of),
    ...progress.entries,
    closed,
    { kind: 'resources', caseId: request.id, prefillMs, decodeMs, maskMs, confidence: confidence ?? null, ...(signals.some((each) => each !== null) ? { signals } : {}) },
  ]);
  const base = {
    id: request.id, name: of.reading?.toolName ?? request.call.name, reports: report, reading: of.reading, rules: rulesOf(progress), history: progress.history, attempts: closed.attempts, operations: closed.operations,
    confidence, cost: progress.cost, ledger: frozen.digest, frozen,
  };
  switch (ending.status) {
    case 'valid':
    case 'repaired': {
      const { call } = ending;
      const accepted = { ...base, accepted: call, argumentsText: call.argumentsText, arguments: call.arguments };
      const { status } = ending;
      return Object.freeze(status === 'valid' ? { ...accepted, status } : { ...accepted, status, patch: progress.applied, written });
    }
    case 'abstained':
    case 'rejected':
    case 'failed':
      return Object.freeze({ ...base, ...ending });
    default:
      return assertNever(ending);
  }
}

function rulesOf({ entries: [first] }: Progress): readonly DeterministicRule[] {
  return first?.kind === 'deterministic' ? first.rules : [];
}

function openedEntry({ request, contract, report, isDeterministic, reading, proposer, seed, manifest }: Case): OpenedEntry {
  return {
    kind: 'opened',
    version: LEDGER_VERSION,
    caseId: request.id,
    contractDigest: contract?.digest ?? null,
    contract: (contract?.document ?? null) as JsonObject | null,
    call: { name: request.call.name, arguments: recordText(request.call.argumentsText) },
    toolNames: request.toolNames,
    finishReason: request.finishReason ?? null,
    context: request.context,
    requestDigest: digestOfText(JSON.stringify(request.request)),
    request: request.request.map(({ role, content }) => ({ role, content: recordText(content) })),
    report,
    ...(isDeterministic ? { deterministic: true } : {}),
    ...(reading === undefined ? {} : { reading }),
    proposer,
    seed: seed ?? null,
    manifest,
  };
}

function closedEntry(caseId: string, contract: Contract | undefined, progress: Progress, ending: Ending, written: readonly WrittenValue[]): ClosedEntry {
  const attempts = progress.entries.filter((entry) => entry.kind === 'attempt').length;
  const operations = progress.applied.length;
  const isAccepted = ending.status === 'valid' || ending.status === 'repaired';
  const { before, after } = progress;
  const collateral: Collateral = before === undefined || after === undefined
    ? { collateralOp: 0, collateralPtr: 0 }
    : countCollateral(before, after.document, progress.applied, progress.reported);
  return {
    kind: 'closed',
    caseId,
    status: ending.status,
    reason: isAccepted ? null : ending.reason,
    params: ending.status === 'rejected' ? ending.params : {},
    patch: ending.status === 'repaired' ? progress.applied : null,
    ...(ending.status === 'repaired' ? { written } : {}),
    argumentsDigest: isAccepted ? digestOf(ending.call.arguments) : null,
    attempts,
    retries: Math.max(attempts - 1, 0),
    operations,
    attemptsLeft: (contract?.document.attemptBudget ?? attempts) - attempts,
    operationsLeft: (contract?.document.operationBudget ?? operations) - operations,
    validatorCalls: progress.validatorCalls,
    ...collateral,
  };
}
