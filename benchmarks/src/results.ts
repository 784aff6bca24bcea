/**
 * A run on disk: `manifest.json`, `records.jsonl.gz`, `ledger.jsonl.gz` (one chain over all repairs, in the order of the records),
 * `scores.jsonl.gz` and `report.md`. Everything but the first three follows from them and from the committed gold.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { err, ok, type FrozenRepair, type Result } from '@contractrl/core';
import { appendRepair, formatRow, GENESIS, readLedgerText, repairsIn, verifyRows, type LedgerHead, type LedgerIssue } from '@contractrl/core/ledger';
import type { PublicCase } from './datasets/case.ts';
import { bfclCases } from './datasets/bfcl-corruptions.ts';
import { bugCases } from './datasets/bugcases.ts';
import type { Manifest, ManifestDraft } from './manifest.ts';
import { freezeRun, fromJsonLines, toJsonLines, type CaseRecord, type FrozenRun } from './record.ts';
import { renderReport } from './report.ts';
import { scoreRun, sealedGold, type CaseScore } from './score.ts';

export interface Results {
  readonly manifest: Manifest;
  readonly run: FrozenRun;
  readonly scores: readonly CaseScore[];
  readonly report: string;
}

/** All cases of the baseline in their order: bug reports, then BFCL without a required argument, then with a wrong type. */
export function baselineCases(): readonly PublicCase[] {
  return [...bugCases(), ...bfclCases()];
}

/** Scores a sealed run and writes its report; `draft` gets the digests of what was sealed. */
export function conclude(draft: ManifestDraft, run: FrozenRun): Results {
  const manifest: Manifest = { ...draft, recordsDigest: run.digest, ledger: chainOf(run).end };
  const scores = scoreRun(run, baselineCases(), sealedGold());
  return { manifest, run, scores, report: renderReport(manifest, run, scores) };
}

/** Writes the five files into `folder`, which is made where it does not exist. */
export async function writeResults(folder: string, { manifest, run, scores, report }: Results): Promise<void> {
  await mkdir(folder, { recursive: true });
  const records = run.cases.map(({ record }) => record);
  await Promise.all([
    writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`),
    writeFile(join(folder, 'records.jsonl.gz'), pack(toJsonLines(records))),
    writeFile(join(folder, 'ledger.jsonl.gz'), pack(chainOf(run).text)),
    writeFile(join(folder, 'scores.jsonl.gz'), pack(toJsonLines(scores))),
    writeFile(join(folder, 'report.md'), report),
  ]);
}

export type ResultsIssue =
  | { readonly code: 'results/ledger-broken'; readonly detail: string }
  | { readonly code: 'results/records-changed'; readonly expected: string; readonly found: string }
  | { readonly code: 'results/record-count'; readonly records: number; readonly repairs: number }
  | { readonly code: 'results/scores-differ' }
  | { readonly code: 'results/report-differs' };

/**
 * The raw part of a run on disk: its manifest, and its records with the repairs they tell of. The chain of the ledger and the digest of the
 * records must be those of the manifest; file errors are thrown.
 */
export async function readRun<M extends Manifest>(folder: string): Promise<Result<{ readonly manifest: M; readonly run: FrozenRun }, ResultsIssue>> {
  const manifest = JSON.parse((await readFile(join(folder, 'manifest.json'))).toString('utf8')) as M;
  const repairs = readRepairs(await readPacked(folder, 'ledger.jsonl.gz'), manifest.ledger);
  if (!repairs.ok) return err({ code: 'results/ledger-broken', detail: repairs.error.code });
  const records = fromJsonLines<CaseRecord>(await readPacked(folder, 'records.jsonl.gz'));
  const count = repairs.value.length;
  if (records.length !== count) return err({ code: 'results/record-count', records: records.length, repairs: count });
  const run = freezeRun(records.map((record, index) => ({ record, frozen: repairs.value[index] as FrozenRepair })));
  if (run.digest !== manifest.recordsDigest) return err({ code: 'results/records-changed', expected: manifest.recordsDigest, found: run.digest });
  return ok({ manifest, run });
}

/**
 * Recomputes everything that a committed run claims: the chain of its ledger, the digest of its records, every score, and the report,
 * byte for byte. The first difference is the issue; file errors are thrown.
 */
export async function verifyResults(folder: string): Promise<Result<Results, ResultsIssue>> {
  const raw = await readRun(folder);
  if (!raw.ok) return raw;
  const results = conclude(raw.value.manifest, raw.value.run);
  if (toJsonLines(results.scores) !== await readPacked(folder, 'scores.jsonl.gz')) return err({ code: 'results/scores-differ' });
  if (results.report !== (await readFile(join(folder, 'report.md'))).toString('utf8')) return err({ code: 'results/report-differs' });
  return ok(results);
}

function readRepairs(text: string, end: LedgerHead): Result<readonly FrozenRepair[], LedgerIssue> {
  const rows = readLedgerText(text);
  if (!rows.ok) return rows;
  const chain = verifyRows(rows.value, { to: end });
  return chain.ok ? repairsIn(rows.value) : chain;
}

/** One chain over all repairs, as JSON Lines, and where it ends. */
export function chainOf(run: FrozenRun): { readonly text: string; readonly end: LedgerHead } {
  const lines: string[] = [];
  let end = GENESIS;
  for (const { frozen } of run.cases) {
    const appended = appendRepair(end, frozen);
    lines.push(...appended.rows.map(formatRow));
    end = appended.head;
  }
  return { text: lines.join(''), end };
}

export function pack(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}

export async function readPacked(folder: string, name: string): Promise<string> {
  return gunzipSync(await readFile(join(folder, name))).toString('utf8');
}
