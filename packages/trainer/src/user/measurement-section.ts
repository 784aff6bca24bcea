/** Both looks at the validation side, as a section of the adapter's card. */
import { summariseBy, summariseEvaluation, type EvaluationSummary } from '../evaluate/summary.ts';
import type { Rate } from '../evaluate/wilson.ts';
import { compareLooks, formatComparison } from './compare-looks.ts';
import type { Measured } from './measure.ts';
import type { UserDataset } from './prepare-user-dataset.ts';

export function measurementSection(before: Measured, after: Measured, { manifest, calls }: Pick<UserDataset, 'manifest' | 'calls'>): string {
  const [was, is] = [summariseEvaluation(before.rows), summariseEvaluation(after.rows)];
  const overlap = manifest['sharedWithEvaluation'] as readonly { readonly unit: string; readonly sets: readonly string[] }[];
  const units = [...new Set(overlap.map(({ unit }) => unit))];
  const sets = [...new Set(overlap.flatMap((each) => each.sets))];
  const { splitBy } = manifest['options'] as { readonly splitBy: string };
  const unseen = splitBy === 'tool' ? 'tools that were not trained on' : 'requests that were not trained on, of the same tools';
  const rows: readonly (readonly [string, (summary: EvaluationSummary) => Rate | undefined])[] = [
    ['right: the call that was meant, or rightly declined', ({ right }) => right], ['wrong: a valid call that was not meant', ({ wrong }) => wrong],
    ['declined, of those that nothing can repair', ({ trueAbstentions }) => trueAbstentions], ['declined, of those that can be repaired', ({ falseAbstentions }) => falseAbstentions],
  ];
  const worse = formatComparison(compareLooks(before.rows, after.rows));
  const [familiesBefore, familiesAfter] = [summariseBy(before.rows, 'family'), summariseBy(after.rows, 'family')];
  return [
    '## Before and after', '',
    ...(worse === undefined ? [] : [`**${worse}**`, '']),
    `${is.n} validation examples, ${unseen}; none of them chose the step. They are faults made of calls, ${calls.recorded === 0 ? 'all drawn from the schemas with made-up requests' : 'recorded ones and such as are drawn from the schemas'}: how often your agents fail in these ways is not known here. Deterministic step first, greedy decoding, nothing withheld for low confidence, 95 % intervals.`, '',
    `Before: ${before.adapter === null ? 'the bare model' : `the adapter \`${before.adapter}\``}.`, '',
    '| | before | after |', '|---|---|---|', ...rows.map(([name, of]) => `| ${name} | ${rateText(of(was))} | ${rateText(of(is))} |`), '',
    '| family: right | before | after |', '|---|---|---|',
    ...[...familiesAfter].map(([family, summary]) => `| ${family} | ${countText(familiesBefore.get(family)?.right)} | ${countText(summary.right)} |`), '',
    ...(overlap.length === 0 ? [] : [`**Shares ${units.join(', ')} with ${sets.join(', ')}: figures of this adapter on those sets say nothing.**`, '']),
  ].join('\n');
}

function rateText(rate: Rate | undefined): string {
  return rate === undefined ? '–' : `${(rate.count / rate.n).toFixed(2)} (${rate.count} of ${rate.n}; ${rate.low.toFixed(2)} to ${rate.high.toFixed(2)})`;
}

function countText(rate: Rate | undefined): string {
  return rate === undefined ? '–' : `${rate.count} of ${rate.n}`;
}
