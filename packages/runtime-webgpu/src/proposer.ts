/**
 * Engine and mask as a policy: observation → prompt → masked decoding → text. What the mask cannot express is not proposed, and where that leaves
 * nothing the repair ends with the mask's own code, unless the caller asks for `unmaskable: 'validate'`. Compiled contracts and prompt prefixes are
 * kept for later attempts and later repairs.
 */
import {
  err, ok,
  type AbortSignalLike, type Contract, type JsonObject, type JsonPointer, type Observation, type Proposal, type ProposalCost, type Proposer, type ProposerFailure, type RepairState, type Result,
} from '@contractrl/core';
import type { ProvenanceSources } from '@contractrl/core/schema';
import { compileMask, type BindOptions, type CompileOptions, type MaskMatcher, type Vocabulary } from '@contractrl/grammar-mask';
import { approximateContract } from './approximate-contract.ts';
import { createDrafter, type Drafter } from './draft.ts';
import { describeEngine, type Engine } from './engine.ts';
import type { PromptStep } from './engine-cursor.ts';
import { answerExactly } from './exact-answer.ts';
import { toProposerFailure } from './failure-text.ts';
import { generate, type Clock } from './generate.ts';
import { createPrefixCache, type PrefixCache } from './prefix-cache.ts';
import { buildPrompt, encodePrompt, PROMPT_VERSION } from './prompt.ts';
import { publicSources } from './public-sources.ts';
import { foreignTo } from './release/calibration.ts';
import { describeRelease, releaseAnswer, type Release } from './release/release.ts';
import { createSampler, type Sampling } from './sampling.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Answers of training end within 170 tokens; the room for them is taken off the context before the prompt gets the rest. */
export const DEFAULT_MAX_ANSWER_TOKENS = 256;
/** Half of the probability: what is not of the sources must at least be as likely as all that is. */
export const DEFAULT_PROVENANCE_SHARE = 0.5;
const COMPILED_LIMIT = 32;

/** Rules of the mask beyond the contract. */
export type MaskRules = Required<Pick<CompileOptions, 'excludeNoOps' | 'goal'>> & Pick<CompileOptions, 'nearer'>;
/** Of every policy that decodes under the mask. */
export const DEFAULT_RULES: MaskRules = { excludeNoOps: true, goal: true };

/** A contract compiled for one vocabulary, as `compileMask` gives it. */
export interface BindableMask {
  bind(state: RepairState, options: Pick<BindOptions, 'tokenBudget' | 'model'>): Result<MaskMatcher, { readonly code: string }>;
}
/** With `provenance`, a mask whose values are of these sources only, at and below the places `at` or everywhere. */
export type MaskCompiler = (
  contract: Contract, vocabulary: Vocabulary, rules: MaskRules, provenance?: ProvenanceSources, at?: readonly JsonPointer[],
) => Result<BindableMask, { readonly code: string }>;

export interface ProposerParts {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** What is kept between repairs; proposers over the same engine may share it. */
  readonly memory: ProposerMemory;
  /** What holds for {@link ProposerOptions.release} unless options say otherwise: the calibration that came with the adapter. */
  readonly release?: Release;
}

