/**
 * Engine and mask as a policy: observation → prompt → masked decoding → text. Whatever the mask cannot express ends the repair with the mask's own
 * code; there is no unmasked fallback. Compiled contracts and prompt prefixes are kept for later attempts and later repairs.
 */
import { err, ok, type AbortSignalLike, type Contract, type JsonObject, type Observation, type Proposal, type Proposer, type ProposerFailure, type RepairState, type Result } from '@contractrl/core';
import { compileMask, type BindOptions, type CompileOptions, type MaskMatcher, type Vocabulary } from '@contractrl/grammar-mask';
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

/** Rules of the mask beyond the contract. */
export type MaskRules = Required<Pick<CompileOptions, 'excludeNoOps' | 'goal'>>;

/** A contract compiled for one vocabulary, as `compileMask` gives it. */
export interface BindableMask {
  bind(state: RepairState, options: Pick<BindOptions, 'tokenBudget' | 'model'>): Result<MaskMatcher, { readonly code: string }>;
}
export type MaskCompiler = (contract: Contract, vocabulary: Vocabulary, rules: MaskRules) => Result<BindableMask, { readonly code: string }>;

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
  /** Default true: no operation that changes nothing, or undoes or repeats an earlier one of its patch. */
  readonly excludeNoOps?: boolean;
  /**
   * A patch closes only where it makes the call valid; where three values in turn do not, the answer is an abstention with `goal-unreachable`.
   * Default false: it makes a call valid, not right, and under the provisional adapter that ends more repairs in a wrong call (arm `adapter-goal`
   * of the baseline).
   */
  readonly goal?: boolean;
}

export interface ProposerMemory {
  readonly prefixes: PrefixCache;
  /** The compiled mask of a contract, by its digest and the rules. Refusals are not kept: they cost little and end the repair. */
  maskFor(contract: Contract, vocabulary: Vocabulary, rules: MaskRules): ReturnType<MaskCompiler>;
}

export function createProposerMemory(engine: Engine, compile: MaskCompiler = compileMask): ProposerMemory {
  /** Insertion order is age. */
  const compiled = new Map<string, BindableMask>();
  return {
    prefixes: createPrefixCache(engine),
    maskFor(contract, vocabulary, rules) {
      const key = `${contract.digest} ${vocabulary.digest} ${String(rules.excludeNoOps)} ${String(rules.goal)}`;
      const known = compiled.get(key);
      if (known !== undefined) return ok(known);
      const mask = compile(contract, vocabulary, rules);
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
  const { sampling = { kind: 'greedy' }, maxAnswerTokens = DEFAULT_MAX_ANSWER_TOKENS, jumpForward = true, excludeNoOps = true, goal = false } = options;
  const settings = { maxAnswerTokens, jumpForward, excludeNoOps, goal };
  return {
    get identity(): JsonObject {
      return { ...describeEngine(parts.engine), promptVersion: PROMPT_VERSION, vocabulary: parts.vocabulary.digest, sampling: { ...sampling }, ...settings };
    },
    propose: (observation, signal) => propose(parts, { sampling, ...settings }, observation, signal),
  };
}

async function propose(
  parts: ProposerParts, options: Required<ProposerOptions>, observation: Observation, signalLike: AbortSignalLike,
): Promise<Result<Proposal, ProposerFailure>> {
  const { engine, tokenizer, vocabulary, clock, memory } = parts;
  const { maxAnswerTokens, jumpForward, excludeNoOps, goal } = options;
  const { contract, state } = observation;
  const signal = signalLike instanceof AbortSignal ? { signal: signalLike } : {};

  const boundAt = clock();
  const mask = memory.maskFor(contract, vocabulary, { excludeNoOps, goal });
  const matcher = mask.ok ? mask.value.bind(state, { tokenBudget: maxAnswerTokens, model: { logitWidth: engine.logitWidth } }) : mask;
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
  // the mask offers the policy no such reason: it is the loop that found the end of the road
  if (kind === 'goal-unreachable') return ok({ kind: 'text', text: JSON.stringify({ abstain: kind }), confidence: undefined, cost, maskDigest });
  return ok(kind === 'complete' ? { kind: 'text', text, confidence: Math.exp(sequenceLogProbability), cost, maskDigest } : { kind: 'incomplete', text, code: 'generate/token-budget', cost });
}

function samplingOfAttempt(sampling: Sampling, attempt: number): Sampling {
  return sampling.kind === 'greedy' ? sampling : { ...sampling, seed: (sampling.seed + attempt) % 2 ** 32 };
}
