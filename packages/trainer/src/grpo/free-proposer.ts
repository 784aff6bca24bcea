/**
 * The policy without a mask in decoding, for the arms that need one: it writes what it likes, and the mask, if any, looks at the whole answer afterwards. What
 * it refuses is a failed attempt (CHECKLIST E6); with no mask at all the loop's own gate refuses (M-ABL1).
 */
import { err, ok, type AbortSignalLike, type Observation, type Proposal, type Proposer, type ProposerFailure, type Result } from '@contractrl/core';
import type { TokenId, Vocabulary } from '@contractrl/grammar-mask';
import {
  buildPrompt, createSampler, DEFAULT_MAX_ANSWER_TOKENS, describeEngine, encodePrompt, PROMPT_VERSION, samplingOfAttempt, type EngineFailure, type EngineStep, type Sampling, type ProposerParts,
} from '@contractrl/runtime-webgpu';
import { bindMask } from '../bind-mask.ts';

/** What can be written: every token with a spelling, and the stop tokens. Ascending. */
export function writableIds({ tokens, stopIds }: Vocabulary): Int32Array {
  const stops = new Set(stopIds);
  return Int32Array.from(tokens.flatMap((bytes, id) => (bytes !== undefined || stops.has(id as TokenId) ? [id] : [])));
}

/** `isChecked`: whether the mask looks at the answer. */
export function createFreeProposer(parts: ProposerParts, sampling: Sampling, isChecked: boolean): Proposer {
  const writable = writableIds(parts.vocabulary);
  return {
    identity: { ...describeEngine(parts.engine), promptVersion: PROMPT_VERSION, mask: isChecked ? 'outside' : 'off', sampling: { ...sampling } },
    propose: (observation, signal) => propose(parts, sampling, isChecked, writable, observation, signal),
  };
}

async function propose(
  parts: ProposerParts, sampling: Sampling, isChecked: boolean, writable: Int32Array, observation: Observation, signalLike: AbortSignalLike,
): Promise<Result<Proposal, ProposerFailure>> {
  const { engine, tokenizer, vocabulary, memory } = parts;
  const signal = signalLike instanceof AbortSignal ? signalLike : undefined;
  const prompt = encodePrompt(buildPrompt(observation), tokenizer, engine.contextLength - DEFAULT_MAX_ANSWER_TOKENS);
  if (!prompt.ok) return err({ code: prompt.error.code, message: 'The prompt leaves no room for an answer.' });
  const start = await memory.prefixes.prefill(prompt.value.ids, { commonLength: prompt.value.staticLength, isKept: true, signal });
  if (!start.ok) return failed(start.error);
  const sampler = createSampler(samplingOfAttempt(sampling, observation.state.history.length));
  const logits = new Float32Array(writable.length);
  const ids: TokenId[] = [];
  let step: EngineStep = start.value;
  let logProbability = 0;
  for (;;) {
    engine.logitsOf(step.hidden, writable, logits);
    const choice = sampler.choose(writable, logits, writable.length);
    if (!choice.ok) return failed(choice.error);
    ids.push(choice.value.id);
    logProbability += choice.value.logProbability;
    if (vocabulary.stopIds.includes(choice.value.id) || ids.length === DEFAULT_MAX_ANSWER_TOKENS) break;
    const next = await engine.extend(step.cache, [choice.value.id], signal);
    if (!next.ok) return failed(next.error);
    step = next.value;
  }
  const base = {
    text: new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => [...(vocabulary.tokens[id] ?? [])]))), maskTrail: { ids, closedCount: null }, maskDigest: undefined,
    cost: { promptTokenCount: prompt.value.ids.length, generatedTokenCount: ids.length, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 },
  };
  if (!vocabulary.stopIds.includes(ids.at(-1)!)) return ok({ kind: 'incomplete', code: 'generate/token-budget', ...base });
  if (isChecked) {
    const matcher = bindMask({ vocabulary, memory, logitWidth: engine.logitWidth }, observation);
    if (!matcher.ok) return err({ code: matcher.error.code, message: 'There is no mask for this contract or state.' });
    const isRefused = ids.some((id) => !matcher.value.acceptToken(id).ok);
    if (isRefused) return ok({ kind: 'incomplete', code: 'mask/token-not-allowed', ...base });
  }
  return ok({ kind: 'text', confidence: Math.exp(logProbability), ...base });
}

function failed(failure: EngineFailure): Result<never, ProposerFailure> {
  return err({ code: failure.code, message: 'The engine failed.', cause: failure });
}
