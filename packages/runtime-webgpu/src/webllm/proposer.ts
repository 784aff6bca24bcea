/**
 * WebLLM as a policy. The loop is that of `generate.ts` with another hand on the engine: ids in, one masked choice out. A forced run goes in together
 * with the token before it, so it costs no step of its own; nothing is kept between attempts, since the engine takes nothing back.
 */
import { err, ok, type AbortSignalLike, type JsonObject, type Observation, type Proposal, type Proposer, type ProposerFailure, type Result } from '@contractrl/core';
import type { MaskMatcher } from '@contractrl/grammar-mask';
import { toProposerFailure } from '../failure-text.ts';
import type { Clock } from '../generate.ts';
import { MaskCursor } from '../mask-cursor.ts';
import { buildPrompt, encodePrompt, PROMPT_VERSION } from '../prompt.ts';
import { createMaskMemory, DEFAULT_MAX_ANSWER_TOKENS, DEFAULT_RULES, samplingOfAttempt, type MaskMemory, type ProposerOptions } from '../proposer.ts';
import { createSampler, type Sampler } from '../sampling.ts';
import type { WebLlmSession } from './session.ts';

export type WebLlmProposerOptions = Pick<ProposerOptions, 'sampling' | 'maxAnswerTokens' | 'jumpForward' | 'excludeNoOps' | 'goal'>;

export interface WebLlmParts {
  readonly session: WebLlmSession;
  readonly clock: Clock;
  /** Compiled masks kept between repairs. */
  readonly memory?: MaskMemory;
}

const SENTENCES: Readonly<Record<string, string>> = {
  'webllm/no-logit-processor': 'WebLLM runs without the mask. The engine must be made in the worker that repairs, not behind WebLLM’s own worker client.',
  'webllm/left-mask': 'WebLLM took a token that the mask forbids. The original call is unchanged; please report the version of WebLLM.',
  'webllm/out-of-order': 'WebLLM did not call the mask as it documents. The original call is unchanged; please report the version of WebLLM.',
  'webllm/width-changed': 'WebLLM changed the number of logits. The original call is unchanged; load the model again.',
};

export function createWebLlmProposer(parts: WebLlmParts, options: WebLlmProposerOptions = {}): Proposer {
  const { session: { modelId, model }, memory = createMaskMemory() } = parts;
  const settings = settingsOf(options);
  return {
    identity: webLlmIdentity(modelId, model.vocabulary.digest, options),
    propose: (observation, signal) => parts.session.alone(() => propose({ ...parts, memory }, settings, observation, signal)),
  };
}

/** How the ledger names it. The library verifies no digest of its weights, so there is none. */
export function webLlmIdentity(modelId: string, vocabulary: string, options: WebLlmProposerOptions): JsonObject {
  const { sampling, ...named } = settingsOf(options);
  return { backend: 'webllm', modelId, modelDigest: null, adapterDigest: null, promptVersion: PROMPT_VERSION, vocabulary, sampling: { ...sampling }, ...named };
}

type Settings = Required<WebLlmProposerOptions>;

function settingsOf(options: WebLlmProposerOptions): Settings {
  const {
    sampling = { kind: 'greedy' }, maxAnswerTokens = DEFAULT_MAX_ANSWER_TOKENS, jumpForward = true,
    excludeNoOps = DEFAULT_RULES.excludeNoOps, goal = DEFAULT_RULES.goal,
  } = options;
  return { sampling, maxAnswerTokens, jumpForward, excludeNoOps, goal };
}

