/** The Markdown report of the training: a pure function of evaluations and logs. No figure is typed by hand but the bars. */
import { summariseBy, summariseEvaluation } from '@contractrl/trainer';
import { machine, mark, table, type Cells } from '../markdown.ts';
import { rateOf } from '../report.ts';
import { mean } from '../statistics.ts';
import { barsOf, differenceText } from './bars.ts';
import { classesOf, ERROR_CLASS_NAMES, ERROR_CLASSES } from './error-class.ts';
import type { ArmName } from './evaluations.ts';
import { curveSection } from './learning-curve.ts';
import { isAblated, lineSection } from './line-section.ts';
import { baseNames, CATEGORIES, categoryOf, compare, find, isLive, ofShippedBase, SHIPPED, type MeasuredEvaluation } from './measured.ts';
import { optimisedSection } from './optimised-section.ts';
import { CURVE_PLOT, LOSS_PLOT, REWARD_PLOT, RISK_PLOT } from './plots.ts';
import { lowestLoss, unsafeOf, type LogEntry, type TrainingRun } from './runs.ts';
import type { ScoredRow } from './score-rows.ts';
import { SET_NAMES, type SetName } from './sets.ts';
import { decimal, groupBy, isRightRow, pText, rateWhere, summaryCells, SUMMARY_HEAD, validationCells } from './tables.ts';
import type { ValidationEvaluation } from './validation.ts';

const SET_TITLES: Readonly<Record<SetName, string>> = {
  bfcl: 'BFCL calls with one field spoilt, 192 from each of five seeds',
  j2: 'the 64 of the fixed file',
  bugcases: 'calls reconstructed from public bug reports',
  families: 'BFCL calls spoilt in every way that the trainer knows',
  unrepairable: 'BFCL calls that no patch may mend',
};

export interface ReportParts {
  readonly measured: readonly MeasuredEvaluation[];
  readonly runs: readonly TrainingRun[];
  readonly validations: readonly ValidationEvaluation[];
  /** Those that were drawn. */
  readonly plots: readonly string[];
}

export function renderTrainingReport({ measured: all, runs, validations, plots }: ReportParts): string {
  const whole = all.filter((one) => !isAblated(one));
  const measured = ofShippedBase(whole);
  return `${[
    '# Training, measured',
    '',
    'Regenerated from the raw rows and logs beside this file by `npm run bench:training -- report`; no figure is typed by hand but the bars. No case was trained on.',
    '',
    '## Bars',
    '',
    table(['', 'bar', 'measured', ''], barsOf(measured, runs, validations).map(({ what, bar, value, isMet }) => [what, bar, value, isMet === undefined ? '–' : mark(isMet)])),
    '',
    ...SET_NAMES.flatMap((set) => setSection(set, measured.filter(({ head }) => head.set === set))),
    ...rankSection(measured, runs),
    ...baseSection(whole, runs),
    ...categorySection(measured),
    ...familySection(measured),
    ...classSection(measured),
    ...pairSection(measured),
    ...lineSection(all),
    ...curveSection(measured, runs, image(plots, CURVE_PLOT, 'Right against examples')),
    ...optimisedSection({ measured, runs, validations }),
    ...validationSection(validations),
    ...calibrationSection(runs, plots),
    ...runSection(runs, plots),
    ...sourceSection(all),
    ...LIMITS,
  ].join('\n')}\n`;
}

function setSection(set: SetName, evaluations: readonly MeasuredEvaluation[]): Cells {
  if (evaluations.length === 0) return [];
  return [
    `## ${SET_TITLES[set][0]!.toUpperCase()}${SET_TITLES[set].slice(1)}`,
    '',
    table(['adapter', 'arm', ...SUMMARY_HEAD], evaluations.map(({ head, rows, isWhole }) => [head.name, armTitle(head.arm, isWhole), ...summaryCells(rows)])),
    '',
  ];
}

function armTitle(arm: ArmName, isWhole: boolean): string {
  return `${arm}${isWhole ? '' : ', a part of the cases'}`;
}

