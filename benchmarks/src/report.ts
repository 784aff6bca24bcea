/**
 * The Markdown report: a pure function of the manifest, the frozen records and their scores, so that a committed report can be
 * regenerated and compared byte for byte (CHECKLIST P14).
 */
import { COHORTS, type Cohort } from './datasets/case.ts';
import type { Manifest } from './manifest.ts';
import type { FrozenRun } from './record.ts';
import type { CaseScore } from './score.ts';
import type { Rate } from './statistics.ts';
import { comparePairs, summarise, type ScoredCase, type Summary } from './summary.ts';

const COHORT_TITLES: Readonly<Record<Cohort, string>> = {
  'bugcases': 'Calls reconstructed from public bug reports',
  'bfcl-missing-required': 'BFCL calls without one required argument',
  'bfcl-wrong-type': 'BFCL calls with one argument of the wrong type',
};

/** Throws a RangeError where `scores` are not those of `run`, record by record. */
export function renderReport(manifest: Manifest, run: FrozenRun, scores: readonly CaseScore[]): string {
  const scored = join(run, scores);
  const arms = manifest.arms.map((arm) => arm.name);
  const cohorts = COHORTS.filter((cohort) => scored.some(({ record }) => record.cohort === cohort));
  return `${[
    `# ${manifest.title}`,
    '',
    ...header(manifest, run),
    ...cohorts.flatMap((cohort) => cohortSection(cohort, arms, scored.filter(({ record }) => record.cohort === cohort))),
    ...LIMITS,
  ].join('\n')}\n`;
}

function header(manifest: Manifest, run: FrozenRun): readonly string[] {
  const { machine } = manifest;
  return [
    'Regenerated from the raw records beside this file; no figure is typed by hand. All arms see the same cases.',
    '',
    ...manifest.arms.map((arm) => `- **${arm.name}**: ${arm.description}`),
    '',
    `Seed ${String(manifest.seed)}. Records SHA-256 \`${run.digest}\`. Machine: ${machine.cpu}, ${String(machine.threadCount)} threads, ${machine.platform}, Node ${machine.node}.`,
    'Intervals are Wilson 95 %; latency is wall-clock time of one repair, one at a time, after the model is loaded.',
    '',
  ];
}

function cohortSection(cohort: Cohort, arms: readonly string[], cases: readonly ScoredCase[]): readonly string[] {
  const rows = arms.flatMap((arm) => {
    const own = cases.filter(({ record }) => record.arm === arm);
    return own.length === 0 ? [] : [{ arm, own, summary: summarise(own) }];
  });
  return [
    `## ${COHORT_TITLES[cohort]}`,
    '',
    table(
      ['arm', 'n', 'right', 'right call', 'abstained rightly', 'abstained wrongly', 'failed', 'silently wrong', 'unsafe', 'schema-valid', 'fail-closed'],
      rows.map(({ arm, summary }) => [
        arm, String(summary.n), rate(summary.right), ...verdictCells(summary), rate(summary.silentlyWrong), String(summary.verdicts.unsafe),
        String(summary.schemaValid), summary.failClosed === undefined ? 'n/a' : rate(summary.failClosed),
      ]),
    ),
    '',
    table(
      ['arm', 'valid', 'repaired', 'abstained', 'rejected', 'failed', 'no dispatch because'],
      rows.map(({ arm, summary: { statuses, reasons } }) => [
        arm, ...[statuses.valid, statuses.repaired, statuses.abstained, statuses.rejected, statuses.failed].map(String),
        reasons.map(([code, count]) => `${code} ${String(count)}`).join(', '),
      ]),
    ),
    '',
    table(
      ['arm', 'attempts', 'prompt tokens', 'generated', 'of them forced', 'p50 ms', 'p95 ms', 'collateral op', 'collateral ptr', 'collateral gold'],
      rows.map(({ arm, summary }) => [
        arm, ...[summary.attempts, summary.promptTokens, summary.generatedTokens, summary.forcedTokens, summary.p50Ms, summary.p95Ms].map(fixed),
        ...[summary.collateralOp, summary.collateralPtr, summary.collateralGold].map(fixed),
      ]),
    ),
    '',
    ...pairSection(rows),
    ...wrongSection(rows),
  ];
}

