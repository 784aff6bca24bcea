/**
 * The repair loop: Observe → Patch → Validate → Retry → Freeze. One failed call goes in, one outcome comes out, and nothing is executed.
 * The policy is an injected port whose text is trusted in nothing: it is parsed, admitted, applied to a copy, serialised, read back and
 * judged like any stranger's. Both budgets come from the contract and are hard; whatever is not accepted carries no arguments.
 */
import { loadContract, type Contract, type ContractIssue } from '../contract/contract.ts';
import { runBounded, type TimeBound } from '../execute/bounded.ts';
import type { RepairRequest } from '../intake/request.ts';
import { deepFreeze, hasLoneSurrogate, readJsonValue, type JsonObject } from '../json/value.ts';
import { applyPatch } from '../patch/apply.ts';
import { parsePatch, type Patch } from '../patch/operation.ts';
import { originNamer } from '../provenance/origin.ts';
import { publicSources } from '../provenance/sources.ts';
import { asRead, lacksOrigin, NO_ORIGIN, traceProposed, writtenSince, type NameOrigin, type WrittenValue } from '../provenance/written.ts';
import { err, ok, type Result } from '../result.ts';
import type { CheckFunction } from '../validate/cross-field.ts';
import type { Violation } from '../validate/violation.ts';
import { readAbstention } from './abstention.ts';
import { judgeWithHost } from './accepted-call.ts';
import { abstentionEntry, ACCEPTED, addCosts, attemptEntry, close, NO_PROGRESS, type Case, type Ending, type Progress } from './close.ts';
import type { GateHost } from './gate.ts';
import { observe } from './observe.ts';
import type { RepairOutcome } from './outcome.ts';
import type { AbortSignalLike, MaskTrail, Observation, Proposal, ProposalCost, Proposer, ProposerFailure } from './proposer.ts';
import { abstained, endingOf, failed, isFinal, pointersOf, reportOf, type JudgeText, type OpenStep, type Step } from './step.ts';
import { refuse, STILL_INVALID, transition } from './transition.ts';

export interface RepairOptions {
  /** Looked at between the stages; a proposal that comes back after the abort is dropped. */
  readonly signal?: AbortSignalLike;
  /** The functions that the contract's checks across fields name. */
  readonly functions?: readonly CheckFunction[];
  /** The functions that the contract's gates name, and the time they have. */
  readonly gates?: GateHost;
  /** How long the proposer may take for one proposal; without it, as long as it takes. */
  readonly proposalBound?: TimeBound;
  /** Whether the call is read as models write it, and what is certain repaired, before the policy is asked; true by default. */
  readonly deterministic?: boolean;
  /** For the ledger: the seed the proposer samples with. */
  readonly seed?: number;
  /** For the ledger: configuration and source revision of the run. */
  readonly manifest?: JsonObject;
}

const NEVER_ABORTED: AbortSignalLike = { aborted: false };

/**
 * Repairs one failed call, or says why not. Wrong data and a failing proposer end in an outcome; only a `request` that no reader
 * would give (values that are not JSON) is a TypeError. At most `attemptBudget` calls of `proposer.propose`, one after another.
 */
