/** The bars of the training, held against what was measured: none is met or missed by hand, and what was not measured whole is neither. */
import type { ArmName } from './evaluations.ts';
import { compare, find, isLive, type MeasuredEvaluation } from './measured.ts';
import type { TrainingRun } from './runs.ts';
import type { ScoredRow } from './score-rows.ts';
import { sizeOf, type SetName } from './sets.ts';
import { decimal, isRightRow, meanCollateral, rateWhere } from './tables.ts';

/** The adapter that ships, and the supervised one that group-relative optimisation began with. */
export const SHIPPED = 'r8';
export const SUPERVISED = 'r8-sft';
/** Same data and seed as {@link SUPERVISED}, trained once more. */
export const REPEATED = 'r8-sft-again';

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

export function barsOf(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): readonly Bar[] {
  const system = rowsOf(measured, SHIPPED, 'bfcl', 'system');
  const policy = rowsOf(measured, SHIPPED, 'bfcl', 'policy');
  return [
    shareBar('system, plain BFCL categories: right', system, (one) => !isLive(one), LIMITS.plain),
    shareBar('system, live BFCL categories: right', system, isLive, LIMITS.live),
    withRows('system: changed leaves outside the reported pointers, a dispatched call', `≤ ${String(LIMITS.collateral)}`, system, (rows) => {
      const value = meanCollateral(rows);
      return { value: decimal(value, 4), isMet: value === undefined ? undefined : value <= LIMITS.collateral };
    }),
    overRegeneration(system, rowsOf(measured, undefined, 'bfcl', 'full-regeneration')),
    overSupervised(policy, rowsOf(measured, SUPERVISED, 'bfcl', 'policy')),
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
    ...trainingBars(runs),
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

function overSupervised(policy: Rows, supervised: Rows): Bar {
  const [what, bar] = ['policy above its supervised start: difference', 'interval above 0'];
  if (typeof supervised === 'string') return { what, bar, value: supervised, isMet: undefined };
  return withRows(what, bar, policy, (rows) => {
    const { difference } = compare(rows, supervised)!;
    return { value: differenceText(difference), isMet: difference.low > 0 };
  });
}

function trainingBars(runs: readonly TrainingRun[]): readonly Bar[] {
  const run = runs.find(({ name }) => name === SUPERVISED);
  const again = runs.find(({ name }) => name === REPEATED);
  const rate = run?.entries.findLast(({ examplesPerSecond }) => examplesPerSecond !== undefined)?.examplesPerSecond;
  const missing = (name: string): string => `no log of ${name}`;
  return [
    {
      what: `training: minutes for ${String(TRAINED_EXAMPLES)} examples at that rate`, bar: `≤ ${String(LIMITS.trainingMinutes)}`, value: rate === undefined ? missing(SUPERVISED) : (TRAINED_EXAMPLES / rate / 60).toFixed(0),
      isMet: rate === undefined ? undefined : TRAINED_EXAMPLES / rate / 60 <= LIMITS.trainingMinutes,
    },
    {
      what: 'training: the same seed gives the same adapter', bar: 'equal digests', value: run === undefined ? missing(SUPERVISED) : again === undefined ? missing(REPEATED) : `${run.adapterDigest.slice(0, 12)}, ${again.adapterDigest.slice(0, 12)}`,
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
