import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { GOOD, requestOf, scripted, STILL_WRONG } from '../../tests/support.ts';
import { digestOf } from '../json/digest.ts';
import type { JsonValue } from '../json/value.ts';
import { repairCall } from '../repair/repair.ts';
import type { FrozenRepair } from './freeze.ts';
import {
  appendEntry, appendRepair, formatRow, GENESIS, headAfter, readLedgerText, repairsIn, verifyRows,
  type LedgerHead, type LedgerIssue, type LedgerRow,
} from './ledger.ts';

let repairs: readonly FrozenRepair[];
let rows: readonly LedgerRow[];
let head: LedgerHead;
let text: string;

beforeAll(async () => {
  const outcomes = [
    await repairCall(requestOf(), scripted(STILL_WRONG, GOOD)),
    await repairCall(requestOf({ id: 'größe 1e+21', context: { large: 1e21, control: '\u001f' } }), scripted('{"abstain":"ambiguous"}')),
  ];
  repairs = outcomes.map(({ frozen }) => frozen);
  const first = appendRepair(GENESIS, repairs[0] as FrozenRepair);
  const second = appendRepair(first.head, repairs[1] as FrozenRepair);
  rows = [...first.rows, ...second.rows];
  head = second.head;
  text = rows.map(formatRow).join('');
});

/** Reads and verifies, as a ledger file is checked. */
function check(ledger: string, to?: LedgerHead): LedgerIssue | 'whole' {
  const read = readLedgerText(ledger);
  if (!read.ok) return read.error;
  const verified = verifyRows(read.value, to === undefined ? {} : { to });
  return verified.ok ? 'whole' : verified.error;
}

describe('a whole ledger', () => {
  test('starts at the genesis digest, counts its rows and verifies to its head', () => {
    expect(rows[0]).toMatchObject({ sequence: 0, previousDigest: GENESIS.head });
    expect(verifyRows(rows)).toEqual({ ok: true, value: head });
    expect(head.count).toBe(rows.length);
  });

  test('survives the file: rows read back are the rows written, and are written the same again', () => {
    const read = readLedgerText(text);
    expect(read).toEqual({ ok: true, value: rows });
    expect(check(text, head)).toBe('whole');
  });

  test('continues from an existing head, and the tail verifies from there', () => {
    const [opened, closed] = [repairs[0]?.opened, repairs[0]?.closed];
    const row = appendEntry(head, opened as never);
    const next = appendEntry(headAfter(row), closed as never);
    expect(verifyRows([...rows, row, next])).toMatchObject({ ok: true, value: { count: head.count + 2 } });
    expect(verifyRows([row, next], { from: head })).toMatchObject({ ok: true });
    expect(verifyRows([next], { from: head })).toMatchObject({ ok: false, error: { code: 'ledger/bad-sequence', index: 0 } });
  });

  test('an empty ledger is whole', () => {
    expect(check('')).toBe('whole');
    expect(verifyRows([])).toEqual({ ok: true, value: GENESIS });
  });

  // checklist: G7
  test('the genesis digest never changes without a new ledger version', () => {
    expect(GENESIS.head).toMatchInlineSnapshot(`"81f4942d5931366aeeab785683742e4ff696951b0591e1c9f1efc0ec904be635"`);
  });

  test('gives back the frozen repairs with their digests', () => {
    const read = repairsIn(rows);
    expect(read.ok && read.value.map(({ digest }) => digest)).toEqual(repairs.map(({ digest }) => digest));
  });

  test('a repair that was never closed is named at its first row', () => {
    const start = (repairs[0] as FrozenRepair).entries.length;
    expect(repairsIn(rows.slice(0, -2))).toMatchObject({ ok: false, error: { code: 'ledger/open-repair', index: start, caseId: 'größe 1e+21' } });
    expect(repairsIn(rows.slice(1))).toMatchObject({ ok: false, error: { code: 'ledger/open-repair', index: 0 } });
  });
});

