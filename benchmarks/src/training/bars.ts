/** The bars of the training, held against what was measured: none is met or missed by hand, and what was not measured whole is neither. */
import { jsonEqual } from '@contractrl/core';
import type { ArmName } from './evaluations.ts';
import { compare, compareExamples, find, isLive, ofShippedBase, SHIPPED, shippedRun, type MeasuredEvaluation } from './measured.ts';
import { isOptimised, startOf, type TrainingRun } from './runs.ts';
import type { ScoredRow } from './score-rows.ts';
import { sizeOf, type SetName } from './sets.ts';
import { decimal, isRightRow, meanCollateral, rateWhere } from './tables.ts';
import type { ValidationEvaluation } from './validation.ts';

/** Name of the group-relative run, where what ships is supervised. */
const OPTIMISED = 'grpo';

const LIMITS = {
  plain: 0.9, live: 0.8, collateral: 0.02, overRegeneration: 0.1, p: 0.01, silentlyWrong: 2, abstained: 0.85, falselyAbstained: 0.05, trainingMinutes: 90,
} as const;
/** Examples that the bar on minutes speaks of. */
const TRAINED_EXAMPLES = 4000;

export interface Bar {
  readonly what: string;
  readonly bar: string;
  /** Undefined: not measured, and why stands in `value`. */
  readonly isMet: boolean | undefined;
  readonly value: string;
}

export function barsOf(all: readonly MeasuredEvaluation[], runs: readonly TrainingRun[], validations: readonly ValidationEvaluation[] = []): readonly Bar[] {
  const measured = ofShippedBase(all);
  const system = rowsOf(measured, SHIPPED, 'bfcl', 'system');
  return [
    shareBar('system, plain BFCL categories: right', system, (one) => !isLive(one), LIMITS.plain),
    shareBar('system, live BFCL categories: right', system, isLive, LIMITS.live),
    withRows('system: changed leaves outside the reported pointers, a dispatched call', `≤ ${String(LIMITS.collateral)}`, system, (rows) => {
      const value = meanCollateral(rows);
      return { value: decimal(value, 4), isMet: value === undefined ? undefined : value <= LIMITS.collateral };
    }),
    overRegeneration(system, rowsOf(measured, undefined, 'bfcl', 'full-regeneration')),
    overSupervised(measured, runs), ...overSupervisedThere(validations, runs),
    withRows('system: silently wrong on the bug reports', `≤ ${String(LIMITS.silentlyWrong)}`, rowsOf(measured, SHIPPED, 'bugcases', 'system'), (rows) => {
      const count = rows.filter(({ score }) => score.verdict === 'silently-wrong').length;
      return { value: `${String(count)} of ${String(rows.length)}`, isMet: count <= LIMITS.silentlyWrong };
    }),
    withRows('system: declined, of the calls that no patch may mend', `≥ ${String(LIMITS.abstained)}`, rowsOf(measured, SHIPPED, 'unrepairable', 'system'), (rows) => {
      const rate = rateWhere(rows, ({ score }) => score.verdict === 'abstained-rightly')!;
      return { value: shareText(rate.count, rate.n), isMet: rate.count / rate.n >= LIMITS.abstained };
    }),
    withRows('system: declined, of the BFCL calls that can be mended', `≤ ${String(LIMITS.falselyAbstained)}`, system, (rows) => {
      const rate = rateWhere(rows, ({ score }) => score.verdict === 'abstained-wrongly')!;
      return { value: shareText(rate.count, rate.n), isMet: rate.count / rate.n <= LIMITS.falselyAbstained };
    }),
    ...trainingBars(shippedRun(measured, runs), runs),
  ];
}

/** Its rows, or why there is no figure. */
type Rows = readonly ScoredRow[] | string;

function rowsOf(measured: readonly MeasuredEvaluation[], name: string | undefined, set: SetName, arm: ArmName): Rows {
  const found = find(measured, name, set, arm);
  if (found === undefined) return `not measured: ${name === undefined ? '' : `${name}, `}${set}, ${arm}`;
  return found.isWhole ? found.rows : `not whole: ${String(found.rows.length)} of ${String(sizeOf(set))} cases`;
}

function withRows(what: string, bar: string, rows: Rows, judge: (rows: readonly ScoredRow[]) => Pick<Bar, 'value' | 'isMet'>): Bar {
  return { what, bar, ...(typeof rows === 'string' ? { value: rows, isMet: undefined } : judge(rows)) };
}

function shareBar(what: string, rows: Rows, isOf: (one: ScoredRow) => boolean, limit: number): Bar {
  return withRows(what, `≥ ${String(limit)}`, rows, (all) => {
    const some = all.filter(isOf);
    const count = some.filter(isRightRow).length;
    return { value: shareText(count, some.length), isMet: count / some.length >= limit };
  });
}

