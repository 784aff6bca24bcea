/** The plots of the training report, each where there is something to draw: losses, rewards, and risk against coverage. */
import { drawPlot, PLOT } from '../plot.ts';
import { SHIPPED } from './bars.ts';
import { find, heldOutCurve, type MeasuredEvaluation } from './measured.ts';
import type { RiskPoint, TrainingRun } from './runs.ts';

export const LOSS_PLOT = 'loss.svg';
export const REWARD_PLOT = 'reward.svg';
export const RISK_PLOT = 'risk-coverage.svg';

const [WIDTH, HEIGHT] = [420, 260];
/** Steps that a point of a curve is the mean of: single steps read too few examples to show a course. */
const WINDOW = 8;

export async function drawTraining(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): Promise<readonly (readonly [string, string])[]> {
  const losses = runs.flatMap((run) => (['step', 'validation'] as const).flatMap((kind) => curveOf(run, kind, 'loss')));
  const rewards = runs.flatMap((run) => (['reward', 'success'] as const).flatMap((figure) => curveOf(run, 'step', figure).map((point) => ({ ...point, figure }))));
  const risks = risksOf(measured, runs);
  const size = { width: WIDTH, height: HEIGHT };
  const color = { field: 'run', type: 'nominal' } as const;
  return Promise.all([
    ...(losses.length === 0 ? [] : [drawPlot(LOSS_PLOT, {
      ...PLOT, ...size, title: 'Loss of a decision', data: { values: losses }, mark: 'line',
      encoding: { x: { field: 'step', type: 'quantitative' }, y: { field: 'value', type: 'quantitative', title: 'loss' }, color, strokeDash: { field: 'side', type: 'nominal' } },
    })]),
    ...(rewards.length === 0 ? [] : [drawPlot(REWARD_PLOT, {
      ...PLOT, ...size, title: 'Reward and success of sampled episodes', data: { values: rewards }, mark: 'line',
      encoding: { x: { field: 'step', type: 'quantitative' }, y: { field: 'value', type: 'quantitative', title: null }, color, strokeDash: { field: 'figure', type: 'nominal' } },
    })]),
    ...(risks.length === 0 ? [] : [drawPlot(RISK_PLOT, {
      ...PLOT, ...size, title: 'Wrong among released patches', data: { values: risks }, mark: { type: 'line', interpolate: 'step-after' },
      encoding: {
        x: { field: 'coverage', type: 'quantitative', title: 'share released', scale: { domain: [0, 1] } }, y: { field: 'risk', type: 'quantitative', title: 'share wrong' },
        color: { field: 'cases', type: 'nominal' },
      },
    })]),
  ]);
}

interface Point {
  readonly run: string;
  readonly side: string;
  readonly step: number;
  readonly value: number;
}

/** Validation as it is, steps as means of {@link WINDOW}. */
function curveOf({ name, entries }: TrainingRun, kind: 'step' | 'validation', figure: 'loss' | 'reward' | 'success'): readonly Point[] {
  const points = entries.flatMap((entry) => {
    const value = entry[figure];
    return entry.kind === kind && value !== undefined ? [{ run: name, side: kind === 'step' ? 'training' : 'validation', step: entry.step, value }] : [];
  });
  if (kind === 'validation') return points;
  return Array.from({ length: Math.ceil(points.length / WINDOW) }, (_, index) => {
    const some = points.slice(index * WINDOW, (index + 1) * WINDOW);
    return { ...some.at(-1)!, value: some.reduce((sum, { value }) => sum + value, 0) / some.length };
  });
}

function risksOf(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): readonly (RiskPoint & { readonly cases: string })[] {
  const [system, open] = [find(measured, SHIPPED, 'bfcl', 'system'), find(measured, SHIPPED, 'bfcl', 'system-open')];
  // what ships may be the supervised start itself
  const shipped = runs.find(({ name, calibration, adapterDigest }) => calibration !== undefined && (name === SHIPPED || adapterDigest === system?.head.identity['adapterDigest']));
  const validation = shipped?.calibration?.report.curve ?? [];
  const heldOut = system === undefined || open === undefined ? [] : heldOutCurve(system.rows, open.rows);
  return [
    ...validation.map(({ coverage, risk }) => ({ cases: 'validation', coverage, risk })),
    ...heldOut.map((point) => ({ cases: 'BFCL, held out', ...point })),
  ];
}
