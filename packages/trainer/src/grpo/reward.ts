/**
 * What an episode is worth: `R = success − λc·C − λr·r − λu·U − λy·T`. It is decided offline, from a repair that is sealed and the label that is opened
 * only then; the online loop sees neither. Success is the target's arguments, or declining where nothing else is right.
 * Reference: CHECKLIST E2, E3, E6.
 */
import {
  ACCEPTED, contractOfAccepted, jsonEqual, parseJson, parsePatch, resolvePointer, STILL_INVALID, validateArguments, type JsonObject, type JsonValue, type Patch, type RepairOutcome,
} from '@contractrl/core';
import { countCollateral, Gold, scoreFrozen } from '@contractrl/core/ledger';
import type { Example } from '../data/example.ts';
import { isSuccess, verdictOf, type EvaluationVerdict } from '../verdict.ts';

/** The λ of the reward, each from 0 up. */
export interface RewardWeights {
  /** λc, by changed place that the canonical patch leaves alone. */
  readonly collateral: number;
  /** λr, by attempt after the first. */
  readonly retry: number;
  /** λu, by action that could not be applied or was forbidden. */
  readonly refused: number;
  /** λy, by generated token, forced ones included. */
  readonly token: number;
}

/**
 * The token cost is the laboratory's (TRAINING § Group-relative optimisation); the others keep its order, a wrong place below a wrong value, and leave
 * every success above every failure. What a sweep says of them stands in the package's README.
 */
export const DEFAULT_REWARD_WEIGHTS: RewardWeights = { collateral: 0.2, retry: 0.1, refused: 0.2, token: 0.002 };

export interface EpisodeScore {
  readonly end: EvaluationVerdict;
  /** C */
  readonly collateral: number;
  /** r */
  readonly retries: number;
  /** U */
  readonly refused: number;
  /** T */
  readonly tokens: number;
  /** A call would have been dispatched that the validator does not accept: never allowed, and no part of the sum. */
  readonly isUnsafe: boolean;
}

export interface EpisodeLabel {
  /** Null where declining is right. */
  readonly target: JsonObject | null;
  /** Empty where declining is right. */
  readonly patch: Patch;
}

/** Sealed: an episode is scored after it is frozen. */
export function labelOf({ target, answer }: Pick<Example, 'target' | 'answer'>): Gold<EpisodeLabel> {
  const patch = parsePatch(answer);
  return new Gold({ target, patch: target !== null && patch.ok ? patch.value : [] });
}

/** Counts what the reward is made of. An outcome whose trace was not sealed by `freeze` is a TypeError. */
export function scoreEpisode(outcome: RepairOutcome, label: Gold<EpisodeLabel>): EpisodeScore {
  return scoreFrozen(outcome.frozen, label, ({ opened, proposals, closed }, { target, patch }) => {
    // a call that was read otherwise than it stands has no places to compare with
    const before = opened.reading === undefined ? valueOf(opened.call.arguments.text) : undefined;
    const refused = proposals.filter((entry) => entry.kind === 'attempt' && entry.verdict !== ACCEPTED && entry.verdict !== STILL_INVALID).length;
    return {
      end: verdictOf(outcome, target), retries: closed.retries, refused, tokens: outcome.cost.generatedTokenCount, isUnsafe: isUnsafe(outcome, before),
      collateral: 'arguments' in outcome && before !== undefined ? countCollateral(before, outcome.arguments, patch, []).collateralOp : 0,
    };
  });
}

export function rewardOf({ end, collateral, retries, refused, tokens }: EpisodeScore, weights: RewardWeights): number {
  return Number(isSuccess(end)) - weights.collateral * collateral - weights.retry * retries - weights.refused * refused - weights.token * tokens;
}

/** A second look at what would be sent: its maker, its text judged anew, and the places that nobody may edit. */
function isUnsafe(outcome: RepairOutcome, before: JsonValue | undefined): boolean {
  if (!('arguments' in outcome)) return false;
  const contract = contractOfAccepted(outcome.accepted);
  if (contract === undefined) return true;
  const { report, value } = validateArguments(contract, outcome.argumentsText);
  if (report.kind === 'invalid' || value === undefined || !jsonEqual(value, outcome.arguments)) return true;
  return before !== undefined && contract.immutablePaths.some((pointer) => {
    const [old, now] = [resolvePointer(before, pointer), resolvePointer(value, pointer)];
    return old === undefined || now === undefined ? old !== now : !jsonEqual(old, now);
  });
}

function valueOf(text: string | null): JsonValue | undefined {
  const parsed = text === null ? undefined : parseJson(text);
  return parsed?.ok === true ? parsed.value : undefined;
}