function overRegeneration(system: Rows, regeneration: Rows): Bar {
  const [what, bar] = ['system above full regeneration by the same base: difference, and p of the paired test', `≥ ${String(LIMITS.overRegeneration)}; < ${String(LIMITS.p)}`];
  if (typeof regeneration === 'string') return { what, bar, value: regeneration, isMet: undefined };
  return withRows(what, bar, system, (rows) => {
    const compared = compare(rows, regeneration)!;
    const { difference, worstP } = compared;
    return { value: `${differenceText(difference)}; ${worstP.toExponential(1)}`, isMet: difference.mean >= LIMITS.overRegeneration && worstP < LIMITS.p };
  });
}

/** The group-relative run with the default settings: what ships, or the one of that name. */
export function optimisedRun(runs: readonly TrainingRun[]): TrainingRun | undefined {
  const optimised = runs.filter(isOptimised);
  return optimised.find(({ name }) => name === SHIPPED) ?? optimised.find(({ name }) => name === OPTIMISED);
}

function overSupervised(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): Bar {
  const [what, bar] = ['group-relative optimisation above its supervised start, policy on BFCL: difference', 'interval above 0'];
  const optimised = optimisedRun(runs);
  const start = optimised === undefined ? undefined : startOf(runs, optimised);
  if (optimised === undefined || start === undefined) return { what, bar, value: optimised === undefined ? `no log of ${OPTIMISED}` : `no log of what ${optimised.name} began with`, isMet: undefined };
  if (optimised.adapterDigest === start.adapterDigest) return { what, bar, value: `none: no look of ${optimised.name} at validation was better than its start, which it kept`, isMet: false };
  const supervised = rowsOf(measured, start.name, 'bfcl', 'policy');
  if (typeof supervised === 'string') return { what, bar, value: supervised, isMet: undefined };
  return withRows(what, bar, rowsOf(measured, optimised.name, 'bfcl', 'policy'), (rows) => {
    const { difference } = compare(rows, supervised)!;
    return { value: `${differenceText(difference)}, ${optimised.name} less ${start.name}`, isMet: difference.low > 0 };
  });
}

/** The same where policies learn: other tools and requests of the sources that they learnt from. None where that was not measured. */
function overSupervisedThere(validations: readonly ValidationEvaluation[], runs: readonly TrainingRun[]): readonly Bar[] {
  const optimised = optimisedRun(runs);
  const start = optimised && startOf(runs, optimised);
  if (optimised === undefined || start === undefined) return [];
  const compared = compareExamples(validations, optimised, start);
  return compared === undefined ? [] : [{
    what: 'the same, on the validation side: never trained on, but looks at a part of it chose the step', bar: 'interval above 0',
    value: `${differenceText(compared.difference)} of ${String(compared.n)}, ${optimised.name} less ${start.name}`, isMet: compared.difference.low > 0,
  }];
}

/** Of the supervised run that what ships is, or began with; another run of the same identity is the same training once more. */
function trainingBars(shipped: TrainingRun | undefined, runs: readonly TrainingRun[]): readonly Bar[] {
  const run = shipped !== undefined && isOptimised(shipped) ? startOf(runs, shipped) : shipped;
  const again = run === undefined ? undefined : runs.find((other) => other !== run && jsonEqual(other.identity, run.identity));
  const rate = run?.entries.findLast(({ examplesPerSecond }) => examplesPerSecond !== undefined)?.examplesPerSecond;
  const missing = `no log of how ${SHIPPED} was trained`;
  return [
    {
      what: `training: minutes for ${String(TRAINED_EXAMPLES)} examples at that rate`, bar: `≤ ${String(LIMITS.trainingMinutes)}`, value: rate === undefined ? missing : (TRAINED_EXAMPLES / rate / 60).toFixed(0),
      isMet: rate === undefined ? undefined : TRAINED_EXAMPLES / rate / 60 <= LIMITS.trainingMinutes,
    },
    {
      what: 'training: the same seed gives the same adapter', bar: 'equal digests',
      value: run === undefined ? missing : again === undefined ? `no second run like ${run.name}` : `${run.adapterDigest.slice(0, 12)}, ${again.adapterDigest.slice(0, 12)}`,
      isMet: run === undefined || again === undefined ? undefined : run.adapterDigest === again.adapterDigest,
    },
  ];
}

function shareText(count: number, n: number): string {
  return `${(count / n).toFixed(3)} (${String(count)} of ${String(n)})`;
}

export function differenceText({ mean, low, high }: { readonly mean: number; readonly low: number; readonly high: number }): string {
  return `${mean.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
}
