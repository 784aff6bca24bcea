/**
 * The mask benchmark on disk. Each part is measured on its own and written as raw JSON with the surroundings it was measured in; the report
 * and its plots follow from these files alone, so that they can be regenerated and compared byte for byte.
 */
import { cpus, loadavg } from 'node:os';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { err, ok, type Result } from '@contractrl/core';
import type { KeywordFrequency } from './keyword-frequency.ts';
import type { MaskBenchRun } from './maskbench.ts';
import type { MutationRun } from './mutation.ts';
import type { OwnSpeedRun } from './own-speed.ts';
import { renderPlots } from './plots.ts';
import { renderMaskReport } from './report.ts';
import type { SpeedRun } from './speed.ts';
import type { WrongAnswer } from './wrong-answers.ts';

export interface Surroundings {
  readonly cpu: string;
  readonly threadCount: number;
  readonly platform: string;
  readonly node: string;
  /** Load averages over 1, 5 and 15 minutes when the part began. */
  readonly load: readonly number[];
}

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

export interface Measured<T> {
  readonly surroundings: Surroundings;
  readonly result: T;
}

export type RawResults = { readonly [Name in PartName]: Measured<Parts[Name]> };

export type MaskResultsIssue =
  | { readonly code: 'mask-results/part-missing'; readonly part: PartName }
  | { readonly code: 'mask-results/not-regenerated'; readonly file: string };

export function surroundingsNow(): Surroundings {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown processor', threadCount: processors.length, platform: `${process.platform} ${process.arch}`,
    node: process.versions.node, load: loadavg().map((value) => Math.round(value * 100) / 100),
  };
}

const fileOf = (folder: string, part: PartName): string => join(folder, `${part}.json.gz`);

export async function writePart<Name extends PartName>(folder: string, part: Name, measured: Measured<Parts[Name]>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(folder, part), gzipSync(`${JSON.stringify(measured)}\n`, { level: 9 }));
}

/** Undefined where it was never measured. */
export function readPart<Name extends PartName>(folder: string, part: Name): Measured<Parts[Name]> | undefined {
  const path = fileOf(folder, part);
  return existsSync(path) ? JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')) as Measured<Parts[Name]> : undefined;
}

export function readRaw(folder: string): Result<RawResults, MaskResultsIssue> {
  const parts = PART_NAMES.map((part) => [part, readPart(folder, part)] as const);
  const missing = parts.find(([, measured]) => measured === undefined);
  return missing === undefined ? ok(Object.fromEntries(parts) as unknown as RawResults) : err({ code: 'mask-results/part-missing', part: missing[0] });
}

/** The report and its plots, by file name. */
export async function renderResults(raw: RawResults): Promise<ReadonlyMap<string, string>> {
  return new Map([['report.md', renderMaskReport(raw)], ...(await renderPlots(raw))]);
}

/** Writes the report and the plots that follow from the raw files of `folder`. */
export async function writeReport(folder: string): Promise<Result<void, MaskResultsIssue>> {
  const raw = readRaw(folder);
  if (!raw.ok) return raw;
  for (const [name, text] of await renderResults(raw.value)) await writeFile(join(folder, name), text);
  return ok(undefined);
}

/** Regenerates everything from the raw files and compares byte by byte. */
export async function verifyMaskResults(folder: string): Promise<Result<RawResults, MaskResultsIssue>> {
  const raw = readRaw(folder);
  if (!raw.ok) return raw;
  for (const [name, text] of await renderResults(raw.value)) {
    const path = join(folder, name);
    if (!existsSync(path) || (await readFile(path, 'utf8')) !== text) return err({ code: 'mask-results/not-regenerated', file: name });
  }
  return raw;
}
