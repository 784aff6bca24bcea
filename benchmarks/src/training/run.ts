/** The online part: one arm over public requests, one at a time, and its answers sealed. No gold is within reach of this module. */
import type { AbortSignalLike, FrozenRepair, RepairRequest } from '@contractrl/core';
import type { Arm } from '../arms/arm.ts';
import { rowOf, sealRows, type AnswerRow, type SealedRows } from './answer-row.ts';

export interface RunOptions {
  /** What the policy was shown since the last call. */
  readonly takeShown: () => readonly string[];
  readonly signal: AbortSignalLike;
  readonly onAnswer: (done: number, total: number, row: AnswerRow) => void;
}

export interface ArmRun {
  readonly sealed: SealedRows;
  readonly answers: readonly { readonly id: string; readonly frozen: FrozenRepair; readonly shown: readonly string[] }[];
}

/** Undefined where it was aborted: half a run is none. */
export async function runArm(arm: Arm, requests: readonly RepairRequest[], { takeShown, signal, onAnswer }: RunOptions): Promise<ArmRun | undefined> {
  const rows: AnswerRow[] = [];
  const answers: ArmRun['answers'][number][] = [];
  for (const request of requests) {
    if (signal.aborted) return undefined;
    takeShown();
    const { record, frozen } = await arm.answer(request, signal);
    const row = rowOf(request.id, record);
    rows.push(row);
    answers.push({ id: request.id, frozen, shown: takeShown() });
    onAnswer(rows.length, requests.length, row);
  }
  return signal.aborted ? undefined : { sealed: sealRows(rows), answers };
}
