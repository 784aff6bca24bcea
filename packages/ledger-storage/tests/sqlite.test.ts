import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { appendRepair } from '@contractrl/core/ledger';
import { createSqliteStorage, openSqliteStorage, type SqliteDatabase } from '../src/sqlite.ts';
import { newFile, StandInDatabase, type FitsThePort } from './better-sqlite3.ts';
import { sampleRepair } from './sample.ts';
import { checkStorage, opened } from './storage-checks.ts';

const builtin = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as { readonly DatabaseSync: new (path: string) => SqliteDatabase } | undefined;

async function temporaryDatabase(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'contractrl-sqlite-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'ledger.db');
}

test.skipIf(builtin !== undefined)('where Node has no SQLite it is refused by name (this Node has it)', async () => {
  expect(openSqliteStorage(await temporaryDatabase())).toMatchObject({ ok: false, error: { code: 'ledger/storage-absent', needs: expect.stringContaining('node:sqlite') as string } });
});

describe('a ledger in a database of better-sqlite3’s interface', () => {
  test('holds what every storage holds', async () => {
    const fits: FitsThePort = true;
    expect(fits).toBe(true);
    const file = newFile();
    expect(await checkStorage((through) => Promise.resolve(createSqliteStorage(new StandInDatabase(file), through === undefined ? {} : { through })))).toHaveLength(11);
    expect(file.writer).toBeUndefined();
  });

  test('refuses a second writer: one that holds the lock, and one that began at the same head', async () => {
    const file = newFile();
    const repair = await sampleRepair('race');
    const [a, b] = [opened(createSqliteStorage(new StandInDatabase(file))), opened(createSqliteStorage(new StandInDatabase(file)))];
    const other = new StandInDatabase(file).exec('BEGIN IMMEDIATE');
    expect(await a.append(appendRepair(a.head(), repair).rows)).toMatchObject({ ok: false, error: { code: 'ledger/locked' } });
    other.exec('ROLLBACK');
    expect(await a.append(appendRepair(a.head(), repair).rows)).toMatchObject({ ok: true });
    expect(await b.append(appendRepair(b.head(), repair).rows)).toEqual({ ok: false, error: { code: 'ledger/changed-meanwhile' } });
    expect([file.rows.size, file.writer]).toEqual([repair.entries.length, undefined]);
  });

  test('writes nothing behind rows that are not its own', async () => {
    const file = newFile();
    const repair = await sampleRepair('torn');
    const storage = opened(createSqliteStorage(new StandInDatabase(file)));
    file.rows.set(2, 'a row of somebody else');
    expect(await storage.append(appendRepair(storage.head(), repair).rows)).toEqual({ ok: false, error: { code: 'ledger/changed-meanwhile' } });
    expect([...file.rows.keys()]).toEqual([2]);
  });

  test('says what is wrong with a database that was closed', () => {
    expect(createSqliteStorage(new StandInDatabase(newFile()).close())).toMatchObject({ ok: false, error: { code: 'ledger/storage-access', detail: 'The database connection is not open' } });
  });
});

describe.skipIf(builtin === undefined)('a ledger in SQLite (needs node:sqlite, Node 22.13 or later)', () => {
  test('holds what every storage holds', async () => {
    const path = await temporaryDatabase();
    expect(await checkStorage((through) => Promise.resolve(openSqliteStorage(path, through === undefined ? {} : { through })))).toHaveLength(11);
  });

  test('refuses the second of two writers that began at the same head', async () => {
    const path = await temporaryDatabase();
    const repair = await sampleRepair('race');
    const [a, b] = [opened(openSqliteStorage(path)), opened(openSqliteStorage(path))];
    expect(await a.append(appendRepair(a.head(), repair).rows)).toMatchObject({ ok: true });
    expect(await b.append(appendRepair(b.head(), repair).rows)).toEqual({ ok: false, error: { code: 'ledger/changed-meanwhile' } });
    await a.close();
    await b.close();
    expect(opened(openSqliteStorage(path)).head().count).toBe(repair.entries.length);
  });

  test('says so where another connection writes just now', async () => {
    const path = await temporaryDatabase();
    const repair = await sampleRepair('busy');
    const storage = opened(openSqliteStorage(path));
    const other = new (builtin as NonNullable<typeof builtin>).DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    expect(await storage.append(appendRepair(storage.head(), repair).rows)).toMatchObject({ ok: false, error: { code: 'ledger/locked' } });
    other.exec('ROLLBACK');
    expect(await storage.append(appendRepair(storage.head(), repair).rows)).toMatchObject({ ok: true });
    other.close();
  });

  test('lets no row be changed or removed, and names one that was changed all the same', async () => {
    const path = await temporaryDatabase();
    const repair = await sampleRepair('tampered');
    const storage = opened(openSqliteStorage(path));
    await storage.append(appendRepair(storage.head(), repair).rows);
    await storage.close();
    const database = new (builtin as NonNullable<typeof builtin>).DatabaseSync(path);
    expect(() => database.exec('UPDATE contractrl_ledger SET line = line')).toThrow('append-only');
    expect(() => database.exec('DELETE FROM contractrl_ledger')).toThrow('append-only');
    database.exec(`DROP TRIGGER contractrl_ledger_no_update; UPDATE contractrl_ledger SET line = replace(line, '"number":1', '"number":2')`);
    expect(createSqliteStorage(database)).toMatchObject({ ok: false, error: { code: 'ledger/digest-mismatch', index: 1 } });
  });

  test('says what is wrong with a file that is no database', async () => {
    expect(openSqliteStorage(tmpdir())).toMatchObject({ ok: false, error: { code: 'ledger/storage-access' } });
  });
});
