/**
 * The Markdown report: a pure function of the manifest, the frozen records and their scores, so that a committed report can be
 * regenerated and compared byte for byte (CHECKLIST P14).
 */
import { COHORTS, type Cohort } from './datasets/case.ts';
import type { Manifest, ManifestArm } from './manifest.ts';
import { table } from './markdown.ts';
import { MEANS, QUANTILES, RATES, type MeanName, type RateName, type ScoredCase } from './measures.ts';
import type { FrozenRun } from './record.ts';
import type { CaseScore } from './score.ts';
import type { Mean, Rate } from './statistics.ts';
import { comparePairs, summarise, type Summary } from './summary.ts';

const COHORT_TITLES: Readonly<Record<Cohort, string>> = {
  'bugcases': 'Calls reconstructed from public bug reports',
  'bfcl-missing-required': 'BFCL calls without one required argument',
  'bfcl-wrong-type': 'BFCL calls with one argument of the wrong type',
  'sandbox': 'Spoilt calls in trajectories of a shop',
};

/** Throws a RangeError where `scores` are not those of `run`, record by record. */
export function renderReport(manifest: Manifest, run: FrozenRun, scores: readonly CaseScore[]): string {
  const scored = joinScores(run, scores);
  const cohorts = COHORTS.filter((cohort) => scored.some(({ record }) => record.cohort === cohort));
  return `${[
    `# ${manifest.title}`,
    '',
    ...header(manifest, run),
    ...cohorts.flatMap((cohort) => cohortSection(cohort, manifest.arms, scored.filter(({ record }) => record.cohort === cohort))),
    ...DEFINITIONS,
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
    ...leakageLine(manifest),
    'Intervals are 95 %: Wilson for shares, percentile bootstrap over the cases for means. Where a share is not of all n cases, its own denominator stands with it. Latency is wall-clock time of one repair, one at a time, after the model is loaded.',
    '',
  ];
}

/** Of the scan when the run was sealed. */
export function leakageLine({ leakage }: Pick<Manifest, 'leakage'>): readonly string[] {
  return leakage === undefined ? [] : [`Leaks of gold into what the policies were shown: ${String(leakage.leaks.length)}, in the prompts of ${String(leakage.answerCount)} answers.`];
}

/** The tables of one cohort: no denominator ever joins two of them. */
export function cohortSection(cohort: Cohort, arms: readonly ManifestArm[], cases: readonly ScoredCase[]): readonly string[] {
  const rows = arms.flatMap(({ name, output }) => {
    const own = cases.filter(({ record }) => record.arm === name);
    return own.length === 0 ? [] : [{ arm: name, own, summary: summarise(own, output) }];
  });
  return [
    `## ${COHORT_TITLES[cohort]}`,
    '',
    table(
      ['arm', 'n', RATES.right.name, 'right call', 'abstained rightly', 'abstained wrongly', 'failed', RATES.silentlyWrong.name, 'unsafe', 'schema-valid'],
      rows.map(({ arm, summary }) => [
        arm, String(summary.n), rate(summary.rates.right), ...verdictCells(summary), rate(summary.rates.silentlyWrong), String(summary.verdicts.unsafe), String(summary.schemaValid),
      ]),
    ),
    '',
    table(['arm', ...SHARES.map((name) => RATES[name].name)], rows.map(({ arm, summary }) => [arm, ...SHARES.map((name) => rateOf(summary.rates[name]))])),
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
      ['arm', MEANS.collateralOp.name, ...LOCALITY_AND_COUNTS.map((name) => MEANS[name].name), QUANTILES.retriesP95.name],
      rows.map(({ arm, summary }) => [
        arm, collateralOp(summary), ...LOCALITY_AND_COUNTS.map((name) => interval(summary.means[name])), fixed(summary.quantiles.retriesP95),
      ]),
    ),
    '',
    table(
      ['arm', ...TOKENS.map((name) => MEANS[name].name), MEANS.totalMs.name, QUANTILES.p50Ms.name, QUANTILES.p95Ms.name],
      rows.map(({ arm, summary: { means, quantiles } }) => [
        arm, ...TOKENS.map((name) => interval(means[name])), fixed(means.totalMs?.mean), fixed(quantiles.p50Ms), fixed(quantiles.p95Ms),
      ]),
    ),
    '',
    ...pairSection(rows),
    ...wrongSection(rows),
  ];
}

