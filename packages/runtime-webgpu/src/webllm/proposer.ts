/**
 * WebLLM as a policy. The loop is that of `generate.ts` with another hand on the engine: ids in, one masked choice out. A forced run goes in together
 * with the token before it, so it costs no step of its own; nothing is kept between attempts, since the engine takes nothing back.
 */
import { err, ok, type AbortSignalLike, type JsonObject, type Observation, type Proposal, type Proposer, type ProposerFailure, type Result } from '@contractrl/core';
import type { EngineFailure } from '../engine.ts';
import { toProposerFailure } from '../failure-text.ts';
import { chooseAbstention, massesOfOpening, openingOf, type Clock, type Opening } from '../generate.ts';
import { MaskCursor, SPARSE_LIMIT, type IdList, type Move } from '../mask-cursor.ts';
import { logAllowedOf, massesOf, type Masses, type MassReport } from '../mass-report.ts';
import { buildPrompt, encodePrompt, PROMPT_VERSION } from '../prompt.ts';
import {
  bindMasks, checkShares, createMaskMemory, DEFAULT_MAX_ANSWER_TOKENS, DEFAULT_PROVENANCE_SHARE, DEFAULT_RULES, samplingOfAttempt, type BoundMasks, type MaskMemory, type ProposerOptions,
} from '../proposer.ts';
import { releaseAnswer } from '../release/release.ts';
import { combineDecisions, FORCED_DECISION, type DecisionFigures, type DecisionSignals } from '../release/signals.ts';
import { createSampler, logSumExp, type Choice, type Sampler } from '../sampling.ts';
import type { WebLlmSession } from './session.ts';

export type WebLlmProposerOptions = Pick<
  ProposerOptions, 'sampling' | 'maxAnswerTokens' | 'jumpForward' | 'excludeNoOps' | 'goal' | 'provenance' | 'provenanceShare' | 'abstainShare' | 'unmaskable' | 'reportMass'
>;

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

/**
 * A patch comes with the signals of its confidence, and none is withheld for them: the library gives its weights no digest, so there is nothing that a
 * calibration could be bound to. Throws `RangeError` for a share out of range.
 */
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
  const { sampling, abstainShare, reportMass: _measured, ...named } = settingsOf(options);
  return {
    backend: 'webllm', modelId, modelDigest: null, adapterDigest: null, promptVersion: PROMPT_VERSION, vocabulary, sampling: { ...sampling }, ...named, abstainShare: abstainShare ?? null,
  };
}

type Settings = Required<Omit<WebLlmProposerOptions, 'abstainShare'>> & Pick<WebLlmProposerOptions, 'abstainShare'>;

function settingsOf(options: WebLlmProposerOptions): Settings {
  const {
    sampling = { kind: 'greedy' }, maxAnswerTokens = DEFAULT_MAX_ANSWER_TOKENS, jumpForward = true,
    excludeNoOps = DEFAULT_RULES.excludeNoOps, goal = DEFAULT_RULES.goal,
    provenance = 'off', provenanceShare = DEFAULT_PROVENANCE_SHARE, abstainShare, unmaskable = 'refuse', reportMass = false,
  } = options;
  checkShares({ provenanceShare, abstainShare: abstainShare ?? 0 });
  return { sampling, maxAnswerTokens, jumpForward, excludeNoOps, goal, provenance, provenanceShare, unmaskable, reportMass, ...(abstainShare === undefined ? {} : { abstainShare }) };
}

async function propose({ session, clock, memory }: Required<WebLlmParts>, settings: Settings, observation: Observation, signal: AbortSignalLike): Promise<Result<Proposal, ProposerFailure>> {
  const { model: { tokenizer, vocabulary, contextLength }, logitWidth } = session;
  const { sampling, maxAnswerTokens, provenance } = settings;
  const fail = (issue: { readonly code: string }): Result<never, ProposerFailure> => err(toProposerFailure(issue, SENTENCES));
  const boundAt = clock();
  const masks = bindMasks({ logitWidth, vocabulary, memory }, { ...settings, search: 'decode' }, observation);
  if (!masks.ok) return fail(masks.error);
  const prompt = encodePrompt(buildPrompt(observation), tokenizer, contextLength - maxAnswerTokens);
  if (!prompt.ok) return fail(prompt.error);
  const bindMs = clock() - boundAt;

  const sampler = createSampler(samplingOfAttempt(sampling, observation.state.history.length));
  const written = await write(session, masks.value, prompt.value.ids, sampler, settings, clock, signal);
  if (!written.ok) return fail(written.error);
  const { kind, cursor, tokenCount, forcedTokenCount, logShare, abstainShare, mass, stepCount, prefillMs, decodeMs, maskMs } = written.value;
  const { closed, approximated } = masks.value;
  const maskTrail = cursor.trail();
  const { signals: measured, ...answer } = releaseAnswer(observation, cursor.text(), written.value, undefined);
  const signals: JsonObject = {
    stepCount,
    ...(abstainShare === undefined ? {} : { abstainShare }),
    ...(mass === undefined ? {} : { mass: mass as unknown as JsonObject }),
    ...(provenance === 'prefer' ? { provenance: closed === undefined ? null : { logShare, hasLeft: maskTrail.closedCount !== maskTrail.ids.length } } : {}),
    ...(kind === 'complete' ? measured : {}), ...(approximated.length === 0 ? {} : { approximated }),
  };
  const given = {
    cost: { promptTokenCount: prompt.value.ids.length, generatedTokenCount: tokenCount, forcedTokenCount, prefillMs, decodeMs, maskMs: bindMs + maskMs },
    maskDigest: cursor.maskDigest(), maskTrail, signals,
  };
  if (kind === 'goal-unreachable') return ok({ kind: 'text', text: JSON.stringify({ abstain: kind }), confidence: undefined, ...given });
  if (kind === 'incomplete') return ok({ kind: 'incomplete', text: cursor.text(), code: 'generate/token-budget', ...given });
  return ok({ kind: 'text', ...answer, ...given });
}