export interface ProposerOptions {
  /** Default greedy. A random seed is advanced by one for each attempt, so that a second attempt is not the first again. */
  readonly sampling?: Sampling;
  /** Default {@link DEFAULT_MAX_ANSWER_TOKENS}. */
  readonly maxAnswerTokens?: number;
  /** Default true. */
  readonly jumpForward?: boolean;
  /** Default true: what the output says next is guessed from the observation and read ahead, see `draft.ts`. Changes the number of engine steps alone. */
  readonly speculate?: boolean;
  /** Default true: no operation that changes nothing, or undoes or repeats an earlier one of its patch. */
  readonly excludeNoOps?: boolean;
  /**
   * A patch closes only where it makes the call valid, touches only places at fault and throws no misnamed member away; where three values in turn miss,
   * the answer is an abstention with `goal-unreachable`.
   * Default true. It makes a call valid, not right: see the arms `deterministic-open` and `deterministic-adapter` of the baseline.
   */
  readonly goal?: boolean;
  /**
   * Whether written values must come of the request, the candidate, the schema or a named derivation of them. `require`: no other can be written.
   * `prefer`: others only from a decision on where those have less than {@link provenanceShare} of the probability. Default `off`.
   */
  readonly provenance?: 'off' | 'prefer' | 'require';
  /** In [0, 1], for `prefer`; default {@link DEFAULT_PROVENANCE_SHARE}. 0 never leaves the sources, and still measures their share. */
  readonly provenanceShare?: number;
  /**
   * `exact`: every answer of at most one operation is scored and the most probable one given, whatever `sampling` says; where they are more than
   * 256, or `provenance` is `prefer`, decoded as ever. Costs an engine step for each place at which they part. Default `decode`.
   */
  readonly search?: 'decode' | 'exact';
  /** In [0, 1]: abstain where abstentions together have at least this share of the first decision. Default: as the sampler chooses. */
  readonly abstainShare?: number;
  /** `validate`: places whose schema the mask cannot constrain are written all the same, and the judge decides. Default `refuse`: they are not written. */
  readonly unmaskable?: 'refuse' | 'validate';
  /**
   * Withholds patches of low confidence: the answer is then an abstention with `low-confidence`. Default: as the adapter's own calibration says, `off`
   * where it has none. One of another adapter or prompt ends every repair with its code. It was fitted for greedy answers of the default options.
   */
  readonly release?: 'off' | Release;
  /** Default false. Measures at every decision what the mask takes from the model, into the proposal's signals; dear. */
  readonly reportMass?: boolean;
}

export interface MaskMemory {
  /** The compiled mask of a contract, by its digest and the rules. Refusals are not kept, they cost little and end the repair; nor is a mask of one request's sources. */
  maskFor(contract: Contract, vocabulary: Vocabulary, rules: MaskRules & Pick<Settings, 'unmaskable'>, provenance?: ProvenanceSources, at?: readonly JsonPointer[]): Result<KeptMask, { readonly code: string }>;
}

export interface ProposerMemory extends MaskMemory {
  readonly prefixes: PrefixCache;
}

export interface KeptMask {
  readonly mask: BindableMask;
  /** Where in the schema keywords were left to the judge. */
  readonly approximated: readonly JsonPointer[];
}

type Settings = Required<Omit<ProposerOptions, 'abstainShare' | 'release'>> & { readonly abstainShare: number | undefined; readonly release: Release | undefined };

export function createProposerMemory(engine: Engine, compile?: MaskCompiler): ProposerMemory {
  return { prefixes: createPrefixCache(engine), ...createMaskMemory(compile) };
}

/** The masks alone, for policies without an engine of the port. */
export function createMaskMemory(compile: MaskCompiler = compileWith): MaskMemory {
  /** Insertion order is age. */
  const kept = new Map<string, KeptMask>();
  return {
    maskFor(contract, vocabulary, { excludeNoOps, goal, nearer = goal, unmaskable }, provenance, at) {
      const key = `${contract.digest} ${vocabulary.digest} ${String(excludeNoOps)} ${String(goal)} ${String(nearer)} ${unmaskable}`;
      const known = provenance === undefined ? kept.get(key) : undefined;
      if (known !== undefined) return ok(known);
      const { contract: masked, approximated } = unmaskable === 'validate' ? approximateContract(contract) : { contract, approximated: [] };
      const mask = compile(masked, vocabulary, { excludeNoOps, goal, nearer }, provenance, at);
      if (!mask.ok) return mask;
      const made = { mask: mask.value, approximated: approximated.map(({ keywordLocation }) => keywordLocation) };
      if (provenance !== undefined) return ok(made);
      const [oldest] = kept.keys();
      if (kept.size >= COMPILED_LIMIT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, made);
      return ok(made);
    },
  };
}

