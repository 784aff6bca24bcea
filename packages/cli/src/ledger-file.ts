/**
 * A ledger on disk. It is verified whole before the first row is added, and nothing that is there is ever overwritten: a broken or torn
 * ledger is reported and left as it is. All rows of a repair are written at once and synced before its result is handed out.
 */
import { open, readFile, type FileHandle } from 'node:fs/promises';
import {
  appendRepair, err, formatRow, GENESIS, ok, readLedgerText, repairsIn, verifyRows, type FrozenRepair, type LedgerHead, type LedgerIssue, type Result,
} from '@contractrl/core';
import type { Problem } from './problem.ts';

/** `index` is the row that cannot be read, from 0. Bytes that are no UTF-8 never came from here. */
export type LedgerFileIssue = LedgerIssue | { readonly code: 'ledger/not-utf8'; readonly index: number };

export interface LedgerFile {
  readonly path: string;
  /** Fails where the file has changed since it was opened, or cannot be written; then the file is as it was before the call. */
  append(repair: FrozenRepair): Promise<Result<LedgerHead, Problem>>;
  close(): Promise<void>;
}

/** Opens a ledger for appending, a new one if there is none. */
export async function openLedgerFile(path: string): Promise<Result<LedgerFile, Problem>> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'a+');
  } catch (error) {
    return err(toFileProblem(path, error));
  }
  const state = await readState(handle, path);
  if (state.ok) return ok(createLedgerFile(path, handle, state.value));
  await handle.close();
  return state;
}

interface LedgerState {
  readonly head: LedgerHead;
  readonly sizeBytes: number;
}

async function readState(handle: FileHandle, path: string): Promise<Result<LedgerState, Problem>> {
  try {
    const bytes = await handle.readFile();
    const head = verifyLedgerBytes(bytes);
    return head.ok ? ok({ head: head.value, sizeBytes: bytes.length }) : err(toLedgerProblem(path, head.error));
  } catch (error) {
    return err(toFileProblem(path, error));
  }
}

function createLedgerFile(path: string, handle: FileHandle, start: LedgerState): LedgerFile {
  let { head, sizeBytes } = start;
  return {
    path,
    async append(repair) {
      const next = appendRepair(head, repair);
      const text = Buffer.from(next.rows.map(formatRow).join(''));
      try {
        // Another process that appended meanwhile has continued the same chain; a second continuation would break it.
        if ((await handle.stat()).size !== sizeBytes) return err({ code: 'ledger/changed-meanwhile', message: `The ledger ${path} was changed by another program: let one run finish before the next one starts.` });
        await writeWhole(handle, text, sizeBytes);
      } catch (error) {
        return err(toFileProblem(path, error));
      }
      head = next.head;
      sizeBytes += text.length;
      return ok(head);
    },
    close: () => handle.close(),
  };
}

/** Rows that are cut short by a full disk are taken back: only bytes of this very call are removed. */
async function writeWhole(handle: FileHandle, bytes: Uint8Array, sizeBytes: number): Promise<void> {
  try {
    await handle.appendFile(bytes);
    await handle.sync();
  } catch (error) {
    await handle.truncate(sizeBytes);
    throw error;
  }
}

/** Reads and checks a ledger without opening it for writing. */
export async function verifyLedgerFile(path: string): Promise<Result<Result<LedgerHead, LedgerFileIssue>, Problem>> {
  try {
    return ok(verifyLedgerBytes(await readFile(path)));
  } catch (error) {
    return err(toFileProblem(path, error));
  }
}

/** The head of a ledger, or its first broken row. An empty file is a ledger without rows. */
export function verifyLedgerBytes(bytes: Uint8Array): Result<LedgerHead, LedgerFileIssue> {
  const text = decode(bytes);
  if (text === undefined) return err({ code: 'ledger/not-utf8', index: firstUndecodableLine(bytes) });
  if (text === '') return ok(GENESIS);
  const rows = readLedgerText(text);
  if (!rows.ok) {
    // A row before the unreadable one may be broken too, and the first is the one to name.
    const before = readLedgerText(text.split('\n').slice(0, rows.error.index).map((line) => `${line}\n`).join(''));
    const chain = before.ok ? verifyRows(before.value) : before;
    return chain.ok ? rows : chain;
  }
  const head = verifyRows(rows.value);
  if (!head.ok) return head;
  const repairs = repairsIn(rows.value);
  return repairs.ok ? head : repairs;
}

/** Strict, and with a byte order mark kept: otherwise two different files could have the same digest. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const LINE_FEED = 0x0a;

function firstUndecodableLine(bytes: Uint8Array): number {
  for (let start = 0, line = 0; ; line++) {
    const feed = bytes.indexOf(LINE_FEED, start);
    if (feed === -1 || decode(bytes.subarray(start, feed)) === undefined) return line;
    start = feed + 1;
  }
}

/** What is wrong with a ledger, as a sentence. Rows are counted from 0, as in the file's own `sequence`. */
export function toLedgerProblem(path: string, issue: LedgerFileIssue): Problem {
  const advice = 'keep the file as evidence and start a new ledger';
  switch (issue.code) {
    case 'ledger/torn-row': return { code: issue.code, message: `The last row of the ledger ${path} (row ${issue.index}) was cut short, as by a crash or a full disk: ${advice}.` };
    case 'ledger/open-repair': return { code: issue.code, message: `The repair that starts at row ${issue.index} of the ledger ${path} has no end, as after a crash: ${advice}.` };
    default: return { code: issue.code, message: `The ledger ${path} is broken at row ${issue.index}: ${advice}.` };
  }
}

function toFileProblem(path: string, error: unknown): Problem {
  const detail = error instanceof Error ? error.message : String(error);
  return { code: 'ledger/file-access', message: `The ledger ${path} cannot be read or written (${detail}): check the path, its permissions and the space on the disk.` };
}
