/**
 * One file over HTTP, resumable. The bytes go to `<target>.part`; a later call continues it with a Range request (RFC 9110 §14). While a process
 * writes, the part bears that process's id, so two processes never write one file; what a dead process left is taken over.
 */
import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { err, ok, type Result } from '@contractrl/core';
import { errorCode, isAbort, toFileFailure, type ModelFailure } from './failure.ts';
import { fileSize, isRunning, prepareFolder, verifyFile, type FilePin } from './files.ts';

/** Time for a first answer; without a network the name lookup fails at once, behind a silent firewall this is the wait. */
const ANSWER_TIMEOUT_MS = 10_000;
const STALL_TIMEOUT_MS = 30_000;

export interface DownloadTimeouts {
  readonly answerTimeoutMs?: number;
  readonly stallTimeoutMs?: number;
}

export interface DownloadOptions extends DownloadTimeouts {
  readonly url: string;
  /** Where the file will be; parts are kept beside it. */
  readonly target: string;
  readonly pin: FilePin;
  readonly signal?: AbortSignal;
  readonly onBytes?: (doneBytes: number) => void;
}

/** Downloads, verifies and gives the path of the whole, verified part, which the caller moves into place. A wrong file is deleted. */
export async function download(options: DownloadOptions): Promise<Result<string, ModelFailure>> {
  const { target, pin, signal } = options;
  const room = await prepareFolder(target, pin.sizeBytes);
  if (!room.ok) return room;
  const part = await claimPart(target);
  const received = await receive(options, part);
  if (!received.ok) {
    await releasePart(part, target);
    return received;
  }
  const verified = await verifyFile(part, pin, signal);
  if (verified.ok) return ok(part);
  if (verified.error.code === 'model/aborted') await releasePart(part, target);
  else await rm(part, { force: true });
  return verified;
}

async function receive(options: DownloadOptions, part: string): Promise<Result<void, ModelFailure>> {
  const size = await fileSize(part);
  const kept = size.ok ? size.value : 0;
  if (kept === options.pin.sizeBytes) return ok(undefined);
  const first = await request(options, part, kept < options.pin.sizeBytes ? kept : 0);
  // 416: the server's file ends before our part does, so the part is of another file.
  return !first.ok && first.error.code === 'model/http-status' && first.error.status === 416 ? request(options, part, 0) : first;
}

async function request(options: DownloadOptions, part: string, from: number): Promise<Result<void, ModelFailure>> {
  const { url, pin, signal, answerTimeoutMs = ANSWER_TIMEOUT_MS, stallTimeoutMs = STALL_TIMEOUT_MS } = options;
  const watchdog = createWatchdog(signal);
  const toFailure = (cause: unknown, receivedBytes: number): ModelFailure => {
    if (signal?.aborted === true) return { code: 'model/aborted' };
    if (watchdog.firedMs !== undefined) return { code: 'model/stalled', url, receivedBytes, waitedMs: watchdog.firedMs };
    return { code: 'model/interrupted', url, receivedBytes, reason: reasonOf(cause) };
  };
  let response: Response;
  watchdog.restart(answerTimeoutMs);
  try {
    response = await fetch(url, { signal: watchdog.signal, headers: from > 0 ? { range: `bytes=${from}-` } : {} });
  } catch (cause) {
    watchdog.stop();
    return err(signal?.aborted === true ? { code: 'model/aborted' } : { code: 'model/no-network', url, reason: isAbort(cause) ? `no answer in ${answerTimeoutMs} ms` : reasonOf(cause) });
  }
  const start = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${from}-`) === true ? from : 0;
  const usable = response.status === 200 || (response.status === 206 && start === from);
  if (!usable || response.body === null) {
    watchdog.stop();
    await response.body?.cancel().catch(() => undefined);
    return err({ code: 'model/http-status', url, status: response.status });
  }
  const promisedBytes = declaredBytes(response);
  if (promisedBytes !== undefined && start + promisedBytes !== pin.sizeBytes) {
    watchdog.stop();
    await response.body.cancel().catch(() => undefined);
    return err({ code: 'model/wrong-size', path: url, expectedBytes: pin.sizeBytes, actualBytes: start + promisedBytes });
  }
  let doneBytes = start;
  let file: FileHandle | undefined;
  try {
    file = await open(part, start > 0 ? 'a' : 'w');
    const reader = response.body.getReader();
    for (;;) {
      watchdog.restart(stallTimeoutMs);
      const chunk = await reader.read().catch((cause: unknown) => toFailure(cause, doneBytes));
      if ('code' in chunk) return err(chunk);
      if (chunk.done) break;
      doneBytes += chunk.value.length;
      if (doneBytes > pin.sizeBytes) {
        await reader.cancel();
        return err({ code: 'model/wrong-size', path: url, expectedBytes: pin.sizeBytes, actualBytes: doneBytes });
      }
      await file.write(chunk.value);
      options.onBytes?.(doneBytes);
    }
  } catch (cause) {
    return err(toFileFailure(cause, part, pin.sizeBytes));
  } finally {
    watchdog.stop();
    await file?.close().catch(() => undefined);
  }
  return doneBytes === pin.sizeBytes ? ok(undefined) : err({ code: 'model/interrupted', url, receivedBytes: doneBytes, reason: 'the answer was too short' });
}

/** The length the server declares, where it says something about the bytes we get: a sign-in page shows itself before it is stored. */
function declaredBytes({ headers }: Response): number | undefined {
  const length = headers.get('content-length');
  return length === null || headers.has('content-encoding') ? undefined : Number(length);
}

interface Watchdog {
  /** Aborts with the caller's signal, or when no `restart` came in time. */
  readonly signal: AbortSignal;
  readonly firedMs: number | undefined;
  restart(timeoutMs: number): void;
  stop(): void;
}

function createWatchdog(signal: AbortSignal | undefined): Watchdog {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let firedMs: number | undefined;
  return {
    signal: signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
    get firedMs() {
      return firedMs;
    },
    restart(timeoutMs) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        firedMs = timeoutMs;
        controller.abort();
      }, timeoutMs);
    },
    stop: () => clearTimeout(timer),
  };
}

/** A part of this process's own: the largest that is free, renamed, or a new name. Renaming is atomic, so only one process gets it. */
async function claimPart(target: string): Promise<string> {
  const own = `${target}.part-${process.pid}-${randomBytes(4).toString('hex')}`;
  for (const free of await freeParts(target)) {
    if (await rename(free, own).then(() => true, () => false)) return own;
  }
  return own;
}

/** Gives a part back under the common name, for the next try. */
async function releasePart(part: string, target: string): Promise<void> {
  const size = await fileSize(part);
  if (!size.ok || size.value === 0) await rm(part, { force: true }).catch(() => undefined);
  else await rename(part, `${target}.part`).catch(() => undefined);
}

async function freeParts(target: string): Promise<readonly string[]> {
  const folder = dirname(target);
  const prefix = `${basename(target)}.part`;
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(prefix) && isFree(name.slice(prefix.length)));
  const sized = await Promise.all(names.map(async (name) => ({ path: join(folder, name), size: (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0 })));
  return sized.sort((a, b) => b.size - a.size).map(({ path }) => path);
}

/** `''` is the common name; `-123-…` belongs to process 123 as long as that runs. */
function isFree(suffix: string): boolean {
  const owner = /^-(\d+)-[0-9a-f]+$/u.exec(suffix)?.[1];
  return suffix === '' || (owner !== undefined && !isRunning(Number(owner)));
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;
  return errorCode(inner) ?? (inner instanceof Error ? inner.message : String(inner));
}
