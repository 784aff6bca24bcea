/** A ledger that an earlier version wrote: its chain holds here too, and nobody claims that its verdicts differ. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { GOOD, requestOf, scripted } from '../../tests/support.ts';
import { loadContract } from '../contract/contract.ts';
import { repairCall } from '../repair/repair.ts';
import { checkRepair } from './check-repair.ts';
import { LEDGER_VERSION } from './entry.ts';
import { appendEntry, appendRepair, formatRow, GENESIS, headAfter, readLedgerText, repairsIn, verifyRows, type LedgerRow } from './ledger.ts';
import { replayTrace } from './replay.ts';
import { scanLedger } from './scan.ts';

const TEXT = readFileSync(new URL('../../tests/fixtures/ledger-version-1.jsonl', import.meta.url), 'utf8');

function rowsOf(text: string): readonly LedgerRow[] {
  const read = readLedgerText(text);
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
}

describe('a ledger of version 1', () => {
  const rows = rowsOf(TEXT);
  const head = headAfter(rows.at(-1) as LedgerRow);

  test('is read and verified, whole or line by line', () => {
    expect(rows[0]?.previousDigest).not.toBe(GENESIS.head);
    expect(verifyRows(rows, { to: head })).toEqual({ ok: true, value: head });
    const scan = scanLedger();
    for (const line of TEXT.trimEnd().split('\n')) expect(scan.line(line).ok).toBe(true);
    expect(scan.end()).toEqual({ ok: true, value: head });
  });

  test('is broken where it was changed, as any other', () => {
    expect(verifyRows(rows.slice(1))).toMatchObject({ ok: false, error: { code: 'ledger/bad-sequence', index: 0 } });
    expect(verifyRows(rowsOf(TEXT.replace('150.00', '150.01')))).toMatchObject({ ok: false, error: { code: 'ledger/digest-mismatch', index: 0 } });
    const other = rowsOf(TEXT.replace(`"previousDigest":"${rows[0]?.previousDigest ?? ''}"`, `"previousDigest":"${'0'.repeat(64)}"`));
    expect(verifyRows(other)).toMatchObject({ ok: false, error: { code: 'ledger/broken-link', index: 0 } });
  });

  test('is checked as far as its version goes, and not judged again: no difference is claimed', async () => {
    const repairs = repairsIn(rows);
    if (!repairs.ok) throw new Error(repairs.error.code);
    expect(repairs.value).toHaveLength(3);
    for (const repair of repairs.value) {
      expect(await checkRepair(repair)).toEqual({ ok: true, value: { checked: ['structure', 'texts'], notChecked: [{ step: 'judgement', reason: 'ledger/other-version' }] } });
      const contract = loadContract(repair.opened.contract);
      expect(contract.ok && await replayTrace(repair, contract.value)).toEqual({ ok: false, error: { code: 'ledger/other-version', index: 0, found: 1, known: LEDGER_VERSION } });
    }
  });

  test('may be continued: every repair names its own version', async () => {
    const { frozen } = await repairCall(requestOf(), scripted(GOOD));
    const next = appendRepair(head, frozen);
    const joined = rowsOf(TEXT + next.rows.map(formatRow).join(''));
    expect(verifyRows(joined)).toEqual({ ok: true, value: next.head });
    const repairs = repairsIn(joined);
    const checked = repairs.ok ? await Promise.all(repairs.value.map((repair) => checkRepair(repair))) : [];
    expect(checked.map((report) => report.ok && report.value.notChecked.length)).toEqual([1, 1, 1, 0]);
  });
});

test('an earlier beginning counts at the beginning alone: nowhere else does it link rows', async () => {
  const [start] = rowsOf(TEXT) as [LedgerRow];
  const { frozen } = await repairCall(requestOf(), scripted(GOOD));
  const { rows } = appendRepair(GENESIS, frozen);
  const spliced = appendEntry({ count: 1, head: start.previousDigest }, (rows[1] as LedgerRow).entry);
  expect(verifyRows([rows[0], spliced])).toMatchObject({ ok: false, error: { code: 'ledger/broken-link', index: 1, found: start.previousDigest } });
  const moved = appendEntry({ count: 0, head: start.previousDigest }, (rows[0] as LedgerRow).entry);
  expect(verifyRows([moved])).toMatchObject({ ok: true });
  expect(verifyRows([moved], { from: { count: 0, head: headAfter(rows[0] as LedgerRow).head } })).toMatchObject({ ok: false, error: { code: 'ledger/broken-link', index: 0 } });
});