const ARMS_SHOWN = ['system', 'policy'] as const;

/** Adapters of these names differ in rank alone. */
const RANKS = ['r4', SHIPPED, 'r16'] as const;
const RANK_SETS = ['bfcl', 'j2', 'bugcases'] as const;

function rankSection(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): Cells {
  const ranks = RANKS.filter((name) => measured.some(({ head }) => head.name === name));
  if (ranks.length < 2) return [];
  const rightOf = (name: string, set: SetName, arm: ArmName): string => rateOf(rateWhere(find(measured, name, set, arm)?.rows ?? [], isRightRow));
  const rows = ranks.map((name) => {
    const falsely = rateWhere(find(measured, name, 'bfcl', 'system')?.rows ?? [], ({ score }) => score.verdict === 'abstained-wrongly');
    const run = runs.find((one) => one.name === name);
    return [name, rightOf(name, 'families', 'policy'), rightOf(name, 'unrepairable', 'system'), rateOf(falsely), decimal(run && lowestLoss(run), 4)];
  });
  const pairs = RANK_SETS.flatMap((set) => ARMS_SHOWN.flatMap((arm) => ranks.flatMap((name) => {
    const one = find(measured, name, set, arm);
    return one === undefined ? [] : [[set, armTitle(arm, one.isWhole), name, ...comparedCells(one, find(measured, SHIPPED, set, arm))]];
  })));
  return [
    '## Ranks',
    '',
    `Adapters of one data set and seed. The difference is to ${SHIPPED}, on the cases that both have; how it is calculated is said under *Pairs*.`,
    '',
    table(['set', 'arm', 'adapter', ...COMPARED_HEAD], pairs),
    '',
    table(['adapter', 'families, policy: right', 'unrepairable, system: declined', 'BFCL, system: declined falsely', 'lowest validation loss'], rows),
    '',
  ];
}

const COMPARED_HEAD: Cells = ['n', 'right', 'wrong', `difference to ${SHIPPED}`, 'p'];

/** Beside the adapter that ships, and not beside itself. */
function comparedCells(one: MeasuredEvaluation, shipped: MeasuredEvaluation | undefined): Cells {
  const { rows } = one;
  const compared = shipped === undefined || shipped === one ? undefined : compare(rows, shipped.rows);
  return [
    String(rows.length), rateOf(rateWhere(rows, isRightRow)), String(rows.filter(({ score }) => score.verdict === 'silently-wrong').length),
    ...(compared === undefined ? ['', ''] : [differenceText(compared.difference), pText(compared.worstP)]),
  ];
}

/** Where there is another base beside that of the adapter that ships, all that was measured on a set with it. */
function baseSection(measured: readonly MeasuredEvaluation[], runs: readonly TrainingRun[]): Cells {
  const own = ofShippedBase(measured);
  const others = measured.filter((one) => !own.includes(one));
  if (others.length === 0) return [];
  const nameOf = baseNames(measured, runs);
  const isBeside = ({ head }: MeasuredEvaluation): boolean => head.name === SHIPPED && others.some((other) => other.head.set === head.set && other.head.arm === head.arm);
  const rows = [...own.filter(isBeside), ...others].map((one) => [nameOf(one.head), one.head.name, one.head.set, armTitle(one.head.arm, one.isWhole), ...comparedCells(one, find(own, SHIPPED, one.head.set, one.head.arm))]);
  return [
    '## Other bases', '', `The difference is to ${SHIPPED} and its base, on the cases that both have. The other tables are of that base alone.`, '', table(['base', 'adapter', 'set', 'arm', ...COMPARED_HEAD], rows), '',
  ];
}

