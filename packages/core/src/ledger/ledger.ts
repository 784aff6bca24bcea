/**
 * The append-only ledger: one row an entry, each bound to the one before it by SHA-256 over RFC 8785 bytes. There is no update and no
 * delete. A chain alone cannot show that rows are missing at its end: keep the last head elsewhere and pass it as `to`.
 */
import { canonicalText } from '../json/canonical.ts';
import { digestOf, digestOfText, type Digest } from '../json/digest.ts';
import { parseJson, type JsonLimits } from '../json/parse.ts';
import { isJsonObject, readJsonValue, type JsonValue } from '../json/value.ts';
import { err, ok, type Result } from '../result.ts';
import { entryFault, LEDGER_VERSION, type LedgerEntry } from './entry.ts';
import { freeze, MAX_ENTRY_DEPTH, traceOf, type FrozenRepair } from './freeze.ts';

export interface LedgerRow {
  /** From 0. */
  readonly sequence: number;
  readonly previousDigest: Digest;
  /** SHA-256 of the canonical text of the other three members. */
  readonly digest: Digest;
  readonly entry: LedgerEntry;
}

/** The end of a chain: how many rows it has and the digest of the last. */
export interface LedgerHead {
  readonly count: number;
  readonly head: Digest;
}

/** Where every ledger starts. */
export const GENESIS: LedgerHead = { count: 0, head: digestOfText(`contractrl ledger ${LEDGER_VERSION}`) };

/** `index` is the first broken row, from 0; for a truncated chain, the first row that is missing. */
export type LedgerIssue =
  | { readonly code: 'ledger/torn-row'; readonly index: number }
  | { readonly code: 'ledger/bad-json'; readonly index: number; readonly issue: string }
  | { readonly code: 'ledger/not-canonical'; readonly index: number }
  | { readonly code: 'ledger/bad-row'; readonly index: number; readonly detail: string }
  | { readonly code: 'ledger/bad-sequence'; readonly index: number; readonly expected: number; readonly found: number }
  | { readonly code: 'ledger/broken-link'; readonly index: number; readonly expected: Digest; readonly found: Digest }
  | { readonly code: 'ledger/digest-mismatch'; readonly index: number; readonly expected: Digest; readonly found: Digest }
  | { readonly code: 'ledger/truncated'; readonly index: number; readonly expectedCount: number }
  | { readonly code: 'ledger/wrong-head'; readonly index: number; readonly expected: Digest; readonly found: Digest }
  | { readonly code: 'ledger/open-repair'; readonly index: number; readonly caseId: string };

/** The row that follows `at`. The entry is copied and frozen; one that is not JSON is a caller's bug: TypeError. */
export function appendEntry(at: LedgerHead, entry: LedgerEntry): LedgerRow {
  const copy = readJsonValue(entry, MAX_ENTRY_DEPTH);
  if (!copy.ok) throw new TypeError(`entry is not JSON: ${copy.error.code} at "${copy.error.pointer}"`);
  const body = { sequence: at.count, previousDigest: at.head, entry: copy.value };
  return Object.freeze({ ...body, digest: digestOf(body) }) as unknown as LedgerRow;
}

/** The head after a row. */
export function headAfter(row: LedgerRow): LedgerHead {
  return { count: row.sequence + 1, head: row.digest };
}

/** The rows of a whole repair after `at`, and the new head. */
export function appendRepair(at: LedgerHead, repair: FrozenRepair): { readonly rows: readonly LedgerRow[]; readonly head: LedgerHead } {
  const rows: LedgerRow[] = [];
  let head = at;
  for (const entry of repair.entries) {
    const row = appendEntry(head, entry);
    rows.push(row);
    head = headAfter(row);
  }
  return { rows, head };
}

/** One line of JSON Lines, its newline included, in canonical text: equal rows are equal bytes. */
export function formatRow(row: LedgerRow): string {
  return `${canonicalText(row as unknown as JsonValue)}\n`;
}

/** A row carries a contract and up to two recorded texts. */
const ROW_LIMITS: JsonLimits = { maxDepth: MAX_ENTRY_DEPTH, maxLength: 67_108_864 };

/**
 * Reads JSON Lines as {@link formatRow} wrote them. A last line without its newline is a write that was cut short (`ledger/torn-row`).
 * The chain is not judged here: {@link verifyRows} does.
 */
