/**
 * Training runs as the report reads them: the log of each, copied beside the rows of evaluations, with what was trained on what and the digest of the adapter that came
 * of it. Lines about single groups of samples are left behind: they are most of a log, and no figure is made of them.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@contractrl/core';
import { ADAPTER_FILES } from '@contractrl/runtime-webgpu/node';
import { fromJsonLines, toJsonLines } from '../record.ts';

/** A line of a log. Supervised runs have a loss; group-relative ones have a reward and what it is made of. */
export interface LogEntry {
  readonly kind: 'step' | 'validation';
  readonly step: number;
  readonly loss?: number;
  readonly reward?: number;
  readonly success?: number;
  readonly abstainedWrongly?: number;
  readonly wrong?: number;
  readonly collateral?: number;
  readonly tokens?: number;
  readonly flatShare?: number;
  readonly unsafe?: number;
  readonly examplesPerSecond?: number;
}

export interface TrainingRun {
  readonly name: string;
  /** What was trained on what, with digests. */
  readonly identity: JsonObject;
  /** SHA-256 of the adapter's weights, hexadecimal. */
  readonly adapterDigest: string;
  readonly entries: readonly LogEntry[];
  /** Undefined where the adapter was not calibrated. */
  readonly calibration: CalibrationReport | undefined;
}

/** What of `calibration.json` a report shows; all of it is of the validation side. */
export interface CalibrationReport {
  readonly threshold: number;
  readonly report: {
    readonly rule: { readonly alpha: number; readonly level: number };
    readonly rows: number;
    readonly right: number;
    readonly map: string;
    readonly released: { readonly released: number; readonly wrong: number; readonly upperBound: number } | null;
    readonly figures: { readonly calibrationError: number; readonly brier: number; readonly areaUnderCurve: number };
    readonly curve: readonly RiskPoint[];
  };
}

/** Of what is at or above a threshold: its share of all patches, and the wrong ones of it. */
export interface RiskPoint {
  readonly coverage: number;
  readonly risk: number;
}

const [IDENTITY, LOG, DIGEST, ADAPTER] = ['run.json', 'metrics.jsonl', 'adapter.sha256', 'adapter'];
const { weights: WEIGHTS, calibration: CALIBRATION } = ADAPTER_FILES;

/** Copies what the report needs of the run in `from`; its folder is `runs/<name>`. File errors are thrown. */
export async function keepRun(folder: string, name: string, from: string): Promise<void> {
  const to = join(folder, 'runs', name);
  await mkdir(to, { recursive: true });
  const entries = fromJsonLines<{ readonly kind: string }>(await readFile(join(from, LOG), 'utf8')).filter(({ kind }) => kind === 'step' || kind === 'validation');
  await writeFile(join(to, LOG), toJsonLines(entries));
  await writeFile(join(to, IDENTITY), await readFile(join(from, IDENTITY)));
  await writeFile(join(to, DIGEST), `${createHash('sha256').update(await readFile(join(from, ADAPTER, WEIGHTS))).digest('hex')}\n`);
  const calibration = join(from, ADAPTER, CALIBRATION);
  if (existsSync(calibration)) await writeFile(join(to, CALIBRATION), await readFile(calibration));
}

/** Group-relative; a run that says no method is supervised. */
export function isOptimised({ identity }: Pick<TrainingRun, 'identity'>): boolean {
  return identity['method'] === 'grpo';
}

/** The run whose adapter a group-relative one began with; undefined where it was not kept. Where no step was better than the start, the run and others like it ended with that adapter too. */
export function startOf(runs: readonly TrainingRun[], run: TrainingRun): TrainingRun | undefined {
  const same = runs.filter((other) => other !== run && other.adapterDigest === run.identity['from']);
  return same.find((other) => !isOptimised(other)) ?? same[0];
}

export function lowestLoss({ entries }: TrainingRun): number | undefined {
  const looks = entries.flatMap(({ kind, loss }) => (kind === 'validation' && loss !== undefined ? [loss] : []));
  return looks.length === 0 ? undefined : Math.min(...looks);
}

/** Dispatches that the validator would not have accepted; a supervised run dispatches nothing. */
export function unsafeOf({ entries }: TrainingRun): number | undefined {
  const counted = entries.flatMap(({ unsafe }) => (unsafe === undefined ? [] : [unsafe]));
  return counted.length === 0 ? undefined : Math.max(...counted);
}

/** Every run that was kept, by name. */
export function readRuns(folder: string): readonly TrainingRun[] {
  const runs = join(folder, 'runs');
  if (!existsSync(runs)) return [];
  return readdirSync(runs).sort().map((name) => {
    const text = (file: string): string => readFileSync(join(runs, name, file), 'utf8');
    return {
      name, identity: JSON.parse(text(IDENTITY)) as JsonObject, adapterDigest: text(DIGEST).trim(), entries: fromJsonLines<LogEntry>(text(LOG)),
      calibration: existsSync(join(runs, name, CALIBRATION)) ? JSON.parse(text(CALIBRATION)) as CalibrationReport : undefined,
    };
  });
}
