import { beforeAll, describe, expect, test } from 'vitest';
import { GOOD, requestOf, scripted, STILL_WRONG } from '../../tests/support.ts';
import { repairCall } from '../repair/repair.ts';
import type { FrozenRepair } from './freeze.ts';
import { appendEntry, appendRepair, formatRow, GENESIS, headAfter, type LedgerRow } from './ledger.ts';
import { scanLedger } from './scan.ts';
import { createLedger, formatStorageFailure, memoryStorage, type LedgerStorage, type StorageFailure } from './storage.ts';

let first: FrozenRepair;
let second: FrozenRepair;
beforeAll(async () => {
  first = (await repairCall(requestOf(), scripted(STILL_WRONG, GOOD))).frozen;
  second = (await repairCall(requestOf({ id: 'case-2' }), scripted('{"abstain":"ambiguous"}'))).frozen;
});

async function linesOf(storage: LedgerStorage): Promise<string[]> {
  const lines: string[] = [];
  await storage.read((line) => lines.push(line) > 0);
  return lines;
}

describe('rows in memory', () => {
  test('come back as the lines of the ledger, and the head is theirs', async () => {
    const storage = memoryStorage();
    const { rows, head } = appendRepair(GENESIS, first);
    expect(await storage.append(rows)).toEqual({ ok: true, value: head });
    expect(storage.head()).toEqual(head);
    expect((await linesOf(storage)).map((line) => `${line}\n`)).toEqual(rows.map(formatRow));
  });

  test('are read only as far as they are asked for', async () => {
    const storage = memoryStorage();
    await storage.append(appendRepair(GENESIS, first).rows);
    const lines: string[] = [];
    await storage.read((line) => lines.push(line) < 2);
    expect(lines).toHaveLength(2);
  });

  test.each<[string, (rows: readonly LedgerRow[]) => readonly LedgerRow[], number]>([
    ['do not begin at the head', (rows) => rows.slice(1), 1],
    ['leave one out', (rows) => rows.toSpliced(1, 1), 2],
    ['are linked to another ledger', (rows) => [appendEntry({ count: 0, head: (rows[0] as LedgerRow).digest }, first.opened)], 0],
  ])('that %s are refused, and none of them is added', async (_, change, found) => {
    const storage = memoryStorage();
    const { rows } = appendRepair(GENESIS, first);
    expect(await storage.append(change(rows))).toMatchObject({ ok: false, error: { code: 'ledger/not-next', found } });
    expect(storage.head()).toEqual(GENESIS);
    expect(await linesOf(storage)).toEqual([]);
  });

  test('that are part of a repair are refused, so that a crash never takes what was acknowledged', async () => {
    const storage = memoryStorage();
    expect(await storage.append(appendRepair(GENESIS, first).rows.slice(0, 2))).toEqual({ ok: false, error: { code: 'ledger/part-of-repair', caseId: 'case-1' } });
    expect(storage.head()).toEqual(GENESIS);
  });

  test('are added to no more after the storage was closed', async () => {
    const storage = memoryStorage();
    await storage.close();
    expect(await storage.append(appendRepair(GENESIS, first).rows)).toEqual({ ok: false, error: { code: 'ledger/closed' } });
  });
});

describe('a ledger over a storage', () => {
  test('appends repairs one after the other, however many are handed in at once', async () => {
    const storage = memoryStorage();
    const ledger = createLedger(storage);
    const heads = await Promise.all([first, second, first].map((repair) => ledger.append(repair)));
    const scan = scanLedger({ to: storage.head() });
    for (const line of await linesOf(storage)) scan.line(line);
    expect(scan.end()).toEqual(heads[2]);
    expect(storage.head().count).toBe(2 * first.entries.length + second.entries.length);
  });

  test('goes on after a failed append', async () => {
    const storage = memoryStorage();
    let isFull = true;
    const ledger = createLedger({ ...storage, append: (rows) => (isFull ? Promise.reject(new Error('full')) : storage.append(rows)) });
    await expect(ledger.append(first)).rejects.toThrow('full');
    isFull = false;
    expect(await ledger.append(first)).toMatchObject({ ok: true, value: { count: first.entries.length } });
  });
});