interface Written extends DecisionSignals {
  readonly kind: 'complete' | 'incomplete' | 'goal-unreachable';
  readonly cursor: MaskCursor;
  readonly tokenCount: number;
  readonly forcedTokenCount: number;
  /** As in `ClosedFigures`. */
  readonly logShare: number;
  readonly mass: MassReport | undefined;
  /** Runs of the engine, that over the prompt included. */
  readonly stepCount: number;
  readonly prefillMs: number;
  readonly decodeMs: number;
  readonly maskMs: number;
}

interface TokenFigures extends DecisionFigures {
  readonly logShare: number;
  readonly masses: Masses | undefined;
}
const FORCED: TokenFigures = { ...FORCED_DECISION, logShare: 0, masses: undefined };

async function write(
  session: WebLlmSession, { matcher, closed }: BoundMasks, promptIds: readonly number[], sampler: Sampler, settings: Settings, clock: Clock, signal: AbortSignalLike,
): Promise<Result<Written, { readonly code: string }>> {
  const { maxAnswerTokens, jumpForward, reportMass } = settings;
  const cursor = new MaskCursor(matcher, { jumpForward, closed });
  const ids: number[] = [];
  /** By token of `ids`; a forced one adds nothing. */
  const figures: TokenFigures[] = [];
  const marks = new Uint8Array(reportMass ? session.logitWidth : 0);
  let abstainShare: number | undefined;
  let openingMass: MassReport['opening'] = null;
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
      figures.length = ids.length;
      const again = await session.reset();
      if (!again.ok) return again;
      pending = [...promptIds, ...ids];
      continue;
    }
    if (move.kind === 'forced') {
      ids.push(...move.ids);
      figures.push(...move.ids.map(() => FORCED));
      pending = [...pending, ...move.ids];
      forcedTokenCount += move.ids.length;
      continue;
    }
    let logShare = 0;
    let logAllowed = 0;
    let masses: Masses | undefined;
    const chosen = await session.decide(pending, {
      choose(logitsOf, all) {
        const narrowed = narrow(cursor, move, logitsOf, settings.provenanceShare);
        const { allowed } = narrowed;
        ({ logShare } = narrowed);
        if (reportMass) masses = massesOf(ids.length, allowed, logitsOf(allowed), all, marks, (id) => cursor.explain(id));
        const opening = ids.length === 0 ? openingOf(allowed, logitsOf(allowed), cursor) : undefined;
        if (opening !== undefined) {
          ({ abstainShare } = opening);
          openingMass = masses === undefined ? null : massesOfOpening(opening, masses);
        }
        const choice = choose(sampler, allowed, logitsOf, opening, settings.abstainShare);
        if (choice.ok && (move.wider ?? move.allowed).count > SPARSE_LIMIT) logAllowed = logAllowedOf(choice.value.logTotal, all);
        return choice;
      },
      accept: (id) => cursor.choose(id),
    });
    if (!chosen.ok) return chosen;
    stepCount += 1;
    if (stepCount === 1) prefillMs = clock() - startedAt - maskMs;
    const { id, logProbability, margin } = chosen.value;
    ids.push(id);
    figures.push({ logProbability, margin, logAllowed, logShare, masses });
    pending = [id];
  }
  if (kind === 'complete' && !cursor.isTerminated()) kind = 'incomplete';
  const known = figures.flatMap((each) => each.masses ?? []);
  return ok({
    kind, cursor, tokenCount: ids.length + takenBackCount, forcedTokenCount, ...combineDecisions(figures, abstainShare, takenBackCount),
    logShare: figures.reduce((sum, each) => sum + each.logShare, 0),
    mass: reportMass ? { opening: openingMass, steps: known.map(({ step }) => step), logAllowed: known.reduce((sum, each) => sum + each.logAllowed, 0) } : undefined,
    stepCount, prefillMs, decodeMs: clock() - startedAt - prefillMs - maskMs, maskMs,
  });
}

/** Between the closed mask and the contract's own, where they differ. */
function narrow(
  cursor: MaskCursor, { allowed, wider }: Extract<Move, { kind: 'decision' }>, logitsOf: (list: IdList) => Float32Array, share: number,
): { readonly allowed: IdList; readonly logShare: number } {
  if (wider === undefined) return { allowed, logShare: 0 };
  const logShare = Math.min(0, logSumExp(logitsOf(allowed), allowed.count) - logSumExp(logitsOf(wider), wider.count));
  if (Math.exp(logShare) >= share) {
    cursor.stayClosed();
    return { allowed, logShare };
  }
  cursor.leaveClosed();
  return { allowed: wider, logShare };
}

function choose(
  sampler: Sampler, allowed: IdList, logitsOf: (list: IdList) => Float32Array, opening: Opening | undefined, abstainShare: number = Infinity,
): Result<Choice, EngineFailure> {
  if (opening !== undefined && opening.abstainShare >= abstainShare) return chooseAbstention(sampler, opening, { logitsOf });
  return sampler.choose(allowed.ids, logitsOf(allowed), allowed.count);
}
