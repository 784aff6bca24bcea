/** What lines of the prompt are worth: an adapter without one line beside the same adapter with all of them, on the cases that both have. */
import { table, type Cells } from '../markdown.ts';
import { rateOf } from '../report.ts';
import { quantile } from '../statistics.ts';
import { differenceText } from './bars.ts';
import { compare, type MeasuredEvaluation } from './measured.ts';
import type { ScoredRow } from './score-rows.ts';
import { decimal, isRightRow, pText, rateWhere } from './tables.ts';

export function isAblated({ head }: MeasuredEvaluation): boolean {
  return head.prompt !== undefined;
}

export function lineSection(measured: readonly MeasuredEvaluation[]): Cells {
  const lines = measured.flatMap((ablated) => {
    const { head: { prompt } } = ablated;
    const whole = prompt === undefined ? undefined : measured.find((other) => isWholeOf(other, ablated));
    return prompt === undefined || whole === undefined ? [] : lineOf(whole, ablated, prompt);
  });
  if (lines.length === 0) return [];
  return [
    '## What a line of the prompt is worth',
    '',
    'An adapter that was trained with the whole prompt is asked without one line of it; mask and judge are those of the whole contract. No adapter was trained without the line: one that had learnt to do without '
      + 'would lose less, so that a loss is the most that the line can be worth. *Cases with it*: those whose prompt is another without it. The difference is with the line less without it; the interval is a '
      + 'percentile bootstrap over calls, p that of the exact paired test. Prompt tokens are those of one attempt, beside the part that stands in every prompt.',
    '',
    table(['without', 'adapter', 'set', 'arm', 'n', 'cases with it', 'right with it', 'right without it', 'difference', 'p', 'prompt tokens with it (median)', 'without it'], lines),
    '',
  ];
}

/** Same adapter, model, prompt, set and arm, and nothing taken away. */
function isWholeOf({ head: whole }: MeasuredEvaluation, { head }: MeasuredEvaluation): boolean {
  return whole.prompt === undefined && whole.set === head.set && whole.arm === head.arm
    && (['adapterDigest', 'modelDigest', 'promptVersion'] as const).every((member) => whole.identity[member] === head.identity[member]);
}

function lineOf(whole: MeasuredEvaluation, { head, rows }: MeasuredEvaluation, { without, staticTokenCount }: NonNullable<MeasuredEvaluation['head']['prompt']>): readonly Cells[] {
  const withIt = new Map(whole.rows.map((one) => [one.row.id, one]));
  const pairs = rows.flatMap((one) => {
    const other = withIt.get(one.row.id);
    return other === undefined ? [] : [{ one, other }];
  });
  const [first, second] = [pairs.map(({ other }) => other), pairs.map(({ one }) => one)];
  const compared = compare(first, second);
  if (compared === undefined) return [];
  const changed = pairs.filter(({ one, other }) => one.row.tokens.prompt !== other.row.tokens.prompt).length;
  const tokens = (some: readonly ScoredRow[]): string => decimal(quantile(some.flatMap((one) => dynamicTokens(one, staticTokenCount)), 0.5), 0);
  return [[
    without, whole.head.name, head.set, head.arm, String(compared.n), String(changed), rateOf(rateWhere(first, isRightRow)), rateOf(rateWhere(second, isRightRow)),
    differenceText(compared.difference), pText(compared.worstP), tokens(first), tokens(second),
  ]];
}

/** Of a case that was asked about once: the record has the sum over attempts, and one more where the policy declined. */
function dynamicTokens({ row: { attempts, status, tokens } }: ScoredRow, staticTokenCount: number): readonly number[] {
  return tokens.prompt > 0 && attempts + Number(status === 'abstained') === 1 ? [tokens.prompt - staticTokenCount] : [];
}
