/** The plots of the training report, each where there is something to draw: losses, what more examples give, rewards, and risk against coverage. */
import { drawPlot, PLOT } from '../plot.ts';
import { learningCurve } from './learning-curve.ts';
import { find, heldOutCurve, ofShippedBase, SHIPPED, type MeasuredEvaluation } from './measured.ts';
import type { RiskPoint, TrainingRun } from './runs.ts';

export const LOSS_PLOT = 'loss.svg';
export const CURVE_PLOT = 'learning-curve.svg';
export const REWARD_PLOT = 'reward.svg';
export const RISK_PLOT = 'risk-coverage.svg';

const [WIDTH, HEIGHT] = [420, 260];
/** Steps that a point of a curve is the mean of: single steps read too few examples to show a course. */
const WINDOW = 8;

/** Sampled episodes of each step, and greedy ones of the validation side at each look. */
const REWARD_PANELS = [
  { panel: 'reward, sampled', kind: 'step', figure: 'reward' }, { panel: 'success, sampled', kind: 'step', figure: 'success' },
  { panel: 'reward, validation', kind: 'validation', figure: 'reward' }, { panel: 'success, validation', kind: 'validation', figure: 'success' },
] as const;

export async function drawTraining(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): Promise<readonly (readonly [string, string])[]> {
  const losses = runs.flatMap((run) => (['step', 'validation'] as const).flatMap((kind) => curveOf(run, kind, 'loss')));
  const learnt = learningCurve(ofShippedBase(measured), runs).flatMap(({ examples, run, shares }) => shares.map(({ set, rate: { count, n, low, high } }) => ({ examples, run, set, right: count / n, low, high })));
  const rewards = runs.flatMap((run) => REWARD_PANELS.flatMap(({ panel, kind, figure }) => curveOf(run, kind, figure).map((point) => ({ ...point, panel }))));
  const risks = risksOf(measured, runs);
  const size = { width: WIDTH, height: HEIGHT };
  const color = { field: 'run', type: 'nominal' } as const;
  return Promise.all([
    ...(losses.length === 0 ? [] : [drawPlot(LOSS_PLOT, {
      ...PLOT, ...size, title: 'Loss of a decision', data: { values: losses }, mark: 'line',
      encoding: { x: { field: 'step', type: 'quantitative' }, y: { field: 'value', type: 'quantitative', title: 'loss' }, color, strokeDash: { field: 'side', type: 'nominal' } },
    })]),
    ...(new Set(learnt.map(({ examples }) => examples)).size < 2 ? [] : [drawPlot(CURVE_PLOT, {
      ...PLOT, ...size, title: 'Right, the policy alone, against examples learnt from', data: { values: learnt },
      encoding: { x: { field: 'examples', type: 'quantitative' }, color: { field: 'set', type: 'nominal' } },
      layer: [
        { mark: { type: 'point', filled: true }, encoding: { y: { field: 'right', type: 'quantitative', title: 'share right', scale: { domain: [0, 1] } } } },
        { mark: 'rule', encoding: { y: { field: 'low', type: 'quantitative' }, y2: { field: 'high' } } },
      ],
    })]),
    ...(rewards.length === 0 ? [] : [drawPlot(REWARD_PLOT, {
      ...PLOT, title: 'Group-relative runs', data: { values: rewards },
      facet: { row: { field: 'panel', type: 'nominal', title: null, sort: REWARD_PANELS.map(({ panel }) => panel) } },
      spec: { width: WIDTH, height: HEIGHT / 2, mark: 'line', encoding: { x: { field: 'step', type: 'quantitative' }, y: { field: 'value', type: 'quantitative', title: null, scale: { zero: false } }, color } },
      resolve: { scale: { y: 'independent' } },
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
