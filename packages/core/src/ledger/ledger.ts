/**
 * The append-only ledger: one row an entry, each bound to the one before it by SHA-256 over RFC 8785 bytes. There is no update and no
 * delete. A chain alone cannot show that rows are missing at its end: keep the last head elsewhere and pass it as `to`.
 */
import { canonicalText, readCanonicalText } from '../json/canonical.ts';
import { digestOfText, type Digest } from '../json/digest.ts';
import { parseJson, type JsonLimits } from '../json/parse.ts';
import { deepFreeze, isJsonObject, readJsonValue, type JsonValue } from '../json/value.ts';
import { err, ok, type Result } from '../result.ts';
import { entryFault } from './entry-fields.ts';
import { LEDGER_VERSION, type LedgerEntry } from './entry.ts';
import { entryText, MAX_ROW_DEPTH, rememberText, sealEntry } from './entry-text.ts';
import { freeze, traceOf, type FrozenRepair } from './freeze.ts';

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
export const GENESIS: LedgerHead = { count: 0, head: genesisOf(LEDGER_VERSION) };

/** Where ledgers of earlier versions started. They are read, verified and continued; each repair names its version. */
const EARLIER_STARTS: ReadonlySet<Digest> = new Set(Array.from({ length: LEDGER_VERSION - 1 }, (_, index) => genesisOf(index + 1)));

function genesisOf(version: number): Digest {
  return digestOfText(`contractrl ledger ${version}`);
}

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

/** Rows whose shape is known and that nobody can change: made by {@link appendEntry}, or read here. */
const knownRows = new WeakSet<object>();

/** The row that follows `at`. The entry is copied and frozen; one that is not JSON is a caller's bug: TypeError. */
export function appendEntry(at: LedgerHead, entry: LedgerEntry): LedgerRow {
  const sealed = sealEntry(entry);
  const body = { entry: sealed, previousDigest: at.head, sequence: at.count };
  const row = Object.freeze({ ...body, digest: digestOfText(bodyText(body)) });
  knownRows.add(row);
  return row;
}

/** The canonical text of a known row without its digest: what the digest is of. The host writes well-formed strings as RFC 8785 does. */
function bodyText({ entry, previousDigest, sequence }: Omit<LedgerRow, 'digest'>): string {
  return `{"entry":${entryText(entry)}${tailText(previousDigest, sequence)}`;
}

function tailText(previousDigest: Digest, sequence: number): string {
  return `,"previousDigest":${JSON.stringify(previousDigest)},"sequence":${sequence}}`;
}

function frontText(digest: Digest): string {
  return `{"digest":${JSON.stringify(digest)},`;
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
  return `${knownRows.has(row) ? frontText(row.digest) + bodyText(row).slice(1) : canonicalText(row as unknown as JsonValue)}\n`;
}

/** A row carries a contract and up to two recorded texts. */
const ROW_LIMITS: JsonLimits = { maxDepth: MAX_ROW_DEPTH, maxLength: 67_108_864 };

/**
 * Reads JSON Lines as {@link formatRow} wrote them. A last line without its newline is a write that was cut short (`ledger/torn-row`).
 * The chain is not judged here: {@link verifyRows} does.
 */
export function readLedgerText(text: string): Result<readonly LedgerRow[], LedgerIssue> {
  const lines = text.split('\n');
  const rest = lines.pop();
  const rows: LedgerRow[] = [];
  for (const [index, line] of lines.entries()) {
    const row = readRowText(line, index);
    if (!row.ok) return row;
    rows.push(row.value);
  }
  return rest === '' ? ok(rows) : err({ code: 'ledger/torn-row', index: rows.length });
}

/** Reads one line, its newline left out. */
export function readRowText(line: string, index: number): Result<LedgerRow, LedgerIssue> {
  const known = readCanonicalText(line, MAX_ROW_DEPTH);
  const parsed = known === undefined ? parseJson(line, ROW_LIMITS) : ok(known);
  if (!parsed.ok) return err({ code: 'ledger/bad-json', index, issue: parsed.error.code });
  const read = toRow(deepFreeze(parsed.value), index);
  if (!read.ok) return read;
  // Another spelling of the same value (`1E+21`, `\u001F`) keeps the digest: the bytes themselves must be the canonical ones.
  if (known === undefined && canonicalText(parsed.value) !== line) return err({ code: 'ledger/not-canonical', index });
  const { digest, entry, previousDigest, sequence } = read.value;
  rememberText(entry, line.slice(frontText(digest).length + '"entry":'.length, -tailText(previousDigest, sequence).length));
  return read;
}

/** Where a chain begins and how it must go on. */
export interface ChainBounds {
  readonly from?: LedgerHead;
  /** The chain must end exactly here, so that rows cut off its end are seen too. */
  readonly to?: LedgerHead;
  /** The chain must pass here: a head that was kept before more rows came. */
  readonly through?: LedgerHead;
}

