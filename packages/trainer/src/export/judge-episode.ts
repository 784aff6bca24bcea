/**
 * A foreign policy's completions through the very loop of production: its text is the proposal, trusted in nothing, and parser, gate, validator and both
 * budgets decide. No mask has bound it (CHECKLIST E6): what a mask would have kept from being written is a refused attempt here. Nothing is executed; an
 * episode is offline, and accepted arguments are compared with the right ones by whoever computes the reward.
 */
import { err, ok, repairCall, type ProposalCost, type Proposer, type RepairOutcome, type Result } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';
import type { ExampleIssue } from '../data/example.ts';
import type { Task } from './task.ts';

/** One attempt of the policy: the text, without the stop token, and how many tokens it took with it. */
export interface Completion {
  readonly text: string;
  readonly tokenCount: number;
}

/** The reason of an episode that went on and had no further completion. */
export const NO_MORE_COMPLETIONS = 'episode/no-more-completions';

const NO_COST: ProposalCost = { promptTokenCount: 0, generatedTokenCount: 0, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };

export type EpisodeIssue = Extract<ExampleIssue, { readonly code: `request/${string}` | 'trainer/call-valid' }>
  /** The record's contract cannot be honoured; `reason` is the contract reader's own code. */
  | { readonly code: 'episode/no-contract'; readonly reason: string };

/**
 * The frozen episode in which attempt n proposes completion n. One that is refused, or leaves the call invalid, uses up an attempt; where none is left to
 * propose, the episode ends as failed with {@link NO_MORE_COMPLETIONS}. Fails where the record is no failed call that can be judged.
 */
export async function judgeEpisode({ record }: Pick<Task, 'record'>, completions: readonly Completion[]): Promise<Result<RepairOutcome, EpisodeIssue>> {
  const request = readRepairRequest(record);
  if (!request.ok) return request;
  const outcome = await repairCall(request.value, proposerOf(completions), { deterministic: false });
  if (outcome.status === 'valid') return err({ code: 'trainer/call-valid' });
  if (outcome.status === 'failed' && outcome.frozen.opened.contract === null) return err({ code: 'episode/no-contract', reason: outcome.reason });
  return ok(outcome);
}

function proposerOf(completions: readonly Completion[]): Proposer {
  let next = 0;
  return {
    identity: { policy: 'completions' },
    propose() {
      const completion = completions[next];
      next += 1;
      if (completion === undefined) return Promise.resolve(err({ code: NO_MORE_COMPLETIONS, message: 'The policy made no further completion.' }));
      const { text, tokenCount } = completion;
      return Promise.resolve(ok({ kind: 'text', text, confidence: undefined, maskDigest: undefined, cost: { ...NO_COST, generatedTokenCount: tokenCount } }));
    },
  };
}
