/**
 * A ledger in a page: one IndexedDB database, one record a row. A transaction is all or nothing and strictly durable; two tabs take turns,
 * and the one whose head is no longer the end is refused. Reference: Indexed Database API 3.0, § transaction durability hint.
 */
import { err, ok, type Result } from '@contractrl/core';
import {
  formatRow, headAfterRows, scanLedger, type LedgerHead, type LedgerIssue, type LedgerStorage, type StorageFailure,
} from '@contractrl/core/ledger';

export interface IndexedDbOptions {
  /** The browser's own where none is given. */
  readonly factory?: IDBFactory;
  /** A head kept from before: a ledger that does not reach it, or took another way, is refused. */
  readonly through?: LedgerHead;
}

const STORE = 'rows';
/** Rows read at once. */
const PAGE_ROWS = 1_000;

/** Opens the ledger of this name, a new one if there is none, and verifies it whole. */
export async function openIndexedDbStorage(name: string, options: IndexedDbOptions = {}): Promise<Result<LedgerStorage, StorageFailure | LedgerIssue>> {
  const { factory = (globalThis as { readonly indexedDB?: IDBFactory }).indexedDB, through } = options;
  if (factory === undefined) return err({ code: 'ledger/storage-absent', needs: 'IndexedDB' });
  const database = await attempt(() => openDatabase(factory, name));
  if (!database.ok) return database;
  const scan = scanLedger(through === undefined ? {} : { through });
  const read = await attempt(() => readRows(database.value, (line) => scan.line(line).ok));
  const end = read.ok ? scan.end() : read;
  if (end.ok) return ok(createStorage(database.value, end.value));
  database.value.close();
  return end;
}

function createStorage(database: IDBDatabase, start: LedgerHead): LedgerStorage {
  let head = start;
  let isOpen = true;
  let last: Promise<unknown> = Promise.resolve();
  // Another tab wants to delete or upgrade the database: it may, and this writer is at its end.
  database.onversionchange = () => {
    isOpen = false;
    database.close();
  };
  const write: LedgerStorage['append'] = async (rows) => {
    if (!isOpen) return err({ code: 'ledger/closed' });
    const next = headAfterRows(head, rows);
    if (!next.ok) return next;
    const added = await attempt(async () => {
      const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' });
      const store = transaction.objectStore(STORE);
      const isEnd = await endsIn(store, head);
      if (isEnd) for (const row of rows) store.add(formatRow(row).slice(0, -1), row.sequence);
      await committed(transaction);
      return isEnd;
    });
    if (!added.ok) return added;
    if (!added.value) return err({ code: 'ledger/changed-meanwhile' });
    head = next.value;
    return next;
  };
  return {
    head: () => head,
    append(rows) {
      const appended = last.then(() => write(rows));
      last = appended;
      return appended;
    },
    read: (take) => attempt(() => readRows(database, take, head.count)),
    async close() {
      await last;
      isOpen = false;
      database.close();
    },
  };
}

/** Whether the last stored row is that of the head. */
async function endsIn(store: IDBObjectStore, { count, head }: LedgerHead): Promise<boolean> {
  const [stored, line] = await Promise.all([answered(store.count()), answered(store.get(Math.max(count - 1, 0)) as IDBRequest<string | undefined>)]);
  return stored === count && (count === 0 || line?.startsWith(`{"digest":"${head}",`) === true);
}

async function readRows(database: IDBDatabase, take: (line: string) => boolean, count: number = Infinity): Promise<void> {
  for (let from = 0; from < count; from += PAGE_ROWS) {
    const store = database.transaction(STORE, 'readonly').objectStore(STORE);
    const page = await answered(store.getAll(IDBKeyRange.bound(from, Math.min(from + PAGE_ROWS, count), false, true)) as IDBRequest<string[]>);
    if (page.length === 0 || !page.every(take)) return;
  }
}

function openDatabase(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  const request = factory.open(name, 1);
  request.onupgradeneeded = () => { request.result.createObjectStore(STORE); };
  return answered(request);
}

function answered<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('request failed'));
  });
}

function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error('transaction aborted'));
  });
}

/** The browser's errors become failures here. */
async function attempt<T>(work: () => Promise<T>): Promise<Result<T, StorageFailure>> {
  try {
    return ok(await work());
  } catch (cause) {
    return err({ code: 'ledger/storage-access', detail: cause instanceof Error ? cause.message : String(cause), cause });
  }
}