/**
 * Checks the chain from `from` on and names the first broken row: a changed row gives `digest-mismatch`, a removed or reordered one
 * `bad-sequence` or `broken-link`.
 */
export function verifyRows(rows: readonly unknown[], bounds: ChainBounds = {}): Result<LedgerHead, LedgerIssue> {
  let at = bounds.from ?? GENESIS;
  for (const [index, value] of rows.entries()) {
    const read = readRow(value, index);
    if (!read.ok) return read;
    const next = follow(at, read.value, index, bounds);
    if (!next.ok) return next;
    at = next.value;
  }
  return endOf(at, rows.length, bounds);
}

/** The head after `row`, where it continues `at`. */
export function follow(at: LedgerHead, row: LedgerRow, index: number, { through }: ChainBounds): Result<LedgerHead, LedgerIssue> {
  const { sequence, previousDigest, digest } = row;
  if (sequence !== at.count) return err({ code: 'ledger/bad-sequence', index, expected: at.count, found: sequence });
  const isEarlierStart = at.head === GENESIS.head && at.count === 0 && EARLIER_STARTS.has(previousDigest);
  if (previousDigest !== at.head && !isEarlierStart) return err({ code: 'ledger/broken-link', index, expected: at.head, found: previousDigest });
  const expected = digestOfText(bodyText(row));
  if (digest !== expected) return err({ code: 'ledger/digest-mismatch', index, expected, found: digest });
  if (through?.count === sequence + 1 && through.head !== digest) return err({ code: 'ledger/wrong-head', index, expected: through.head, found: digest });
  return ok(headAfter(row));
}

/** The end of a chain, where nothing is missing at it. `index` is its number of rows. */
export function endOf(at: LedgerHead, index: number, { to, through }: ChainBounds): Result<LedgerHead, LedgerIssue> {
  const expectedCount = Math.max(to?.count ?? 0, through?.count ?? 0);
  if (at.count < expectedCount) return err({ code: 'ledger/truncated', index, expectedCount });
  if (to !== undefined && at.head !== to.head) return err({ code: 'ledger/wrong-head', index, expected: to.head, found: at.head });
  return ok(at);
}

/** The repairs in verified rows, sealed again. Rows that do not make whole repairs are `ledger/open-repair` at the first row of the repair. */
export function repairsIn(rows: readonly LedgerRow[]): Result<readonly FrozenRepair[], LedgerIssue> {
  const groups = groupRepairs(rows);
  return groups.ok ? ok(groups.value.map(freeze)) : groups;
}

/** The entries of each repair. */
export function groupRepairs(rows: readonly LedgerRow[]): Result<readonly (readonly LedgerEntry[])[], LedgerIssue> {
  const starts = rows.flatMap((row, index) => (index === 0 || row.entry.kind === 'opened' ? [index] : []));
  const groups = starts.map((start, at) => rows.slice(start, starts[at + 1]).map((row) => row.entry));
  const open = groups.findIndex((entries) => traceOf(entries) === undefined);
  return open === -1 ? ok(groups) : err({ code: 'ledger/open-repair', index: starts[open] ?? 0, caseId: groups[open]?.[0]?.caseId ?? '' });
}

const ROW_FIELDS = ['digest', 'entry', 'previousDigest', 'sequence'];

function readRow(value: unknown, index: number): Result<LedgerRow, LedgerIssue> {
  if (typeof value === 'object' && value !== null && knownRows.has(value)) return ok(value as LedgerRow);
  const json = readJsonValue(value, MAX_ROW_DEPTH);
  return json.ok ? toRow(json.value, index) : err({ code: 'ledger/bad-row', index, detail: json.error.code });
}

/** `value` is deep-frozen. */
function toRow(value: JsonValue, index: number): Result<LedgerRow, LedgerIssue> {
  const refuse = (detail: string): Result<LedgerRow, LedgerIssue> => err({ code: 'ledger/bad-row', index, detail });
  if (!isJsonObject(value)) return refuse('row: not an object');
  if (Object.keys(value).length !== ROW_FIELDS.length || !ROW_FIELDS.every((name) => Object.hasOwn(value, name))) return refuse(`row: must have the fields ${ROW_FIELDS.join(', ')}`);
  if (!Number.isSafeInteger(value['sequence'])) return refuse('sequence: not an integer');
  if (typeof value['previousDigest'] !== 'string' || typeof value['digest'] !== 'string') return refuse('digest: not a string');
  const fault = entryFault(value['entry']);
  if (fault !== undefined) return refuse(fault);
  knownRows.add(value);
  return ok(value as unknown as LedgerRow);
}
