/** The bug cases with no model: readings of the text and the deterministic step alone, beside Ajv with coercion, scored as in the baseline. */
import { ajvCoercion } from '../arms/ajv-coercion.ts';
import { deterministicOnly } from '../arms/deterministic-only.ts';
import { bugCases } from '../datasets/bugcases.ts';
import { runArms } from '../run.ts';
import { scoreRun, sealedGold, VERDICTS, type Verdict } from '../score.ts';

export interface BugCaseScores {
  readonly caseCount: number;
  readonly arms: Readonly<Record<string, Readonly<Record<Verdict, number>>>>;
}

export async function scoreBugCases(): Promise<BugCaseScores> {
  const cases = bugCases();
  const arms = [deterministicOnly(() => 0), ajvCoercion(() => 0)];
  const run = await runArms(cases, arms, { aborted: false }, () => undefined);
  if (run === undefined) throw new Error('the run was cancelled');
  const scores = scoreRun(run, cases, sealedGold());
  const countsOf = (arm: string): Readonly<Record<Verdict, number>> => Object.fromEntries(VERDICTS.map((verdict) => [verdict, scores.filter((score) => score.arm === arm && score.verdict === verdict).length])) as Record<Verdict, number>;
  return { caseCount: cases.length, arms: Object.fromEntries(arms.map(({ name }) => [name, countsOf(name)])) };
}
