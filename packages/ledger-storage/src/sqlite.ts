/**
 * A ledger in SQLite: one row a row, in a table that refuses updates and deletions. A write is one transaction that begins by taking the
 * write lock and looking at the end, so a second writer is refused and never merged. Runs over `node:sqlite` and over better-sqlite3.
 */
import { err, ok, type Result } from '@contractrl/core';
import {
  formatRow, headAfterRows, scanLedger, type LedgerHead, type LedgerIssue, type LedgerStorage, type StorageFailure,
} from '@contractrl/core/ledger';

/** What `DatabaseSync` of `node:sqlite` and `Database` of better-sqlite3 have in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}
export interface SqliteStatement {
  run(...values: readonly (string | number)[]): unknown;
  all(...values: readonly (string | number)[]): unknown[];
}

export interface SqliteOptions {
  /** A head kept from before: a ledger that does not reach it, or took another way, is refused. */
  readonly through?: LedgerHead;
}

/** EXTRA: the folder is synced with the journal, so that an acknowledged row outlives a power cut too. Rows come and never go. */
const SETUP = `
  PRAGMA synchronous = EXTRA;
  CREATE TABLE IF NOT EXISTS contractrl_ledger (sequence INTEGER PRIMARY KEY, line TEXT NOT NULL);
  CREATE TRIGGER IF NOT EXISTS contractrl_ledger_no_update BEFORE UPDATE ON contractrl_ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
  CREATE TRIGGER IF NOT EXISTS contractrl_ledger_no_delete BEFORE DELETE ON contractrl_ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
`;
/** Rows read at once. */
const PAGE_ROWS = 1_000;

/** Opens a database file with the SQLite of Node. Fails by name where this Node has none. */
export function openSqliteStorage(path: string, options: SqliteOptions = {}): Result<LedgerStorage, StorageFailure | LedgerIssue> {
  const builtin = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as { readonly DatabaseSync: new (path: string) => SqliteDatabase } | undefined;
  if (builtin === undefined) return err({ code: 'ledger/storage-absent', needs: 'node:sqlite, which Node has from 22.13 on' });
  const opened = attempt(() => new builtin.DatabaseSync(path));
  return opened.ok ? createSqliteStorage(opened.value, options) : opened;
}

/** A ledger in a database that the caller has opened, beside whatever else it holds. Closing the storage closes it. */
export function createSqliteStorage(database: SqliteDatabase, { through }: SqliteOptions = {}): Result<LedgerStorage, StorageFailure | LedgerIssue> {
  const scan = scanLedger(through === undefined ? {} : { through });
  const read = attempt(() => {
    database.exec(SETUP);
    readRows(database, (line) => scan.line(line).ok);
  });
  const end = read.ok ? scan.end() : read;
  if (end.ok) return ok(createStorage(database, end.value));
  attempt(() => database.close());
  return end;
}

function createStorage(database: SqliteDatabase, start: LedgerHead): LedgerStorage {
  let head = start;
  let isOpen = true;
  const insert = database.prepare('INSERT INTO contractrl_ledger (sequence, line) VALUES (?, ?)');
  const lastRow = database.prepare('SELECT sequence, line FROM contractrl_ledger ORDER BY sequence DESC LIMIT 1');
  const endsInHead = (): boolean => {
    const [last] = lastRow.all() as { readonly sequence: number; readonly line: string }[];
    return last === undefined ? head.count === 0 : last.sequence === head.count - 1 && last.line.startsWith(`{"digest":"${head.head}",`);
  };
  const append: (...given: Parameters<LedgerStorage['append']>) => Awaited<ReturnType<LedgerStorage['append']>> = (rows) => {
    if (!isOpen) return err({ code: 'ledger/closed' });
    const next = headAfterRows(head, rows);
    if (!next.ok) return next;
    const begun = attempt(() => database.exec('BEGIN IMMEDIATE'));
    if (!begun.ok) return begun;
    const written = attempt(() => {
      const isEnd = endsInHead();
      if (isEnd) for (const row of rows) insert.run(row.sequence, formatRow(row).slice(0, -1));
      database.exec(isEnd ? 'COMMIT' : 'ROLLBACK');
      return isEnd;
    });
    if (!written.ok) attempt(() => database.exec('ROLLBACK'));
    if (!written.ok) return written;
    if (!written.value) return err({ code: 'ledger/changed-meanwhile' });
    head = next.value;
    return next;
  };
  return {
    head: () => head,
    append: (rows) => Promise.resolve(append(rows)),
    read: (take) => Promise.resolve(attempt(() => readRows(database, take, head.count))),
    close() {
      if (isOpen) attempt(() => database.close());
      isOpen = false;
      return Promise.resolve();
    },
  };
}

function readRows(database: SqliteDatabase, take: (line: string) => boolean, count: number = Infinity): void {
  const page = database.prepare('SELECT line FROM contractrl_ledger WHERE sequence >= ? ORDER BY sequence LIMIT ?');
  for (let from = 0; from < count; from += PAGE_ROWS) {
    const rows = page.all(from, Math.min(PAGE_ROWS, count - from)) as { readonly line: string }[];
    if (rows.length === 0 || !rows.every(({ line }) => take(line))) return;
  }
}

/** The library's exceptions become failures here. */
function attempt<T>(work: () => T): Result<T, StorageFailure> {
  try {
    return ok(work());
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    return err(/database is locked/u.test(detail) ? { code: 'ledger/locked', holder: 'another connection' } : { code: 'ledger/storage-access', detail, cause });
  }
}
