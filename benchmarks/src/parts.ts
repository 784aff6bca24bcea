/**
 * A benchmark on disk: parts that are measured each on its own and kept as raw JSON with the surroundings they were measured in, and files that
 * follow from these alone, so that they can be regenerated and compared byte for byte.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { err, ok, type Result } from '@contractrl/core';

export interface Surroundings {
  readonly cpu: string;
  readonly threadCount: number;
  readonly platform: string;
  readonly node: string;
  /** Load averages over 1, 5 and 15 minutes when the part began. */
  readonly load: readonly number[];
}

export interface Measured<T> {
  readonly surroundings: Surroundings;
  readonly result: T;
}

/** The parts of a benchmark, by name. */
export type MeasuredParts<Parts> = { readonly [Name in keyof Parts]: Measured<Parts[Name]> };

export function surroundingsNow(): Surroundings {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? 'unknown processor', threadCount: processors.length, platform: `${process.platform} ${process.arch}`,
    node: process.versions.node, load: loadavg().map((value) => Math.round(value * 100) / 100),
  };
}

const fileOf = (folder: string, part: string): string => join(folder, `${part}.json.gz`);

export async function writeMeasured(folder: string, part: string, measured: Measured<unknown>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(folder, part), gzipSync(`${JSON.stringify(measured)}\n`, { level: 9 }));
}

/** Undefined where it was never measured. */
export function readMeasured<T>(folder: string, part: string): Measured<T> | undefined {
  const path = fileOf(folder, part);
  return existsSync(path) ? JSON.parse(gunzipSync(readFileSync(path)).toString('utf8')) as Measured<T> : undefined;
}

/** All parts, or the name of the first that was never measured. */
export function readAllMeasured<Parts>(folder: string, names: readonly (keyof Parts & string)[]): Result<MeasuredParts<Parts>, keyof Parts & string> {
  const parts = names.map((name) => [name, readMeasured(folder, name)] as const);
  const missing = parts.find(([, measured]) => measured === undefined);
  return missing === undefined ? ok(Object.fromEntries(parts) as MeasuredParts<Parts>) : err(missing[0]);
}

export async function writeRendered(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [name, text] of files) await writeFile(join(folder, name), text);
}

/** The first file that is not, byte by byte, what was rendered. */
export async function firstDifference(folder: string, files: ReadonlyMap<string, string>): Promise<string | undefined> {
  for (const [name, text] of files) {
    const path = join(folder, name);
    if (!existsSync(path) || (await readFile(path, 'utf8')) !== text) return name;
  }
  return undefined;
}
