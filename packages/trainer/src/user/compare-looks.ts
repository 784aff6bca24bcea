/**
 * Two looks at the same examples, before training and after it: whether something is worse than it was, and which policy to keep. Training optimises a loss, on
 * examples of its own making; a user who is given an adapter takes it for the better one, and must be told where it is not.
 */
import type { EvaluationRow } from '../evaluate/evaluate-examples.ts';
import { isSuccess } from '../verdict.ts';

export interface Change {
  readonly before: number;
  readonly after: number;
}

export interface Comparison {
  readonly n: number;
  /** The call that was meant, or rightly declined. */
  readonly right: Change;
  /** A valid call that was not meant and would have been run. */
  readonly wrong: Change;
  /** Examples that were right before and are not any more, and the other way round. */
  readonly lost: number;
  readonly gained: number;
  /** Fewer are right, or more are wrong. */
  readonly isWorse: boolean;
  /** That with more right ones when each wrong one takes one away; of equals that with fewer wrong ones, and else the new one. */
  readonly keep: 'before' | 'after';
}

type Row = Pick<EvaluationRow, 'id' | 'verdict'>;

/** Of the same examples; other ones on one side are a RangeError. */
export function compareLooks(before: readonly Row[], after: readonly Row[]): Comparison {
  const verdicts = new Map(before.map(({ id, verdict }) => [id, verdict]));
  if (after.length !== before.length || after.some(({ id }) => !verdicts.has(id))) throw new RangeError('looks: of other examples');
  const [right, wrong] = [changeOf(before, after, isSuccess), changeOf(before, after, (verdict) => verdict === 'wrong')];
  const gained = after.filter(({ id, verdict }) => isSuccess(verdict) && !isSuccess(verdicts.get(id)!)).length;
  const gain = right.after - right.before - (wrong.after - wrong.before);
  return {
    n: after.length, right, wrong, gained, lost: gained - (right.after - right.before),
    isWorse: right.after < right.before || wrong.after > wrong.before,
    keep: gain < 0 || (gain === 0 && wrong.after > wrong.before) ? 'before' : 'after',
  };
}

/** What a user must know, in plain sentences, the last of which says what to do; undefined where nothing is worse. */
export function formatComparison({ n, right, wrong, lost, gained, isWorse, keep }: Comparison): string | undefined {
  if (!isWorse) return undefined;
  const counts = `of the same ${n} validation examples ${right.after} are right and ${right.before} were (${gained} gained, ${lost} lost), ${wrong.after} are wrong and would have been run, and ${wrong.before} were`;
  return keep === 'before'
    ? `The new adapter is worse than what there was before: ${counts}. Keep what there was before.`
    : `The new adapter is in part worse than what there was before: ${counts}. Keep the new one where a wrong call costs you about as much as a right one gains.`;
}

function changeOf(before: readonly Row[], after: readonly Row[], counts: (verdict: Row['verdict']) => boolean): Change {
  const countOf = (rows: readonly Row[]): number => rows.filter(({ verdict }) => counts(verdict)).length;
  return { before: countOf(before), after: countOf(after) };
}