function compileWith(...[contract, vocabulary, rules, provenance, provenanceAt]: Parameters<MaskCompiler>): ReturnType<MaskCompiler> {
  return compileMask(contract, vocabulary, { ...rules, ...(provenance === undefined ? {} : { provenance }), ...(provenanceAt === undefined ? {} : { provenanceAt }) });
}

/**
 * The policy as core's port. `confidence` of a patch under a release is the probability that it is right; otherwise that of the whole answer among the
 * admissible ones: exp of its masked log-probability. Throws `RangeError` for a share out of range.
 */
export function createMaskedProposer(parts: ProposerParts, options: ProposerOptions = {}): Proposer {
  const {
    sampling = { kind: 'greedy' }, maxAnswerTokens = DEFAULT_MAX_ANSWER_TOKENS, jumpForward = true, speculate = true,
    excludeNoOps = DEFAULT_RULES.excludeNoOps, goal = DEFAULT_RULES.goal, provenance = 'off',
    provenanceShare = DEFAULT_PROVENANCE_SHARE, search = 'decode', abstainShare, unmaskable = 'refuse', reportMass = false, release: asked = parts.release,
  } = options;
  const release = asked === 'off' ? undefined : asked;
  checkShares({ provenanceShare, abstainShare: abstainShare ?? 0, 'release.threshold': release?.threshold ?? 0 });
  const named = { sampling, maxAnswerTokens, jumpForward, speculate, excludeNoOps, goal, provenance, provenanceShare, search, unmaskable };
  return {
    get identity(): JsonObject {
      return {
        ...describeEngine(parts.engine), promptVersion: PROMPT_VERSION, vocabulary: parts.vocabulary.digest, ...named, sampling: { ...sampling }, abstainShare: abstainShare ?? null,
        ...(release === undefined ? {} : { release: describeRelease(release) }),
      };
    },
    propose: (observation, signal) => propose(parts, { ...named, abstainShare, reportMass, release }, observation, signal),
  };
}

/** Throws `RangeError` with the name of a share that is out of range. */
export function checkShares(shares: Readonly<Record<string, number>>): void {
  for (const [name, share] of Object.entries(shares)) {
    if (!(share >= 0 && share <= 1)) throw new RangeError(`${name} must lie in [0, 1], got ${share}`);
  }
}

async function propose(parts: ProposerParts, settings: Settings, observation: Observation, signalLike: AbortSignalLike): Promise<Result<Proposal, ProposerFailure>> {
  const { engine, tokenizer, clock, memory } = parts;
  const { maxAnswerTokens } = settings;
  const { state } = observation;
  const signal = signalLike instanceof AbortSignal ? signalLike : undefined;
  const foreign = settings.release && foreignTo(settings.release.calibration, { adapterDigest: engine.adapterDigest, promptVersion: PROMPT_VERSION });
  if (foreign !== undefined) return err(toProposerFailure(foreign));

  const boundAt = clock();
  const masks = bindMasks({ ...parts, logitWidth: engine.logitWidth }, settings, observation);
  if (!masks.ok) return err(toProposerFailure(masks.error));
  const bindMs = clock() - boundAt;

  const prefillAt = clock();
  const prompt = encodePrompt(buildPrompt(observation), tokenizer, engine.contextLength - maxAnswerTokens);
  if (!prompt.ok) return err(toProposerFailure(prompt.error));
  const { ids, staticLength } = prompt.value;
  const drafter = settings.speculate ? createDrafter(observation, tokenizer) : undefined;
  const { single } = masks.value;
  const ahead = single === undefined ? drafter?.after([], '').slice(0, maxAnswerTokens) : undefined;
  const start = await memory.prefixes.prefill(ids, { commonLength: staticLength, isKept: state.attemptsLeft > 1, signal, ...(ahead === undefined ? {} : { ahead }) });
  if (!start.ok) return err(toProposerFailure(start.error));
  const spent = { promptTokenCount: ids.length, prefillMs: clock() - prefillAt, maskMs: bindMs };
  return single === undefined
    ? decodedProposal(parts, settings, masks.value, start.value, spent, { observation, drafter, signal })
    : exactProposal(parts, settings, masks.value, single, start.value, spent, { observation, drafter, signal });
}

