/**
 * The runtime benchmark on disk: one raw JSON file a part with the surroundings it was measured in, and the report that follows from them alone,
 * so that it can be regenerated and compared byte by byte.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { err, ok, type Result } from '@contractrl/core';
import type { Surroundings } from '../mask/results.ts';
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
}

export type RuntimePart = keyof RuntimeParts;
export const RUNTIME_PARTS: readonly RuntimePart[] = ['speed', 'ranks', 'head', 'cold', 'soak', 'agreement'];

export interface Measured<T> {
  readonly surroundings: Surroundings;
  readonly result: T;
}

export type RawRuntimeResults = { readonly [Name in RuntimePart]: Measured<RuntimeParts[Name]> };

export type RuntimeResultsIssue =
  | { readonly code: 'runtime-results/part-missing'; readonly part: RuntimePart }
  | { readonly code: 'runtime-results/not-regenerated' };

const REPORT = 'report.md';
const fileOf = (folder: string, part: RuntimePart): string => join(folder, `${part}.json.gz`);

export async function writePart<Name extends RuntimePart>(folder: string, part: Name, measured: Measured<RuntimeParts[Name]>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(folder, part), gzipSync(`${JSON.stringify(measured)}\n`, { level: 9 }));
}

export function readRaw(folder: string): Result<RawRuntimeResults, RuntimeResultsIssue> {
  const missing = RUNTIME_PARTS.find((part) => !existsSync(fileOf(folder, part)));
  if (missing !== undefined) return err({ code: 'runtime-results/part-missing', part: missing });
  const read = (part: RuntimePart): unknown => JSON.parse(gunzipSync(readFileSync(fileOf(folder, part))).toString('utf8'));
  return ok(Object.fromEntries(RUNTIME_PARTS.map((part) => [part, read(part)])) as unknown as RawRuntimeResults);
}

/** Writes the report that follows from the raw files of `folder`. */
export async function writeReport(folder: string): Promise<Result<string, RuntimeResultsIssue>> {
  const raw = readRaw(folder);
  if (!raw.ok) return raw;
  const report = renderRuntimeReport(raw.value);
  await writeFile(join(folder, REPORT), report);
  return ok(report);
}

/** Regenerates the report and compares byte by byte. */
export async function verifyRuntimeResults(folder: string): Promise<Result<RawRuntimeResults, RuntimeResultsIssue>> {
  const raw = readRaw(folder);
  if (!raw.ok) return raw;
  const path = join(folder, REPORT);
  const isSame = existsSync(path) && (await readFile(path, 'utf8')) === renderRuntimeReport(raw.value);
  return isSame ? raw : err({ code: 'runtime-results/not-regenerated' });
}
