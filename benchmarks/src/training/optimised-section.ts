/** Group-relative runs beside the one with the default settings: what was changed, what the run itself says of it, and what an evaluation does. */
import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '@contractrl/core';
import { table, type Cells } from '../markdown.ts';
import { rateOf } from '../report.ts';
import { mean } from '../statistics.ts';
import { differenceText, optimisedRun } from './bars.ts';
import { compare, find, type MeasuredEvaluation } from './measured.ts';
import { isOptimised, unsafeOf, type LogEntry, type TrainingRun } from './runs.ts';
import { decimal, isRightRow, meanCollateral, rateWhere } from './tables.ts';

/** Where weights of the reward stand in a run's settings. */
const REWARDS = 'rewards';

/** How long a run is, which stands in a column of its own. */
const LENGTH = 'steps';

/** Runs that had another start, base or data than the reference stand among the runs alone: nothing says what their settings gave. */
export function optimisedSection(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): Cells {
  const reference = optimisedRun(runs);
  if (reference === undefined) return [];
  const varied = runs.filter((run) => run !== reference && isOptimised(run) && isComparable(run, reference)).map((run) => ({ run, changes: changesOf(run, reference) }));
  const areRewards = (changes: readonly string[]): boolean => changes.length > 0 && changes.every((change) => change.startsWith(`${REWARDS}.`));
  const part = (title: string, some: typeof varied): Cells => (some.length === 0 ? [] : [
    `### ${title}`, '', table(HEAD, [{ run: reference, changes: [] as readonly string[] }, ...some].map(({ run, changes }) => lineOf(measured, run, reference, changes))), '',
  ]);
  const [weights, others] = [varied.filter(({ changes }) => areRewards(changes)), varied.filter(({ changes }) => !areRewards(changes))];
  const isAlone = varied.length === 0;
  return [
    '## Group-relative optimisation',
    '',
    `Runs that began with the same adapter as *${reference.name}*, on the same examples. *Changed* is what their settings do not share with it. Success, wrong and declined falsely are shares of greedy episodes of the validation side, at the `
      + 'first look and at that with the highest reward, whose adapter was kept. A reward of other weights is another measure. The difference is that of the policy on the BFCL cases that both have, less the run above.',
    '',
    ...(isAlone ? [table(HEAD, [lineOf(measured, reference, reference, [])]), ''] : []),
    ...part('Parts taken away', others), ...part('Weights of the reward', weights),
  ];
}

const HEAD: Cells = [
  'run', 'changed', 'steps', 'reward', 'success', 'wrong', 'declined falsely', 'answer tokens', 'groups that taught nothing', 'unsafe', 'BFCL, policy: n', 'right', 'collateral', 'difference',
];

function lineOf(measured: readonly MeasuredEvaluation[], run: TrainingRun, reference: TrainingRun, changes: readonly string[]): Cells {
  const steps = run.entries.filter(({ kind }) => kind === 'step');
  const looks = run.entries.filter(({ kind }) => kind === 'validation');
  const best = looks.reduce<LogEntry | undefined>((highest, look) => (highest === undefined || (look.reward ?? -Infinity) > (highest.reward ?? -Infinity) ? look : highest), undefined);
  const course = (figure: 'reward' | 'success' | 'wrong' | 'abstainedWrongly' | 'tokens', digits: number): string => `${decimal(looks[0]?.[figure], digits)} → ${decimal(best?.[figure], digits)}`;
  const rows = find(measured, run.name, 'bfcl', 'policy')?.rows ?? [];
  const compared = run === reference ? undefined : compare(rows, find(measured, reference.name, 'bfcl', 'policy')?.rows ?? []);
  return [
    run.name, changes.length === 0 ? '–' : changes.join(', '), String(steps.at(-1)?.step ?? 0), course('reward', 3), course('success', 3), course('wrong', 3), course('abstainedWrongly', 3), course('tokens', 1),
    decimal(mean(steps.flatMap(({ flatShare }) => flatShare ?? [])), 2), decimal(unsafeOf(run), 0),
    rows.length === 0 ? 'n/a' : String(rows.length), rateOf(rateWhere(rows, isRightRow)), decimal(meanCollateral(rows), 4), compared === undefined ? '' : differenceText(compared.difference),
  ];
}

/** All of an identity but the settings. */
function isComparable(run: TrainingRun, reference: TrainingRun): boolean {
  const { settings: _, ...rest } = run.identity;
  const { settings: __, ...others } = reference.identity;
  return jsonEqual(rest, others);
}

/** `mask off`, `rewards.collateral 0.5`: each member of the settings that is another, but the length, with its value. */
function changesOf(run: TrainingRun, reference: TrainingRun): readonly string[] {
  const flat = ({ identity }: TrainingRun): ReadonlyMap<string, JsonValue> => flattened(identity['settings'] as JsonObject, '');
  const before = flat(reference);
  return [...flat(run)].filter(([name, value]) => name !== LENGTH && before.get(name) !== value).map(([name, value]) => `${name} ${String(value)}`);
}

function flattened(settings: JsonObject, prefix: string): ReadonlyMap<string, JsonValue> {
  return new Map(Object.entries(settings).flatMap(([name, value]): readonly (readonly [string, JsonValue])[] => (
    isJsonObject(value) ? [...flattened(value, `${prefix}${name}.`)] : [[`${prefix}${name}`, value]]
  )));
}
