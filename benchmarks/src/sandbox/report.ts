/** The report of the sandbox: the structural tables of every benchmark, and what came of executing the repairs. Pure, so that it can be regenerated. */
import type { ManifestArm } from '../manifest.ts';
import { table } from '../markdown.ts';
import type { FrozenRun } from '../record.ts';
import { cohortSection, DEFINITIONS, interval, joinScores, leakageLine, rate, rateOf } from '../report.ts';
import { FORMS, type Form } from './corruptions.ts';
import type { EpisodeRecord } from './episode.ts';
import { EPISODE_MEANS, EPISODE_RATES, episodeMean, episodeRate, passHat } from './measures.ts';
import type { SandboxManifest } from './results.ts';
import type { SheetRow } from './score.ts';

/** Throws a RangeError where `sheet` is not that of `run`, row by row. */
export function renderSandboxReport(manifest: SandboxManifest, run: FrozenRun, episodes: readonly EpisodeRecord[], sheet: readonly SheetRow[]): string {
  const { machine, arms, conditions, seed } = manifest;
  const forms = new Map(episodes.map(({ id, form }) => [id, form]));
  return `${[
    `# ${manifest.title}`,
    '',
    'Regenerated from the raw records beside this file; no figure is typed by hand.',
    '',
    ...arms.map(({ name, description }) => `- **${name}**: ${description}`),
    '',
    `${String(conditions.taskCount)} tasks of a shop, each in ${String(conditions.trialCount)} trials with one call spoilt in another way; ${String(conditions.toolCount)} tools that are pure functions of the shop's tables.`,
    `The same for all arms, byte by byte, which the ledger shows: tools, contracts with their gates, at most ${String(conditions.operationBudget)} operations and ${String(conditions.attemptBudget)} attempts, the dialogue, what the agent has read, and the spoilt call.`,
    'The arm answers the spoilt call; what it sends is accepted by the validator and the gates and run by the executor, and then the rest of the legal trajectory follows. A call that is not executed ends it.',
    '',
    `Seed ${String(seed)}. Records SHA-256 \`${run.digest}\`, trajectories \`${manifest.episodesDigest}\`. Machine: ${machine.cpu}, ${String(machine.threadCount)} threads, ${machine.platform}, Node ${machine.node}.`,
    ...leakageLine(manifest),
    'Intervals are 95 %: Wilson for shares, percentile bootstrap for means, of pass^k over tasks.',
    '',
    ...cohortSection('sandbox', arms, joinScores(run, sheet)),
    ...executionSection(arms, sheet),
    ...formSection(arms, sheet, forms),
    ...DEFINITIONS,
    ...EPISODE_DEFINITIONS,
    ...LIMITS,
  ].join('\n')}\n`;
}

function executionSection(arms: readonly ManifestArm[], sheet: readonly SheetRow[]): readonly string[] {
  const rows = arms.map(({ name }) => ({ name, own: sheet.filter(({ arm }) => arm === name) }));
  const { hollow, toolError, ...ofAll } = EPISODE_RATES;
  const [rates, means] = [Object.values(ofAll), Object.values(EPISODE_MEANS)];
  const ks = Array.from({ length: Math.max(...sheet.map(({ trial }) => trial)) }, (_, index) => index + 1);
  return [
    '## What came of executing them',
    '',
    'The sheet `scores.jsonl.gz` has a row for each trajectory: the columns above as they are, and these.',
    '',
    table(
      ['arm', 'n', ...rates.map(({ name }) => name), hollow.name, toolError.name],
      rows.map(({ name, own }) => [name, String(own.length), ...rates.map((one) => rate(episodeRate(own, one))), rateOf(episodeRate(own, hollow)), rateOf(episodeRate(own, toolError))]),
    ),
    '',
    table(['arm', ...means.map(({ name }) => name), ...ks.map((k) => `pass^${String(k)}`)], rows.map(({ name, own }) => [
      name, ...means.map((one) => interval(episodeMean(own, one))), ...ks.map((k) => interval(passHat(own, k))),
    ])),
    '',
  ];
}

function formSection(arms: readonly ManifestArm[], sheet: readonly SheetRow[], forms: ReadonlyMap<string, Form>): readonly string[] {
  const rows = FORMS.flatMap((form) => {
    const own = sheet.filter(({ id }) => forms.get(id) === form);
    return own.length === 0 ? [] : [[form, ...arms.map(({ name }) => {
      const trials = own.filter(({ arm }) => arm === name);
      return `${String(trials.filter(({ isSuccess }) => isSuccess).length)} of ${String(trials.length)}`;
    })]];
  });
  return ['Successful, by how the call was spoilt:', '', table(['form', ...arms.map(({ name }) => name)], rows), ''];
}

const EPISODE_DEFINITIONS: readonly string[] = [
  'Of trajectories:',
  '',
  table(['figure', 'family', 'counts', 'of'], [
    ...[...Object.values(EPISODE_RATES), ...Object.values(EPISODE_MEANS)].map(({ name, family, counts, of }) => [name, family, counts, of]),
    ['pass^k', 'task', 'the share of the ways to draw k of a task\'s trials in which all are successful, C(c, k) / C(n, k)', 'all tasks'],
  ]),
  '',
];

const LIMITS: readonly string[] = [
  '## What this is not',
  '',
  '- Not a score of an agent: all calls but one are those of the task, and nobody talks to a user.',
  '- Not a score on tau2-bench: tasks and tables are cut down, and success is of one repaired call in a trajectory.',
  '- Trials of a task are different faults of the same trajectory, not draws of one policy: pass^k says how dependable a repair is over faults.',
  '- Not a population rate: faults are made by rule, in equal parts as far as a task has them.',
  '- Latency is of one machine, without contention control; compare within a table only.',
];
