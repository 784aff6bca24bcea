/**
 * Engine and mask as a policy: observation → prompt → masked decoding → text. Whatever the mask cannot express ends the repair with the mask's own
 * code; there is no unmasked fallback. Compiled contracts and prompt prefixes are kept for later attempts and later repairs.
 */
import { err, ok, type AbortSignalLike, type Contract, type JsonObject, type Observation, type Proposal, type Proposer, type ProposerFailure, type RepairState, type Result } from '@contractrl/core';
import { compileMask, type MaskMatcher, type Vocabulary } from '@contractrl/grammar-mask';
import { describeEngine, type Engine } from './engine.ts';
import { toProposerFailure } from './failure-text.ts';
import { generate, type Clock } from './generate.ts';
import { createPrefixCache, type PrefixCache } from './prefix-cache.ts';
import { buildPrompt, encodePrompt, PROMPT_VERSION } from './prompt.ts';
import { createSampler, type Sampling } from './sampling.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Answers of training end within 170 tokens; the room for them is taken off the context before the prompt gets the rest. */
export const DEFAULT_MAX_ANSWER_TOKENS = 256;
const COMPILED_LIMIT = 32;

/** A contract compiled for one vocabulary, as `compileMask` gives it. */
export interface BindableMask {
  bind(state: RepairState): Result<MaskMatcher, { readonly code: string }>;
}
export type MaskCompiler = (contract: Contract, vocabulary: Vocabulary) => Result<BindableMask, { readonly code: string }>;

export interface ProposerParts {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** What is kept between repairs; proposers over the same engine may share it. */
  readonly memory: ProposerMemory;
}

export interface ProposerOptions {
  /** Default greedy. A random seed is advanced by one for each attempt, so that a second attempt is not the first again. */
  readonly sampling?: Sampling;
  /** Default {@link DEFAULT_MAX_ANSWER_TOKENS}. */
  readonly maxAnswerTokens?: number;
  /** Default true. */
  readonly jumpForward?: boolean;
}

export interface ProposerMemory {
  readonly prefixes: PrefixCache;
  /** The compiled mask of a contract, by its digest. Refusals are not kept: they cost little and end the repair. */
  maskFor(contract: Contract, vocabulary: Vocabulary): ReturnType<MaskCompiler>;
}

export function createProposerMemory(engine: Engine, compile: MaskCompiler = compileMask): ProposerMemory {
  /** Insertion order is age. */
  const compiled = new Map<string, BindableMask>();
  return {
    prefixes: createPrefixCache(engine),
    maskFor(contract, vocabulary) {
      const key = `${contract.digest} ${vocabulary.digest}`;
      const known = compiled.get(key);
      if (known !== undefined) return ok(known);
      const mask = compile(contract, vocabulary);
      if (!mask.ok) return mask;
      const [oldest] = compiled.keys();
      if (compiled.size >= COMPILED_LIMIT && oldest !== undefined) compiled.delete(oldest);
      compiled.set(key, mask.value);
      return mask;
    },
  };
}

/** The policy as core's port. `confidence` is the probability of the whole answer among the admissible ones: exp of its masked log-probability. */
export function createMaskedProposer(parts: ProposerParts, options: ProposerOptions = {}): Proposer {
  const { sampling = { kind: 'greedy' }, maxAnswerTokens = DEFAULT_MAX_ANSWER_TOKENS, jumpForward = true } = options;
  return {
    get identity(): JsonObject {
      return { ...describeEngine(parts.engine), promptVersion: PROMPT_VERSION, vocabulary: parts.vocabulary.digest, sampling: { ...sampling }, maxAnswerTokens, jumpForward };
    },
    propose: (observation, signal) => propose(parts, { sampling, maxAnswerTokens, jumpForward }, observation, signal),
  };
}

async function propose(
  parts: ProposerParts, options: Required<ProposerOptions>, observation: Observation, signalLike: AbortSignalLike,
): Promise<Result<Proposal, ProposerFailure>> {
  const { engine, tokenizer, vocabulary, clock, memory } = parts;
  const { maxAnswerTokens, jumpForward } = options;
  const { contract, state } = observation;
  const signal = signalLike instanceof AbortSignal ? { signal: signalLike } : {};

  const boundAt = clock();
  const mask = memory.maskFor(contract, vocabulary);
  const matcher = mask.ok ? mask.value.bind(state) : mask;
  if (!matcher.ok) return err(toProposerFailure(matcher.error));
  const bindMs = clock() - boundAt;

  const prefillAt = clock();
  const prompt = encodePrompt(buildPrompt(observation), tokenizer, engine.contextLength - maxAnswerTokens);
  if (!prompt.ok) return err(toProposerFailure(prompt.error));
  const { ids, boundaries } = prompt.value;
  // The task's snapshot serves the next attempt; where there is none, the chunk boundary would only cost.
  const start = await memory.prefixes.prefill(ids, state.attemptsLeft > 1 ? boundaries : boundaries.slice(0, 1), signal.signal);
  if (!start.ok) return err(toProposerFailure(start.error));
  const prefillMs = clock() - prefillAt;

  const sampler = createSampler(samplingOfAttempt(options.sampling, state.history.length));
  const generation = await generate(engine, matcher.value, start.value, { sampler, clock, maxTokens: maxAnswerTokens, jumpForward, ...signal });
  if (!generation.ok) return err(toProposerFailure(generation.error));
  const { kind, text, generatedTokenCount, forcedTokenCount, sequenceLogProbability, maskDigest, decodeMs, maskMs } = generation.value;
  const cost = { promptTokenCount: ids.length, generatedTokenCount, forcedTokenCount, prefillMs, decodeMs, maskMs: bindMs + maskMs };
  return ok(kind === 'complete' ? { kind: 'text', text, confidence: Math.exp(sequenceLogProbability), cost, maskDigest } : { kind: 'incomplete', text, code: 'generate/token-budget', cost });
}

function samplingOfAttempt(sampling: Sampling, attempt: number): Sampling {
  return sampling.kind === 'greedy' ? sampling : { ...sampling, seed: (sampling.seed + attempt) % 2 ** 32 };
}
