/**
 * The core benchmark on disk. Each part is measured on its own and written as raw JSON with the surroundings it was measured in; the report
 * follows from these files alone, so that it can be regenerated and compared byte for byte.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { EntrySize } from '../entry-size.ts';
import type { MutationRun } from '../mutation/outcomes.ts';
import { firstDifference, readAllMeasured, writeMeasured, writeRendered, type Measured, type MeasuredParts } from '../parts.ts';
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
  readonly mutation: MutationRun;
}

export type CorePartName = keyof CoreParts;
export const CORE_PART_NAMES: readonly CorePartName[] = ['conformance', 'traps', 'agreement', 'bugcases', 'validation', 'ledger', 'sizes', 'mutation'];

export type CoreResults = MeasuredParts<CoreParts>;

export type CoreResultsIssue =
  | { readonly code: 'core-results/part-missing'; readonly part: CorePartName }
  | { readonly code: 'core-results/not-regenerated'; readonly file: string };

const render = (raw: CoreResults): ReadonlyMap<string, string> => new Map([['report.md', renderCoreReport(raw)]]);

export function writeCorePart<Name extends CorePartName>(folder: string, part: Name, measured: Measured<CoreParts[Name]>): Promise<void> {
  return writeMeasured(folder, part, measured);
}

export function readCoreResults(folder: string): Result<CoreResults, CoreResultsIssue> {
  const raw = readAllMeasured<CoreParts>(folder, CORE_PART_NAMES);
  return raw.ok ? raw : err({ code: 'core-results/part-missing', part: raw.error });
}

export async function writeCoreReport(folder: string): Promise<Result<void, CoreResultsIssue>> {
  const raw = readCoreResults(folder);
  if (!raw.ok) return raw;
  await writeRendered(folder, render(raw.value));
  return ok(undefined);
}

/** Regenerates the report from the raw files and compares byte by byte. */
export async function verifyCoreResults(folder: string): Promise<Result<CoreResults, CoreResultsIssue>> {
  const raw = readCoreResults(folder);
  if (!raw.ok) return raw;
  const file = await firstDifference(folder, render(raw.value));
  return file === undefined ? raw : err({ code: 'core-results/not-regenerated', file });
}