// checklist: G2
describe('the first broken row is named', () => {
  test('for every single changed byte', () => {
    const bytes = new TextEncoder().encode(text);
    const rowAt = (offset: number): number => bytes.subarray(0, offset).filter((byte) => byte === 10).length;
    const flip = (offset: number, bit: number): void => {
      const copy = bytes.slice();
      copy[offset] = (copy[offset] as number) ^ (1 << bit);
      const issue = check(new TextDecoder().decode(copy), head);
      expect(issue, `byte ${offset} bit ${bit}`).not.toBe('whole');
      expect((issue as LedgerIssue).index, `byte ${offset} bit ${bit}: ${JSON.stringify(issue)}`).toBe(rowAt(offset));
    };
    fc.assert(fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), fc.integer({ min: 0, max: 7 }), flip), { numRuns: 150 });
    // spellings of the same JSON value, which the digest alone would not see
    for (const [spelling, bit] of [['1e+21', 5], ['\\u001f', 5]] as const) {
      const offset = new TextEncoder().encode(text.slice(0, text.lastIndexOf(spelling))).length;
      flip(spelling === '1e+21' ? offset + 1 : offset + 5, bit);
    }
  });

  test('for every removed row', () => {
    for (const index of rows.keys()) {
      const issue = verifyRows(rows.toSpliced(index, 1), { to: head });
      expect(issue).toMatchObject({ ok: false, error: { index, code: index === rows.length - 1 ? 'ledger/truncated' : 'ledger/bad-sequence' } });
    }
  });

  test('for every pair of neighbours in the wrong order', () => {
    for (let index = 0; index + 1 < rows.length; index += 1) {
      const swapped = rows.toSpliced(index, 2, rows[index + 1] as LedgerRow, rows[index] as LedgerRow);
      expect(verifyRows(swapped)).toMatchObject({ ok: false, error: { index, code: 'ledger/bad-sequence' } });
    }
  });

  test('for a row that was replaced whole, its own digest made right again', () => {
    const forged = appendEntry({ count: 1, head: (rows[0] as LedgerRow).digest }, { ...(rows[1] as LedgerRow).entry, caseId: 'other' });
    expect(verifyRows(rows.with(1, forged))).toMatchObject({ ok: false, error: { index: 2, code: 'ledger/broken-link' } });
  });

  test('for rows cut off the end, where the head is kept elsewhere', () => {
    expect(verifyRows(rows.slice(0, 3), { to: head })).toMatchObject({ ok: false, error: { code: 'ledger/truncated', index: 3, expectedCount: head.count } });
    expect(verifyRows(rows, { to: { ...head, head: GENESIS.head } })).toMatchObject({ ok: false, error: { code: 'ledger/wrong-head' } });
  });

  test('for a last line that was half written', () => {
    const lines = text.split('\n').length - 1;
    expect(check(text.slice(0, -1))).toMatchObject({ code: 'ledger/torn-row', index: lines - 1 });
    expect(check(text.slice(0, -20))).toMatchObject({ code: 'ledger/torn-row', index: lines - 1 });
    expect(check(`${text}{"seq`)).toMatchObject({ code: 'ledger/torn-row', index: lines });
  });

  test.each<[string, string, string]>([
    ['no JSON', 'hello', 'ledger/bad-json'],
    ['an empty line', '', 'ledger/bad-json'],
    ['no row', '[]', 'ledger/bad-row'],
    ['a row without an entry', '{"digest":"","previousDigest":"","sequence":0}', 'ledger/bad-row'],
    ['a row with one field too many', '{"digest":"","entry":{},"extra":1,"previousDigest":"","sequence":0}', 'ledger/bad-row'],
  ])('for a line that is %s', (_, line, code) => {
    const [first, ...rest] = text.split('\n');
    expect(check([first, line, ...rest].join('\n'))).toMatchObject({ code, index: 1 });
  });

  test.each<[string, (entry: Record<string, JsonValue>) => void, string]>([
    ['an unknown kind', (entry) => { entry['kind'] = 'toString'; }, 'kind: unknown'],
    ['an unknown field', (entry) => { entry['gold'] = {}; }, 'gold: unknown field'],
    ['a missing field', (entry) => { delete entry['seed']; }, 'seed: not number|null'],
    ['a field of another type', (entry) => { entry['toolNames'] = 'transfer'; }, 'toolNames: not array'],
  ])('for an entry with %s, though its digest is right', (_, change, detail) => {
    const entry = structuredClone((rows[0] as LedgerRow).entry) as unknown as Record<string, JsonValue>;
    change(entry);
    const body = { sequence: 0, previousDigest: GENESIS.head, entry };
    expect(verifyRows([{ ...body, digest: digestOf(body) }])).toEqual({ ok: false, error: { code: 'ledger/bad-row', index: 0, detail } });
  });
});