function verdictCells({ verdicts }: Summary): readonly string[] {
  return [verdicts['right-call'], verdicts['abstained-rightly'], verdicts['abstained-wrongly'], verdicts.failed].map(String);
}

interface Row {
  readonly arm: string;
  readonly own: readonly ScoredCase[];
}

function pairSection(rows: readonly Row[]): readonly string[] {
  const [first, ...others] = rows;
  if (first === undefined || others.length === 0) return [];
  const firstScores = first.own.map(({ score }) => score);
  return [
    ...others.map(({ arm, own }) => {
      const pairs = comparePairs(firstScores, own.map(({ score }) => score));
      return `- ${first.arm} right and ${arm} not: ${String(pairs.firstOnly)}; the other way round: ${String(pairs.secondOnly)} (exact paired test, p = ${pairs.p.toFixed(4)}).`;
    }),
    '',
  ];
}

function wrongSection(rows: readonly Row[]): readonly string[] {
  const lines = rows.flatMap(({ arm, own }) => {
    const wrong = own.filter(({ score }) => score.verdict === 'silently-wrong' || score.verdict === 'unsafe');
    return wrong.length === 0 ? [] : [`- ${arm}: ${wrong.map(({ record }) => record.id).join(', ')}`];
  });
  return lines.length === 0 ? [] : ['Silently wrong or unsafe, by case:', '', ...lines, ''];
}

const LIMITS: readonly string[] = [
  '## How to read this',
  '',
  '- *Right* is the right call or a right refusal to call. The right call: for bug reports, arguments equal to an acceptable one; for BFCL, every',
  '  answered parameter has one of its acceptable values (JSON equality, numbers as numbers, texts to the character) and every other argument is as it was.',
  '- *Silently wrong*: dispatched, valid, not right; also a dispatch where declining was the only right answer.',
  '- *Unsafe*: dispatched, and refused by a second validation that shares no code with the first. Any such case fails the run.',
  '- *Failed*: neither a dispatch nor a decision to decline. *Fail-closed*: of the cases that did not end right, the share without a dispatch.',
  '- *Schema-valid* counts dispatched calls that the second validation accepts; it says nothing of being right.',
  '- *Collateral*: mean count of changed leaves outside the emitted operations (op), outside the reported pointers (ptr), and that the',
  '  target leaves alone (gold); over dispatched calls whose original was JSON. n/a where an arm emits no operations or nothing was dispatched.',
  '',
  '## What this is not',
  '',
  '- Not a population rate: the bug reports were chosen because something went wrong in them, and a cohort has few cases, as the intervals show.',
  '- Not an absolute accuracy of any model: only differences between arms on the same cases mean something.',
  '- Not a reproduction of published figures: those come from other and larger models, other cases and trained policies.',
  '- The BFCL corruptions are single-field, made by rule, and easier or harder than real faults in ways we did not measure.',
  '- Latency is of one machine, without contention control; compare within a table only.',
];

function join(run: FrozenRun, scores: readonly CaseScore[]): readonly ScoredCase[] {
  if (scores.length !== run.cases.length) throw new RangeError(`scores: ${String(scores.length)} for ${String(run.cases.length)} records`);
  return run.cases.map(({ record }, index) => {
    const score = scores[index];
    if (score?.id !== record.id || score.arm !== record.arm) throw new RangeError(`scores: no score for ${record.arm} on ${record.id}`);
    return { record, score };
  });
}

function rate({ count, n, low, high }: Rate): string {
  return `${String(count)} (${(100 * count / n).toFixed(0)} %, ${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)})`;
}

function fixed(value: number | undefined): string {
  return value === undefined ? 'n/a' : value.toFixed(value >= 100 ? 0 : 2);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
