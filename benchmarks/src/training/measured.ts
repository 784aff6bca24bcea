/** All evaluations with their verdicts, and the comparisons that a report makes between two of them: on the cases that both have, or not at all. */
import { isSuccess } from '@contractrl/trainer';
import { bootstrapMean, exactPairedTest, mean, type Mean } from '../statistics.ts';
import type { ArmName, Evaluation, EvaluationHead } from './evaluations.ts';
import type { RiskPoint, TrainingRun } from './runs.ts';
import { scoreEvaluation, type ScoredRow } from './score-rows.ts';
import { sizeOf, type SetName } from './sets.ts';
import { groupBy, isRightRow } from './tables.ts';
import type { ValidationEvaluation } from './validation.ts';

/** The name of the adapter that ships, as evaluation and as run. */
export const SHIPPED = 'r8';

export interface MeasuredEvaluation {
  readonly head: EvaluationHead;
  readonly rows: readonly ScoredRow[];
  /** Every case of the set, and of the BFCL corruptions every seed. */
  readonly isWhole: boolean;
}

export function measure(evaluations: readonly Evaluation[]): readonly MeasuredEvaluation[] {
  return evaluations.map((evaluation) => {
    const rows = scoreEvaluation(evaluation);
    return { head: evaluation.head, rows, isWhole: rows.length === sizeOf(evaluation.head.set) };
  });
}

/** Of an adapter. Full regeneration has none: whatever name it was measured under. */
export function find(measured: readonly MeasuredEvaluation[], name: string | undefined, set: SetName, arm: ArmName): MeasuredEvaluation | undefined {
  return measured.find(({ head }) => (name === undefined || head.name === name) && head.set === set && head.arm === arm);
}

/** The run that the adapter that ships came of: that of its name, or one of another name that gave the same bytes. */
export function shippedRun(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): TrainingRun | undefined {
  const digest = measured.find(({ head }) => head.name === SHIPPED)?.head.identity['adapterDigest'];
  return runs.find(({ name }) => name === SHIPPED) ?? runs.find(({ adapterDigest }) => adapterDigest === digest);
}

/** Those of the same base model as the adapter that ships; all where that was not measured. */
export function ofShippedBase(measured: readonly MeasuredEvaluation[]): readonly MeasuredEvaluation[] {
  const shipped = measured.find(({ head }) => head.name === SHIPPED);
  return shipped === undefined ? measured : measured.filter(({ head }) => head.identity['modelDigest'] === shipped.head.identity['modelDigest']);
}

/** Names of the base models, by the digest of their file; what nobody named goes by the digest. */
export function baseNames(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): (head: EvaluationHead) => string {
  const names = new Map<unknown, string>([
    ...runs.map(({ identity }) => [identity['model'], String(identity['base'])] as const), ...measured.flatMap(({ head: { base, identity } }) => (base === undefined ? [] : [[identity['modelDigest'], base] as const])),
  ]);
  return ({ identity: { modelDigest } }) => names.get(modelDigest) ?? String(modelDigest ?? '–').slice(0, 12);
}

export interface Comparison {
  readonly n: number;
  readonly firstOnly: number;
  readonly secondOnly: number;
  /** Of being right, first less second; the units of the interval are calls, each with all the seeds that chose it. */
  readonly difference: Mean;
  /** Exact paired test, seed by seed, in which no call comes twice; the largest of them. */
  readonly worstP: number;
}

/** Over the cases that both have; undefined where there are none. */
export function compare(first: readonly ScoredRow[], second: readonly ScoredRow[]): Comparison | undefined {
  const judged = (rows: readonly ScoredRow[]): readonly JudgedCase[] => rows.map((one) => ({ id: one.row.id, isRight: isRightRow(one) }));
  return compareCases(judged(first), judged(second), (id) => id.replace(/^\d+:/u, '').replace(/:[a-z_]+$/u, ''));
}

export interface JudgedCase {
  /** With its seed before a colon, where there are several. */
  readonly id: string;
  readonly isRight: boolean;
}

/** The same of any cases; `callOf` says which belong together. */
export function compareCases(first: readonly JudgedCase[], second: readonly JudgedCase[], callOf: (id: string) => string): Comparison | undefined {
  const others = new Map(second.map(({ id, isRight }) => [id, isRight]));
  const pairs = first.flatMap(({ id, isRight }) => {
    const other = others.get(id);
    return other === undefined ? [] : [{ id, first: isRight, second: other }];
  });
  const calls = groupBy(pairs, ({ id }) => callOf(id));
  const difference = bootstrapMean([...calls.values()].map((group) => mean(group.map((pair) => Number(pair.first) - Number(pair.second)))!));
  if (difference === undefined) return undefined;
  const count = (some: readonly (typeof pairs)[number][], isFirst: boolean): number => some.filter((pair) => pair.first === isFirst && pair.second !== isFirst).length;
  const seeds = groupBy(pairs, ({ id }) => /^\d+:/u.exec(id)?.[0] ?? '');
  const worstP = Math.max(...[...seeds.values()].map((some) => exactPairedTest(count(some, true), count(some, false))));
  return { n: pairs.length, firstOnly: count(pairs, true), secondOnly: count(pairs, false), difference, worstP };
}

/** Of the policy, on the validation side; empty where the run was not measured there. */
export function judgedExamples(validations: readonly ValidationEvaluation[], run: TrainingRun | undefined): readonly JudgedCase[] {
  return validations.find(({ head: { name, arm } }) => name === run?.name && arm === 'policy')?.rows.map(({ id, verdict }) => ({ id, isRight: isSuccess(verdict) })) ?? [];
}

/** Examples of one call stand and fall together. */
export function compareExamples(validations: readonly ValidationEvaluation[], first: TrainingRun, second: TrainingRun | undefined): Comparison | undefined {
  return compareCases(judgedExamples(validations, first), judgedExamples(validations, second), (id) => id.replace(/#\d+$/u, ''));
}

export const CATEGORIES = ['simple', 'multiple', 'live_simple', 'live_multiple'] as const;
export type Category = (typeof CATEGORIES)[number];

/** Of BFCL, from the id of a case. */
export function categoryOf({ row: { id } }: ScoredRow): Category | undefined {
  const [, live = '', kind] = /^(?:\d+:)?(live_)?(simple|multiple)_/u.exec(id) ?? [];
  return kind === undefined ? undefined : `${live}${kind}` as Category;
}

export function isLive(one: ScoredRow): boolean {
  return categoryOf(one)?.startsWith('live_') === true;
}

/**
 * Risk against coverage on held-out cases, by falling confidence: the confidence is that of the system, the verdict that of the same answer with nothing withheld. Only
 * patches of the policy count; what needed no policy has no confidence.
 */
export function heldOutCurve(system: readonly ScoredRow[], open: readonly ScoredRow[]): readonly RiskPoint[] {
  const verdicts = new Map(open.map(({ row, score }) => [row.id, score.verdict]));
  const judged = system.flatMap(({ row: { id, confidence } }) => {
    const verdict = verdicts.get(id);
    return confidence === null || (verdict !== 'right-call' && verdict !== 'silently-wrong') ? [] : [{ confidence, isWrong: verdict === 'silently-wrong' }];
  }).sort((a, b) => b.confidence - a.confidence);
  let wrong = 0;
  return judged.flatMap(({ confidence, isWrong }, index) => {
    wrong += Number(isWrong);
    return judged[index + 1]?.confidence === confidence ? [] : [{ coverage: (index + 1) / judged.length, risk: wrong / (index + 1) }];
  });
}
