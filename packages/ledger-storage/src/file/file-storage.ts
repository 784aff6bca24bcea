/**
 * A ledger in a file of JSON Lines. Rows are written at once and synced before they are acknowledged. A crash in the middle of a write leaves
 * rows that nobody was told of: the next opening moves them into `<path>.torn`, says so, and goes on behind the last whole repair. Whatever
 * else is wrong with the file is reported, and the file is left as it is.
 */
import { open, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { err, ok, type Result } from '@contractrl/core';
import { formatRow, headAfterRows, type LedgerHead, type LedgerIssue, type LedgerStorage, type StorageFailure } from '@contractrl/core/ledger';
import { readLines } from './lines.ts';
import { lockFile, type FileLock } from './lock.ts';
import { scanHandle, toAccessFailure, type FileScan, type LedgerFileIssue } from './scan-file.ts';

/** What a crash left behind the last whole repair. */
export interface Recovery {
  /** The first row that was not whole or not of a whole repair, from 0: the number of rows that remain. */
  readonly index: number;
  readonly reason: Extract<LedgerIssue['code'], 'ledger/torn-row' | 'ledger/open-repair'>;
  readonly movedBytes: number;
  readonly movedTo: string;
}

export interface FileStorage extends LedgerStorage {
  readonly path: string;
  /** Undefined where the file was whole. */
  readonly recovery: Recovery | undefined;
}

export interface FileStorageOptions {
  /** A head kept from before: a file that does not reach it, or took another way, is refused and not recovered. */
  readonly through?: LedgerHead;
}

/** Opens a ledger for writing, a new one if there is none. Fails where it is locked, broken, or cannot be written. */
export async function openFileStorage(path: string, options: FileStorageOptions = {}): Promise<Result<FileStorage, StorageFailure | LedgerFileIssue>> {
  let lock: FileLock | undefined;
  let handle: FileHandle | undefined;
  try {
    const locked = await lockFile(path);
    if (!locked.ok) return locked;
    lock = locked.value;
    handle = await open(path, 'a+');
    const { size } = await handle.stat();
    if (size === 0) await syncFolder(path);
    const scan = await scanHandle(handle, size, options);
    const recovery = scan.end.ok ? undefined : await recover(handle, path, size, scan, scan.end.error, options);
    if (scan.end.ok || recovery !== undefined) {
      const storage = createStorage(path, { handle, lock, head: scan.whole, sizeBytes: scan.wholeBytes }, recovery);
      [handle, lock] = [undefined, undefined];
      return ok(storage);
    }
    return scan.end;
  } catch (error) {
    return err(toAccessFailure(error));
  } finally {
    await handle?.close();
    await lock?.release();
  }
}

/** A new name is safe only once its folder is. Windows has no such call, and needs none. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Moves what was never acknowledged out of the way, copy first. Undefined where that is not what is wrong. */
async function recover(
  handle: FileHandle, path: string, sizeBytes: number, { whole, wholeBytes, isSoundToItsTail }: FileScan, issue: LedgerFileIssue, { through }: FileStorageOptions,
): Promise<Recovery | undefined> {
  const isCutShort = isSoundToItsTail && (issue.code === 'ledger/torn-row' || issue.code === 'ledger/open-repair');
  if (!isCutShort || whole.count < (through?.count ?? 0)) return undefined;
  const movedTo = `${path}.torn`;
  const bytes = Buffer.alloc(sizeBytes - wholeBytes);
  await handle.read(bytes, 0, bytes.length, wholeBytes);
  const torn = await open(movedTo, 'a');
  try {
    await torn.appendFile(bytes);
    await torn.sync();
  } finally {
    await torn.close();
  }
  await handle.truncate(wholeBytes);
  await handle.sync();
  return { index: whole.count, reason: issue.code, movedBytes: bytes.length, movedTo };
}

interface Opened {
  readonly handle: FileHandle;
  readonly lock: FileLock;
  readonly head: LedgerHead;
  readonly sizeBytes: number;
}

function createStorage(path: string, { handle, lock, ...start }: Opened, recovery: Recovery | undefined): FileStorage {
  let { head, sizeBytes } = start;
  // After a failed sync nobody knows what the disk holds: only opening it again tells.
  let isUsable = true;
  /** One write at a time. */
  let last: Promise<unknown> = Promise.resolve();

  const write: LedgerStorage['append'] = async (rows) => {
    if (!isUsable) return err({ code: 'ledger/closed' });
    const next = headAfterRows(head, rows);
    if (!next.ok) return next;
    const bytes = Buffer.from(rows.map(formatRow).join(''));
    try {
      if (!(await isAsLeft(handle, path, sizeBytes))) return err({ code: 'ledger/changed-meanwhile' });
      await handle.appendFile(bytes);
      await handle.datasync();
    } catch (error) {
      isUsable = false;
      // Only bytes of this very call are taken back; where that fails too, the next opening does it.
      await handle.truncate(sizeBytes).catch(() => undefined);
      return err(toAccessFailure(error));
    }
    head = next.value;
    sizeBytes += bytes.length;
    return next;
  };

  return {
    path,
    recovery,
    head: () => head,
    append(rows) {
      const appended = last.then(() => write(rows));
      last = appended;
      return appended;
    },
    async read(take) {
      try {
        await readLines(handle, sizeBytes, (line) => line !== undefined && take(line));
        return ok(undefined);
      } catch (error) {
        return err(toAccessFailure(error));
      }
    },
    async close() {
      await last;
      isUsable = false;
      await handle.close();
      await lock.release();
    },
  };
}

/** Whether the file is the one that was opened, and no one else has written to it: what another program put there, this chain does not continue. */
async function isAsLeft(handle: FileHandle, path: string, sizeBytes: number): Promise<boolean> {
  const [opened, named] = await Promise.all([handle.stat({ bigint: true }), stat(path, { bigint: true })]);
  return opened.size === BigInt(sizeBytes) && opened.ino === named.ino && opened.dev === named.dev;
}
