/**
 * Episodes of the policy as it is now: whole repairs through the production loop, its proposer, mask and engine, as many at once as a pass of the batch
 * has rows, at temperature 1, where a probability is the policy's own. What the policy was shown and answered is kept beside each outcome, and
 * becomes the sequences that the gradient is taken over.
 */
import { ok, repairCall, type Observation, type Proposal, type Proposer, type RepairOutcome, type RepairRequest, type Result } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';
import type { TokenId, Vocabulary } from '@contractrl/grammar-mask';
import {
  buildPrompt, createMaskedProposer, createProposerMemory, DEFAULT_MAX_ANSWER_TOKENS, encodePrompt, MaskCursor, samplingOfAttempt,
  type Batch, type EngineFailure, type LoraAdapter, type ProposerParts, type Sampling, type Tokenizer,
} from '@contractrl/runtime-webgpu';
import { bindMask } from '../bind-mask.ts';
import type { Example } from '../data/example.ts';
import { walkDecisions, type Strand, type WalkIssue } from './decisions.ts';
import { createFreeProposer, writableIds } from './free-proposer.ts';
import type { GrpoSettings } from './settings.ts';

export interface Attempt {
  /** What the policy was shown. */
  readonly observation: Observation;
  readonly proposal: Proposal;
}

export interface Episode {
  readonly outcome: RepairOutcome;
  readonly attempts: readonly Attempt[];
}

/** Prompt and answer of an attempt; of several strands only where the mask took tokens back. */
export interface AttemptTokens {
  readonly promptIds: readonly TokenId[];
  readonly strands: readonly Strand[];
}

export interface RolloutParts {
  readonly batch: Batch;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
  readonly settings: Pick<GrpoSettings, 'mask' | 'deterministic' | 'showsHistory'>;
}

/** An episode that says nothing of the policy: the example cannot be asked, or the engine failed. */
export interface EpisodeFault {
  readonly kind: 'unaskable' | 'failure';
  readonly code: string;
  readonly message: string;
}

export class Rollout {
  readonly #batch: Batch;
  readonly #parts: ProposerParts;
  readonly #settings: RolloutParts['settings'];
  readonly #writable: Int32Array;

  constructor({ batch, tokenizer, vocabulary, settings }: RolloutParts) {
    this.#batch = batch;
    // times are none of an episode's business
    this.#parts = { engine: batch.engine, tokenizer, vocabulary, clock: () => 0, memory: createProposerMemory(batch.engine) };
    this.#settings = settings;
    this.#writable = writableIds(vocabulary);
  }

  /** Before each round of episodes: nothing of an earlier one is left, so that a round depends on its parameters and examples alone. */
  begin(adapter: LoraAdapter): Result<void, EngineFailure> {
    this.#parts.memory.prefixes.clear();
    return this.#batch.engine.useAdapter(adapter);
  }

  /** One repair in a row of the batch, in line while all are taken. A record that is no request is a TypeError: the data set has none. */
  run({ record }: Pick<Example, 'record'>, sampling: Sampling, signal: AbortSignal | undefined): Promise<Episode> {
    const request = readRepairRequest(record);
    if (!request.ok) throw new TypeError(`example: ${request.error.code}`);
    return this.#batch.run(() => this.#repair(request.value, sampling, signal));
  }

  /** Walks an attempt through the mask again. O(answer) masks. */
  tokensOf({ observation, proposal: { maskTrail, maskDigest } }: Attempt): Result<AttemptTokens, WalkIssue> {
    const ids = (maskTrail?.ids ?? []) as readonly TokenId[];
    const prompt = encodePrompt(buildPrompt(observation), this.#parts.tokenizer, this.#parts.engine.contextLength - DEFAULT_MAX_ANSWER_TOKENS);
    if (!prompt.ok) throw new TypeError(`attempt: ${prompt.error.code}, though it was made`);
    const { ids: promptIds } = prompt.value;
    if (this.#settings.mask !== 'decoding') return ok({ promptIds, strands: [{ ids, decisions: ids.map((_, index) => ({ index, allowed: this.#writable })) }] });
    const matcher = bindMask({ ...this.#parts, logitWidth: this.#parts.engine.logitWidth }, observation);
    if (!matcher.ok) throw new TypeError(`attempt: ${matcher.error.code}, though it was made`);
    const strands = walkDecisions(new MaskCursor(matcher.value, { jumpForward: true }), ids, maskDigest);
    return strands.ok ? ok({ promptIds, strands: strands.value }) : strands;
  }

  async #repair(request: RepairRequest, sampling: Sampling, signal: AbortSignal | undefined): Promise<Episode> {
    const attempts: Attempt[] = [];
    const { showsHistory, deterministic } = this.#settings;
    const first = this.#proposerOf(sampling);
    const proposer: Proposer = {
      identity: first.identity,
      propose: async (given, signalLike) => {
        const observation = showsHistory ? given : { ...given, state: { ...given.state, history: [] } };
        // the proposer numbers attempts by the history that it sees
        const own = showsHistory ? first : this.#proposerOf(samplingOfAttempt(sampling, given.state.history.length));
        const proposed = await own.propose(observation, signalLike);
        if (proposed.ok) attempts.push({ observation, proposal: proposed.value });
        return proposed;
      },
    };
    const outcome = await repairCall(request, proposer, {
      deterministic, ...(signal === undefined ? {} : { signal }), ...(sampling.kind === 'random' ? { seed: sampling.seed } : {}),
    });
    return { outcome, attempts };
  }

  #proposerOf(sampling: Sampling): Proposer {
    const { mask } = this.#settings;
    return mask === 'decoding' ? createMaskedProposer(this.#parts, { sampling, release: 'off' }) : createFreeProposer(this.#parts, sampling, mask === 'outside');
  }
}

/** Ends that follow from what the policy wrote: budgets spent, or no room left behind it for what would make the call valid. */
const MISSED = ['repair/attempts-exhausted', 'repair/operations-exhausted', 'mask/empty'];

/** Why an episode is none to learn from; undefined where it is one. */
export function faultOf({ outcome, attempts }: Episode): EpisodeFault | undefined {
  if (outcome.status === 'failed') {
    if (MISSED.includes(outcome.reason)) return undefined;
    const isFailure = outcome.reason.startsWith('engine/') || outcome.reason.startsWith('repair/');
    return { kind: isFailure ? 'failure' : 'unaskable', code: outcome.reason, message: outcome.message };
  }
  return attempts.length === 0 ? { kind: 'unaskable', code: 'grpo/no-attempt', message: 'The step before the policy ended the repair.' } : undefined;
}
