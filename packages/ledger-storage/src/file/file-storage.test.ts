import { appendFile, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { FrozenRepair } from '@contractrl/core';
import { appendRepair, formatRow, GENESIS, type LedgerHead, type LedgerRow } from '@contractrl/core/ledger';
import { sampleRepair } from '../../tests/sample.ts';
import { checkStorage, opened } from '../../tests/storage-checks.ts';
import { openFileStorage } from './file-storage.ts';
import { scanLedgerFile } from './scan-file.ts';

let repair: FrozenRepair;
let rows: readonly LedgerRow[];
let text: string;
/** Byte offsets behind each row. */
let ends: readonly number[];
beforeAll(async () => {
  repair = await sampleRepair('größe 🚆');
  const first = appendRepair(GENESIS, repair);
  rows = [...first.rows, ...appendRepair(first.head, repair).rows];
  text = rows.map(formatRow).join('');
  ends = rows.map((_, index) => Buffer.byteLength(rows.slice(0, index + 1).map(formatRow).join('')));
});

async function temporaryLedger(contents?: string | Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'contractrl-ledger-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'ledger.jsonl');
  if (contents !== undefined) await writeFile(path, contents);
  return path;
}

test('a ledger in a file holds what every storage holds, and leaves no lock behind', async () => {
  const path = await temporaryLedger();
  expect(await checkStorage((through) => openFileStorage(path, through === undefined ? {} : { through }))).toHaveLength(11);
  expect(await readdir(join(path, '..'))).toEqual(['ledger.jsonl']);
});

describe('after a crash in the middle of a write', () => {
  test('at any byte, the whole repairs before it are there, the rest is moved aside, and the ledger goes on', async () => {
    const bytes = Buffer.from(text);
    const size = repair.entries.length;
    const start = ends[size - 1] as number;
    const rowEnds = ends.slice(size);
    const cuts = [...rowEnds.flatMap((end) => [end - 1, end, end + 1]), start + 1, start + 300, start + Buffer.from(text).subarray(start).indexOf('🚆') + 2].filter((cut) => cut < bytes.length);
    for (const cut of cuts) {
      const path = await temporaryLedger(bytes.subarray(0, cut));
      const storage = opened(await openFileStorage(path));
      // a repair without its resources is whole too
      const kept = cut >= (ends[2 * size - 2] as number) ? 2 * size - 1 : size;
      const keptBytes = ends[kept - 1] as number;
      expect(storage.head().count, `cut at ${cut}`).toBe(kept);
      if (cut === keptBytes) {
        expect(storage.recovery).toBeUndefined();
      } else {
        expect(storage.recovery).toEqual({ index: kept, reason: rowEnds.includes(cut) ? 'ledger/open-repair' : 'ledger/torn-row', movedBytes: cut - keptBytes, movedTo: `${path}.torn` });
        expect(await readFile(`${path}.torn`)).toEqual(bytes.subarray(keptBytes, cut));
      }
      expect(await storage.append(appendRepair(storage.head(), repair).rows)).toMatchObject({ ok: true, value: { count: kept + size } });
      await storage.close();
      expect(await scanLedgerFile(path)).toMatchObject({ ok: true, value: { ok: true } });
    }
  });

  test('that left bytes of an earlier file behind the end, these are moved aside', async () => {
    const path = await temporaryLedger(Buffer.concat([Buffer.from(text), Buffer.alloc(4_096)]));
    const storage = opened(await openFileStorage(path));
    expect(storage.recovery).toMatchObject({ index: rows.length, reason: 'ledger/torn-row', movedBytes: 4_096 });
    await storage.close();
  });

  test('nothing is moved where a kept head shows that acknowledged rows are missing', async () => {
    const path = await temporaryLedger(text.slice(0, -100));
    const through: LedgerHead = { count: rows.length, head: (rows.at(-1) as LedgerRow).digest };
    const before = await readFile(path);
    expect(await openFileStorage(path, { through })).toMatchObject({ ok: false, error: { code: 'ledger/torn-row' } });
    expect(await readFile(path)).toEqual(before);
  });
});

describe('a broken ledger is reported by its first broken row and left as it is', () => {
  test.each<[string, (text: string) => string | Uint8Array, { code: string; index: number }]>([
    ['a changed value', (whole) => whole.replace('"number":1', '"number":2'), { code: 'ledger/digest-mismatch', index: 1 }],
    ['a changed value before a torn row', (whole) => whole.replace('"number":1', '"number":2').slice(0, -9), { code: 'ledger/digest-mismatch', index: 1 }],
    ['a removed row', (whole) => whole.split('\n').toSpliced(1, 1).join('\n'), { code: 'ledger/bad-sequence', index: 1 }],
    ['an empty line', (whole) => `${whole}\n`, { code: 'ledger/bad-json', index: 8 }],
    ['a byte order mark', (whole) => `\uFEFF${whole}`, { code: 'ledger/bad-json', index: 0 }],
    ['a byte that is no UTF-8', (whole) => Buffer.from(whole).fill(0xff, Buffer.from(whole).indexOf('closed'), Buffer.from(whole).indexOf('closed') + 1), { code: 'ledger/not-utf8', index: 2 }],
  ])('%s', async (_, damage, error) => {
    const damaged = damage(text);
    const path = await temporaryLedger(damaged);
    expect(await openFileStorage(path)).toMatchObject({ ok: false, error });
    expect(await scanLedgerFile(path)).toMatchObject({ ok: true, value: { ok: false, error } });
    expect(await readFile(path)).toEqual(Buffer.from(damaged));
    expect(await readdir(join(path, '..'))).toEqual(['ledger.jsonl']);
  });

  test('reading alone repairs nothing: a torn row is named', async () => {
    const path = await temporaryLedger(text.slice(0, -1));
    expect(await scanLedgerFile(path)).toMatchObject({ ok: true, value: { ok: false, error: { code: 'ledger/torn-row', index: rows.length - 1 } } });
  });

  test('a file that is not there, or a folder, is an access failure', async () => {
    const path = await temporaryLedger();
    expect(await scanLedgerFile(path)).toMatchObject({ ok: false, error: { code: 'ledger/storage-access' } });
    expect(await openFileStorage(join(path, 'deeper'))).toMatchObject({ ok: false, error: { code: 'ledger/storage-access' } });
  });
});

describe('one writer', () => {
  test('a second one is refused while the first is open, by whatever name, and not after', async () => {
    const path = await temporaryLedger(text);
    const other = join(path, '..', 'other.jsonl');
    await symlink(path, other);
    const first = opened(await openFileStorage(path));
    for (const name of [path, other]) expect(await openFileStorage(name)).toMatchObject({ ok: false, error: { code: 'ledger/locked', holder: expect.stringContaining(`process ${process.pid} `) as string } });
    await first.close();
    await opened(await openFileStorage(other)).close();
  });

  test('of many that come at once, one is let in', async () => {
    const path = await temporaryLedger(text);
    await writeFile(`${path}.lock`, JSON.stringify({ ...await lockOf(path), pid: 2 ** 22 + 1 }));
    const results = await Promise.all(Array.from({ length: 8 }, () => openFileStorage(path)));
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    for (const result of results) if (result.ok) await result.value.close();
    expect(await readdir(join(path, '..'))).toEqual(['ledger.jsonl']);
  });

  test.each<[string, (lock: Record<string, unknown>) => unknown, boolean]>([
    ['a process that is gone', (lock) => ({ ...lock, pid: 2 ** 22 + 1 }), true],
    // Only Linux tells when a process started; elsewhere such a lock is taken to be alive.
    ['a process that had the number of one that runs', (lock) => ({ ...lock, started: 'another boot:1' }), process.platform === 'linux'],
    ['a process of another machine', (lock) => ({ ...lock, host: 'elsewhere', pid: 2 ** 22 + 1 }), false],
    ['a process of another container', (lock) => ({ ...lock, namespace: 'pid:[1]', pid: 2 ** 22 + 1 }), false],
    ['nobody that can be read', () => 'nonsense', false],
  ])('the lock of %s is told for what it is', async (_, change, isTaken) => {
    const path = await temporaryLedger(text);
    await writeFile(`${path}.lock`, JSON.stringify(change(await lockOf(path))));
    const storage = await openFileStorage(path);
    expect(storage).toMatchObject(isTaken ? { ok: true } : { ok: false, error: { code: 'ledger/locked' } });
    if (storage.ok) await storage.value.close();
  });

  test.each<[string, (path: string) => Promise<void>]>([
    ['appended to the file without a lock', (path) => appendFile(path, 'somebody else\n')],
    ['put another file in its place', async (path) => {
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
    }],
  ])('that is told when another program %s', async (_, meddle) => {
    const path = await temporaryLedger(text);
    const storage = opened(await openFileStorage(path));
    await meddle(path);
    const before = await readFile(path);
    expect(await storage.append(appendRepair(storage.head(), repair).rows)).toEqual({ ok: false, error: { code: 'ledger/changed-meanwhile' } });
    expect(await readFile(path)).toEqual(before);
    await storage.close();
  });
});

/** The lock of this process on the file, as it is while the file is open. */
async function lockOf(path: string): Promise<Record<string, unknown>> {
  const storage = opened(await openFileStorage(path));
  const lock = JSON.parse(await readFile(`${path}.lock`, 'utf8')) as Record<string, unknown>;
  await storage.close();
  return lock;
}

test('rows longer than the pieces a file is read in are read whole', async () => {
  const long = await sampleRepair('long', 'é'.repeat(200_000));
  const path = await temporaryLedger();
  const storage = opened(await openFileStorage(path));
  for (let count = 0; count < 3; count += 1) await storage.append(appendRepair(storage.head(), long).rows);
  await storage.close();
  const ids: string[] = [];
  expect(await scanLedgerFile(path, { to: storage.head() }, async ([first]) => { ids.push((first as LedgerRow).entry.caseId); })).toMatchObject({ ok: true, value: { ok: true } });
  expect(ids).toEqual(['long', 'long', 'long']);
});