export async function repairCall(request: RepairRequest, proposer: Proposer, options: RepairOptions = {}): Promise<RepairOutcome> {
  const { signal = NEVER_ABORTED, seed, gates, proposalBound, deterministic: isDeterministic = true } = options;
  const context = snapshot(request.context, 'request.context');
  const { id, toolNames, call: { name }, finishReason = null } = request;
  snapshot({ id, toolNames, name, finishReason, roles: request.request.map(({ role }) => role) }, 'request');
  const fixed = {
    request: {
      ...request, context, call: { ...request.call }, toolNames: [...toolNames], request: deepFreeze(request.request.map(({ role, content }) => ({ role, content }))),
    },
    seed,
    isDeterministic, proposer: snapshot(proposer.identity, 'proposer.identity'), manifest: snapshot(options.manifest ?? {}, 'options.manifest'),
  };

  // Observe
  const contract = loadContract(request.contract, options);
  if (!contract.ok) return close({ ...fixed, contract: undefined, report: [] }, NO_PROGRESS, unloaded(contract.error));
  const judge: JudgeText = (argumentsText, lossy) => judgeWithHost(contract.value, argumentsText, context, gates, lossy);
  const opening = await observe(contract.value, fixed.request, judge, isDeterministic);
  const { report, reading } = opening;
  const of: Case = { ...fixed, contract: contract.value, report, ...(reading === undefined ? {} : { reading }) };
  if (opening.kind === 'ended') return close(of, opening.progress, opening.ending);

  const known = { request: fixed.request.request, context, given: opening.state.candidate };
  const nameOrigin = asRead(originNamer(publicSources({ ...known, state: opening.state })), opening.progress.after);
  let step: OpenStep = opening;
  for (;;) {
    const exhausted = exhaustion(step);
    if (exhausted !== undefined) return close(of, step.progress, exhausted);
    if (signal.aborted) return close(of, step.progress, ABORTED);

    // Patch
    const { state, violations } = step;
    const observation: Observation = Object.freeze({ contract: contract.value, ...known, state, violations });
    const proposed = await propose(proposer, observation, signal, proposalBound);
    if (signal.aborted) return close(of, step.progress, ABORTED);
    if (!proposed.ok) return close(of, step.progress, failed(proposed.error.code, proposed.error.message));

    // Validate, and Retry where it leaves the repair open
    const next = await answer(contract.value, of.request, step, proposed.value, judge, nameOrigin);
    if (signal.aborted) return close(of, step.progress, ABORTED);
    if (next.kind === 'ended') return close(of, next.progress, next.ending);
    step = next;
  }
}