export interface BoundMasks {
  readonly matcher: MaskMatcher;
  /** Beside it under `prefer`; undefined also where the sources can be honoured by no mask. */
  readonly closed: MaskMatcher | undefined;
  /** For exact search: patches of one operation. */
  readonly single: MaskMatcher | undefined;
  readonly approximated: readonly JsonPointer[];
}

export interface MaskParts {
  readonly logitWidth: number;
  readonly vocabulary: Vocabulary;
  readonly memory: MaskMemory;
}

/** Of any policy that decodes under the mask, bound to the observation's state. */
export function bindMasks(
  { logitWidth, vocabulary, memory }: MaskParts, settings: Pick<Settings, 'provenance' | 'search' | 'maxAnswerTokens' | 'excludeNoOps' | 'goal' | 'unmaskable'>, observation: Observation,
): Result<BoundMasks, { readonly code: string }> {
  const { contract, state } = observation;
  const { provenance, search, maxAnswerTokens } = settings;
  const limits = { tokenBudget: maxAnswerTokens, model: { logitWidth } };
  const sources = publicSources(observation);
  const kept = provenance === 'require' ? memory.maskFor(contract, vocabulary, settings, sources) : maskClosedAsNamed(memory, vocabulary, settings, observation);
  if (!kept.ok) return kept;
  const { mask, approximated } = kept.value;
  const matcher = mask.bind(state, limits);
  if (!matcher.ok) return matcher;
  const single = search === 'exact' && provenance !== 'prefer' ? mask.bind({ ...state, operationsLeft: Math.min(1, state.operationsLeft) }, limits) : undefined;
  if (single?.ok === false) return single;
  const narrow = provenance === 'prefer' ? memory.maskFor(contract, vocabulary, settings, sources) : undefined;
  const closed = narrow?.ok === true ? narrow.value.mask.bind(state, limits) : undefined;
  return ok({ matcher: matcher.value, closed: closed?.ok === true ? closed.value : undefined, single: single?.value, approximated });
}

/** The contract's own mask, closed where the contract asks for an origin. Sources that no mask can hold leave that to the judge, who asks again anyway. */
function maskClosedAsNamed(memory: MaskMemory, vocabulary: Vocabulary, settings: Parameters<MaskMemory['maskFor']>[2], observation: Observation): ReturnType<MaskMemory['maskFor']> {
  const { contract, contract: { originPaths } } = observation;
  const named = originPaths.length === 0 ? undefined : memory.maskFor(contract, vocabulary, settings, publicSources(observation), originPaths);
  return named === undefined || (!named.ok && named.error.code.startsWith('provenance/')) ? memory.maskFor(contract, vocabulary, settings) : named;
}

type Spent = Pick<ProposalCost, 'promptTokenCount' | 'prefillMs' | 'maskMs'>;

/** What an attempt has of its own beside masks and prompt. */
interface Attempt {
  readonly observation: Observation;
  readonly drafter: Drafter | undefined;
  readonly signal: AbortSignal | undefined;
}

