/**
 * The decode loop, the same for every engine: the matcher says what may come, the engine how likely it is. Runs that the contract forces go to
 * the engine as one chunk together with the token sampled before them (jump-forward), and with what a drafter guesses behind them (speculation).
 * Logits are asked for at decisions only, and every decision is made by mask and sampler, guessed or not.
 */
import { err, ok, type MaskTrail, type Result } from '@contractrl/core';
import type { MaskMatcher, MatcherFailure, TokenId } from '@contractrl/grammar-mask';
import type { Drafter } from './draft.ts';
import type { Engine, EngineFailure } from './engine.ts';
import { EngineCursor, type PromptStep, type SpeculationFigures } from './engine-cursor.ts';
import { MaskCursor, SPARSE_LIMIT, type IdList } from './mask-cursor.ts';
import { logAllowedOf, massesOf, type Masses, type MassReport } from './mass-report.ts';
import { combineDecisions, FORCED_DECISION, type DecisionFigures, type DecisionSignals } from './release/signals.ts';
import { logSumExp, type Choice, type Sampler } from './sampling.ts';
import { createScorer, type Scorer } from './scorer.ts';

/** Milliseconds from any fixed point; injected so that the loop itself has no clock. */
export type Clock = () => number;

export interface GenerateOptions {
  readonly sampler: Sampler;
  readonly clock: Clock;
  /** Tokens of output, stop token included, before generation ends as `incomplete`. */
  readonly maxTokens: number;
  /** Default true. Off, every token is a decision of its own; greedy output is the same bytes unless the model would split forced text otherwise, and then says something else. */
  readonly jumpForward?: boolean;
  /** Default false. Computes all logits at every decision for {@link Generation.mass}. */
  readonly reportMass?: boolean;
  /**
   * In [0, 1]. Where an abstention has at least this share of what patches and abstentions have together at the first decision, patches are no
   * longer admitted. Without it the sampler alone decides.
   */
  readonly abstainShare?: number | undefined;
  /**
   * A narrower mask, bound to the same state under the same rules. It is used until a decision at which its tokens have less than `share`, in [0, 1],
   * of the probability that the matcher's own have; from there on it does not count. Between such a decision and the next at which the masks agree,
   * its forced runs are taken without a question.
   */
  readonly closed?: { readonly matcher: MaskMatcher; readonly share: number } | undefined;
  /** Guesses what follows, so that the engine reads it in a pass that is due anyway. What is written does not depend on it. */
  readonly drafter?: Drafter | undefined;
  readonly signal?: AbortSignal;
}

export interface Generation extends DecisionSignals {
  /**
   * `incomplete`: the token budget ended before the output did. `goal-unreachable`: every patch tried closed without making the call valid;
   * `text` is the last of them, not closed.
   */
  readonly kind: 'complete' | 'incomplete' | 'goal-unreachable';
  readonly text: string;
  readonly ids: readonly TokenId[];
  /** All output tokens, stop token and forced tokens included, and those that were taken back. */
  readonly generatedTokenCount: number;
  /** Output tokens that were never sampled: the contract left no other. */
  readonly forcedTokenCount: number;
  /** Undefined where it was not asked for. */
  readonly mass: MassReport | undefined;
  /** Undefined without a closed mask. */
  readonly closed: ClosedFigures | undefined;
  readonly maskDigest: string;
  readonly maskTrail: MaskTrail;
  readonly speculation: SpeculationFigures;
  readonly decodeMs: number;
  readonly maskMs: number;
}

export interface ClosedFigures {
  /** Σ log(share of the closed mask's tokens) over the decisions at which it was narrower, up to the one at which it was left, that one included. */
  readonly logShare: number;
  readonly hasLeft: boolean;
}

export type GenerateFailure = EngineFailure | MatcherFailure;

/** What is known of an output token; a forced one adds nothing. */
interface TokenFigures extends DecisionFigures {
  readonly logShare: number;
  readonly masses: Masses | undefined;
}
const FORCED: TokenFigures = { ...FORCED_DECISION, logShare: 0, masses: undefined };

