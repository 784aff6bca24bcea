/**
 * The validation side of a training run through the production loop: rows of the trainer's own evaluation, whose targets it opens when they are sealed. The examples are
 * made anew from seed and data and are in no file here, so these rows keep their verdicts.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { gunzipSync } from 'node:zlib';
import type { JsonObject, Result } from '@contractrl/core';
import { createMaskedProposer, createProposerMemory } from '@contractrl/runtime-webgpu';
import type { Runtime } from '@contractrl/runtime-webgpu/node';
import { evaluateExamples, type EvaluateIssue, type EvaluateOptions, type EvaluationRow, type Example } from '@contractrl/trainer';
import { surroundingsNow, type Surroundings } from '../parts.ts';
import { fromJsonLines, toJsonLines } from '../record.ts';
import { pack } from '../results.ts';
import type { ArmName } from './evaluations.ts';

/** Full regeneration is measured on held-out cases alone. */
export type ValidationArm = Exclude<ArmName, 'full-regeneration'>;

export interface ValidationHead {
  readonly name: string;
  readonly arm: ValidationArm;
  /** Of the training run. */
  readonly seed: number;
  readonly identity: JsonObject;
  readonly surroundings: Surroundings;
}

export interface ValidationEvaluation {
  readonly head: ValidationHead;
  readonly rows: readonly EvaluationRow[];
}

export async function evaluateValidation(
  { engine, tokenizer, vocabulary, release }: Runtime, examples: readonly Example[], { name, arm, seed }: Pick<ValidationHead, 'name' | 'arm' | 'seed'>, options: Pick<EvaluateOptions, 'signal' | 'onProgress'>,
): Promise<Result<ValidationEvaluation, EvaluateIssue>> {
  const surroundings = surroundingsNow();
  const clock = (): number => performance.now();
  const memory = createProposerMemory(engine);
  const proposer = createMaskedProposer({ engine, tokenizer, vocabulary, clock, memory, ...(arm === 'system' && release !== undefined ? { release } : {}) });
  const rows = await evaluateExamples(examples, { ...options, proposer, deterministic: arm !== 'policy', clock });
  // signals of every answer are what calibration is fitted on; no table here reads them
  return rows.ok ? { ok: true, value: { head: { name, arm, seed, identity: proposer.identity, surroundings }, rows: rows.value.map((row) => ({ ...row, signals: null })) } } : rows;
}

const SUFFIX = '.jsonl.gz';

export async function writeValidation(folder: string, { head, rows }: ValidationEvaluation): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${head.name}.${head.arm}${SUFFIX}`), pack(toJsonLines([head, ...rows])));
}

/** By name of file; none where there is no such folder. */
export function readValidations(folder: string): readonly ValidationEvaluation[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => name.endsWith(SUFFIX)).sort().map((file) => {
    const [head, ...rows] = fromJsonLines<ValidationHead | EvaluationRow>(gunzipSync(readFileSync(join(folder, file))).toString('utf8'));
    return { head: head as ValidationHead, rows: rows as EvaluationRow[] };
  });
}