async function exactProposal(
  parts: ProposerParts, settings: Settings, masks: BoundMasks, single: MaskMatcher, start: PromptStep, spent: Spent, attempt: Attempt,
): Promise<Result<Proposal, ProposerFailure>> {
  const { engine, vocabulary, clock } = parts;
  const { jumpForward, abstainShare } = settings;
  const startedAt = clock();
  const found = await answerExactly(engine, vocabulary, single, start, { jumpForward, abstainShare, signal: attempt.signal });
  if (!found.ok && found.error.code === 'mask/too-many-outputs') {
    return decodedProposal(parts, settings, masks, start, { ...spent, maskMs: spent.maskMs + clock() - startedAt }, attempt, { exact: found.error.code });
  }
  if (!found.ok) return err(toProposerFailure(found.error));
  const { text, ids, forcedTokenCount, logProbability, outputCount, margin, maskDigest } = found.value;
  // free text has more outputs than are searched, and those listed reach the goal
  const { abstainShare: share } = found.value;
  const decisions = { sequenceLogProbability: logProbability, margin, openLogAllowed: 0, abstainShare: share, takenBackCount: 0 };
  const { signals, ...released } = releaseAnswer(attempt.observation, text, decisions, settings.release);
  return ok({
    kind: 'text', ...released, maskDigest, maskTrail: { ids, closedCount: null },
    cost: { ...spent, generatedTokenCount: ids.length, forcedTokenCount, decodeMs: clock() - startedAt },
    signals: { ...(share === undefined ? {} : { abstainShare: share }), exact: { outputCount, margin: margin ?? null }, ...signals, ...approximatedSignal(masks) },
  });
}

async function decodedProposal(
  { engine, clock }: ProposerParts, settings: Settings, masks: BoundMasks, start: PromptStep, spent: Spent, { observation, drafter, signal }: Attempt, notes: JsonObject = {},
): Promise<Result<Proposal, ProposerFailure>> {
  const { maxAnswerTokens, jumpForward, reportMass, abstainShare, provenance, provenanceShare } = settings;
  const generation = await generate(engine, masks.matcher, start, {
    sampler: createSampler(samplingOfAttempt(settings.sampling, observation.state.history.length)), clock, maxTokens: maxAnswerTokens, jumpForward, reportMass, abstainShare, drafter,
    ...(masks.closed === undefined ? {} : { closed: { matcher: masks.closed, share: provenanceShare } }), ...(signal === undefined ? {} : { signal }),
  });
  if (!generation.ok) return err(toProposerFailure(generation.error));
  const { kind, text, generatedTokenCount, forcedTokenCount, abstainShare: share, maskDigest, maskTrail, decodeMs, maskMs, mass, closed, speculation } = generation.value;
  const measuredAt = clock();
  const { signals: measured, ...released } = releaseAnswer(observation, text, generation.value, settings.release);
  const cost = { ...spent, generatedTokenCount, forcedTokenCount, decodeMs, maskMs: spent.maskMs + maskMs + clock() - measuredAt };
  const signals: JsonObject = {
    ...(share === undefined ? {} : { abstainShare: share }),
    ...(mass === undefined ? {} : { mass: mass as unknown as JsonObject }),
    ...(provenance === 'prefer' ? { provenance: closed === undefined ? null : { ...closed } } : {}),
    ...(drafter === undefined ? {} : { speculation: { ...speculation } }),
    ...notes, ...(kind === 'complete' ? measured : {}), ...approximatedSignal(masks),
  };
  const given = { cost, maskDigest, maskTrail, ...(Object.keys(signals).length === 0 ? {} : { signals }) };
  // the mask offers the policy no such reason: it is the loop that found the end of the road
  if (kind === 'goal-unreachable') return ok({ kind: 'text', text: JSON.stringify({ abstain: kind }), confidence: undefined, ...given });
  return ok(kind === 'complete' ? { kind: 'text', ...released, ...given } : { kind: 'incomplete', text, code: 'generate/token-budget', ...given });
}

function approximatedSignal({ approximated }: BoundMasks): JsonObject {
  return approximated.length === 0 ? {} : { approximated };
}

/** Random draws of a later attempt are others than those of the first; `attempt` counts from 0. */
export function samplingOfAttempt(sampling: Sampling, attempt: number): Sampling {
  return sampling.kind === 'greedy' ? sampling : { ...sampling, seed: (sampling.seed + attempt) % 2 ** 32 };
}
