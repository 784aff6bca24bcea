/** How a repair of an example ended, against its target: for evaluation and for the reward alike. */
import { jsonEqual, type JsonObject, type RepairOutcome } from '@contractrl/core';

/**
 * `right`: dispatched, and equal to the target. `wrong`: dispatched and not equal to it, or to be declined. `abstained-…`: declined, where that was right or where a
 * repair was known. `rejected`: neither; budget, gate or engine ended it.
 */
export const EVALUATION_VERDICTS = ['right', 'wrong', 'abstained-rightly', 'abstained-falsely', 'rejected'] as const;
export type EvaluationVerdict = (typeof EVALUATION_VERDICTS)[number];

/** Of a sealed repair; `target` is null where declining is right. */
export function verdictOf(outcome: RepairOutcome, target: JsonObject | null): EvaluationVerdict {
  if ('arguments' in outcome) return target !== null && jsonEqual(outcome.arguments, target) ? 'right' : 'wrong';
  if (outcome.status !== 'abstained') return 'rejected';
  return target === null ? 'abstained-rightly' : 'abstained-falsely';
}

export function isSuccess(verdict: EvaluationVerdict): boolean {
  return verdict === 'right' || verdict === 'abstained-rightly';
}
