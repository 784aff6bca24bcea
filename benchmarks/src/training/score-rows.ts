/** Sealed rows of an evaluation → verdicts: the only place of this benchmark that opens gold, and only for rows that can no longer change. */
import type { RepairRequest } from '@contractrl/core';
import type { CaseGold } from '../datasets/case.ts';
import { judgeAnswer, type CaseScore } from '../score.ts';
import type { AnswerRow } from './answer-row.ts';
import type { Evaluation } from './evaluations.ts';
import { goldOf } from './gold.ts';
import { requestsOf } from './sets.ts';

export interface ScoredRow {
  readonly row: AnswerRow;
  readonly request: RepairRequest;
  readonly gold: CaseGold;
  readonly score: Pick<CaseScore, 'verdict' | 'unsafe' | 'collateralOp' | 'collateralPtr' | 'collateralGold'>;
}

/** Throws a RangeError for a row of a case that its set does not have. O(cases × judge). */
export function scoreEvaluation({ head: { set, seeds }, sealed: { rows } }: Evaluation): readonly ScoredRow[] {
  const requests = new Map(requestsOf(set, seeds).map((request) => [request.id, request]));
  const labels = goldOf(set, seeds);
  return rows.map((row) => {
    const [request, gold] = [requests.get(row.id), labels.get(row.id)];
    if (request === undefined || gold === undefined) throw new RangeError(`rows: unknown case ${row.id}`);
    const { status, arguments: args, patch, reported } = row;
    const answer = { status, ...(args === null ? {} : { arguments: args }), ...(patch === null ? {} : { patch }), reports: reported.map((pointer) => ({ pointer })) };
    return { row, request, gold, score: judgeAnswer(answer, request, gold) };
  });
}