function categorySection(measured: readonly MeasuredEvaluation[]): Cells {
  const evaluations = measured.filter(({ head }) => head.set === 'bfcl');
  if (evaluations.length === 0) return [];
  const right = (rows: readonly ScoredRow[]): string => rateOf(rateWhere(rows, isRightRow));
  return [
    '## Right by category of BFCL',
    '',
    table(
      ['adapter', 'arm', 'plain', 'live', ...CATEGORIES],
      evaluations.map(({ head, rows }) => [
        head.name, head.arm, right(rows.filter((one) => !isLive(one))), right(rows.filter(isLive)), ...CATEGORIES.map((category) => right(rows.filter((one) => categoryOf(one) === category))),
      ]),
    ),
    '',
  ];
}

/** The family is the last part of an id. */
function familySection(measured: readonly MeasuredEvaluation[]): Cells {
  const evaluations = measured.filter(({ head }) => (head.set === 'families' || head.set === 'unrepairable') && ARMS_SHOWN.some((arm) => arm === head.arm));
  if (evaluations.length === 0) return [];
  const familyOf = ({ row: { id } }: ScoredRow): string => id.slice(id.lastIndexOf(':') + 1);
  const columns = [...groupBy(evaluations, ({ head }) => `${head.name}, ${head.arm}`)].map(([title, some]) => ({ title, families: groupBy(some.flatMap(({ rows }) => rows), familyOf) }));
  const families = [...new Set(columns.flatMap((column) => [...column.families.keys()]))];
  return [
    '## Right by family',
    '',
    'Of the last three, which no patch may mend, right is to decline.',
    '',
    table(['family', 'n', ...columns.map(({ title }) => title)], families.map((family) => [
      family, String(Math.max(...columns.map((column) => column.families.get(family)?.length ?? 0))), ...columns.map((column) => rateOf(rateWhere(column.families.get(family) ?? [], isRightRow))),
    ])),
    '',
  ];
}

function classSection(measured: readonly MeasuredEvaluation[]): Cells {
  const sections = measured.filter(({ head }) => head.set === 'bfcl' && ARMS_SHOWN.some((arm) => arm === head.arm) && head.name === SHIPPED).map(({ head, rows }) => {
    const classed = rows.flatMap((one) => {
      const classes = classesOf(one);
      return classes === undefined ? [] : [{ one, ...classes }];
    });
    const wrong = classed.filter(({ one }) => one.score.verdict === 'silently-wrong');
    const line = (name: string, isCase: string, isError: string, cases: readonly ScoredRow[], errors: number): Cells => [name, isCase, rateOf(rateWhere(cases, isRightRow)), isError, String(errors)];
    return [
      `### ${head.name}, ${head.arm}`,
      '',
      `${String(wrong.length)} wrong answers; ${String(wrong.filter(({ error }) => error === undefined).length)} of them under none of the classes of single fields.`,
      '',
      table(['class', 'its cases', 'right of them', 'its errors', 'errors'], [
        ...ERROR_CLASS_NAMES.map((name) => line(
          ERROR_CLASSES[name].name, ERROR_CLASSES[name].isCase, ERROR_CLASSES[name].isError, classed.filter(({ cases }) => cases.has(name)).map(({ one }) => one), wrong.filter(({ error }) => error === name).length,
        )),
        ...otherClasses(measured, head.arm).map(({ name, isCase, isError, cases }) => line(name, isCase, isError, cases, cases.filter((one) => !isRightRow(one)).length)),
      ]),
      '',
    ];
  });
  return sections.length === 0 ? [] : ['## The classes of error', '', 'Counted by code from case and written value. A case can be of several classes; an error is counted once, under the first that explains it.', '', ...sections.flat()];
}

/** Those whose cases are in other sets. */
function otherClasses(measured: readonly MeasuredEvaluation[], arm: ArmName): readonly { readonly name: string; readonly isCase: string; readonly isError: string; readonly cases: readonly ScoredRow[] }[] {
  const rowsOf = (set: SetName, family: string): readonly ScoredRow[] => (find(measured, SHIPPED, set, arm)?.rows ?? []).filter(({ row: { id } }) => id.endsWith(family));
  return [
    { name: 'rename by move', isCase: 'a member under another name', isError: 'anything but the legal call', cases: rowsOf('families', ':renamed_property') },
    { name: 'abstention', isCase: 'the request does not say the value', isError: 'a call was dispatched, or the budget spent', cases: rowsOf('unrepairable', ':value_unknown') },
  ];
}

