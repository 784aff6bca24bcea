/**
 * The runtime benchmark on disk: one raw JSON file a part with the surroundings it was measured in, and the report that follows from them alone,
 * so that it can be regenerated and compared byte by byte.
 */
import { err, ok, type Result } from '@contractrl/core';
import { firstDifference, readAllMeasured, writeMeasured, writeRendered, type Measured, type MeasuredParts } from '../parts.ts';
import type { BatchRun } from './batch.ts';
import type { ColdStart } from './cold.ts';
import type { AgreementRun, HeadRun, RankRun } from './costs.ts';
import { renderRuntimeReport } from './report.ts';
import type { SoakRun } from './soak.ts';
import type { SpeedRun } from './speed.ts';

export interface ColdRun {
  /** Of the model file. */
  readonly weightBytes: number;
  readonly starts: readonly ColdStart[];
}

export interface RuntimeParts {
  readonly speed: SpeedRun;
  readonly ranks: RankRun;
  readonly head: HeadRun;
  readonly cold: ColdRun;
  readonly soak: readonly SoakRun[];
  readonly agreement: AgreementRun;
  readonly batch: BatchRun;
}

export type RuntimePart = keyof RuntimeParts;
export const RUNTIME_PARTS: readonly RuntimePart[] = ['speed', 'ranks', 'head', 'cold', 'soak', 'agreement', 'batch'];

export type RawRuntimeResults = MeasuredParts<RuntimeParts>;

export type RuntimeResultsIssue =
  | { readonly code: 'runtime-results/part-missing'; readonly part: RuntimePart }
  | { readonly code: 'runtime-results/not-regenerated' };

const REPORT = 'report.md';

export function writePart<Name extends RuntimePart>(folder: string, part: Name, measured: Measured<RuntimeParts[Name]>): Promise<void> {
  return writeMeasured(folder, part, measured);
}

export function readRaw(folder: string): Result<RawRuntimeResults, RuntimeResultsIssue> {
  const raw = readAllMeasured<RuntimeParts>(folder, RUNTIME_PARTS);
  return raw.ok ? raw : err({ code: 'runtime-results/part-missing', part: raw.error });
}

/** Writes the report that follows from the raw files of `folder`. */
export async function writeReport(folder: string): Promise<Result<string, RuntimeResultsIssue>> {
  const raw = readRaw(folder);
  if (!raw.ok) return raw;
  const report = renderRuntimeReport(raw.value);
  await writeRendered(folder, new Map([[REPORT, report]]));
  return ok(report);
}

/** Regenerates the report and compares byte by byte. */
export async function verifyRuntimeResults(folder: string): Promise<Result<RawRuntimeResults, RuntimeResultsIssue>> {
  const raw = readRaw(folder);
  if (!raw.ok) return raw;
  const file = await firstDifference(folder, new Map([[REPORT, renderRuntimeReport(raw.value)]]));
  return file === undefined ? raw : err({ code: 'runtime-results/not-regenerated' });
}