describe('a scan', () => {
  const rowsOf = (...repairs: readonly FrozenRepair[]): readonly LedgerRow[] => {
    let head = GENESIS;
    return repairs.flatMap((repair) => {
      const next = appendRepair(head, repair);
      head = next.head;
      return next.rows;
    });
  };
  const scanOf = (rows: readonly LedgerRow[], rest = '', bounds: Parameters<typeof scanLedger>[0] = {}): { readonly end: ReturnType<ReturnType<typeof scanLedger>['end']>; readonly whole: number; readonly sizes: readonly number[] } => {
    const sizes: number[] = [];
    const scan = scanLedger(bounds, (repair) => sizes.push(repair.length));
    for (const row of rows) scan.line(formatRow(row).slice(0, -1));
    return { end: scan.end(rest), whole: scan.whole().count, sizes };
  };

  test('gives the repairs one by one and the head at the end', () => {
    const rows = rowsOf(first, second);
    expect(scanOf(rows)).toEqual({ end: { ok: true, value: headAfter(rows.at(-1) as LedgerRow) }, whole: rows.length, sizes: [first.entries.length, second.entries.length] });
  });

  test('ends at a line that is no row, and says so whatever comes after', () => {
    const scan = scanLedger();
    const issue = { ok: false, error: { code: 'ledger/bad-json', index: 0, issue: 'json/syntax' } };
    expect([scan.line('nonsense'), scan.line('{}'), scan.end()]).toMatchObject([issue, issue, issue]);
    expect(scan.whole()).toEqual(GENESIS);
  });

  test('names a repair that the next one cuts off, at its first row', () => {
    const rows = rowsOf(first);
    const scan = scanLedger();
    for (const row of rows.slice(0, 2)) scan.line(formatRow(row).slice(0, -1));
    const next = appendEntry(headAfter(rows[1] as LedgerRow), second.opened);
    const issue = { ok: false, error: { code: 'ledger/open-repair', index: 0, caseId: 'case-1' } };
    expect([scan.line(formatRow(next).slice(0, -1)), scan.end()]).toEqual([issue, issue]);
  });

  test('takes an end for one only where it ends the repair that was opened', () => {
    const opened = appendEntry(GENESIS, first.opened);
    const strange = appendEntry(headAfter(opened), second.closed);
    const scan = scanLedger();
    for (const row of [opened, strange]) expect(scan.line(formatRow(row).slice(0, -1)).ok).toBe(true);
    expect([scan.whole(), scan.end()]).toEqual([GENESIS, { ok: false, error: { code: 'ledger/open-repair', index: 0, caseId: 'case-1' } }]);
  });

  test('knows after every row where the last whole repair ended', () => {
    const rows = rowsOf(first, second);
    const resourcesMayFollow = first.entries.length - 1;
    rows.forEach((_, count) => {
      const expected = count < resourcesMayFollow ? 0 : count < rows.length - 1 ? Math.min(count, first.entries.length) : count;
      expect(scanOf(rows.slice(0, count)).whole, `${count} rows`).toBe(expected);
    });
  });

  test('names the repair that was not closed at its first row, and a rest that is no row', () => {
    const rows = rowsOf(first, second);
    const start = first.entries.length;
    expect(scanOf(rows.slice(0, start + 1)).end).toMatchObject({ ok: false, error: { code: 'ledger/open-repair', index: start, caseId: 'case-2' } });
    expect(scanOf(rows, '{"dig').end).toMatchObject({ ok: false, error: { code: 'ledger/torn-row', index: rows.length } });
    const unclosed = rowsOf(first).slice(0, 2);
    const next = appendEntry(headAfter(unclosed[1] as LedgerRow), second.opened);
    expect(scanOf([...unclosed, next]).end).toMatchObject({ ok: false, error: { code: 'ledger/open-repair', index: 0 } });
  });

  test('stays at the first broken row', () => {
    const [a, b, ...others] = rowsOf(first, second);
    expect(scanOf([a as LedgerRow, ...others, b as LedgerRow]).end).toMatchObject({ ok: false, error: { code: 'ledger/bad-sequence', index: 1 } });
  });

  test('passes through a head that was kept, also where more rows came since; a cut or a new history does not', () => {
    const rows = rowsOf(first, second);
    const kept = headAfter(rows[first.entries.length - 1] as LedgerRow);
    expect(scanOf(rows, '', { through: kept }).end.ok).toBe(true);
    expect(scanOf(rowsOf(second), '', { through: { ...kept, count: 2 } }).end).toMatchObject({ ok: false, error: { code: 'ledger/wrong-head', index: 1 } });
    // the cut at the end of a whole repair, which the chain alone does not show
    const end = headAfter(rows.at(-1) as LedgerRow);
    expect(scanOf(rowsOf(first)).end.ok).toBe(true);
    expect(scanOf(rowsOf(first), '', { through: end }).end).toMatchObject({ ok: false, error: { code: 'ledger/truncated', index: first.entries.length, expectedCount: end.count } });
  });
});

