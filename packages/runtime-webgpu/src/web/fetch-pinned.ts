/**
 * A pinned file in the browser: streamed with progress, cancellable, exact in size and digest, kept in the Cache API.
 * The key of the cache is the digest, and what comes out of it is hashed again: a damaged entry is fetched anew, never used.
 */
import { err, ok, type Result } from '@contractrl/core';
import { sha256 } from '../model/sha256.ts';
import { toRemoteFailure, type PinnedFile, type RemoteFailure } from '../worker/protocol.ts';

export type FetchIssue =
  | { readonly code: 'worker/aborted' }
  | { readonly code: 'web/insecure-context' }
  /** No answer (`status` 0), or one that is not a success. */
  | { readonly code: 'model/download-failed'; readonly url: string; readonly status: number; readonly cause?: unknown }
  | { readonly code: 'model/size-mismatch'; readonly url: string; readonly expectedBytes: number; readonly actualBytes: number }
  | { readonly code: 'model/digest-mismatch'; readonly url: string; readonly expected: string; readonly actual: string };

/** The cache could not keep the file (quota, private mode). Harmless: the next visit downloads again. */
export type KeepIssue = { readonly code: 'model/not-kept'; readonly cause: unknown };

export interface FetchedFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly fromCache: boolean;
  readonly notes: readonly RemoteFailure[];
}

export interface FetchWatcher {
  readonly signal: AbortSignal;
  onBytes(loadedBytes: number): void;
  onPhase(phase: 'verify' | 'keep'): void;
}

const CACHE_NAME = 'contractrl-models';

/** Reads `file` from this origin's cache or from its URL, O(sizeBytes). The bytes are the caller's. */
export async function fetchPinned(file: PinnedFile, watcher: FetchWatcher): Promise<Result<FetchedFile, FetchIssue>> {
  if (!isSecureContext) return err({ code: 'web/insecure-context' });
  const cache = await openCache();
  const kept = await cache.value?.match(cacheKey(file));
  if (kept !== undefined) {
    const read = await readExactly(kept, file, watcher);
    if (read.ok) return ok({ bytes: read.value, fromCache: true, notes: [] });
    if (read.error.code === 'worker/aborted') return read;
    await cache.value?.delete(cacheKey(file));
  }
  const downloaded = await download(file, watcher);
  if (!downloaded.ok) return downloaded;
  watcher.onPhase('keep');
  const issue = cache.issue ?? (await keep(cache.value, file, downloaded.value));
  return ok({ bytes: downloaded.value, fromCache: false, notes: issue === undefined ? [] : [toRemoteFailure(issue)] });
}

async function download(file: PinnedFile, watcher: FetchWatcher): Promise<Result<Uint8Array<ArrayBuffer>, FetchIssue>> {
  let response: Response;
  try {
    response = await fetch(file.url, { signal: watcher.signal });
  } catch (cause) {
    return err(watcher.signal.aborted ? { code: 'worker/aborted' } : { code: 'model/download-failed', url: file.url, status: 0, cause });
  }
  if (!response.ok) return err({ code: 'model/download-failed', url: file.url, status: response.status });
  return readExactly(response, file, watcher);
}

/** Into one buffer of the pinned size: a longer body is refused as soon as it is too long, a shorter one at its end. */
async function readExactly(response: Response, file: PinnedFile, watcher: FetchWatcher): Promise<Result<Uint8Array<ArrayBuffer>, FetchIssue>> {
  const bytes = new Uint8Array(file.sizeBytes);
  let loadedBytes = 0;
  try {
    const reader = response.body?.getReader();
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      if (watcher.signal.aborted || loadedBytes + part.value.length > bytes.length) {
        await reader?.cancel();
        if (watcher.signal.aborted) return err({ code: 'worker/aborted' });
        return err({ code: 'model/size-mismatch', url: file.url, expectedBytes: file.sizeBytes, actualBytes: loadedBytes + part.value.length });
      }
      bytes.set(part.value, loadedBytes);
      loadedBytes += part.value.length;
      watcher.onBytes(loadedBytes);
    }
  } catch (cause) {
    return err(watcher.signal.aborted ? { code: 'worker/aborted' } : { code: 'model/download-failed', url: file.url, status: response.status, cause });
  }
  if (loadedBytes !== bytes.length) return err({ code: 'model/size-mismatch', url: file.url, expectedBytes: file.sizeBytes, actualBytes: loadedBytes });
  watcher.onPhase('verify');
  const actual = await sha256(bytes);
  return actual === file.sha256 ? ok(bytes) : err({ code: 'model/digest-mismatch', url: file.url, expected: file.sha256, actual });
}

async function openCache(): Promise<{ readonly value?: Cache; readonly issue?: KeepIssue }> {
  try {
    return { value: await caches.open(CACHE_NAME) };
  } catch (cause) {
    return { issue: { code: 'model/not-kept', cause } };
  }
}

async function keep(cache: Cache | undefined, file: PinnedFile, bytes: Uint8Array<ArrayBuffer>): Promise<KeepIssue | undefined> {
  try {
    await cache?.put(cacheKey(file), new Response(bytes, { headers: { 'content-type': 'application/octet-stream' } }));
    return undefined;
  } catch (cause) {
    return { code: 'model/not-kept', cause };
  }
}

/** The Cache API wants a URL; this one is never fetched. */
function cacheKey(file: PinnedFile): string {
  return new URL(`/contractrl-models/${file.sha256}`, location.origin).href;
}
