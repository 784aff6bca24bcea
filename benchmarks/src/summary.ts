/** From records and scores of one arm on one cohort to the figures of a report. Pure; says `undefined` where a figure does not apply. */
import type { ArmOutput } from './arms/arm.ts';
import { isRight, MEANS, QUANTILES, RATES, type MeanMeasure, type MeanName, type QuantileName, type RateMeasure, type RateName, type ScoredCase } from './measures.ts';
import type { CaseRecord } from './record.ts';
import { VERDICTS, type CaseScore, type Verdict } from './score.ts';
import { bootstrapMean, exactPairedTest, quantile, wilson, type Mean, type Rate } from './statistics.ts';

export interface Summary {
  readonly n: number;
  readonly statuses: Readonly<Record<CaseRecord['status'], number>>;
  readonly verdicts: Readonly<Record<Verdict, number>>;
  /** Dispatched and accepted by the second validation. Says nothing of being right. */
  readonly schemaValid: number;
  /** Undefined where no case is in the denominator, or the arm has no such figure. */
  readonly rates: Readonly<Record<RateName, Rate | undefined>>;
  readonly means: Readonly<Record<MeanName, Mean | undefined>>;
  readonly quantiles: Readonly<Record<QuantileName, number | undefined>>;
  /** No call was read otherwise than it stands, so that no patch of the arm can have collateral outside its operations. */
  readonly isLocalByConstruction: boolean;
  /** Codes of the cases without a dispatch, most frequent first. */
  readonly reasons: readonly (readonly [string, number])[];
}

export function summarise(cases: readonly ScoredCase[], output: ArmOutput): Summary {
  const records = cases.map(({ record }) => record);
  const scores = cases.map(({ score }) => score);
  const verdicts = Object.fromEntries(VERDICTS.map((verdict) => [verdict, count(scores, (score) => score.verdict === verdict)])) as Record<Verdict, number>;
  const valuesOf = (measure: MeanMeasure): readonly number[] => (isAbsent(measure, output) ? [] : cases.map(measure.read).filter((value) => value !== null));
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
    schemaValid: verdicts['right-call'] + verdicts['silently-wrong'],
    rates: mapValues(RATES, (measure: RateMeasure) => (isAbsent(measure, output) ? undefined : rateOf(cases.map(measure.read).filter((hit) => hit !== undefined)))),
    means: mapValues(MEANS, (measure) => bootstrapMean(valuesOf(measure))),
    quantiles: mapValues(QUANTILES, ({ share, base }) => quantile(valuesOf(base), share)),
    isLocalByConstruction: output === 'patch' && records.every(({ reading }) => reading === undefined),
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
  const other = new Map(second.map((score) => [score.id, isRight(score)]));
  const firstOnly = count(first, (score) => isRight(score) && other.get(score.id) === false);
  const secondOnly = count(first, (score) => !isRight(score) && other.get(score.id) === true);
  return { firstOnly, secondOnly, p: exactPairedTest(firstOnly, secondOnly) };
}

function isAbsent({ isOfPatches }: RateMeasure | MeanMeasure, output: ArmOutput): boolean {
  return isOfPatches === true && output === 'object';
}

function rateOf(hits: readonly boolean[]): Rate | undefined {
  return hits.length === 0 ? undefined : wilson(count(hits, (hit) => hit), hits.length);
}

function tally(codes: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

function count<T>(items: readonly T[], test: (item: T) => boolean): number {
  return items.filter(test).length;
}

function mapValues<Key extends string, In, Out>(record: Readonly<Record<Key, In>>, change: (value: In) => Out): Record<Key, Out> {
  return Object.fromEntries(Object.entries<In>(record).map(([key, value]) => [key, change(value)])) as Record<Key, Out>;
}