test.each<StorageFailure>([
  { code: 'ledger/not-next', expected: GENESIS, found: 3 },
  { code: 'ledger/part-of-repair', caseId: 'case-9' },
  { code: 'ledger/changed-meanwhile' },
  { code: 'ledger/locked', holder: 'process 7' },
  { code: 'ledger/closed' },
  { code: 'ledger/storage-absent', needs: 'node:sqlite' },
  { code: 'ledger/storage-access', detail: 'ENOSPC' },
])('$code has a sentence that says what to do', (failure) => {
  expect(formatStorageFailure(failure)).toMatch(/(: |\. ).+\.$/u);
  for (const value of ['holder', 'needs', 'detail', 'caseId'].flatMap((name) => (failure as unknown as Record<string, string>)[name] ?? [])) expect(formatStorageFailure(failure)).toContain(value);
});

test('rows are whole repairs or none: the case is named whose rows are not', async () => {
  const { rows, head } = appendRepair(GENESIS, first);
  const next = appendRepair(head, second);
  const storage = memoryStorage();
  expect(await storage.append([...rows, ...next.rows.slice(0, 1)])).toEqual({ ok: false, error: { code: 'ledger/part-of-repair', caseId: 'case-2' } });
  expect(await storage.append(rows.slice(1))).toMatchObject({ ok: false, error: { code: 'ledger/not-next', expected: GENESIS, found: 1 } });
  expect(await storage.append([...rows, ...next.rows])).toEqual({ ok: true, value: next.head });
});

test.each<[StorageFailure, string]>([
  [{ code: 'ledger/not-next', expected: { ...GENESIS, count: 7 }, found: 9 }, 'The rows do not follow row 6, the last one stored. Append to the present head.'],
  [{ code: 'ledger/changed-meanwhile' }, 'The ledger was changed by another program: let one writer finish before the next one starts.'],
  [{ code: 'ledger/closed' }, 'The ledger was closed or its last write failed: open it again.'],
])('%j is said in words of its own', (failure, text) => {
  expect(formatStorageFailure(failure)).toBe(text);
});

test('a row of another number is not next, though its digest before is', async () => {
  const storage = memoryStorage();
  const { rows } = appendRepair(GENESIS, first);
  const jumped = rows.with(0, appendEntry({ count: 3, head: GENESIS.head }, first.opened));
  expect(await storage.append(jumped)).toMatchObject({ ok: false, error: { code: 'ledger/not-next', found: 3 } });
});