export function readLedgerText(text: string): Result<readonly LedgerRow[], LedgerIssue> {
  const lines = text.split('\n');
  const rest = lines.pop();
  const rows: LedgerRow[] = [];
  for (const [index, line] of lines.entries()) {
    const parsed = parseJson(line, ROW_LIMITS);
    if (!parsed.ok) return err({ code: 'ledger/bad-json', index, issue: parsed.error.code });
    const row = readRow(parsed.value, index);
    if (!row.ok) return row;
    // Another spelling of the same value (`1E+21`, `\u001F`) keeps the digest: the bytes themselves must be the canonical ones.
    if (canonicalText(parsed.value) !== line) return err({ code: 'ledger/not-canonical', index });
    rows.push(row.value);
  }
  return rest === '' ? ok(rows) : err({ code: 'ledger/torn-row', index: rows.length });
}

/**
 * Checks the chain from `from` on and names the first broken row: a changed row gives `digest-mismatch`, a removed or reordered one
 * `bad-sequence` or `broken-link`. With `to`, the chain must end exactly there, so rows cut off its end are seen too.
 */
export function verifyRows(
  rows: readonly unknown[], { from = GENESIS, to }: { readonly from?: LedgerHead; readonly to?: LedgerHead } = {},
): Result<LedgerHead, LedgerIssue> {
  let at = from;
  for (const [index, value] of rows.entries()) {
    const read = readRow(value, index);
    if (!read.ok) return read;
    const { sequence, previousDigest, digest, entry } = read.value;
    if (sequence !== at.count) return err({ code: 'ledger/bad-sequence', index, expected: at.count, found: sequence });
    if (previousDigest !== at.head) return err({ code: 'ledger/broken-link', index, expected: at.head, found: previousDigest });
    const expected = digestOf({ sequence, previousDigest, entry: entry as unknown as JsonValue });
    if (digest !== expected) return err({ code: 'ledger/digest-mismatch', index, expected, found: digest });
    at = headAfter(read.value);
  }
  if (to !== undefined && at.count < to.count) return err({ code: 'ledger/truncated', index: rows.length, expectedCount: to.count });
  if (to !== undefined && at.head !== to.head) return err({ code: 'ledger/wrong-head', index: rows.length, expected: to.head, found: at.head });
  return ok(at);
}

/** The repairs in verified rows, sealed again. Rows that do not make whole repairs are `ledger/open-repair` at the first row of the repair. */
export function repairsIn(rows: readonly LedgerRow[]): Result<readonly FrozenRepair[], LedgerIssue> {
  const repairs: FrozenRepair[] = [];
  let start = 0;
  while (start < rows.length) {
    const first = rows[start] as LedgerRow;
    const next = rows.findIndex((row, index) => index > start && row.entry.kind === 'opened');
    const end = next === -1 ? rows.length : next;
    const entries = rows.slice(start, end).map((row) => row.entry);
    if (traceOf(entries) === undefined) return err({ code: 'ledger/open-repair', index: start, caseId: first.entry.caseId });
    repairs.push(freeze(entries));
    start = end;
  }
  return ok(repairs);
}

const ROW_FIELDS = ['digest', 'entry', 'previousDigest', 'sequence'];

function readRow(value: unknown, index: number): Result<LedgerRow, LedgerIssue> {
  const refuse = (detail: string): Result<LedgerRow, LedgerIssue> => err({ code: 'ledger/bad-row', index, detail });
  const json = readJsonValue(value, MAX_ENTRY_DEPTH);
  if (!json.ok || !isJsonObject(json.value)) return refuse(json.ok ? 'row: not an object' : json.error.code);
  const row = json.value;
  if (Object.keys(row).sort().join() !== ROW_FIELDS.join()) return refuse(`row: must have the fields ${ROW_FIELDS.join(', ')}`);
  if (!Number.isSafeInteger(row['sequence'])) return refuse('sequence: not an integer');
  if (typeof row['previousDigest'] !== 'string' || typeof row['digest'] !== 'string') return refuse('digest: not a string');
  const fault = entryFault(row['entry']);
  return fault === undefined ? ok(row as unknown as LedgerRow) : refuse(fault);
}
