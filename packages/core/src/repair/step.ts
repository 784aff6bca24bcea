/** Where a repair stands between two stages, and the words for how it ends; shared by the first stage (`observe.ts`) and the loop (`repair.ts`). */
import type { JsonPointer } from '../pointer.ts';
import type { Traced } from '../provenance/written.ts';
import type { Violation } from '../validate/violation.ts';
import type { Judgement } from './accepted-call.ts';
import type { Ending, Progress } from './close.ts';
import type { InvalidReport, RepairState } from './state.ts';

export type JudgeText = (argumentsText: string, lossy?: ReadonlySet<number>) => Promise<Judgement>;
export type Rejected = Extract<Judgement, { readonly kind: 'rejected' }>;

export interface OpenStep {
  readonly kind: 'open';
  readonly progress: Progress & { readonly after: Traced };
  readonly state: RepairState;
  readonly violations: InvalidReport['violations'];
  /** Numbers the first reading had to round; none of them may be dispatched. */
  readonly lossy: ReadonlySet<number>;
  /** The candidate is valid, and a gate that may be shown refuses it: where nothing better comes, the repair ends as refused by that gate. */
  readonly rejected: Rejected | undefined;
}
export type Step = OpenStep | { readonly kind: 'ended'; readonly progress: Progress; readonly ending: Ending };

/** What ends a repair: an accepted call, or a refusal whose reason the policy may not see. */
export function isFinal(judgement: Judgement): judgement is Exclude<Judgement, { readonly kind: 'invalid' } | { readonly mayShow: true }> {
  return judgement.kind === 'accepted' || (judgement.kind === 'rejected' && !judgement.mayShow);
}

export function endingOf(judgement: Exclude<Judgement, { readonly kind: 'invalid' }>, status: 'valid' | 'repaired'): Ending {
  if (judgement.kind === 'accepted') return { status, call: judgement.call };
  return { status: 'rejected', reason: judgement.reason, params: judgement.params };
}

export function reportOf(judgement: Judgement): readonly Violation[] {
  return judgement.kind === 'accepted' ? [] : judgement.report.violations;
}

export function pointersOf(report: InvalidReport): readonly JsonPointer[] {
  return report.violations.map((violation) => violation.pointer);
}

export function abstained(code: string): Extract<Ending, { readonly status: 'abstained' }> {
  return { status: 'abstained', reason: `abstain/${code}` };
}

export function failed(reason: string, message: string): Extract<Ending, { readonly status: 'failed' }> {
  return { status: 'failed', reason, message };
}