async function propose({ session, clock, memory }: Required<WebLlmParts>, settings: Settings, observation: Observation, signal: AbortSignalLike): Promise<Result<Proposal, ProposerFailure>> {
  const { model: { tokenizer, vocabulary, contextLength }, logitWidth } = session;
  const { sampling, maxAnswerTokens, excludeNoOps, goal } = settings;
  const fail = (issue: { readonly code: string }): Result<never, ProposerFailure> => err(toProposerFailure(issue, SENTENCES));
  const boundAt = clock();
  const kept = memory.maskFor(observation.contract, vocabulary, { excludeNoOps, goal, unmaskable: 'refuse' });
  if (!kept.ok) return fail(kept.error);
  const matcher = kept.value.mask.bind(observation.state, { tokenBudget: maxAnswerTokens, model: { logitWidth } });
  if (!matcher.ok) return fail(matcher.error);
  const prompt = encodePrompt(buildPrompt(observation), tokenizer, contextLength - maxAnswerTokens);
  if (!prompt.ok) return fail(prompt.error);
  const bindMs = clock() - boundAt;

  const sampler = createSampler(samplingOfAttempt(sampling, observation.state.history.length));
  const written = await write(session, matcher.value, prompt.value.ids, sampler, settings, clock, signal);
  if (!written.ok) return fail(written.error);
  const { kind, cursor, tokenCount, forcedTokenCount, logProbability, stepCount, prefillMs, decodeMs, maskMs } = written.value;
  const given = {
    cost: { promptTokenCount: prompt.value.ids.length, generatedTokenCount: tokenCount, forcedTokenCount, prefillMs, decodeMs, maskMs: bindMs + maskMs },
    maskDigest: cursor.maskDigest(), maskTrail: cursor.trail(), signals: { stepCount },
  };
  if (kind === 'goal-unreachable') return ok({ kind: 'text', text: JSON.stringify({ abstain: kind }), confidence: undefined, ...given });
  if (kind === 'incomplete') return ok({ kind: 'incomplete', text: cursor.text(), code: 'generate/token-budget', ...given });
  return ok({ kind: 'text', text: cursor.text(), confidence: Math.exp(logProbability), ...given });
}

interface Written {
  readonly kind: 'complete' | 'incomplete' | 'goal-unreachable';
  readonly cursor: MaskCursor;
  readonly tokenCount: number;
  readonly forcedTokenCount: number;
  /** Of the decisions that were not taken back. */
  readonly logProbability: number;
  /** Runs of the engine, that over the prompt included. */
  readonly stepCount: number;
  readonly prefillMs: number;
  readonly decodeMs: number;
  readonly maskMs: number;
}

async function write(
  session: WebLlmSession, matcher: MaskMatcher, promptIds: readonly number[], sampler: Sampler, { maxAnswerTokens, jumpForward }: Settings, clock: Clock, signal: AbortSignalLike,
): Promise<Result<Written, { readonly code: string }>> {
  const cursor = new MaskCursor(matcher, { jumpForward });
  const ids: number[] = [];
  /** By token of `ids`; a forced one adds nothing. */
  const logProbabilities: number[] = [];
  /** What the engine has not seen yet. */
  let pending: readonly number[] = promptIds;
  let [forcedTokenCount, takenBackCount, stepCount, prefillMs, maskMs] = [0, 0, 0, 0, 0];
  let kind: Written['kind'] = 'complete';
  const startedAt = clock();
  const reset = await session.reset();
  if (!reset.ok) return reset;

  while (ids.length < maxAnswerTokens) {
    if (signal.aborted) return err({ code: 'engine/aborted' });
    const maskAt = clock();
    const moved = cursor.advance(maxAnswerTokens - ids.length);
    maskMs += clock() - maskAt;
    if (!moved.ok) return moved;
    const move = moved.value;
    if (move.kind === 'ended') break;
    if (move.kind === 'goal-unreachable') {
      kind = move.kind;
      break;
    }
    if (move.kind === 'taken-back') {
      takenBackCount += move.count;
      ids.length -= move.count;
      logProbabilities.length = ids.length;
      const again = await session.reset();
      if (!again.ok) return again;
      pending = [...promptIds, ...ids];
      continue;
    }
    if (move.kind === 'forced') {
      ids.push(...move.ids);
      logProbabilities.push(...move.ids.map(() => 0));
      pending = [...pending, ...move.ids];
      forcedTokenCount += move.ids.length;
      continue;
    }
    const chosen = await session.decide(pending, { cursor, allowed: move.allowed, sampler });
    if (!chosen.ok) return chosen;
    stepCount += 1;
    if (stepCount === 1) prefillMs = clock() - startedAt - maskMs;
    const { id, logProbability } = chosen.value;
    ids.push(id);
    logProbabilities.push(logProbability);
    pending = [id];
  }
  if (kind === 'complete' && !cursor.isTerminated()) kind = 'incomplete';
  return ok({
    kind, cursor, tokenCount: ids.length + takenBackCount, forcedTokenCount, logProbability: logProbabilities.reduce((sum, each) => sum + each, 0),
    stepCount, prefillMs, decodeMs: clock() - startedAt - prefillMs - maskMs, maskMs,
  });
}