/** What the validator and the gates say of a proposal: the next step, or the end. */
async function answer(
  contract: Contract, request: RepairRequest, step: OpenStep, proposal: Proposal, judge: JudgeText, nameOrigin: NameOrigin,
): Promise<Step> {
  const { state } = step;
  const progress: OpenStep['progress'] = {
    ...step.progress,
    cost: addCosts(step.progress.cost, proposal.cost),
    confidence: proposal.kind === 'text' ? proposal.confidence : undefined,
    signals: [...step.progress.signals, proposal.signals ?? null],
  };
  const attempt = (patch: Patch | undefined, verdict: string, report: readonly Violation[], written: readonly WrittenValue[]): Pick<Progress, 'entries'> => ({
    entries: [...progress.entries, attemptEntry(request.id, state.history.length + 1, proposal, patch, verdict, report, written)],
  });
  const refused = (patch: Patch | undefined, verdict: string, written: readonly WrittenValue[] = [], validatorCalls = progress.validatorCalls): OpenStep => {
    const next = refuse(state, patch, verdict);
    return { ...step, state: next, progress: { ...progress, ...attempt(patch, verdict, step.violations, written), history: next.history, validatorCalls } };
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
  const after = traceProposed(contract, progress.after, patch, nameOrigin);
  const written = writtenSince(state.candidate, after);
  if (lacksOrigin(after, contract.originPaths)) return refused(patch, NO_ORIGIN, written);

  // What is judged is what would be sent: the candidate is read back from its serialised bytes.
  const judgement = await judge(JSON.stringify(document.value), step.lossy);
  const applied = [...progress.applied, ...patch];
  const validatorCalls = progress.validatorCalls + 1;
  if (!isFinal(judgement)) {
    const { report, value } = judgement;
    if (value === undefined) return refused(patch, UNREADABLE_RESULT, written, validatorCalls);
    const next = transition(state, patch, value, report);
    const reported = [...progress.reported, ...pointersOf(report)];
    return {
      kind: 'open', state: next, violations: report.violations, lossy: step.lossy, rejected: judgement.kind === 'rejected' ? judgement : undefined,
      progress: { ...progress, ...attempt(patch, STILL_INVALID, report.violations, written), history: next.history, applied, after, reported, validatorCalls },
    };
  }
  const verdict = judgement.kind === 'accepted' ? ACCEPTED : judgement.reason;
  const report = reportOf(judgement);
  const history = deepFreeze([...state.history, { patch, verdict, code: report[0]?.code, pointer: report[0]?.pointer }]);
  return {
    kind: 'ended', ending: endingOf(judgement, 'repaired'),
    progress: { ...progress, ...attempt(patch, verdict, report, written), history, applied, after, validatorCalls },
  };
}

/** The document after the patch, serialised, is beyond the reader's limits. */
const UNREADABLE_RESULT = 'repair/unreadable-result';

/** The issue whole, as data: its sentence is `formatIssue`'s, which a repair does without. */
function unloaded({ code, pointer, params }: ContractIssue): Ending {
  return failed(code, `The contract cannot be honoured: ${code} at "${pointer}" ${JSON.stringify(params)}. Correct it there and run the repair again.`);
}

const ABORTED: Ending = failed('repair/aborted', 'The repair was cancelled. The original call is unchanged; run it again to repair it.');

function exhaustion({ state: { attemptsLeft, operationsLeft }, rejected }: OpenStep): Ending | undefined {
  if (attemptsLeft > 0 && operationsLeft > 0) return undefined;
  if (rejected !== undefined) return endingOf(rejected, 'repaired');
  const what = attemptsLeft > 0 ? 'operation' : 'attempt';
  const message = `Every ${what} the contract allows is spent and the call is still not valid. The original call is unchanged; ask the model for a new one.`;
  return failed(`repair/${what}s-exhausted`, message);
}

/** The proposer is foreign code: what it throws, and what is no proposal, ends the repair like any other failure of the world. */
async function propose(
  proposer: Proposer, observation: Observation, signal: AbortSignalLike, bound: TimeBound | undefined,
): Promise<Result<Proposal, ProposerFailure>> {
  const answer = await runBounded(async () => readProposed(await proposer.propose(observation, signal)), bound);
  switch (answer.kind) {
    case 'done':
      return answer.value as Result<Proposal, ProposerFailure>;
    case 'threw':
      return err({ code: 'repair/proposer-threw', message: `The proposer failed: ${answer.cause}. The original call is unchanged.` });
    case 'timeout':
      return err({ code: 'repair/proposer-timeout', message: 'The proposer took longer than it may. The original call is unchanged.' });
  }
}

/** The types say so already; but every member is read once, and what no ledger row can hold is no proposal. */
function readProposed(proposed: Awaited<ReturnType<Proposer['propose']>>): Result<Proposal, ProposerFailure> {
  if (!proposed.ok) {
    const { code, message } = proposed.error;
    return isPlainText(code) && typeof message === 'string' ? err({ code, message }) : BAD_PROPOSAL;
  }
  const { kind, text, cost: costs, confidence, maskDigest, maskTrail, signals, code } = proposed.value as Proposal & { readonly code?: string; readonly confidence?: number };
  const given = { cost: pickCosts(costs), confidence: confidence ?? null, maskDigest: maskDigest ?? null, maskTrail: maskTrail ?? null, signals: signals ?? null };
  const json = readJsonValue(given);
  if (!json.ok || typeof text !== 'string') return BAD_PROPOSAL;
  const read = json.value as unknown as typeof given;
  const isWhole = Object.values(read.cost).every((figure) => typeof figure === 'number') && typeof (read.confidence ?? 0) === 'number'
    && typeof (read.maskDigest ?? '') === 'string' && isRecord(read.maskTrail) && isRecord(read.signals);
  if (!isWhole) return BAD_PROPOSAL;
  const base = {
    text, cost: read.cost, maskDigest: read.maskDigest ?? undefined,
    ...(read.maskTrail === null ? {} : { maskTrail: read.maskTrail as MaskTrail }), ...(read.signals === null ? {} : { signals: read.signals }),
  };
  if (kind === 'text') return ok({ ...base, kind, confidence: read.confidence ?? undefined });
  return kind === 'incomplete' && isPlainText(code) ? ok({ ...base, kind, code }) : BAD_PROPOSAL;
}

const BAD_PROPOSAL: Result<never, ProposerFailure> = err({
  code: 'repair/bad-proposal', message: 'The proposer gave back something that is no proposal. The original call is unchanged.',
});

function pickCosts(cost: ProposalCost): ProposalCost {
  const { promptTokenCount, generatedTokenCount, forcedTokenCount, prefillMs, decodeMs, maskMs } = cost;
  return { promptTokenCount, generatedTokenCount, forcedTokenCount, prefillMs, decodeMs, maskMs };
}

function isPlainText(value: unknown): value is string {
  return typeof value === 'string' && !hasLoneSurrogate(value);
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value);
}

/** What the host hands in may be live state: gates, the policy and the ledger see it as it was when the repair began. */
function snapshot(value: JsonObject, name: string): JsonObject {
  const copy = readJsonValue(value);
  if (!copy.ok) throw new TypeError(`${name} is not JSON: ${copy.error.code} at "${copy.error.pointer}"`);
  return copy.value as JsonObject;
}
