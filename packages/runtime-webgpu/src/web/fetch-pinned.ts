/**
 * A pinned file in the browser: streamed with progress, cancellable, resumed from the parts an earlier try has kept, exact in size and digest.
 * What comes out of the cache is hashed again: a damaged file is fetched anew, never used. One tab downloads, others wait for it and read.
 * Reference: RFC 9110 §14 (range requests), W3C Web Locks API.
 */
import { err, ok, type Result } from '@contractrl/core';
import { sha256 } from '../model/sha256.ts';
import { toRemoteFailure, type PinnedFile, type RemoteFailure } from '../worker/protocol.ts';
import { PART_BYTES, PartStore } from './part-store.ts';

export type FetchIssue =
  | { readonly code: 'worker/aborted' }
  | { readonly code: 'web/insecure-context' }
  /** No answer (`status` 0), or one that is not a success. The next try goes on after `receivedBytes`, less the part that was not whole. */
  | { readonly code: 'model/download-failed'; readonly url: string; readonly status: number; readonly receivedBytes: number; readonly cause?: unknown }
  | { readonly code: 'model/size-mismatch'; readonly url: string; readonly expectedBytes: number; readonly actualBytes: number }
  | { readonly code: 'model/digest-mismatch'; readonly url: string; readonly expected: string; readonly actual: string };

export interface FetchedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fromCache: boolean;
  readonly notes: readonly RemoteFailure[];
}

export interface FetchWatcher {
  readonly signal: AbortSignal;
  /** Of `loadedBytes` the first `resumedBytes` were there before. */
  onBytes(loadedBytes: number, resumedBytes: number): void;
  onPhase(phase: 'wait' | 'download' | 'verify'): void;
}

/** Reads `file` from this origin's cache or from its URL, O(sizeBytes). The bytes are the caller's. */
export async function fetchPinned(file: PinnedFile, watcher: FetchWatcher): Promise<Result<FetchedFile, FetchIssue>> {
  if (!isSecureContext) return err({ code: 'web/insecure-context' });
  return oneTabAtATime(`contractrl-models/${file.sha256}`, watcher, () => fetchAlone(file, watcher));
}

/** Where the browser has no locks, tabs do not know of each other and each downloads. */
async function oneTabAtATime<T, E>(name: string, { signal, onPhase }: FetchWatcher, work: () => Promise<Result<T, E>>): Promise<Result<T, E | { readonly code: 'worker/aborted' }>> {
  const { locks } = navigator as { readonly locks?: LockManager };
  if (locks === undefined) return work();
  const atOnce = await locks.request(name, { ifAvailable: true }, async (lock) => (lock === null ? undefined : work()));
  if (atOnce !== undefined) return atOnce;
  onPhase('wait');
  try {
    return await locks.request(name, { signal }, () => {
      onPhase('download');
      return work();
    });
  } catch (cause) {
    if (signal.aborted) return err({ code: 'worker/aborted' });
    throw cause;
  }
}

async function fetchAlone(file: PinnedFile, watcher: FetchWatcher): Promise<Result<FetchedFile, FetchIssue>> {
  const store = await PartStore.open(file);
  const bytes = new Uint8Array(file.sizeBytes);
  const keptBytes = await store.read(bytes, (loadedBytes) => {
    watcher.onBytes(loadedBytes, loadedBytes);
    return !watcher.signal.aborted;
  });
  if (watcher.signal.aborted) return err({ code: 'worker/aborted' });
  if (keptBytes === bytes.length) {
    const verified = await verify(bytes, file, watcher);
    if (verified.ok) return ok({ bytes, fromCache: true, notes: [] });
  }
  const resumeAt = keptBytes === bytes.length ? 0 : keptBytes;
  let downloaded = await download(bytes, resumeAt, file, store, watcher);
  // what was kept may be of another file under the same address, or damaged: once more, from nothing
  if (!downloaded.ok && downloaded.error.code === 'model/digest-mismatch' && resumeAt > 0) downloaded = await download(bytes, 0, file, store, watcher);
  if (!downloaded.ok) {
    if (downloaded.error.code === 'model/digest-mismatch' || downloaded.error.code === 'model/size-mismatch') await store.clear();
    return downloaded;
  }
  return ok({ bytes, fromCache: false, notes: store.issue === undefined ? [] : [toRemoteFailure(store.issue)] });
}

/** Fills `bytes` from `resumeAt` on, keeping each part as it becomes whole. A body that is too long is refused as soon as it is, a short one at its end. */
async function download(bytes: Uint8Array<ArrayBuffer>, resumeAt: number, file: PinnedFile, store: PartStore, watcher: FetchWatcher): Promise<Result<void, FetchIssue>> {
  const { url } = file;
  const { signal } = watcher;
  watcher.onPhase('download');
  let loadedBytes = resumeAt;
  let status = 0;
  const sizeMismatch = (actualBytes: number): Result<never, FetchIssue> => err({ code: 'model/size-mismatch', url, expectedBytes: bytes.length, actualBytes });
  try {
    const response = await fetch(url, { signal, cache: 'no-store', ...(resumeAt === 0 ? {} : { headers: { range: `bytes=${resumeAt}-` } }) });
    ({ status } = response);
    if (!response.ok) return err({ code: 'model/download-failed', url, status, receivedBytes: 0 });
    // a server without ranges sends all of it
    const resumedBytes = status === PARTIAL_CONTENT ? resumeAt : 0;
    loadedBytes = resumedBytes;
    let keptBytes = resumedBytes;
    const reader = response.body?.getReader();
    for (let chunk = await reader?.read(); chunk?.value !== undefined; chunk = await reader?.read()) {
      if (signal.aborted || loadedBytes + chunk.value.length > bytes.length) {
        await reader?.cancel();
        return signal.aborted ? err({ code: 'worker/aborted' }) : sizeMismatch(loadedBytes + chunk.value.length);
      }
      bytes.set(chunk.value, loadedBytes);
      loadedBytes += chunk.value.length;
      watcher.onBytes(loadedBytes, resumedBytes);
      for (; loadedBytes - keptBytes >= PART_BYTES; keptBytes += PART_BYTES) await store.keep(keptBytes / PART_BYTES, bytes.subarray(keptBytes, keptBytes + PART_BYTES));
    }
    if (loadedBytes !== bytes.length) return sizeMismatch(loadedBytes);
    if (keptBytes < loadedBytes) await store.keep(keptBytes / PART_BYTES, bytes.subarray(keptBytes));
  } catch (cause) {
    return err(signal.aborted ? { code: 'worker/aborted' } : { code: 'model/download-failed', url, status, receivedBytes: loadedBytes, cause });
  }
  return verify(bytes, file, watcher);
}

const PARTIAL_CONTENT = 206;

async function verify(bytes: Uint8Array<ArrayBuffer>, file: PinnedFile, watcher: FetchWatcher): Promise<Result<void, FetchIssue>> {
  watcher.onPhase('verify');
  const actual = await sha256(bytes);
  return actual === file.sha256 ? ok(undefined) : err({ code: 'model/digest-mismatch', url: file.url, expected: file.sha256, actual });
}
