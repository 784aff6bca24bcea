/** What more examples give: supervised runs whose adapters were measured under the name of the run, by how many examples each had read. */
import type { Cells } from '../markdown.ts';
import { table } from '../markdown.ts';
import { rateOf } from '../report.ts';
import type { Rate } from '../statistics.ts';
import { find, type MeasuredEvaluation } from './measured.ts';
import { isOptimised, lowestLoss, type TrainingRun } from './runs.ts';
import type { SetName } from './sets.ts';
import { decimal, isRightRow, rateWhere } from './tables.ts';

const CURVE_SETS: readonly SetName[] = ['bfcl', 'j2'];

export interface CurvePoint {
  readonly run: string;
  readonly rank: number;
  /** Read until training ended, as many times as each was read. */
  readonly examples: number;
  readonly validationLoss: number | undefined;
  /** Of the sets that were measured. */
  readonly shares: readonly { readonly set: SetName; readonly rate: Rate }[];
}

/** By examples; the policy alone. */
export function learningCurve(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): readonly CurvePoint[] {
  const points = runs.filter((run) => !isOptimised(run)).flatMap((run): readonly CurvePoint[] => {
    const { name, identity, entries } = run;
    const shares = CURVE_SETS.flatMap((set) => {
      const rate = rateWhere(find(measured, name, set, 'policy')?.rows ?? [], isRightRow);
      return rate === undefined ? [] : [{ set, rate }];
    });
    const stepCount = entries.findLast(({ kind }) => kind === 'step')?.step ?? 0;
    const { batchSize = 0 } = (identity['settings'] ?? {}) as { readonly batchSize?: number };
    return shares.length === 0 ? [] : [{ run: name, rank: Number(identity['rank']), examples: stepCount * batchSize, validationLoss: lowestLoss(run), shares }];
  });
  return points.sort((a, b) => a.examples - b.examples);
}

export function curveSection(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[], plot: Cells): Cells {
  const points = learningCurve(measured, runs);
  if (points.length < 2) return [];
  return [
    '## What more examples give',
    '',
    'Supervised runs, the policy alone. Each has the lowest loss on the validation side of its own data set, and what sets two runs apart beside the number of examples stands in their logs.',
    '',
    table(['run', 'rank', 'examples read', 'BFCL: right', 'J2: right', 'lowest validation loss'], points.map(({ run, rank, examples, validationLoss, shares }) => [
      run, String(rank), String(examples), ...CURVE_SETS.map((set) => rateOf(shares.find((share) => share.set === set)?.rate)), decimal(validationLoss, 4),
    ])),
    '',
    ...plot,
  ];
}
