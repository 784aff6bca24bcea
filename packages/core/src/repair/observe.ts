/**
 * The first stage: the call as it arrived, and what can be done without a policy. The tool that its name stands for, the reading of its text, then
 * the deterministic patch; each is judged as a policy's answer would be, and the policy sees what they leave. With `isDeterministic` off the call
 * is taken as it stands.
 */
import type { Contract } from '../contract/contract.ts';
import { deterministicPatch } from '../deterministic/deterministic-patch.ts';
import type { RepairRequest } from '../intake/request.ts';
import { isJsonObject, type JsonObject } from '../json/value.ts';
import type { OpenedReading } from '../ledger/entry.ts';
import { applyPatch } from '../patch/apply.ts';
import { ROOT_POINTER } from '../pointer.ts';
import { traceCertain, traceRead, writtenSince } from '../provenance/written.ts';
import { closestTool } from '../reading/closest-tool.ts';
import { findReading, type ReadingStep } from '../reading/find-reading.ts';
import { findWrapped } from '../reading/find-wrapped.ts';
import type { Violation } from '../validate/violation.ts';
import { lossyNumbers, type Judgement } from './accepted-call.ts';
import { ACCEPTED, NO_PROGRESS, type Progress } from './close.ts';
import { openRepair } from './state.ts';
import { abstained, endingOf, isFinal, pointersOf, reportOf, type JudgeText, type OpenStep, type Step } from './step.ts';
import { STILL_INVALID } from './transition.ts';

/** `report` is the verifier's on the call as it arrived; `reading` says how it was read otherwise than it stands. */
export type Opening = Step & { readonly report: readonly Violation[]; readonly reading?: OpenedReading };

/** Ended where there is nothing to repair, or nothing that can be repaired, or nothing left to repair. */
export async function observe(contract: Contract, request: RepairRequest, judge: JudgeText, isDeterministic: boolean): Promise<Opening> {
  const { name, argumentsText } = request.call;
  const offered = request.toolNames;
  const isKnown = (tool: string | undefined): boolean => tool === contract.document.tool.name && offered.includes(tool);
  const meant = isKnown(name) || !isDeterministic || contract.document.toolNames !== 'closest' ? name : closestTool(name, offered);
  const misnamed = isKnown(name) ? [] : [violationAtRoot('tool_unknown', { name, offered })];
  if (!isKnown(meant)) return { kind: 'ended', report: misnamed, progress: NO_PROGRESS, ending: abstained('unknown-tool') };

  const arrived = await judge(argumentsText);
  // a text that was cut may have lost what would have made it another reading
  const isRead = isDeterministic && request.finishReason !== 'length';
  const { judgement, steps, callCount } = isRead ? await readFurther(contract, argumentsText, arrived, judge) : { judgement: arrived, steps: [], callCount: 0 };
  const reading = { ...(meant === name ? {} : { toolName: contract.document.tool.name }), ...(steps.length === 0 ? {} : { steps }) };
  const opened = { report: [...misnamed, ...reportOf(arrived)], ...(Object.keys(reading).length === 0 ? {} : { reading }) };
  const progress: Progress = { ...NO_PROGRESS, validatorCalls: 1 + callCount };
  if (isFinal(judgement)) return { ...opened, kind: 'ended', progress, ending: endingOf(judgement, 'reading' in opened ? 'repaired' : 'valid') };

  const { report, value } = judgement;
  if (value === undefined) {
    const wasCut = request.finishReason === 'length' && report.violations.every(({ code }) => code !== 'json_truncated');
    const cut = wasCut ? [violationAtRoot('json_truncated', { finishReason: 'length' })] : [];
    return { ...opened, report: [...opened.report, ...cut], kind: 'ended', progress, ending: abstained('unreadable-arguments') };
  }
  const step: OpenStep = {
    kind: 'open', violations: report.violations, lossy: lossyNumbers(report, value), rejected: judgement.kind === 'rejected' ? judgement : undefined,
    state: openRepair(contract, report, value), progress: { ...progress, before: value, after: traceRead(value), reported: pointersOf(report) },
  };
  const next = isDeterministic && judgement.kind === 'invalid' ? await takeCertain(contract, request.id, step, judge) : step;
  if (next.kind === 'ended' || (next.state.attemptsLeft > 0 && next.state.operationsLeft > 0)) return { ...opened, ...next };
  return { ...opened, kind: 'ended', progress: next.progress, ending: next.rejected === undefined ? abstained('over-budget') : endingOf(next.rejected, 'valid') };
}

interface Reread {
  readonly judgement: Judgement;
  readonly steps: readonly ReadingStep[];
  /** Judgements beside that of the text as it arrived. */
  readonly callCount: number;
}

/** The object in a text that is none, then what a wrapper holds: that only where it is valid, since a wrapper may be meant. */
async function readFurther(contract: Contract, text: string, arrived: Judgement, judge: JudgeText): Promise<Reread> {
  const found = arrived.kind !== 'invalid' || isJsonObject(arrived.value) ? undefined : findReading(text, contract.document.tool.name);
  const outside: Reread = found === undefined ? { judgement: arrived, steps: [], callCount: 0 } : { judgement: await judge(found.argumentsText), steps: found.steps, callCount: 1 };
  const inside = outside.judgement.kind === 'invalid' ? findWrapped(contract, found?.argumentsText ?? text, outside.judgement.value) : undefined;
  if (inside === undefined) return outside;
  const judgement = await judge(inside.argumentsText);
  const callCount = outside.callCount + 1;
  return judgement.kind === 'invalid' ? { ...outside, callCount } : { judgement, steps: [...outside.steps, ...inside.steps], callCount };
}

/** Applies what is certain: it costs its operations, and no attempt, since no policy made one. */
async function takeCertain(contract: Contract, caseId: string, step: OpenStep, judge: JudgeText): Promise<Step> {
  const { state, lossy, progress } = step;
  const certain = deterministicPatch(contract, state.candidate, step.violations, lossy);
  const document = certain && applyPatch(contract, state.candidate, certain.patch, state.operationsLeft);
  if (certain === undefined || document?.ok !== true) return step;
  const judgement = await judge(JSON.stringify(document.value), lossy);
  const after = traceCertain(progress.after, certain);
  const entry = {
    kind: 'deterministic', caseId, patch: certain.patch, rules: certain.rules, report: reportOf(judgement), written: writtenSince(state.candidate, after),
    verdict: judgement.kind === 'accepted' ? ACCEPTED : judgement.kind === 'rejected' ? judgement.reason : STILL_INVALID,
  } as const;
  const done = { ...progress, entries: [entry], applied: certain.patch, after, validatorCalls: progress.validatorCalls + 1 };
  if (isFinal(judgement)) return { kind: 'ended', progress: done, ending: endingOf(judgement, 'repaired') };
  const { report, value } = judgement;
  // unreadable once it is written out, as a policy's patch may be: the call is taken as it was
  if (value === undefined) return step;
  return {
    kind: 'open', lossy, violations: report.violations, rejected: judgement.kind === 'rejected' ? judgement : undefined,
    state: openRepair(contract, report, value, state.operationsLeft - certain.patch.length),
    progress: { ...done, reported: [...progress.reported, ...pointersOf(report)] },
  };
}

function violationAtRoot(code: Violation['code'], params: JsonObject): Violation {
  return { code, pointer: ROOT_POINTER, keyword: '', keywordLocation: '', params };
}
