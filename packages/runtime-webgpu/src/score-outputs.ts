/**
 * Exact scoring: the probability of given outputs under the mask, by teacher forcing over the tree of their tokens. What outputs share is run once,
 * behind one prefill of the prompt; caches are values, so a branch goes on from its parent's. With `top`, branches that can no longer be among
 * the best are left out: probabilities only fall along a branch, so nothing is lost.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { MaskMatcher, MatcherFailure, TokenId } from '@contractrl/grammar-mask';
import type { Engine, EngineFailure, EngineStep } from './engine.ts';
import type { Output } from './enumerate-outputs.ts';
import { checkWidth } from './generate.ts';
import { AllowedIds } from './mask-cursor.ts';
import { logSumExp } from './sampling.ts';
import { createScorer } from './scorer.ts';

export interface ScoreOptions {
  /** Only so many of the best are wanted; default all. */
  readonly top?: number;
  /** As in decoding, default true: a forced token adds nothing. Off, every token is a decision. */
  readonly jumpForward?: boolean;
  /** Default false. Computes all logits at every decision for {@link ScoredOutput.unmaskedLogProbability}. */
  readonly reportUnmasked?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface ScoredOutput extends Output {
  /** Σ log p(token | allowed ids) over the decisions, as decoding counts it for this output. */
  readonly logProbability: number;
  /** Σ log p(token) over the same decisions, nothing masked; undefined where it was not asked for. */
  readonly unmaskedLogProbability: number | undefined;
}

interface Walk {
  readonly matcher: MaskMatcher;
  readonly step: EngineStep;
  /** Tokens that the engine has not seen yet. */
  readonly pending: readonly TokenId[];
  /** Outputs that begin with the tokens so far, and how many those are. */
  readonly outputs: readonly Output[];
  readonly depth: number;
  readonly logProbability: number;
  readonly unmasked: number;
}

/**
 * Scores `outputs` of `matcher` from where it stands, `start` being the engine's step over the prompt; the most probable first, ties in the order
 * of decoding. One engine step a decision, none behind the last. An output that the mask refuses is a RangeError.
 */
export async function scoreOutputs(
  engine: Engine, matcher: MaskMatcher, start: EngineStep, outputs: readonly Output[], options: ScoreOptions = {},
): Promise<Result<readonly ScoredOutput[], EngineFailure | MatcherFailure>> {
  checkWidth(engine, matcher);
  const { top = Infinity, jumpForward = true, reportUnmasked = false, signal } = options;
  const allowed = new AllowedIds(engine.logitWidth);
  const scorer = createScorer(engine);
  let best: readonly ScoredOutput[] = [];

  const isLost = (logProbability: number): boolean => best.length >= top && logProbability <= best[top - 1]!.logProbability;

  async function visit(walk: Walk): Promise<Result<void, EngineFailure | MatcherFailure>> {
    if (isLost(walk.logProbability)) return ok(undefined);
    const { depth } = walk;
    const [first] = walk.outputs as [Output];
    if (walk.matcher.isTerminated()) {
      const scored = { ...first, logProbability: walk.logProbability, unmaskedLogProbability: reportUnmasked ? walk.unmasked : undefined };
      // stable: of equals the one that was found first stays in front
      best = [...best, scored].sort((a, b) => b.logProbability - a.logProbability).slice(0, top);
      return ok(undefined);
    }
    const run = jumpForward ? allowed.forced(walk.matcher) : [];
    if (run.length > 0 && walk.outputs.every(({ ids }) => run.every((id, index) => ids[depth + index] === id))) {
      return visit({ ...walk, matcher: accept(walk.matcher, run), pending: [...walk.pending, ...run], depth: depth + run.length });
    }
    if (signal?.aborted === true) return err({ code: 'engine/aborted' });
    const list = allowed.read(walk.matcher);
    const step = walk.pending.length === 0 ? ok(walk.step) : await engine.extend(walk.step.cache, walk.pending, signal);
    if (!step.ok) return step;
    scorer.open(step.value.hidden, reportUnmasked ? engine.logitWidth : list.count);
    const logits = scorer.logitsOf(list);
    const total = logSumExp(logits, list.count);
    if (!Number.isFinite(total)) return err({ code: 'engine/bad-logits' });
    const whole = reportUnmasked ? logSumExp(scorer.all(), engine.logitWidth) : 0;
    const byNext = new Map<TokenId, Output[]>();
    for (const output of walk.outputs) {
      const id = output.ids[depth]!;
      byNext.set(id, [...(byNext.get(id) ?? []), output]);
    }
    const branches = [...byNext].map(([id, among]) => {
      const logit = logits[list.ids.subarray(0, list.count).indexOf(id)];
      if (logit === undefined) throw new RangeError(`outputs: the mask refuses token ${id} of ${JSON.stringify(among[0]!.text)}`);
      return { id, among, logit };
    });
    branches.sort((a, b) => b.logit - a.logit || a.id - b.id);
    for (const { id, among, logit } of branches) {
      const visited = await visit({
        matcher: accept(walk.matcher, [id]), step: step.value, pending: [id], outputs: among, depth: depth + 1,
        logProbability: walk.logProbability + logit - total, unmasked: walk.unmasked + logit - whole,
      });
      if (!visited.ok) return visited;
    }
    return ok(undefined);
  }

  if (outputs.length > 0) {
    const visited = await visit({ matcher, step: start, pending: [], outputs, depth: 0, logProbability: 0, unmasked: 0 });
    if (!visited.ok) return visited;
  }
  return ok(best);
}

function accept(matcher: MaskMatcher, ids: readonly TokenId[]): MaskMatcher {
  const fork = matcher.fork();
  for (const id of ids) {
    const accepted = fork.acceptToken(id);
    if (!accepted.ok) throw new RangeError(`outputs: the mask refuses token ${id}`);
  }
  return fork;
}