/** Decodes from `start`, the engine's step over the prompt, until the matcher has consumed a stop token or `maxTokens` are out. */
export async function generate(engine: Engine, matcher: MaskMatcher, start: PromptStep, options: GenerateOptions): Promise<Result<Generation, GenerateFailure>> {
  checkWidth(engine, matcher);
  const { sampler, clock, maxTokens, jumpForward = true, reportMass = false, closed, drafter, signal } = options;
  const layers = new EngineCursor(engine, start, signal);
  const cursor = new MaskCursor(matcher, { jumpForward, closed: closed?.matcher });
  const scorer = createScorer(engine);
  const marks = new Uint8Array(reportMass ? engine.logitWidth : 0);
  const ids: TokenId[] = [];
  /** By output token. */
  const figures: TokenFigures[] = [];
  let forcedTokenCount = 0;
  let takenBackCount = 0;
  let isGoalUnreachable = false;
  let opening: Opening | undefined;
  let openingMass: MassReport['opening'] = null;
  let maskMs = 0;
  const startedAt = clock();

  function masked<T>(work: () => T): T {
    const from = clock();
    const result = work();
    maskMs += clock() - from;
    return result;
  }

  while (ids.length < maxTokens) {
    if (signal?.aborted === true) return err({ code: 'engine/aborted' });
    const moved = masked(() => cursor.advance(maxTokens - ids.length));
    if (!moved.ok) return moved;
    const move = moved.value;
    if (move.kind === 'ended') break;
    if (move.kind === 'goal-unreachable') {
      isGoalUnreachable = true;
      break;
    }
    if (move.kind === 'taken-back') {
      takenBackCount += move.count;
      ids.length -= move.count;
      figures.length = ids.length;
      continue;
    }
    if (move.kind === 'forced') {
      ids.push(...move.ids);
      figures.push(...move.ids.map(() => FORCED));
      forcedTokenCount += move.ids.length;
      continue;
    }
    const hidden = await layers.stateAfter(ids, () => drafter?.after(ids, cursor.text()).slice(0, maxTokens - ids.length) ?? []);
    if (!hidden.ok) return hidden;
    let { allowed } = move;
    let logShare = 0;
    const { wider } = move;
    scorer.open(hidden.value, reportMass ? engine.logitWidth : (wider ?? allowed).count);
    if (wider !== undefined && closed !== undefined) {
      logShare = Math.min(0, logSumExp(scorer.logitsOf(allowed), allowed.count) - logSumExp(scorer.logitsOf(wider), wider.count));
      if (Math.exp(logShare) >= closed.share) {
        cursor.stayClosed();
      } else {
        cursor.leaveClosed();
        allowed = wider;
      }
    }
    const logits = scorer.logitsOf(allowed);
    const masses = reportMass ? masked(() => massesOf(ids.length, allowed, logits, scorer.all(), marks, (id) => cursor.explain(id))) : undefined;
    if (ids.length === 0) {
      opening = openingOf(allowed, logits, cursor);
      openingMass = opening === undefined || masses === undefined ? null : massesOfOpening(opening, masses);
    }
    const abstaining = ids.length === 0 && opening !== undefined && opening.abstainShare >= (options.abstainShare ?? Infinity) ? opening : undefined;
    const choice = abstaining === undefined ? sampler.choose(allowed.ids, logits, allowed.count) : chooseAbstention(sampler, abstaining, scorer);
    if (!choice.ok) return choice;
    const accepted = masked(() => cursor.choose(choice.value.id));
    if (!accepted.ok) return accepted;
    ids.push(choice.value.id);
    const { logProbability, margin, logTotal } = choice.value;
    const logAllowed = (wider ?? allowed).count > SPARSE_LIMIT ? logAllowedOf(logTotal, scorer.all()) : 0;
    figures.push({ logProbability, margin, logAllowed, logShare, masses });
  }

  const known = figures.flatMap(({ masses }) => masses ?? []);
  const maskTrail = cursor.trail();
  return ok({
    kind: isGoalUnreachable ? 'goal-unreachable' : cursor.isTerminated() ? 'complete' : 'incomplete',
    text: cursor.text(),
    ids,
    generatedTokenCount: ids.length + takenBackCount,
    forcedTokenCount,
    ...combineDecisions(figures, opening?.abstainShare, takenBackCount),
    mass: reportMass ? { opening: openingMass, steps: known.map((each) => each.step), logAllowed: sum(known, (each) => each.logAllowed) } : undefined,
    closed: closed === undefined ? undefined : { logShare: sum(figures, (each) => each.logShare), hasLeft: maskTrail.closedCount !== maskTrail.ids.length },
    maskDigest: cursor.maskDigest(),
    maskTrail,
    speculation: layers.close(ids),
    decodeMs: clock() - startedAt - maskMs,
    maskMs,
  });
}

/** Throws `RangeError` where the mask is of another width than the model. */
export function checkWidth(engine: Engine, matcher: MaskMatcher): void {
  if (matcher.logitWidth !== engine.logitWidth) {
    throw new RangeError(`matcher.logitWidth ${matcher.logitWidth} is not engine.logitWidth ${engine.logitWidth}`);
  }
}

/** The decision between a patch and an abstention. */
export interface Opening {
  readonly abstentions: IdList;
  /** log Σ exp(logit) of the allowed tokens that begin a patch. */
  readonly patch: number;
  readonly abstain: number;
  readonly abstainShare: number;
}

/** Undefined where one of the two is not open. */
export function openingOf(allowed: IdList, logits: Float32Array, cursor: MaskCursor): Opening | undefined {
  const indices = Array.from({ length: allowed.count }, (_, index) => index);
  const first = indices.map((index) => cursor.firstCharacter(allowed.ids[index]!));
  const among = (character: string): readonly number[] => indices.filter((index) => first[index] === character);
  const mass = (of: readonly number[]): number => logSumExp(Float32Array.from(of, (index) => logits[index]!), of.length);
  const [patches, abstentions] = [among('['), among('{')];
  if (patches.length === 0 || abstentions.length === 0) return undefined;
  const [patch, abstain] = [mass(patches), mass(abstentions)];
  const ids = Int32Array.from(abstentions, (index) => allowed.ids[index]!);
  return { abstentions: { ids, count: ids.length }, patch, abstain, abstainShare: 1 / (1 + Math.exp(patch - abstain)) };
}

export function massesOfOpening({ abstainShare }: Opening, { logAllowed }: Masses): MassReport['opening'] {
  const mass = Math.exp(logAllowed);
  return { patch: mass * (1 - abstainShare), abstain: mass * abstainShare };
}

/** Its probability stays that among all admissible tokens. */
export function chooseAbstention(sampler: Sampler, { abstentions, abstainShare }: Opening, scorer: Pick<Scorer, 'logitsOf'>): Result<Choice, EngineFailure> {
  const choice = sampler.choose(abstentions.ids, scorer.logitsOf(abstentions), abstentions.count);
  return choice.ok ? ok({ ...choice.value, logProbability: choice.value.logProbability + Math.log(abstainShare) }) : choice;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
