/** Group-relative runs beside the one with the default settings: what was changed, what the run itself says of it, and what an evaluation does. */
import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '@contractrl/core';
import { table, type Cells } from '../markdown.ts';
import { rateOf } from '../report.ts';
import { mean } from '../statistics.ts';
import { differenceText, optimisedRun } from './bars.ts';
import { compare, compareExamples, find, judgedExamples, type MeasuredEvaluation } from './measured.ts';
import { isOptimised, startOf, unsafeOf, type LogEntry, type TrainingRun } from './runs.ts';
import type { ScoredRow } from './score-rows.ts';
import { decimal, isRightRow, meanCollateral, rateWhere } from './tables.ts';
import type { ValidationEvaluation } from './validation.ts';

/** Where weights of the reward stand in a run's settings. */
const REWARDS = 'rewards';

/** How long a run is, which stands in a column of its own. */
const LENGTH = 'steps';

/** Where the log of a start was not kept, its run goes by this many digits of what it began with. */
const DIGEST_LENGTH = 12;

interface Line {
  readonly run: TrainingRun;
  readonly changes: readonly string[];
  /** What the run is held against. */
  readonly against: TrainingRun | undefined;
}

/** What a run is measured with. */
interface Measures {
  readonly measured: readonly MeasuredEvaluation[];
  readonly runs: readonly TrainingRun[];
  readonly validations: readonly ValidationEvaluation[];
}

export function optimisedSection(measures: Measures): Cells {
  const { runs } = measures;
  const reference = optimisedRun(runs);
  if (reference === undefined) return [];
  const others = runs.filter((run) => run !== reference && isOptimised(run));
  const varied = others.filter((run) => isComparable(run, reference)).map((run) => ({ run, changes: changesOf(run, reference) }));
  const controlOf = (run: TrainingRun): TrainingRun => varied.find((other) => other.changes.length === 0 && lengthOf(other.run) === lengthOf(run))?.run ?? reference;
  const areRewards = (changes: readonly string[]): boolean => changes.length > 0 && changes.every((change) => change.startsWith(`${REWARDS}.`));
  const first: Line = { run: reference, changes: [], against: startOf(runs, reference) };
  const lines = varied.map(({ run, changes }): Line => ({ run, changes, against: controlOf(run) === run ? startOf(runs, run) : controlOf(run) }));
  const elsewhere = others.filter((run) => !isComparable(run, reference)).map((run): Line => ({ run, changes: changesOf(run, reference), against: startOf(runs, run) }));
  const part = (title: string, some: readonly Line[], before: readonly Line[] = []): Cells => (some.length === 0 ? [] : [
    `### ${title}`, '', table(HEAD, [...before, ...some].map((line) => cellsOf(measures, line))), '',
  ]);
  const [weights, parts] = [lines.filter(({ changes }) => areRewards(changes)), lines.filter(({ changes }) => !areRewards(changes))];
  return [
    '## Group-relative optimisation',
    '',
    `*Changed* is what a run’s settings do not share with *${reference.name}*. Success, wrong and declined falsely are shares of greedy episodes of the validation side, at the first look and at that with the highest reward, `
      + 'whose adapter was kept. A reward of other weights is another measure. The differences are those of the policy on the cases that both have, less the run named at the end: the unchanged run of that length, or what the run began with. '
      + 'Validation is that of the section below; some of its examples are those looked at.',
    '',
    ...(lines.length === 0 ? [table(HEAD, [cellsOf(measures, first)]), ''] : []),
    ...part('Parts taken away', parts, [first]), ...part('Weights of the reward', weights, [first]), ...part('Other starts or data', elsewhere),
  ];
}

const HEAD: Cells = [
  'run', 'began with', 'changed', 'steps', 'reward', 'success', 'wrong', 'declined falsely', 'answer tokens', 'groups that taught nothing', 'unsafe',
  'validation, policy: right', 'difference', 'BFCL, policy: n', 'right', 'collateral', 'difference', 'less',
];

function cellsOf({ measured, runs, validations }: Measures, { run, changes, against }: Line): Cells {
  const steps = run.entries.filter(({ kind }) => kind === 'step');
  const looks = run.entries.filter(({ kind }) => kind === 'validation');
  const best = looks.reduce<LogEntry | undefined>((highest, look) => (highest === undefined || (look.reward ?? -Infinity) > (highest.reward ?? -Infinity) ? look : highest), undefined);
  const course = (figure: 'reward' | 'success' | 'wrong' | 'abstainedWrongly' | 'tokens', digits: number): string => `${decimal(looks[0]?.[figure], digits)} → ${decimal(best?.[figure], digits)}`;
  const rowsOf = (one: TrainingRun | undefined): readonly ScoredRow[] => (one === undefined ? [] : find(measured, one.name, 'bfcl', 'policy')?.rows ?? []);
  const rows = rowsOf(run);
  const compared = compare(rows, rowsOf(against));
  const judged = judgedExamples(validations, run);
  const difference = compareExamples(validations, run, against)?.difference;
  return [
    run.name, startOf(runs, run)?.name ?? String(run.identity['from']).slice(0, DIGEST_LENGTH), changes.length === 0 ? '–' : changes.join(', '), String(lengthOf(run)),
    course('reward', 3), course('success', 3), course('wrong', 3), course('abstainedWrongly', 3), course('tokens', 1),
    decimal(mean(steps.flatMap(({ flatShare }) => flatShare ?? [])), 2), decimal(unsafeOf(run), 0),
    judged.length === 0 ? 'n/a' : rateOf(rateWhere(judged, ({ isRight }) => isRight)), difference === undefined ? '' : differenceText(difference),
    rows.length === 0 ? 'n/a' : String(rows.length), rateOf(rateWhere(rows, isRightRow)), decimal(meanCollateral(rows), 4),
    compared === undefined ? '' : differenceText(compared.difference), compared === undefined && difference === undefined ? '' : against?.name ?? '',
  ];
}

/** Steps that were taken. */
function lengthOf({ entries }: TrainingRun): number {
  return entries.findLast(({ kind }) => kind === 'step')?.step ?? 0;
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
