/** Ledgers on disk as the commands use them: read and verified whole before anything is shown, and problems as sentences. */
import { readFile } from 'node:fs/promises';
import { freeze, ok, type FrozenRepair, type Result } from '@contractrl/core';
import { formatStorageFailure, readHead, type LedgerHead, type LedgerRow, type SignedHead, type StorageFailure } from '@contractrl/core/ledger';
import { scanLedgerFile, type LedgerFileIssue, type Recovery } from '@contractrl/ledger-storage/file';
import { EXIT, type ExitCode } from './exit-code.ts';
import type { Io } from './io.ts';
import { reportProblem, type Problem } from './problem.ts';

/** A repair as it stands in a ledger. */
export interface RecordedRepair {
  readonly firstRow: number;
  readonly repair: FrozenRepair;
}

/**
 * Verifies the ledger whole, and only then hands out its repairs one by one, so that nothing is shown of a broken one. Gives the exit code;
 * a repair for which `take` gives another code than 0 decides, and the rest is still read.
 */
export async function readLedgerFile(path: string, io: Io, take: (recorded: RecordedRepair) => Promise<ExitCode>, done: (head: LedgerHead) => Promise<void> = () => Promise.resolve()): Promise<ExitCode> {
  const head = await verifiedHead(path, io);
  if (typeof head === 'number') return head;
  let code: ExitCode = EXIT.ok;
  // What another program appends meanwhile is not part of what was verified.
  const again = await scanLedgerFile(path, { through: head }, async (rows) => {
    const [first] = rows as readonly [LedgerRow, ...LedgerRow[]];
    if (io.signal.aborted || first.sequence >= head.count) return;
    const taken = await take({ firstRow: first.sequence, repair: freeze(rows.map((row) => row.entry)) });
    if (taken !== EXIT.ok) code = taken;
  });
  const issue = again.ok ? (again.value.ok || again.value.error.index >= head.count ? undefined : again.value.error) : again.error;
  if (issue !== undefined) {
    await reportProblem(toLedgerProblem(path, issue), io);
    return EXIT.ledgerBroken;
  }
  if (io.signal.aborted) return EXIT.interrupted;
  await done(head);
  return code;
}

/** The head of a whole ledger, or the exit code after the problem was told. */
export async function verifiedHead(path: string, io: Io): Promise<LedgerHead | ExitCode> {
  const scanned = await scanLedgerFile(path);
  const head = scanned.ok ? scanned.value : scanned;
  if (head.ok) return head.value;
  await reportProblem(toLedgerProblem(path, head.error), io);
  return scanned.ok ? EXIT.ledgerBroken : EXIT.usage;
}

/** A head that was kept outside the ledger, perhaps signed. */
export async function readHeadFile(path: string): Promise<Result<LedgerHead | SignedHead, Problem>> {
  const text = await readTextFile(path);
  if (!text.ok) return text;
  const head = readHead(text.value);
  return head.ok ? head : { ok: false, error: { code: head.error.code, message: `${path} holds no head of a ledger (${'detail' in head.error ? head.error.detail : ''}): give what "ledger head" printed.` } };
}

export async function readTextFile(path: string): Promise<Result<string, Problem>> {
  try {
    return ok(await readFile(path, 'utf8'));
  } catch (error) {
    return { ok: false, error: { code: 'input/unreadable', message: `${path} cannot be read (${error instanceof Error ? error.message : String(error)}): check the path and its permissions.` } };
  }
}

/** What is wrong with a ledger, as a sentence. Rows are counted from 0, as in the file's own `sequence`. */
export function toLedgerProblem(path: string, issue: LedgerFileIssue | StorageFailure): Problem {
  const { code } = issue;
  const advice = 'keep the file as evidence and start a new ledger';
  if (!('index' in issue)) {
    return code === 'ledger/storage-access'
      ? { code: 'ledger/file-access', message: `The ledger ${path} cannot be read or written (${issue.detail}): check the path, its permissions and the space on the disk.` }
      : { code, message: `${path}: ${formatStorageFailure(issue)}` };
  }
  switch (code) {
    case 'ledger/torn-row': return { code, message: `The last row of the ledger ${path} (row ${issue.index}) was cut short, as by a crash or a full disk: append to the ledger to have it moved aside, or ${advice}.` };
    case 'ledger/open-repair': return { code, message: `The repair that starts at row ${issue.index} of the ledger ${path} has no end, as after a crash: ${advice}, unless it is the last one, which the next repair moves aside.` };
    case 'ledger/truncated': return { code, message: `The ledger ${path} ends before row ${issue.index}, and the kept head is that of ${issue.expectedCount} rows: find out who cut it, and restore it from a copy.` };
    case 'ledger/wrong-head': return { code, message: `Row ${issue.index} of the ledger ${path} is not the one of the kept head: the ledger was written anew. Restore it from a copy.` };
    default: return { code, message: `The ledger ${path} is broken at row ${issue.index}: ${advice}.` };
  }
}

export function toRecoveryProblem(path: string, { index, reason, movedBytes, movedTo }: Recovery): Problem {
  return { code: reason, message: `A crash had cut the ledger ${path} short. Its ${index} whole rows are kept; the ${movedBytes} bytes behind them, which no result was printed for, are now in ${movedTo}.` };
}
