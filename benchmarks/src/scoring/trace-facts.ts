/**
 * What a sealed trace alone says of a repair (CHECKLIST D3, D11, D14): when the call became valid, whether the reported place did, whether
 * anything was emitted. No gold and no record beside the ledger is looked at, so that anyone who holds the ledger gets the same facts.
 */
import { ACCEPTED, isPrefix, type AttemptEntry, type DeterministicEntry, type FrozenRepair, type JsonPointer, type Violation } from '@contractrl/core';

export interface TraceFacts {
  /** The verifier reported a violation on the call as it arrived. False where it was valid, refused by a gate alone, or never judged. */
  readonly arrivedInvalid: boolean;
  /** After how many attempts schema and checks held; 0 where readings and the deterministic step sufficed; null where they never did. */
  readonly validAfter: number | null;
  /** On the last candidate nothing is reported at the place that was reported first, above it or below it; null where nothing was reported. */
  readonly pointerFixed: boolean | null;
  /** A patch or an object was emitted and not taken back by declining. */
  readonly emitted: boolean;
  readonly retries: number;
  readonly validatorCalls: number;
}

export function traceFacts({ opened, deterministic, proposals, closed }: FrozenRepair): TraceFacts {
  const { retries, validatorCalls, status, attempts } = closed;
  const first = opened.report.find(isViolation);
  if (first === undefined) return { arrivedInvalid: false, validAfter: null, pointerFixed: null, emitted: false, retries, validatorCalls };
  const steps = [...(deterministic === undefined ? [] : [deterministic]), ...proposals.filter((entry) => entry.kind === 'attempt')];
  const valid = steps.find(holdsAfter);
  const validAfter = valid !== undefined ? numberOf(valid) : wasReadValid(status, steps) ? 0 : null;
  return {
    arrivedInvalid: true,
    validAfter,
    pointerFixed: validAfter !== null || isCleared(first.pointer, steps.at(-1)?.report ?? []),
    emitted: status === 'repaired' || status === 'rejected' || (status === 'failed' && attempts > 0),
    retries,
    validatorCalls,
  };
}

type Step = DeterministicEntry | AttemptEntry;

/** A refusal by a gate says nothing against schema and checks: gates are asked of valid calls only. */
function isViolation({ code }: Violation): boolean {
  return code !== 'policy_reject';
}

function holdsAfter({ verdict, report }: Step): boolean {
  return verdict === ACCEPTED || (report.length > 0 && !report.some(isViolation));
}

function numberOf(step: Step): number {
  return step.kind === 'attempt' ? step.number : 0;
}

/** Another reading of the text was valid by itself, so that no step followed; a gate may have refused it still. */
function wasReadValid(status: FrozenRepair['closed']['status'], steps: readonly Step[]): boolean {
  return steps.length === 0 && (status === 'repaired' || status === 'rejected');
}

/** An empty report here is that of an answer which could not be judged. */
function isCleared(pointer: JsonPointer, report: readonly Violation[]): boolean {
  return report.length > 0 && !report.some((violation) => isPrefix(violation.pointer, pointer) || isPrefix(pointer, violation.pointer));
}