/** The columns of the further tables, beside those that stand there by name. */
const SHARES: readonly RateName[] = ['patchEqual', 'validFirst', 'validFinally', 'pointerFixed', 'coverage', 'selectiveRisk', 'failClosed'];
const LOCALITY_AND_COUNTS: readonly MeanName[] = ['collateralPtr', 'collateralGold', 'attempts', 'retries', 'validations'];
const TOKENS: readonly MeanName[] = ['promptTokens', 'generatedTokens', 'forcedTokens'];

/** A zero that could be nothing else is no result of the arm (CHECKLIST D6). */
function collateralOp({ means, isLocalByConstruction }: Summary): string {
  return means.collateralOp?.mean === 0 && isLocalByConstruction ? '0 by construction' : interval(means.collateralOp);
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

/** Of the figures of {@link cohortSection}. */
export const DEFINITIONS: readonly string[] = [
  '## Definitions',
  '',
  'Each share and each mean has a denominator of its own. n/a: no case of the arm is in it, or the arm writes whole objects and the figure is of patches.',
  '',
  table(['figure', 'family', 'counts', 'of'], [
    ...[...Object.values(RATES), ...Object.values(MEANS)].map(({ name, family, counts, of }) => [name, family, counts, of]),
    ...Object.values(QUANTILES).map(({ name, share, base }) => [name, base.family, `${String(100 * share)} % quantile, by nearest rank, of: ${base.counts}`, base.of]),
  ]),
  '',
];

const LIMITS: readonly string[] = [
  '## How to read this',
  '',
  '- *Right* is the right call or a right refusal to call. The right call: for bug reports, arguments equal to an acceptable one; for BFCL, every',
  '  answered parameter has one of its acceptable values (JSON equality, numbers as numbers, texts to the character) and every other argument is as it was.',
  '- *Silently wrong*: dispatched, valid, not right; also a dispatch where declining was the only right answer.',
  '- *Unsafe*: dispatched, and refused by a second validation that shares no code with the first. Any such case fails the run.',
  '- *Failed*: neither a dispatch nor a decision to decline.',
  '- *Schema-valid* counts dispatched calls that the second validation accepts; it says nothing of being right.',
  '',
  '## What this is not',
  '',
  '- Not a population rate: the bug reports were chosen because something went wrong in them, and a cohort has few cases, as the intervals show.',
  '- Not an absolute accuracy of any model: only differences between arms on the same cases mean something.',
  '- Not a reproduction of published figures: those come from other and larger models, other cases and trained policies.',
  '- The BFCL corruptions are single-field, made by rule, and easier or harder than real faults in ways we did not measure.',
  '- Latency is of one machine, without contention control; compare within a table only.',
];

/** Throws a RangeError where `scores` are not those of `run`, record by record. */
export function joinScores(run: FrozenRun, scores: readonly CaseScore[]): readonly ScoredCase[] {
  if (scores.length !== run.cases.length) throw new RangeError(`scores: ${String(scores.length)} for ${String(run.cases.length)} records`);
  return run.cases.map(({ record }, index) => {
    const score = scores[index];
    if (score?.id !== record.id || score.arm !== record.arm) throw new RangeError(`scores: no score for ${record.arm} on ${record.id}`);
    return { record, score };
  });
}

/** Of all n cases of the row. */
export function rate(one: Rate | undefined): string {
  return one === undefined ? 'n/a' : `${String(one.count)} ${share(one)}`;
}

/** With its own denominator. */
export function rateOf(one: Rate | undefined): string {
  return one === undefined ? 'n/a' : `${String(one.count)} of ${String(one.n)} ${share(one)}`;
}

function share({ count, n, low, high }: Rate): string {
  return `(${(100 * count / n).toFixed(0)} %, ${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)})`;
}

export function interval(one: Mean | undefined): string {
  return one === undefined ? 'n/a' : `${fixed(one.mean)} (${fixed(one.low)}–${fixed(one.high)})`;
}

function fixed(value: number | undefined): string {
  return value === undefined ? 'n/a' : value.toFixed(value >= 100 ? 0 : 2);
}
