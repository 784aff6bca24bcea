/**
 * The mask benchmark on disk. Each part is measured on its own and written as raw JSON with the surroundings it was measured in; the report
 * and its plots follow from these files alone, so that they can be regenerated and compared byte for byte.
 */
import { err, ok, type Result } from '@contractrl/core';
import { firstDifference, readAllMeasured, readMeasured, writeMeasured, writeRendered, type Measured, type MeasuredParts } from '../parts.ts';
import type { KeywordFrequency } from './keyword-frequency.ts';
import type { MaskBenchRun } from './maskbench.ts';
import type { MutationRun } from '../mutation/outcomes.ts';
import type { OwnSpeedRun } from './own-speed.ts';
import { renderPlots } from './plots.ts';
import { renderMaskReport } from './report.ts';
import type { SpeedRun } from './speed.ts';
import type { WrongAnswer } from './wrong-answers.ts';

/** As `tests/*.count.ts` of grammar-mask write it. */
export interface CountTally {
  readonly seed: number;
  readonly tokenCount: number;
  readonly contracts: number;
  readonly states: number;
  readonly pairs: number;
  readonly outputs: number;
  readonly unsound: number;
  readonly incomplete: number;
  readonly deadEnds: number;
  readonly notAdmitted: number;
  readonly examples: readonly string[];
}

/** Bytes, gzipped: ours bundled and minified without other packages, the peers' files as published. */
export interface Sizes {
  readonly gzipBytes: Readonly<Record<string, number>>;
}

export interface Parts {
  readonly speed: SpeedRun;
  readonly own: OwnSpeedRun;
  readonly counts: Readonly<Record<string, CountTally>>;
  readonly maskbench: MaskBenchRun;
  readonly keywords: KeywordFrequency;
  readonly answers: readonly WrongAnswer[];
  readonly sizes: Sizes;
  readonly mutation: MutationRun;
}

export type PartName = keyof Parts;
export const PART_NAMES: readonly PartName[] = ['speed', 'own', 'counts', 'maskbench', 'keywords', 'answers', 'sizes', 'mutation'];

export type RawResults = MeasuredParts<Parts>;

export type MaskResultsIssue =
  | { readonly code: 'mask-results/part-missing'; readonly part: PartName }
  | { readonly code: 'mask-results/not-regenerated'; readonly file: string };

export function writePart<Name extends PartName>(folder: string, part: Name, measured: Measured<Parts[Name]>): Promise<void> {
  return writeMeasured(folder, part, measured);
}

/** Undefined where it was never measured. */
export function readPart<Name extends PartName>(folder: string, part: Name): Measured<Parts[Name]> | undefined {
  return readMeasured(folder, part);
}

export function readRaw(folder: string): Result<RawResults, MaskResultsIssue> {
  const raw = readAllMeasured<Parts>(folder, PART_NAMES);
  return raw.ok ? raw : err({ code: 'mask-results/part-missing', part: raw.error });
}

/** The report and its plots, by file name. */
export async function renderResults(raw: RawResults): Promise<ReadonlyMap<string, string>> {
  return new Map([['report.md', renderMaskReport(raw)], ...(await renderPlots(raw))]);
}

/** Writes the report and the plots that follow from the raw files of `folder`. */
export async function writeReport(folder: string): Promise<Result<void, MaskResultsIssue>> {
  const raw = readRaw(folder);
  if (!raw.ok) return raw;
  await writeRendered(folder, await renderResults(raw.value));
  return ok(undefined);
}

/** Regenerates everything from the raw files and compares byte by byte. */
export async function verifyMaskResults(folder: string): Promise<Result<RawResults, MaskResultsIssue>> {
  const raw = readRaw(folder);
  if (!raw.ok) return raw;
  const file = await firstDifference(folder, await renderResults(raw.value));
  return file === undefined ? raw : err({ code: 'mask-results/not-regenerated', file });
}