// checklist: G1
test('entries cannot be changed after they are appended', () => {
  const entry = (rows[1] as LedgerRow).entry as { verdict: string };
  expect(() => { entry.verdict = 'accepted'; }).toThrow(TypeError);
});

describe('what is no row', () => {
  const whole = (): Record<string, JsonValue> => ({ ...structuredClone(rows[0]) } as unknown as Record<string, JsonValue>);
  const isNamed = 'row: must have the fields digest, entry, previousDigest, sequence';

  test.each<[string, () => unknown, string]>([
    ['null', () => null, 'row: not an object'],
    ['a number', () => 7, 'row: not an object'],
    ['a list', () => [whole()], 'row: not an object'],
    ['what JSON cannot hold', () => ({ ...whole(), entry: () => 1 }), 'json/not-json'],
    ['a row without its digest', () => { const { digest: _, ...rest } = whole(); return rest; }, isNamed],
    ['a row with another name for a field', () => { const { digest, ...rest } = whole(); return { ...rest, hash: digest }; }, isNamed],
    ['a row with one field more', () => ({ ...whole(), note: '' }), isNamed],
    ['a row without a number', () => ({ ...whole(), sequence: '0' }), 'sequence: not an integer'],
    ['a row with a fraction for a number', () => ({ ...whole(), sequence: 0.5 }), 'sequence: not an integer'],
    ['a row with a number for the digest before', () => ({ ...whole(), previousDigest: 0 }), 'digest: not a string'],
    ['a row with a number for its digest', () => ({ ...whole(), digest: 0 }), 'digest: not a string'],
    ['a row whose entry is a text', () => ({ ...whole(), entry: 'opened' }), 'entry: not an object'],
  ])('%s', (_, make, detail) => {
    expect(verifyRows([make()])).toEqual({ ok: false, error: { code: 'ledger/bad-row', index: 0, detail } });
  });

  test('the issue of a line says which kind it is: other bytes of the same value, another digest, no JSON', () => {
    const [line = ''] = text.split('\n');
    expect(readLedgerText(`${line.replace('"sequence":0', '"sequence":0.0')}\n`)).toEqual({ ok: false, error: { code: 'ledger/not-canonical', index: 0 } });
    expect(readLedgerText(`${line.slice(0, -1)} }\n`)).toEqual({ ok: false, error: { code: 'ledger/not-canonical', index: 0 } });
    expect(check(`${line.replace('"case-1"', '"case-2"')}\n`)).toMatchObject({ code: 'ledger/digest-mismatch', index: 0, found: (rows[0] as LedgerRow).digest });
    expect(readLedgerText(`${line}}\n`)).toMatchObject({ ok: false, error: { code: 'ledger/bad-json', index: 0, issue: 'json/trailing' } });
  });

  test('a head that was kept must be passed, and rows behind it are no fault', () => {
    const kept = headAfter(rows[1] as LedgerRow);
    expect(verifyRows(rows, { through: kept })).toEqual({ ok: true, value: head });
    expect(verifyRows(rows, { through: { ...kept, head: GENESIS.head } })).toMatchObject({ ok: false, error: { code: 'ledger/wrong-head', index: 1 } });
    expect(verifyRows(rows.slice(0, 1), { through: kept })).toMatchObject({ ok: false, error: { code: 'ledger/truncated', index: 1, expectedCount: 2 } });
  });
});
