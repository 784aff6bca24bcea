/**
 * The core benchmark on disk. Each part is measured on its own and written as raw JSON with the surroundings it was measured in; the report
 * follows from these files alone, so that it can be regenerated and compared byte for byte.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { err, ok, type Result } from '@contractrl/core';
import type { EntrySize } from '../entry-size.ts';
import type { Measured } from '../mask/results.ts';
import type { BugCaseScores } from './bug-cases.ts';
import type { Conformance } from './conformance.ts';
import type { LedgerRun } from './ledger.ts';
import type { PatchAgreement } from './patch-agreement.ts';
import type { TrapResult } from './patch-traps.ts';
import { renderCoreReport } from './report.ts';
import type { ValidationSpeed } from './validation-speed.ts';

export interface CoreParts {
  readonly conformance: Conformance;
  readonly traps: readonly TrapResult[];
  readonly agreement: PatchAgreement;
  readonly bugcases: BugCaseScores;
  readonly validation: ValidationSpeed;
  readonly ledger: readonly LedgerRun[];
  readonly sizes: readonly EntrySize[];
}

export type CorePartName = keyof CoreParts;
export const CORE_PART_NAMES: readonly CorePartName[] = ['conformance', 'traps', 'agreement', 'bugcases', 'validation', 'ledger', 'sizes'];

export type CoreResults = { readonly [Name in CorePartName]: Measured<CoreParts[Name]> };

export type CoreResultsIssue =
  | { readonly code: 'core-results/part-missing'; readonly part: CorePartName }
  | { readonly code: 'core-results/not-regenerated'; readonly file: string };

const REPORT = 'report.md';
const fileOf = (folder: string, part: CorePartName): string => join(folder, `${part}.json.gz`);

export async function writeCorePart<Name extends CorePartName>(folder: string, part: Name, measured: Measured<CoreParts[Name]>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(folder, part), gzipSync(`${JSON.stringify(measured)}\n`, { level: 9 }));
}

export function readCoreResults(folder: string): Result<CoreResults, CoreResultsIssue> {
  const missing = CORE_PART_NAMES.find((part) => !existsSync(fileOf(folder, part)));
  if (missing !== undefined) return err({ code: 'core-results/part-missing', part: missing });
  return ok(Object.fromEntries(CORE_PART_NAMES.map((part) => [part, JSON.parse(gunzipSync(readFileSync(fileOf(folder, part))).toString('utf8'))])) as unknown as CoreResults);
}

export async function writeCoreReport(folder: string): Promise<Result<void, CoreResultsIssue>> {
  const raw = readCoreResults(folder);
  if (!raw.ok) return raw;
  await writeFile(join(folder, REPORT), renderCoreReport(raw.value));
  return ok(undefined);
}

/** Regenerates the report from the raw files and compares byte by byte. */
export async function verifyCoreResults(folder: string): Promise<Result<CoreResults, CoreResultsIssue>> {
  const raw = readCoreResults(folder);
  if (!raw.ok) return raw;
  const path = join(folder, REPORT);
  const isSame = existsSync(path) && (await readFile(path, 'utf8')) === renderCoreReport(raw.value);
  return isSame ? raw : err({ code: 'core-results/not-regenerated', file: REPORT });
}
