/**
 * Examples through the production loop: what a policy makes of a validation side, one row an example. Only the record is online, and the verifier's wrong
 * report where the example has one; targets are opened when the last repair is sealed, so that no label can steer what it scores. Reference: CHECKLIST F1, G2.
 */
import {
  err, jsonEqual, ok, repairCall,
  type AbortSignalLike, type JsonObject, type JsonValue, type Proposer, type RepairOutcome, type Result,
} from '@contractrl/core';
import { countCollateral, Gold, scoreFrozen } from '@contractrl/core/ledger';
import { readRepairRequest } from '@contractrl/core/records';
import type { Family } from '../corrupt/family.ts';
import { openExample, type Example } from '../data/example.ts';
import type { Difficulty, Structure } from '../data/stratum.ts';
import { verdictOf, type EvaluationVerdict } from '../verdict.ts';

export interface EvaluationRow {
  readonly id: string;
  readonly family: Family;
  readonly difficulty: Difficulty;
  readonly structure: Structure;
  /** A repair is known; otherwise the right answer is to decline. */
  readonly isRepairable: boolean;
  readonly verdict: EvaluationVerdict;
  /** Why nothing was dispatched; null where something was. */
  readonly reason: string | null;
  /** Changed leaves outside the pointers that the verifier reported; null where nothing was dispatched. */
  readonly collateral: number | null;
  readonly attempts: number;
  readonly tokens: { readonly prompt: number; readonly generated: number; readonly forced: number };
  readonly totalMs: number;
  readonly confidence: number | null;
  /** What the policy measured beside its last proposal; null where it made none or measured nothing. */
  readonly signals: JsonObject | null;
}

export interface EvaluateOptions {
  /** The policy under test; a masked proposer over an engine, as a rule. */
  readonly proposer: Proposer;
  /** Whether the deterministic step comes first, as in production. Default false: the policy alone. */
  readonly deterministic?: boolean;
  /** Milliseconds from anywhere. */
  readonly clock: () => number;
  readonly signal?: AbortSignalLike;
  readonly onProgress?: (done: number, total: number) => void;
}

export type EvaluateIssue =
  | { readonly code: 'evaluate/aborted' }
  /** Its record is no repair request with an invalid call; `cause` is the code that says why. */
  | { readonly code: 'evaluate/bad-example'; readonly id: string; readonly cause: string };

interface Answer {
  readonly example: Example;
  readonly outcome: RepairOutcome;
  readonly totalMs: number;
}

/** One repair after the other, in order. A policy whose engine fails gives rows that are `rejected` with the engine's code. */
export async function evaluateExamples(examples: readonly Example[], options: EvaluateOptions): Promise<Result<readonly EvaluationRow[], EvaluateIssue>> {
  const { deterministic = false, clock, signal = NEVER_ABORTED, onProgress } = options;
  const answers: Answer[] = [];
  for (const example of examples) {
    if (signal.aborted) return err({ code: 'evaluate/aborted' });
    const request = readRepairRequest(example.record);
    if (!request.ok) return err({ code: 'evaluate/bad-example', id: example.id, cause: request.error.code });
    const proposer = shownTo(options.proposer, example);
    if (!proposer.ok) return proposer;
    const startedMs = clock();
    const outcome = await repairCall(request.value, proposer.value, { signal, deterministic });
    answers.push({ example, outcome, totalMs: clock() - startedMs });
    onProgress?.(answers.length, examples.length);
  }
  return signal.aborted ? err({ code: 'evaluate/aborted' }) : ok(answers.map(rowOf));
}

const NEVER_ABORTED: AbortSignalLike = { aborted: false };

/** The policy as it meets an example: where the verifier is made to speak wrongly, its first look at the failed call is the one the example says. */
function shownTo(proposer: Proposer, example: Example): Result<Proposer, EvaluateIssue> {
  if (example.noise === null) return ok(proposer);
  const shown = openExample(example);
  if (!shown.ok) return err({ code: 'evaluate/bad-example', id: example.id, cause: shown.error.code });
  return ok({
    identity: proposer.identity,
    propose(observation, signal) {
      const { history, candidate } = observation.state;
      const isFirstLook = history.length === 0 && jsonEqual(candidate, shown.value.state.candidate);
      return proposer.propose(isFirstLook ? shown.value : observation, signal);
    },
  });
}

function rowOf({ example, outcome, totalMs }: Answer): EvaluationRow {
  const { id, family, difficulty, structure, target } = example;
  const { promptTokenCount, generatedTokenCount, forcedTokenCount } = outcome.cost;
  return scoreFrozen(outcome.frozen, new Gold(target), (_, label) => ({
    id, family, difficulty, structure, isRepairable: label !== null, verdict: verdictOf(outcome, label), reason: 'reason' in outcome ? outcome.reason : null,
    collateral: collateralOf(outcome, example), attempts: outcome.attempts, tokens: { prompt: promptTokenCount, generated: generatedTokenCount, forced: forcedTokenCount },
    totalMs, confidence: outcome.confidence ?? null, signals: outcome.frozen.resources?.signals?.at(-1) ?? null,
  }));
}

function collateralOf(outcome: RepairOutcome, { record }: Example): number | null {
  if (!('arguments' in outcome)) return null;
  const given = JSON.parse((record['call'] as { readonly arguments: string }).arguments) as JsonValue;
  return countCollateral(given, outcome.arguments, 'patch' in outcome ? outcome.patch : [], outcome.reports.map(({ pointer }) => pointer)).collateralPtr;
}
