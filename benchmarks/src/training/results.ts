/** The training benchmark on disk: rows of evaluations under `raw/`, logs under `runs/`, and the report and plots that follow from them alone, byte for byte. */
import { join } from 'node:path';
import { err, ok, type Result } from '@contractrl/core';
import { firstDifference, writeRendered } from '../parts.ts';
import { measure, type MeasuredEvaluation } from './measured.ts';
import { drawTraining } from './plots.ts';
import { renderTrainingReport } from './report.ts';
import { readEvaluations, type EvaluationIssue } from './evaluations.ts';
import { readRuns, type TrainingRun } from './runs.ts';
import { readValidations } from './validation.ts';

export interface TrainingResults {
  readonly measured: readonly MeasuredEvaluation[];
  readonly runs: readonly TrainingRun[];
  /** Report and plots, by name. */
  readonly files: ReadonlyMap<string, string>;
}

export type TrainingResultsIssue = EvaluationIssue | { readonly code: 'training-results/not-regenerated'; readonly file: string };

export const RAW = 'raw';
export const VALIDATION = 'validation';
export const REPORT = 'report.md';

/** Writes the report and the plots that follow from the raw files of `folder`. File errors are thrown. */
export async function writeTrainingReport(folder: string): Promise<Result<TrainingResults, TrainingResultsIssue>> {
  const results = await render(folder);
  if (results.ok) await writeRendered(folder, results.value.files);
  return results;
}

/** Regenerates report and plots and compares byte by byte. */
export async function verifyTraining(folder: string): Promise<Result<TrainingResults, TrainingResultsIssue>> {
  const results = await render(folder);
  if (!results.ok) return results;
  const file = await firstDifference(folder, results.value.files);
  return file === undefined ? results : err({ code: 'training-results/not-regenerated', file });
}

async function render(folder: string): Promise<Result<TrainingResults, EvaluationIssue>> {
  const evaluations = readEvaluations(join(folder, RAW));
  if (!evaluations.ok) return evaluations;
  const [measured, runs, validations] = [measure(evaluations.value), readRuns(folder), readValidations(join(folder, VALIDATION))];
  const plots = await drawTraining(measured, runs);
  const report = renderTrainingReport({ measured, runs, validations, plots: plots.map(([name]) => name) });
  return ok({ measured, runs, files: new Map([...plots, [REPORT, report]]) });
}
