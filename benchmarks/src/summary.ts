/** From records and scores of one arm on one cohort to the figures of a report. Pure; says `undefined` where a figure does not apply. */
import type { CaseRecord } from './record.ts';
import { VERDICTS, type CaseScore, type Verdict } from './score.ts';
import { exactPairedTest, mean, quantile, wilson, type Rate } from './statistics.ts';

export interface ScoredCase {
  readonly record: CaseRecord;
  readonly score: CaseScore;
}

export interface Summary {
  readonly n: number;
  readonly statuses: Readonly<Record<CaseRecord['status'], number>>;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** The right call, or rightly declined. */
  readonly right: Rate;
  readonly silentlyWrong: Rate;
  /** Dispatched and accepted by the second validation. Says nothing of being right. */
  readonly schemaValid: number;
  /** Of the cases that did not end right, the share that dispatched nothing (our definition of fail-closed). Undefined where all ended right. */
  readonly failClosed: Rate | undefined;
  /** Means over the cases where they apply. */
  readonly collateralOp: number | undefined;
  readonly collateralPtr: number | undefined;
  readonly collateralGold: number | undefined;
  readonly attempts: number;
  readonly promptTokens: number;
  readonly generatedTokens: number;
  readonly forcedTokens: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Codes of the cases without a dispatch, most frequent first. */
  readonly reasons: readonly (readonly [string, number])[];
}

/** Throws a RangeError for no cases at all. */
export function summarise(cases: readonly ScoredCase[]): Summary {
  const records = cases.map(({ record }) => record);
  const scores = cases.map(({ score }) => score);
  const verdicts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, count(scores, (score) => score.verdict === verdict)])) as Record<Verdict, number>;
  const dispatchedWrong = verdicts['silently-wrong'] + verdicts.unsafe;
  const notRight = cases.length - count(scores, isRightScore);
  return {
    n: cases.length,
    statuses: {
      valid: count(records, (record) => record.status === 'valid'),
      repaired: count(records, (record) => record.status === 'repaired'),
      abstained: count(records, (record) => record.status === 'abstained'),
      rejected: count(records, (record) => record.status === 'rejected'),
      failed: count(records, (record) => record.status === 'failed'),
    },
    verdicts,
    right: wilson(count(scores, isRightScore), cases.length),
    silentlyWrong: wilson(verdicts['silently-wrong'], cases.length),
    schemaValid: verdicts['right-call'] + verdicts['silently-wrong'],
    failClosed: notRight === 0 ? undefined : wilson(notRight - dispatchedWrong, notRight),
    collateralOp: meanOf(scores, (score) => score.collateralOp),
    collateralPtr: meanOf(scores, (score) => score.collateralPtr),
    collateralGold: meanOf(scores, (score) => score.collateralGold),
    attempts: meanOf(records, (record) => record.attempts) ?? 0,
    promptTokens: meanOf(records, (record) => record.tokens.prompt) ?? 0,
    generatedTokens: meanOf(records, (record) => record.tokens.generated) ?? 0,
    forcedTokens: meanOf(records, (record) => record.tokens.forced) ?? 0,
    p50Ms: quantile(records.map((record) => record.timing.totalMs), 0.5) ?? 0,
    p95Ms: quantile(records.map((record) => record.timing.totalMs), 0.95) ?? 0,
    reasons: tally(records.flatMap((record) => (record.arguments === undefined ? [record.reason ?? record.status] : []))),
  };
}

export interface PairedDifference {
  readonly firstOnly: number;
  readonly secondOnly: number;
  readonly p: number;
}

/** Right on one side and not on the other, over the cases that both arms have. */
export function comparePairs(first: readonly CaseScore[], second: readonly CaseScore[]): PairedDifference {
  const other = new Map(second.map((score) => [score.id, isRightScore(score)]));
  const firstOnly = count(first, (score) => isRightScore(score) && other.get(score.id) === false);
  const secondOnly = count(first, (score) => !isRightScore(score) && other.get(score.id) === true);
  return { firstOnly, secondOnly, p: exactPairedTest(firstOnly, secondOnly) };
}

function isRightScore(score: CaseScore): boolean {
  return score.verdict === 'right-call' || score.verdict === 'abstained-rightly';
}

function tally(codes: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

function count<T>(items: readonly T[], test: (item: T) => boolean): number {
  return items.filter(test).length;
}

function meanOf<T>(items: readonly T[], read: (item: T) => number | null): number | undefined {
  return mean(items.map(read).filter((value) => value !== null));
}
