/**
 * A run of the sandbox on disk: `manifest.json`, `records.jsonl.gz` and `ledger.jsonl.gz` as every run has them, `episodes.jsonl.gz` with what came of
 * each trajectory, the sheet `scores.jsonl.gz` and `report.md`. The last two follow from the others and from the committed gold.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_ATTEMPT_BUDGET, DEFAULT_OPERATION_BUDGET, err, ok, type Result } from '@contractrl/core';
import type { PublicCase } from '../datasets/case.ts';
import type { Manifest, ManifestDraft } from '../manifest.ts';
import { fromJsonLines, toJsonLines } from '../record.ts';
import { chainOf, pack, readPacked, readRun, type ResultsIssue } from '../results.ts';
import { firstDeviation } from './conditions.ts';
import { retailShop, sandboxEpisodes } from './episodes.ts';
import type { EpisodeRecord } from './episode.ts';
import { renderSandboxReport } from './report.ts';
import { sandboxCases, type SandboxRun } from './run.ts';
import { scoreSandbox, sealedSandboxGold, type SealedGold, type SheetRow } from './score.ts';

export interface SandboxManifest extends Manifest {
  readonly conditions: {
    readonly taskCount: number;
    readonly trialCount: number;
    readonly toolCount: number;
    readonly operationBudget: number;
    readonly attemptBudget: number;
  };
  /** SHA-256 of the trajectories' JSON Lines text. */
  readonly episodesDigest: string;
}

export interface SandboxResults {
  readonly manifest: SandboxManifest;
  readonly run: SandboxRun;
  readonly sheet: readonly SheetRow[];
  readonly report: string;
}

export type SandboxIssue =
  | ResultsIssue
  | { readonly code: 'sandbox/episodes-changed'; readonly expected: string; readonly found: string }
  /** An arm was given something else than the others. */
  | { readonly code: 'sandbox/other-conditions'; readonly arm: string; readonly id: string };

/** Public halves and gold of all trajectories, which a run may have some of. */
export interface SandboxData {
  readonly cases: readonly PublicCase[];
  readonly gold: SealedGold;
}

export async function concludeSandbox(draft: ManifestDraft, run: SandboxRun, { cases, gold }: SandboxData): Promise<Result<SandboxResults, SandboxIssue>> {
  const shop = retailShop();
  const deviation = firstDeviation(run.repairs, cases, shop.contracts);
  if (deviation !== undefined) return err({ code: 'sandbox/other-conditions', ...deviation });
  const sheet = scoreSandbox(run, cases, gold);
  const tasks = new Set(run.episodes.map(({ task }) => task));
  const manifest: SandboxManifest = {
    ...draft,
    conditions: {
      taskCount: tasks.size, trialCount: new Set(run.episodes.map(({ trial }) => trial)).size, toolCount: shop.contracts.size,
      operationBudget: DEFAULT_OPERATION_BUDGET, attemptBudget: DEFAULT_ATTEMPT_BUDGET,
    },
    recordsDigest: run.repairs.digest, ledger: chainOf(run.repairs).end, episodesDigest: digestOfLines(run.episodes),
  };
  return ok({ manifest, run, sheet, report: renderSandboxReport(manifest, run.repairs, run.episodes, sheet) });
}

export async function writeSandbox(folder: string, { manifest, run, sheet, report }: SandboxResults): Promise<void> {
  await mkdir(folder, { recursive: true });
  await Promise.all([
    writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`),
    writeFile(join(folder, 'records.jsonl.gz'), pack(toJsonLines(run.repairs.cases.map(({ record }) => record)))),
    writeFile(join(folder, 'ledger.jsonl.gz'), pack(chainOf(run.repairs).text)),
    writeFile(join(folder, 'episodes.jsonl.gz'), pack(toJsonLines(run.episodes))),
    writeFile(join(folder, 'scores.jsonl.gz'), pack(toJsonLines(sheet))),
    writeFile(join(folder, 'report.md'), report),
  ]);
}

/** The raw part of a run on disk, concluded anew; file errors are thrown. */
export async function readSandbox(folder: string, data: SandboxData): Promise<Result<SandboxResults, SandboxIssue>> {
  const raw = await readRun<SandboxManifest>(folder);
  if (!raw.ok) return raw;
  const { manifest, run: repairs } = raw.value;
  const episodes = fromJsonLines<EpisodeRecord>(await readPacked(folder, 'episodes.jsonl.gz'));
  const found = digestOfLines(episodes);
  if (found !== manifest.episodesDigest) return err({ code: 'sandbox/episodes-changed', expected: manifest.episodesDigest, found });
  return concludeSandbox(manifest, { repairs, episodes }, data);
}

/** As `verifyResults` of the baseline: everything that a committed run claims, byte for byte. */
export async function verifySandbox(folder: string, data: SandboxData): Promise<Result<SandboxResults, SandboxIssue>> {
  const results = await readSandbox(folder, data);
  if (!results.ok) return results;
  if (toJsonLines(results.value.sheet) !== await readPacked(folder, 'scores.jsonl.gz')) return err({ code: 'results/scores-differ' });
  if (results.value.report !== (await readFile(join(folder, 'report.md'))).toString('utf8')) return err({ code: 'results/report-differs' });
  return results;
}

export async function sandboxData(): Promise<SandboxData> {
  return { cases: await sandboxCases(retailShop(), sandboxEpisodes()), gold: await sealedSandboxGold() };
}

function digestOfLines(rows: readonly unknown[]): string {
  return createHash('sha256').update(toJsonLines(rows)).digest('hex');
}
