/**
 * An evaluation on disk: one gzipped JSON Lines file, first what was measured with what, then the sealed rows. Their digest stands in the head, and every verdict is computed
 * anew from rows and gold.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { err, ok, type JsonObject, type Result } from '@contractrl/core';
import type { Surroundings } from '../parts.ts';
import { fromJsonLines, toJsonLines } from '../record.ts';
import { pack } from '../results.ts';
import type { Leakage } from '../score.ts';
import { sealRows, type AnswerRow, type SealedRows } from './answer-row.ts';
import type { SetName } from './sets.ts';
import type { PromptLine } from './without-line.ts';

export const ARM_NAMES = ['system', 'system-open', 'policy', 'full-regeneration'] as const;
/**
 * `system`: the product, with deterministic step and the release rule that stands beside the adapter. `system-open`: the same, nothing withheld. `policy`: its model
 * alone, nothing withheld. `full-regeneration`: the bare base model of the same runtime writes whole objects.
 */
export type ArmName = (typeof ARM_NAMES)[number];

export interface EvaluationHead {
  /** Of the adapter or the run that it came from; several adapters are told apart by it. */
  readonly name: string;
  /** Name of the base model, or of its file; absent in rows that are older than it, which are of the base that the shipped adapters are for. */
  readonly base?: string;
  readonly set: SetName;
  readonly arm: ArmName;
  /** Of the corruptions, where the set has some. */
  readonly seeds: readonly number[];
  readonly identity: JsonObject;
  /** Of an evaluation whose prompts lack a line: which, and how many tokens the part has that stands in every prompt. */
  readonly prompt?: { readonly without: PromptLine; readonly staticTokenCount: number };
  readonly surroundings: Surroundings;
  /** Gold in what the policy was shown. */
  readonly leakage: Leakage;
  /** SHA-256 of the rows' JSON Lines text, hexadecimal. */
  readonly rowsDigest: string;
}

export interface Evaluation {
  readonly head: EvaluationHead;
  readonly sealed: SealedRows;
}

export type EvaluationIssue =
  | { readonly code: 'evaluation/rows-changed'; readonly file: string }
  | { readonly code: 'evaluation/no-rows'; readonly file: string };

const SUFFIX = '.jsonl.gz';

/** An evaluation of the same adapter, set and arm is replaced. */
export async function writeEvaluation(folder: string, { head, sealed: { rows } }: Evaluation): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${head.name}.${head.set}.${head.arm}${SUFFIX}`), pack(toJsonLines([head, ...rows])));
}

/** Every evaluation of a folder, by name of file; none where there is no such folder. A row that was changed after it was sealed is an issue; file errors are thrown. */
export function readEvaluations(folder: string): Result<readonly Evaluation[], EvaluationIssue> {
  const evaluations: Evaluation[] = [];
  if (!existsSync(folder)) return ok(evaluations);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(SUFFIX)).sort()) {
    const [head, ...rows] = fromJsonLines<EvaluationHead | AnswerRow>(gunzipSync(readFileSync(join(folder, file))).toString('utf8'));
    if (head === undefined || rows.length === 0) return err({ code: 'evaluation/no-rows', file });
    const read = { head: head as EvaluationHead, sealed: sealRows(rows as AnswerRow[]) };
    if (read.sealed.digest !== read.head.rowsDigest) return err({ code: 'evaluation/rows-changed', file });
    evaluations.push(read);
  }
  return ok(evaluations);
}
