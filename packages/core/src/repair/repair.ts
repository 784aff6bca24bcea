/**
 * The repair loop: Observe → Patch → Validate → Retry → Freeze. One failed call goes in, one outcome comes out, and nothing is executed.
 * The policy is an injected port whose text is trusted in nothing: it is parsed, admitted, applied to a copy, serialised, read back and
 * judged like any stranger's. Both budgets come from the contract and are hard; whatever is not accepted carries no arguments.
 */
import { loadContract, type Contract } from '../contract/contract.ts';
import type { RepairRequest } from '../intake/request.ts';
import { formatIssue } from '../issue.ts';
import { deepFreeze, readJsonValue, type JsonObject } from '../json/value.ts';
import { applyPatch } from '../patch/apply.ts';
import { parsePatch, type Patch } from '../patch/operation.ts';
import { ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { err, type Result } from '../result.ts';
import type { Violation } from '../validate/violation.ts';
import { readAbstention } from './abstention.ts';
import { judgeArguments, lossyNumbers, type Judgement } from './accepted-call.ts';
import { abstentionEntry, addCosts, attemptEntry, close, NO_COST, type Case, type Ending, type Progress } from './close.ts';
import type { RepairOutcome } from './outcome.ts';
import type { AbortSignalLike, Observation, Proposal, ProposalCost, Proposer, ProposerFailure } from './proposer.ts';
import { openRepair, type InvalidReport, type RepairState } from './state.ts';
import { refuse, STILL_INVALID, transition } from './transition.ts';

export interface RepairOptions {
  /** Looked at between the stages; a proposal that comes back after the abort is dropped. */
  readonly signal?: AbortSignalLike;
  /** For the ledger: the seed the proposer samples with. */
  readonly seed?: number;
  /** For the ledger: configuration and source revision of the run. */
  readonly manifest?: JsonObject;
}

/** The verdict of the patch that made the call acceptable. */
export const ACCEPTED = 'accepted';

const NEVER_ABORTED: AbortSignalLike = { aborted: false };

const NO_PROGRESS: Progress = {
  entries: [], history: [], applied: [], before: undefined, after: undefined, reported: [], validatorCalls: 0, cost: NO_COST, confidence: undefined, signals: [],
};

/**
 * Repairs one failed call, or says why not. Wrong data and a failing proposer end in an outcome; only a `request` that no reader
 * would give (values that are not JSON) is a TypeError. At most `attemptBudget` calls of `proposer.propose`, one after another.
 */
export async function repairCall(request: RepairRequest, proposer: Proposer, options: RepairOptions = {}): Promise<RepairOutcome> {
  const { signal = NEVER_ABORTED, seed } = options;
  const context = snapshot(request.context, 'request.context');
  const { id, toolNames, call: { name }, finishReason = null } = request;
  snapshot({ id, toolNames, name, finishReason }, 'request');
  const fixed = {
    request: { ...request, context }, seed,
    proposer: snapshot(proposer.identity, 'proposer.identity'), manifest: snapshot(options.manifest ?? {}, 'options.manifest'),
  };

  // Observe
  const contract = loadContract(request.contract);
  if (!contract.ok) return close({ ...fixed, contract: undefined, report: [] }, NO_PROGRESS, failed(contract.error.code, formatIssue(contract.error)));
  const opening = observe(contract.value, fixed.request);
  const of: Case = { ...fixed, contract: contract.value, report: opening.report };
  if (opening.kind === 'ended') return close(of, opening.progress, opening.ending);

  let step: OpenStep = opening;
  for (;;) {
    const exhausted = exhaustion(step.state);
    if (exhausted !== undefined) return close(of, step.progress, exhausted);
    if (signal.aborted) return close(of, step.progress, ABORTED);

    // Patch
    const { state, violations } = step;
    const observation: Observation = Object.freeze({ contract: contract.value, request: request.request, context, state, violations });
    const proposed = await propose(proposer, observation, signal);
    if (signal.aborted) return close(of, step.progress, ABORTED);
    if (!proposed.ok) return close(of, step.progress, failed(proposed.error.code, proposed.error.message));

    // Validate, and Retry where it leaves the repair open
    const next = answer(contract.value, of.request, step, proposed.value);
    if (next.kind === 'ended') return close(of, next.progress, next.ending);
    step = next;
  }
}

interface OpenStep {
  readonly kind: 'open';
  readonly progress: Progress;
  readonly state: RepairState;
  readonly violations: InvalidReport['violations'];
  /** Numbers the first reading had to round; none of them may be dispatched. */
  readonly lossy: ReadonlySet<number>;
}
type Step = OpenStep | { readonly kind: 'ended'; readonly progress: Progress; readonly ending: Ending };

/** The call as it arrived: ended where there is nothing to repair or nothing that can be repaired. */
function observe(contract: Contract, request: RepairRequest): Step & { readonly report: readonly Violation[] } {
  const { name, argumentsText } = request.call;
  const { tool, attemptBudget, operationBudget } = contract.document;
  if (name !== tool.name || !request.toolNames.includes(name)) {
    const report = [violationAtRoot('tool_unknown', { name, offered: request.toolNames })];
    return { kind: 'ended', report, progress: NO_PROGRESS, ending: abstained('unknown-tool') };
  }
  const judgement = judgeArguments(contract, argumentsText, request.context);
  const progress: Progress = { ...NO_PROGRESS, validatorCalls: 1 };
  if (judgement.kind !== 'invalid') return { kind: 'ended', report: reportOf(judgement), progress, ending: endingOf(judgement, 'valid') };

  const { report, value } = judgement;
  if (value === undefined) {
    const cut = violationAtRoot('json_truncated', { finishReason: 'length' });
    const wasCut = request.finishReason === 'length' && report.violations.every(({ code }) => code !== 'json_truncated');
    return { kind: 'ended', report: wasCut ? [...report.violations, cut] : report.violations, progress, ending: abstained('unreadable-arguments') };
  }
  const seen: Progress = { ...progress, before: value, after: value, reported: pointersOf(report) };
  if (attemptBudget === 0 || operationBudget === 0) return { kind: 'ended', report: report.violations, progress: seen, ending: abstained('over-budget') };
  const state = openRepair(contract, report, value);
  return { kind: 'open', report: report.violations, progress: seen, state, violations: report.violations, lossy: lossyNumbers(report, value) };
}

/** What the gate and the validator say of a proposal: the next step, or the end. Pure. */
function answer(contract: Contract, request: RepairRequest, step: OpenStep, proposal: Proposal): Step {
  const { state } = step;
  const progress: Progress = {
    ...step.progress,
    cost: addCosts(step.progress.cost, proposal.cost),
    confidence: proposal.kind === 'text' ? proposal.confidence : undefined,
    signals: [...step.progress.signals, proposal.signals ?? null],
  };
  const attempt = (patch: Patch | undefined, verdict: string, report: readonly Violation[]): Pick<Progress, 'entries'> => ({
    entries: [...progress.entries, attemptEntry(request.id, state.history.length + 1, proposal, patch, verdict, report)],
  });
  const refused = (patch: Patch | undefined, verdict: string, validatorCalls = progress.validatorCalls): OpenStep => {
    const next = refuse(state, patch, verdict);
    return { ...step, state: next, progress: { ...progress, ...attempt(patch, verdict, step.violations), history: next.history, validatorCalls } };
  };

  if (proposal.kind === 'incomplete') return refused(undefined, proposal.code);
  const code = readAbstention(proposal.text);
  if (code !== undefined) {
    const { reason, status } = abstained(code);
    const entries = [...progress.entries, abstentionEntry(request.id, proposal, reason)];
    return { kind: 'ended', progress: { ...progress, entries }, ending: { status, reason } };
  }
  const parsed = parsePatch(proposal.text);
  if (!parsed.ok) return refused(undefined, parsed.error.code);
  const patch = parsed.value;
  const document = applyPatch(contract, state.candidate, patch, state.operationsLeft);
  if (!document.ok) return refused(patch, document.error.code);

  // What is judged is what would be sent: the candidate is read back from its serialised bytes.
  const judgement = judgeArguments(contract, JSON.stringify(document.value), request.context, step.lossy);
  const applied = [...progress.applied, ...patch];
  const validatorCalls = progress.validatorCalls + 1;
  if (judgement.kind === 'invalid') {
    const { report, value } = judgement;
    if (value === undefined) return refused(patch, UNREADABLE_RESULT, validatorCalls);
    const next = transition(state, patch, value, report);
    const reported = [...progress.reported, ...pointersOf(report)];
    return {
      kind: 'open', state: next, violations: report.violations, lossy: step.lossy,
      progress: { ...progress, ...attempt(patch, STILL_INVALID, report.violations), history: next.history, applied, after: value, reported, validatorCalls },
    };
  }
  const verdict = judgement.kind === 'accepted' ? ACCEPTED : judgement.reason;
  const report = reportOf(judgement);
  const history = deepFreeze([...state.history, { patch, verdict, code: report[0]?.code, pointer: report[0]?.pointer }]);
  return {
    kind: 'ended', ending: endingOf(judgement, 'repaired'),
    progress: { ...progress, ...attempt(patch, verdict, report), history, applied, after: document.value, validatorCalls },
  };
}

/** The document after the patch, serialised, is beyond the reader's limits. */
const UNREADABLE_RESULT = 'repair/unreadable-result';

const ABORTED: Ending = failed('repair/aborted', 'The repair was cancelled. The original call is unchanged; run it again to repair it.');

function exhaustion({ attemptsLeft, operationsLeft }: RepairState): Ending | undefined {
  if (attemptsLeft > 0 && operationsLeft > 0) return undefined;
  const what = attemptsLeft > 0 ? 'operation' : 'attempt';
  const message = `Every ${what} the contract allows is spent and the call is still not valid. The original call is unchanged; ask the model for a new one.`;
  return failed(`repair/${what}s-exhausted`, message);
}

/** The proposer is foreign code: what it throws, and what is no proposal, ends the repair like any other failure of the world. */
async function propose(proposer: Proposer, observation: Observation, signal: AbortSignalLike): Promise<Result<Proposal, ProposerFailure>> {
  try {
    const proposed = await proposer.propose(observation, signal);
    if (!proposed.ok || isProposal(proposed.value)) return proposed;
    return err({ code: 'repair/bad-proposal', message: 'The proposer gave back something that is no proposal. The original call is unchanged.' });
  } catch (cause) {
    return err({ code: 'repair/proposer-threw', message: `The proposer failed: ${String(cause)}. The original call is unchanged.`, cause });
  }
}

/** The types say so already; what is no JSON would spoil the ledger row. */
function isProposal(proposal: Proposal): boolean {
  const costs = Object.keys(NO_COST).map((name) => proposal.cost[name as keyof ProposalCost]);
  const figures = [...costs, proposal.kind === 'text' ? (proposal.confidence ?? 0) : 0];
  const isRecordable = readJsonValue([proposal.signals ?? null, (proposal.maskTrail ?? null) as JsonObject | null]).ok;
  return typeof proposal.text === 'string' && isRecordable && figures.every(Number.isFinite) && (proposal.kind === 'text' || typeof proposal.code === 'string');
}

function endingOf(judgement: Exclude<Judgement, { readonly kind: 'invalid' }>, status: 'valid' | 'repaired'): Ending {
  if (judgement.kind === 'accepted') return { status, call: judgement.call };
  return { status: 'rejected', reason: judgement.reason, params: judgement.params };
}

function reportOf(judgement: Judgement): readonly Violation[] {
  return judgement.kind === 'accepted' ? [] : judgement.report.violations;
}

function abstained(code: string): Extract<Ending, { readonly status: 'abstained' }> {
  return { status: 'abstained', reason: `abstain/${code}` };
}

function failed(reason: string, message: string): Ending {
  return { status: 'failed', reason, message };
}

function violationAtRoot(code: Violation['code'], params: JsonObject): Violation {
  return { code, pointer: ROOT_POINTER, keyword: '', keywordLocation: '', params };
}

function pointersOf(report: InvalidReport): readonly JsonPointer[] {
  return report.violations.map((violation) => violation.pointer);
}

/** What the host hands in may be live state: gates, the policy and the ledger see it as it was when the repair began. */
function snapshot(value: JsonObject, name: string): JsonObject {
  const copy = readJsonValue(value);
  if (!copy.ok) throw new TypeError(`${name} is not JSON: ${copy.error.code} at "${copy.error.pointer}"`);
  return copy.value as JsonObject;
}
