/** Scored rows → the cells of a line: shares with their intervals, means and their denominators. */
import type { EvaluationSummary } from '@contractrl/trainer';
import { rate } from '../report.ts';
import { mean, quantile, wilson, type Rate } from '../statistics.ts';
import type { ScoredRow } from './score-rows.ts';

export const SUMMARY_HEAD: readonly string[] = ['n', 'right', 'wrong', 'abstained rightly', 'abstained falsely', 'failed', 'collateral', 'answer tokens', 'prompt tokens', 'p50 ms'];

export function isRightRow({ score: { verdict } }: ScoredRow): boolean {
  return verdict === 'right-call' || verdict === 'abstained-rightly';
}

export function rateWhere<T>(items: readonly T[], test: (item: T) => boolean): Rate | undefined {
  return items.length === 0 ? undefined : wilson(items.filter(test).length, items.length);
}

/** Changed leaves outside the reported pointers, a dispatched call; undefined where nothing was dispatched. */
export function meanCollateral(rows: readonly ScoredRow[]): number | undefined {
  return mean(rows.flatMap(({ score: { collateralPtr } }) => (collateralPtr === null ? [] : [collateralPtr])));
}

export function summaryCells(rows: readonly ScoredRow[]): readonly string[] {
  const count = (...verdicts: readonly string[]): string => String(rows.filter(({ score }) => verdicts.includes(score.verdict)).length);
  return [
    String(rows.length), rate(rateWhere(rows, isRightRow)), count('silently-wrong', 'unsafe'), count('abstained-rightly'), count('abstained-wrongly'), count('failed'),
    decimal(meanCollateral(rows), 4), decimal(mean(rows.map(({ row }) => row.tokens.generated)), 1), decimal(mean(rows.map(({ row }) => row.tokens.prompt)), 0), decimal(quantile(rows.map(({ row }) => row.totalMs), 0.5), 0),
  ];
}

/** The same of the trainer's own evaluation. */
export function validationCells({ n, right, verdicts, meanCollateral: collateral, meanGeneratedTokens, meanPromptTokens, medianMs }: EvaluationSummary): readonly string[] {
  const counts = (['wrong', 'abstained-rightly', 'abstained-falsely', 'rejected'] as const).map((verdict) => String(verdicts[verdict]));
  return [String(n), rate(right), ...counts, decimal(collateral, 4), decimal(meanGeneratedTokens, 1), decimal(meanPromptTokens, 0), decimal(medianMs, 0)];
}

export function decimal(value: number | undefined, digits: number): string {
  return value === undefined ? 'n/a' : value.toFixed(digits);
}

export function pText(p: number): string {
  return p < 0.0001 ? p.toExponential(1) : p.toFixed(4);
}

/** In the order in which each group is met first. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key) ?? [];
    group.push(item);
    groups.set(key, group);
  }
  return groups;
}