function pairSection(measured: readonly MeasuredEvaluation[]): Cells {
  const rows = (name: string | undefined, arm: ArmName): MeasuredEvaluation | undefined => find(measured, name, 'bfcl', arm);
  const first = ARMS_SHOWN.flatMap((arm) => rows(SHIPPED, arm) ?? []);
  const lines = first.flatMap((one) => [
    ...measured.filter((other) => other.head.set === 'bfcl' && other.head.arm === one.head.arm && other.head.name !== SHIPPED), ...[rows(undefined, 'full-regeneration') ?? []].flat(),
  ].flatMap((other) => {
    const compared = compare(one.rows, other.rows);
    if (compared === undefined) return [];
    const { n, firstOnly, secondOnly, difference, worstP } = compared;
    return [[`${one.head.name}, ${one.head.arm}`, `${other.head.name}, ${other.head.arm}`, String(n), String(firstOnly), String(secondOnly), differenceText(difference), pText(worstP)]];
  }));
  if (lines.length === 0) return [];
  return [
    '## Pairs',
    '',
    'On the BFCL cases that both have. The interval is a percentile bootstrap over calls, each with all the seeds that chose it; p is that of the exact paired test, the largest of the seeds’, since no call comes twice in one.',
    '',
    table(['first', 'second', 'n', 'only the first right', 'only the second right', 'difference', 'p'], lines),
    '',
  ];
}

function validationSection(validations: readonly ValidationEvaluation[]): Cells {
  if (validations.length === 0) return [];
  const by = (group: 'family' | 'difficulty' | 'structure'): Cells => {
    const columns = validations.map(({ head, rows }) => ({ title: `${head.name}, ${head.arm}`, groups: summariseBy(rows, group) }));
    const names = [...new Set(columns.flatMap(({ groups }) => [...groups.keys()]))];
    return [table([group, ...columns.map(({ title }) => title)], names.map((name) => [name, ...columns.map(({ groups }) => rateOf(groups.get(name)?.right))])), ''];
  };
  return [
    '## The validation side',
    '',
    'Tools and requests that training kept apart, from the sources that it learnt from.',
    '',
    table(['adapter', 'arm', ...SUMMARY_HEAD], validations.map(({ head, rows }) => [head.name, head.arm, ...validationCells(summariseEvaluation(rows))])),
    '',
    ...by('family'), ...by('difficulty'), ...by('structure'),
  ];
}

function calibrationSection(runs: readonly TrainingRun[], plots: readonly string[]): Cells {
  const calibrated = runs.flatMap(({ name, calibration }) => (calibration === undefined ? [] : [{ name, ...calibration }]));
  if (calibrated.length === 0) return [];
  return [
    '## Confidence',
    '',
    'Fitted on examples of the validation side alone, where the threshold follows from a rule that was fixed before. That the adapter which ships is fitted on those of public sources was decided when results under a fit on all of them were known; that values which a request says in other words are among them and have a signal of their own, when it was known what had been withheld of BFCL. What a patch is told by was chosen on more patches of that side, among them these, so the figures are somewhat too good.',
    '',
    table(
      ['adapter', 'patches', 'right', 'map', 'calibration error', 'Brier', 'area under the curve', 'at most wrong', 'threshold', 'released', 'of them wrong'],
      calibrated.map(({ name, threshold, report: { rule, rows, right, map, released, figures } }) => [
        name, String(rows), String(right), map, decimal(figures.calibrationError, 3), decimal(figures.brier, 3), decimal(figures.areaUnderCurve, 3), String(rule.alpha), decimal(threshold, 3),
        String(released?.released ?? 0), String(released?.wrong ?? 0),
      ]),
    ),
    '',
    ...image(plots, RISK_PLOT, 'Risk against coverage'),
  ];
}

