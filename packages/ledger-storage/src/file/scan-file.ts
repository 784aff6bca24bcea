/** A ledger file read and checked from the first byte to the last, whoever else may write it. Nothing is changed. */
import { open, type FileHandle } from 'node:fs/promises';
import { err, ok, type Result } from '@contractrl/core';
import {
  GENESIS, scanLedger, type ChainBounds, type LedgerHead, type LedgerIssue, type LedgerRow, type StorageFailure,
} from '@contractrl/core/ledger';
import { readLines } from './lines.ts';

/** `index` is the row that cannot be read, from 0. Bytes that are no UTF-8 never came from a ledger. */
export type LedgerFileIssue = LedgerIssue | { readonly code: 'ledger/not-utf8'; readonly index: number };

export type TakeRepair = (repair: readonly LedgerRow[]) => void | Promise<void>;

export interface FileScan {
  readonly end: Result<LedgerHead, LedgerFileIssue>;
  /** The last whole repair, and the byte behind it. */
  readonly whole: LedgerHead;
  readonly wholeBytes: number;
  /** Whether every line that ends in a newline is sound, so that only a write cut short can be at fault. */
  readonly isSoundToItsTail: boolean;
}

/** `sizeBytes`: where the file is taken to end. File errors are thrown. */
export async function scanHandle(handle: FileHandle, sizeBytes: number, bounds: ChainBounds = {}, take: TakeRepair = () => undefined): Promise<FileScan> {
  let waiting: (readonly LedgerRow[])[] = [];
  const scan = scanLedger(bounds, (repair) => waiting.push(repair));
  const deliver = async (): Promise<void> => {
    const repairs = waiting;
    waiting = [];
    for (const repair of repairs) await take(repair);
  };
  let index = 0;
  let wholeBytes = 0;
  let broken: LedgerFileIssue | undefined;
  const restBytes = await readLines(handle, sizeBytes, (line, { nextByte }) => {
    const row: Result<LedgerRow, LedgerFileIssue> = line === undefined ? err({ code: 'ledger/not-utf8', index }) : scan.line(line);
    if (!row.ok) broken = row.error;
    index += 1;
    if (scan.whole().count === (bounds.from ?? GENESIS).count + index) wholeBytes = nextByte;
    return row.ok;
  }, deliver);
  // What the torn rest says does not matter, only that there is one.
  const end = broken === undefined ? scan.end(restBytes === 0 ? '' : ' ') : err(broken);
  await deliver();
  return { end, whole: scan.whole(), wholeBytes, isSoundToItsTail: broken === undefined };
}

/** The head of a ledger file, or its first broken row. `take` gets one whole repair after the other, in order, while the file is read. */
export async function scanLedgerFile(path: string, bounds: ChainBounds = {}, take?: TakeRepair): Promise<Result<Result<LedgerHead, LedgerFileIssue>, StorageFailure>> {
  try {
    const handle = await open(path, 'r');
    try {
      return ok((await scanHandle(handle, (await handle.stat()).size, bounds, take)).end);
    } finally {
      await handle.close();
    }
  } catch (error) {
    return err(toAccessFailure(error));
  }
}

export function toAccessFailure(cause: unknown): StorageFailure {
  return { code: 'ledger/storage-access', detail: cause instanceof Error ? cause.message : String(cause), cause };
}
