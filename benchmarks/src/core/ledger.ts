/**
 * What a row of the ledger costs, from a thousand rows to a million: appended from entries not seen before, checked in memory, and read from its line
 * and checked. The rows are the entries of the bug cases without a model, over and over, in one chain; a batch is dropped once it is measured.
 */
import type { LedgerEntry } from '@contractrl/core';
import { appendEntry, formatRow, GENESIS, headAfter, scanLedger, verifyRows, type LedgerHead, type LedgerRow } from '@contractrl/core/ledger';
import { deterministicOnly } from '../arms/deterministic-only.ts';
import { bugCases } from '../datasets/bugcases.ts';

export interface LedgerRun {
  readonly rows: number;
  /** UTF-16 units of all lines. */
  readonly textLength: number;
  readonly appendMs: number;
  readonly verifyMs: number;
  readonly readMs: number;
}

const BATCH = 1_000;

/** One run a count of rows. Throws where a chain does not verify. */
export async function measureLedger(rowCounts: readonly number[], log: (line: string) => void): Promise<readonly LedgerRun[]> {
  const arm = deterministicOnly(() => 0);
  const entries: LedgerEntry[] = [];
  for (const { request } of bugCases()) entries.push(...(await arm.answer(request, { aborted: false })).frozen.entries);
  runOnce(entries, BATCH);
  return rowCounts.map((rowCount) => {
    log(`ledger: ${String(rowCount)} rows`);
    return runOnce(entries, rowCount);
  });
}

function runOnce(entries: readonly LedgerEntry[], rowCount: number): LedgerRun {
  let head: LedgerHead = GENESIS;
  let [textLength, appendMs, verifyMs, readMs] = [0, 0, 0, 0];
  const scan = scanLedger();
  for (let start = 0; start < rowCount; start += BATCH) {
    const count = Math.min(BATCH, rowCount - start);
    const fresh = structuredClone(Array.from({ length: count }, (_, index) => entries[(start + index) % entries.length]!));
    const from = head;
    const rows: LedgerRow[] = [];
    appendMs += timed(() => {
      for (const entry of fresh) {
        const row = appendEntry(head, entry);
        rows.push(row);
        head = headAfter(row);
      }
    });
    verifyMs += timed(() => mustBe(verifyRows(rows, { from, to: head }).ok));
    const lines = rows.map((row) => formatRow(row).slice(0, -1));
    textLength += lines.reduce((sum, line) => sum + line.length + 1, 0);
    readMs += timed(() => { for (const line of lines) mustBe(scan.line(line).ok); });
  }
  return { rows: rowCount, textLength, appendMs, verifyMs, readMs };
}

function timed(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

function mustBe(isSo: boolean): void {
  if (!isSo) throw new Error('the chain does not verify');
}
