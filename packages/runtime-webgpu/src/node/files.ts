/**
 * Files that several processes may use at once: written under a name of their own and renamed when whole, so a reader sees all or nothing;
 * hashed as they stream; and remembered by size and time of change once verified, so that a later run need not hash 98 MB again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs, utimes, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { err, ok, type Result } from '@contractrl/core';
import type { FileRanges } from '../model/gguf.ts';
import { errorCode, toFileFailure, type ModelFailure } from './failure.ts';

/** The bytes a file must have. */
export interface FilePin {
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Names of temporary files and folders end in the id of the process that made them. */
const TEMPORARY = /\.(\d+)-[0-9a-f]{8}\.tmp$/u;

/** A name beside `path` that no other process uses. */
export function temporaryName(path: string): string {
  return `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
}

/** Removes from `folder` what a process left that was killed before it could clean up. */
export async function sweepTemporary(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = TEMPORARY.exec(name)?.[1];
    if (owner !== undefined && !isRunning(Number(owner))) await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return errorCode(cause) === 'EPERM';
  }
}

/** SHA-256 in lower-case hexadecimal, O(size), about 0.3 s for 100 MB. `onBytes` gets the bytes hashed so far. */
export async function sha256OfFile(path: string, signal?: AbortSignal, onBytes?: (doneBytes: number) => void): Promise<Result<string, ModelFailure>> {
  const hash = createHash('sha256');
  let doneBytes = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20, ...(signal === undefined ? {} : { signal }) }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      doneBytes += chunk.length;
      onBytes?.(doneBytes);
    }
  } catch (cause) {
    return err(toFileFailure(cause, path));
  }
  return ok(hash.digest('hex'));
}

/** A piece of a file that is read at once: reads of 2 GiB and more are refused. */
const PIECE_BYTES = 1 << 28;

/** An open file; the caller closes it. */
export interface OpenFile extends FileRanges {
  close(): Promise<void>;
}

/** Opens a file to read parts of it. */
export async function openFile(path: string): Promise<Result<OpenFile, ModelFailure>> {
  try {
    const file = await open(path);
    const { size: sizeBytes } = await file.stat();
    return ok({ sizeBytes, read: (start, end, scratch) => readRange(file, start, end, scratch), close: () => file.close().catch(() => undefined) });
  } catch (cause) {
    return err(toFileFailure(cause, path));
  }
}

async function readRange(file: FileHandle, start: number, end: number, scratch = new Uint8Array(end - start)): ReturnType<FileRanges['read']> {
  const bytes = scratch.subarray(0, end - start);
  try {
    for (let offset = 0; offset < bytes.length;) {
      const { bytesRead } = await file.read(bytes, offset, Math.min(PIECE_BYTES, bytes.length - offset), start + offset);
      if (bytesRead === 0) return err({ code: 'model/truncated', neededBytes: end, actualBytes: start + offset });
      offset += bytesRead;
    }
    return ok(bytes);
  } catch (cause) {
    return err({ code: 'model/unreadable', detail: errorCode(cause) ?? String(cause) });
  }
}

/** Size first, which is free, then the digest. */
export async function verifyFile(path: string, pin: FilePin, signal?: AbortSignal, onBytes?: (doneBytes: number) => void): Promise<Result<void, ModelFailure>> {
  const size = await fileSize(path);
  if (!size.ok) return size;
  if (size.value !== pin.sizeBytes) return err({ code: 'model/wrong-size', path, expectedBytes: pin.sizeBytes, actualBytes: size.value });
  const digest = await sha256OfFile(path, signal, onBytes);
  if (!digest.ok) return digest;
  return digest.value === pin.sha256 ? ok(undefined) : err({ code: 'model/wrong-digest', path, expected: pin.sha256, actual: digest.value });
}

export async function fileSize(path: string): Promise<Result<number, ModelFailure>> {
  try {
    return ok((await stat(path)).size);
  } catch (cause) {
    return err(toFileFailure(cause, path));
  }
}

/**
 * True where `path` was found to have `pin`'s digest before and has the same size and time of change since. Guards against accident, not malice:
 * who can write the file can write the note beside it. `contractrl model verify` hashes again.
 */
export async function isRemembered(path: string, pin: FilePin): Promise<boolean> {
  const known = await rememberedPin(path);
  return known?.sha256 === pin.sha256 && known.sizeBytes === pin.sizeBytes;
}

/** True where the file has the size and time of change that {@link remember} noted. */
export async function isUntouched(path: string): Promise<boolean> {
  return (await rememberedPin(path)) !== undefined;
}

/** What {@link remember} noted of the file, where it has not changed since. `note` is the place of the note where that is not beside the file. */
export async function rememberedPin(path: string, note: string = notePath(path)): Promise<FilePin | undefined> {
  const known = await readNote(note);
  const now = await stat(path).catch(() => undefined);
  return known !== undefined && known.sizeBytes === now?.size && known.mtimeMs === now.mtimeMs ? known : undefined;
}

/** Notes that the file at `path`, whole and in place, has this digest. A note that cannot be written only costs the next run the work again. */
export async function remember(path: string, sha256: string, note: string = notePath(path)): Promise<void> {
  try {
    const { size, mtimeMs } = await stat(path);
    await mkdir(dirname(note), { recursive: true });
    const temporary = temporaryName(note);
    await writeFile(temporary, `${JSON.stringify({ sha256, sizeBytes: size, mtimeMs } satisfies Note)}\n`);
    await rename(temporary, note);
  } catch {
    await rm(note, { force: true }).catch(() => undefined);
  }
}

export async function forget(path: string): Promise<void> {
  await rm(notePath(path), { force: true }).catch(() => undefined);
}

/** Marks a remembered file as used now, for {@link lastUseMs}. */
export async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(notePath(path), now, now).catch(() => undefined);
}

/** When a file was last remembered or touched, or, without a note, changed; milliseconds since 1970, 0 where it is gone. */
export async function lastUseMs(path: string): Promise<number> {
  const noted = await stat(notePath(path)).catch(() => stat(path).catch(() => undefined));
  return noted?.mtimeMs ?? 0;
}

/** Moves a whole file into place; whoever comes last wins, with the same bytes. */
export async function moveIntoPlace(temporary: string, path: string): Promise<Result<void, ModelFailure>> {
  try {
    await rename(temporary, path);
    return ok(undefined);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    return err(toFileFailure(cause, path));
  }
}

/** Creates the folder of `path`, clears it of what killed processes left, and checks that it has room for `neededBytes`. */
export async function prepareFolder(path: string, neededBytes: number): Promise<Result<void, ModelFailure>> {
  const folder = dirname(path);
  try {
    await mkdir(folder, { recursive: true });
    await sweepTemporary(folder);
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < neededBytes ? err({ code: 'model/no-space', path: folder, neededBytes }) : ok(undefined);
  } catch (cause) {
    return err(toFileFailure(cause, folder, neededBytes));
  }
}

function notePath(path: string): string {
  return `${path}.verified.json`;
}

interface Note extends FilePin {
  readonly mtimeMs: number;
}

/** Undefined where there is no note, or none that this version wrote. */
async function readNote(path: string): Promise<Note | undefined> {
  try {
    const note: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof note === 'object' && note !== null && 'sha256' in note && 'sizeBytes' in note && 'mtimeMs' in note ? (note as Note) : undefined;
  } catch {
    return undefined;
  }
}
