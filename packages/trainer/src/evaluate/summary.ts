/** Rows of an evaluation → figures by group, each with its own denominator: a share that no row is in is none, never 0. */
import { EVALUATION_VERDICTS, type EvaluationVerdict } from '../verdict.ts';
import type { EvaluationRow } from './evaluate-examples.ts';
import { wilson, type Rate } from './wilson.ts';

export interface EvaluationSummary {
  readonly n: number;
  readonly verdicts: Readonly<Record<EvaluationVerdict, number>>;
  /** The right call, or rightly declined; of all rows. */
  readonly right: Rate | undefined;
  /** Dispatched and not right; of all rows. */
  readonly wrong: Rate | undefined;
  /** Declined; of the rows where that is the right answer. */
  readonly trueAbstentions: Rate | undefined;
  /** Declined; of the rows where a repair is known. */
  readonly falseAbstentions: Rate | undefined;
  /** Of the dispatched calls. */
  readonly meanCollateral: number | undefined;
  readonly meanGeneratedTokens: number | undefined;
  readonly meanPromptTokens: number | undefined;
  readonly medianMs: number | undefined;
}

export function summariseEvaluation(rows: readonly EvaluationRow[]): EvaluationSummary {
  const [repairable, unrepairable] = [rows.filter((row) => row.isRepairable), rows.filter((row) => !row.isRepairable)];
  return {
    n: rows.length,
    verdicts: Object.fromEntries(EVALUATION_VERDICTS.map((verdict) => [verdict, rows.filter((row) => row.verdict === verdict).length])) as Record<EvaluationVerdict, number>,
    right: rateOf(rows, 'right', 'abstained-rightly'),
    wrong: rateOf(rows, 'wrong'),
    trueAbstentions: rateOf(unrepairable, 'abstained-rightly'),
    falseAbstentions: rateOf(repairable, 'abstained-falsely'),
    meanCollateral: meanOf(rows.flatMap(({ collateral }) => (collateral === null ? [] : [collateral]))),
    meanGeneratedTokens: meanOf(rows.map(({ tokens }) => tokens.generated)),
    meanPromptTokens: meanOf(rows.map(({ tokens }) => tokens.prompt)),
    medianMs: rows.map(({ totalMs }) => totalMs).sort((a, b) => a - b)[Math.floor((rows.length - 1) / 2)],
  };
}

/** By family, difficulty or structure, in the order in which each is met first. */
export function summariseBy(rows: readonly EvaluationRow[], by: 'family' | 'difficulty' | 'structure'): ReadonlyMap<string, EvaluationSummary> {
  return new Map([...new Set(rows.map((row) => row[by]))].map((group) => [group, summariseEvaluation(rows.filter((row) => row[by] === group))]));
}

function rateOf(rows: readonly EvaluationRow[], ...verdicts: readonly EvaluationVerdict[]): Rate | undefined {
  return rows.length === 0 ? undefined : wilson(rows.filter(({ verdict }) => verdicts.includes(verdict)).length, rows.length);
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
