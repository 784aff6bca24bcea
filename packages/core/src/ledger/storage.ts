/**
 * Where rows are kept: a port, since core knows no files and no databases. What a storage has acknowledged outlives a crash; what it has
 * not is there whole or not at all once it is opened again. One writer: a second one is refused, never merged.
 */
import { err, ok, type Result } from '../result.ts';
import type { FrozenRepair } from './freeze.ts';
import { appendRepair, formatRow, GENESIS, groupRepairs, headAfter, type LedgerHead, type LedgerRow } from './ledger.ts';

export interface LedgerStorage {
  /** The end of what is acknowledged. */
  head(): LedgerHead;
  /** Adds the rows of whole repairs, which follow {@link head}: all or none. The new head is the acknowledgement. */
  append(rows: readonly LedgerRow[]): Promise<Result<LedgerHead, StorageFailure>>;
  /** Every stored row from the first on, as its line without newline, until `take` gives false. */
  read(take: (line: string) => boolean): Promise<Result<void, StorageFailure>>;
  close(): Promise<void>;
}

export type StorageFailure =
  /** The rows do not continue what is stored. */
  | { readonly code: 'ledger/not-next'; readonly expected: LedgerHead; readonly found: number }
  /** Only whole repairs are added, so that what is left of a crash can be told from what was acknowledged. */
  | { readonly code: 'ledger/part-of-repair'; readonly caseId: string }
  /** Another writer added rows since this one opened. */
  | { readonly code: 'ledger/changed-meanwhile' }
  /** Another writer has it open. `holder` says who, as far as it is known. */
  | { readonly code: 'ledger/locked'; readonly holder: string }
  | { readonly code: 'ledger/closed' }
  /** The host has no such storage. */
  | { readonly code: 'ledger/storage-absent'; readonly needs: string }
  | { readonly code: 'ledger/storage-access'; readonly detail: string; readonly cause?: unknown };

export function formatStorageFailure(failure: StorageFailure): string {
  switch (failure.code) {
    case 'ledger/not-next': return `The rows do not follow row ${failure.expected.count - 1}, the last one stored. Append to the present head.`;
    case 'ledger/part-of-repair': return `The rows of case "${failure.caseId}" are not a whole repair. Append all of its rows at once.`;
    case 'ledger/changed-meanwhile': return 'The ledger was changed by another program: let one writer finish before the next one starts.';
    case 'ledger/locked': return `The ledger is open for writing elsewhere (${failure.holder}): let that writer finish, or write another ledger.`;
    case 'ledger/closed': return 'The ledger was closed or its last write failed: open it again.';
    case 'ledger/storage-absent': return `This ledger needs ${failure.needs}, which is absent here: use another storage.`;
    case 'ledger/storage-access': return `The ledger cannot be read or written (${failure.detail}): check the place, its permissions and the space left.`;
  }
}

/** The head after `rows`, where they are whole repairs and continue `at`, each linked to the one before. Digests are the business of who reads. */
export function headAfterRows(at: LedgerHead, rows: readonly LedgerRow[]): Result<LedgerHead, StorageFailure> {
  let head = at;
  for (const row of rows) {
    if (row.sequence !== head.count || row.previousDigest !== head.head) return err({ code: 'ledger/not-next', expected: head, found: row.sequence });
    head = headAfter(row);
  }
  const groups = groupRepairs(rows);
  return groups.ok ? ok(head) : err({ code: 'ledger/part-of-repair', caseId: rows[groups.error.index]?.entry.caseId ?? '' });
}

/** Rows in memory, gone with the process. */
export function memoryStorage(): LedgerStorage {
  const lines: string[] = [];
  let head = GENESIS;
  let isClosed = false;
  return {
    head: () => head,
    append(rows) {
      if (isClosed) return Promise.resolve(err({ code: 'ledger/closed' }));
      const next = headAfterRows(head, rows);
      if (next.ok) {
        for (const row of rows) lines.push(formatRow(row).slice(0, -1));
        head = next.value;
      }
      return Promise.resolve(next);
    },
    read(take) {
      lines.every(take);
      return Promise.resolve(ok(undefined));
    },
    close() {
      isClosed = true;
      return Promise.resolve();
    },
  };
}

/** Repairs appended one after the other, however many are handed in at once. */
export interface Ledger {
  append(repair: FrozenRepair): Promise<Result<LedgerHead, StorageFailure>>;
}

export function createLedger(storage: LedgerStorage): Ledger {
  let last: Promise<unknown> = Promise.resolve();
  return {
    append(repair) {
      const appended = last.then(() => storage.append(appendRepair(storage.head(), repair).rows));
      last = appended.catch(() => undefined);
      return appended;
    },
  };
}
