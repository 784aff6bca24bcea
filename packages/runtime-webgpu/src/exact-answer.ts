/** Exact search over a small mask: its whole language is listed and scored, so that the policy's most probable answer and its margin are known. */
import { err, ok, readAbstention, type Result } from '@contractrl/core';
import type { MaskMatcher, MatcherFailure, TokenId, Vocabulary } from '@contractrl/grammar-mask';
import type { Engine, EngineFailure, EngineStep } from './engine.ts';
import { enumerateOutputs, type TooManyOutputs } from './enumerate-outputs.ts';
import { openingOf } from './generate.ts';
import { MaskCursor } from './mask-cursor.ts';
import { logSumExp } from './sampling.ts';
import { scoreOutputs } from './score-outputs.ts';
import { createScorer } from './scorer.ts';

/** A place with an enum of a hundred values and both ways to write it; free strings are beyond any limit. */
const OUTPUT_LIMIT = 256;

export interface ExactAnswer {
  readonly text: string;
  readonly ids: readonly TokenId[];
  readonly forcedTokenCount: number;
  readonly logProbability: number;
  readonly outputCount: number;
  /** How far the second best of its kind is behind, in log-probability; undefined where there is none. */
  readonly margin: number | undefined;
  /** As in `DecisionSignals`, of the first decision. */
  readonly abstainShare: number | undefined;
  readonly maskDigest: string;
}

export interface ExactOptions {
  readonly jumpForward: boolean;
  /** As in decoding, of all answers: at or above it, the best abstention. */
  readonly abstainShare: number | undefined;
  readonly signal: AbortSignal | undefined;
}

export type ExactFailure = TooManyOutputs | EngineFailure | MatcherFailure;

/** The most probable output of `matcher`, at its start; fails with `mask/too-many-outputs` where there are more than 256. */
export async function answerExactly(
  engine: Engine, vocabulary: Vocabulary, matcher: MaskMatcher, start: EngineStep, { jumpForward, abstainShare, signal }: ExactOptions,
): Promise<Result<ExactAnswer, ExactFailure>> {
  const outputs = enumerateOutputs(matcher, vocabulary, OUTPUT_LIMIT);
  if (!outputs.ok) return outputs;
  const scored = await scoreOutputs(engine, matcher.fork(), start, outputs.value, { jumpForward, signal, ...(abstainShare === undefined ? { top: 2 } : {}) });
  if (!scored.ok) return scored;
  const isAbstention = ({ text }: { readonly text: string }): boolean => readAbstention(text) !== undefined;
  const mass = (of: readonly { readonly logProbability: number }[]): number => logSumExp(Float32Array.from(of, (each) => each.logProbability), of.length);
  const abstentions = scored.value.filter(isAbstention);
  const mustAbstain = abstainShare !== undefined && Math.exp(mass(abstentions) - mass(scored.value)) >= abstainShare;
  const [best, second] = mustAbstain ? abstentions : scored.value;
  if (best === undefined) return err({ code: 'mask/empty' });
  const written = write(matcher, best.ids, jumpForward);
  if (!written.ok) return written;
  const { ids, text, logProbability } = best;
  return ok({ text, ids, logProbability, outputCount: outputs.value.length, abstainShare: shareAtStart(engine, matcher.fork(), start, jumpForward), margin: second === undefined ? undefined : logProbability - second.logProbability, ...written.value });
}

function shareAtStart(engine: Engine, matcher: MaskMatcher, { hidden }: EngineStep, jumpForward: boolean): number | undefined {
  const cursor = new MaskCursor(matcher, { jumpForward });
  const moved = cursor.advance(Infinity);
  if (!moved.ok || moved.value.kind !== 'decision') return undefined;
  const { allowed } = moved.value;
  const scorer = createScorer(engine);
  scorer.open(hidden, allowed.count);
  return openingOf(allowed, scorer.logitsOf(allowed), cursor)?.abstainShare;
}

/** Asks the masks that decoding would have asked, for the digest. */
function write(matcher: MaskMatcher, ids: readonly TokenId[], jumpForward: boolean): Result<Pick<ExactAnswer, 'forcedTokenCount' | 'maskDigest'>, MatcherFailure> {
  const cursor = new MaskCursor(matcher.fork(), { jumpForward });
  let written = 0;
  let forcedTokenCount = 0;
  while (written < ids.length) {
    const moved = cursor.advance(ids.length - written);
    if (!moved.ok) return moved;
    if (moved.value.kind === 'forced') {
      written += moved.value.ids.length;
      forcedTokenCount += moved.value.ids.length;
      continue;
    }
    const chosen = cursor.choose(ids[written]!);
    if (!chosen.ok) return chosen;
    written += 1;
  }
  return ok({ forcedTokenCount, maskDigest: cursor.maskDigest() });
}