function runSection(runs: readonly TrainingRun[], plots: readonly string[]): Cells {
  if (runs.length === 0) return [];
  const last = (entries: readonly LogEntry[], figure: 'loss' | 'reward' | 'success' | 'examplesPerSecond'): number | undefined => entries.findLast((entry) => entry[figure] !== undefined)?.[figure];
  return [
    '## Runs',
    '',
    table(
      ['run', 'base', 'rank', 'steps', 'first loss', 'lowest validation loss', 'mean reward, first and last tenth', 'success at the last look', 'groups that taught nothing', 'unsafe', 'examples / s', 'adapter'],
      runs.map((run) => {
        const { name, identity, adapterDigest, entries } = run;
        const steps = entries.filter(({ kind }) => kind === 'step');
        const validations = entries.filter(({ kind }) => kind === 'validation');
        const rewards = steps.flatMap(({ reward }) => (reward === undefined ? [] : [reward]));
        const tenth = Math.ceil(rewards.length / 10);
        return [
          name, String(identity['base'] ?? '–'), String(identity['rank']), String(steps.at(-1)?.step ?? 0), decimal(steps[0]?.loss, 3), decimal(lowestLoss(run), 4),
          rewards.length === 0 ? 'n/a' : `${decimal(mean(rewards.slice(0, tenth)), 3)}, ${decimal(mean(rewards.slice(-tenth)), 3)}`, decimal(last(validations, 'success'), 3),
          decimal(mean(steps.flatMap(({ flatShare }) => (flatShare === undefined ? [] : [flatShare]))), 3), decimal(unsafeOf(run), 0), decimal(last(steps, 'examplesPerSecond'), 2), `\`${adapterDigest.slice(0, 12)}\``,
        ];
      }),
    ),
    '',
    ...image(plots, LOSS_PLOT, 'Loss'),
    ...image(plots, REWARD_PLOT, 'Reward'),
  ];
}

function image(plots: readonly string[], name: string, title: string): Cells {
  return plots.includes(name) ? [`![${title}](${name})`, ''] : [];
}

function sourceSection(measured: readonly MeasuredEvaluation[]): Cells {
  return [
    '## Measured with',
    '',
    ...[...new Set(measured.map(({ head }) => machine(head.surroundings).replace(/, load average.*$/u, '.')))],
    '',
    table(['adapter', 'set', 'arm', 'seeds', 'SHA-256 of the rows', 'of the adapter', 'prompt version', 'load', 'leaks in prompts'], measured.map(({ head: { name, set, arm, seeds, rowsDigest, identity, surroundings, leakage } }) => [
      name, set, arm, seeds.length === 0 ? '–' : seeds.join(', '), `\`${rowsDigest.slice(0, 12)}\``, `\`${String(identity['adapterDigest'] ?? '–').slice(0, 12)}\``, String(identity['promptVersion'] ?? identity['prompt'] ?? '–'),
      String(surroundings.load[0]), `${String(leakage.leaks.length)} of ${String(leakage.answerCount)}`,
    ])),
    '',
  ];
}

const LIMITS: Cells = [
  '## How to read this',
  '',
  '- *Right*: the right call, or rightly declined; every other argument must be as it was. Texts are compared to the character, numbers as numbers. For BFCL every acceptable value of its answers counts.',
  '- *Failed*: neither a dispatch nor a decision to decline. *Collateral*: changed leaves outside the reported pointers, a dispatched call. Intervals are 95 %, Wilson for shares.',
  '- *system* is the product: deterministic step, adapter, and the release rule where a calibration stands beside the adapter. *system-open* withholds nothing. *policy* is the model alone. *full-regeneration* is the bare base model writing whole objects.',
  '- Decoding is greedy; the seeds are those of the corruptions. A BFCL call can be chosen by several seeds, spoilt in another way, so cases of different seeds are not independent.',
  '- The corruptions are made by rule and are not a sample of real faults. The families and the calls that no patch may mend were made by the trainer’s own corruptions, of which the policy has seen others.',
  '- Times are of one machine under the load that stands beside them, which differs from row to row. Engines and ranks are timed in turns in the runtime report.',
];
