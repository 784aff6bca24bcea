import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PinnedFile } from '../worker/protocol.ts';
import { fetchPinned, type FetchWatcher } from './fetch-pinned.ts';

const CONTENT = new TextEncoder().encode('the bytes of a model, in several parts');
const file: PinnedFile = { url: 'https://page.test/model/m.gguf', sha256: createHash('sha256').update(CONTENT).digest('hex'), sizeBytes: CONTENT.length };

/** The browser's Cache, as far as it is used; `put` may refuse as a full disk does. */
class MemoryCache {
  readonly entries = new Map<string, Uint8Array<ArrayBuffer>>();
  refusal: Error | undefined;
  match(key: string): Promise<Response | undefined> {
    const bytes = this.entries.get(key);
    return Promise.resolve(bytes === undefined ? undefined : new Response(bytes));
  }
  async put(key: string, response: Response): Promise<void> {
    if (this.refusal !== undefined) throw this.refusal;
    this.entries.set(key, new Uint8Array(await response.arrayBuffer()));
  }
  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.entries.delete(key));
  }
}

/** A body in parts of ten bytes. */
function inParts(bytes: Uint8Array<ArrayBuffer>): Response {
  const parts = Array.from({ length: Math.ceil(bytes.length / 10) }, (_, index) => bytes.slice(index * 10, index * 10 + 10));
  return new Response(new ReadableStream({ pull: (controller) => { const part = parts.shift(); if (part === undefined) controller.close(); else controller.enqueue(part); } }));
}

function watch(signal: AbortSignal = new AbortController().signal): FetchWatcher & { readonly bytes: number[]; readonly phases: string[] } {
  const bytes: number[] = [];
  const phases: string[] = [];
  return { signal, bytes, phases, onBytes: (loaded) => bytes.push(loaded), onPhase: (phase) => phases.push(phase) };
}

let cache: MemoryCache;
const serve = (answer: (url: string, init: RequestInit) => Promise<Response>): ReturnType<typeof vi.fn> => {
  const stub = vi.fn(answer);
  vi.stubGlobal('fetch', stub);
  return stub;
};

beforeEach(() => {
  cache = new MemoryCache();
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('location', { origin: 'https://page.test' });
  vi.stubGlobal('caches', { open: () => Promise.resolve(cache) });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

describe('fetchPinned', () => {
  test('the first visit downloads with progress and keeps the file, the second needs no download', async () => {
    const fetchStub = serve(() => Promise.resolve(inParts(CONTENT)));
    const watcher = watch();
    expect(await fetchPinned(file, watcher)).toEqual({ ok: true, value: { bytes: CONTENT, fromCache: false, notes: [] } });
    expect(watcher.bytes).toEqual([10, 20, 30, CONTENT.length]);
    expect(watcher.phases).toEqual(['verify', 'keep']);
    expect(await fetchPinned(file, watch())).toEqual({ ok: true, value: { bytes: CONTENT, fromCache: true, notes: [] } });
    expect(fetchStub).toHaveBeenCalledOnce();
  });

  test('a damaged cache entry is replaced, never used', async () => {
    serve(() => Promise.resolve(inParts(CONTENT)));
    await fetchPinned(file, watch());
    const [key] = cache.entries.keys();
    cache.entries.get(key!)![3]! ^= 1;
    expect(await fetchPinned(file, watch())).toMatchObject({ ok: true, value: { fromCache: false, bytes: CONTENT } });
    expect(cache.entries.get(key!)).toEqual(CONTENT);
  });

  test('a browser without room says so and goes on', async () => {
    serve(() => Promise.resolve(inParts(CONTENT)));
    cache.refusal = new DOMException('no room', 'QuotaExceededError');
    expect(await fetchPinned(file, watch())).toMatchObject({ ok: true, value: { notes: [{ code: 'model/not-kept', params: { cause: { name: 'QuotaExceededError' } } }] } });
  });

  test('a browser that forbids the cache says so and goes on', async () => {
    serve(() => Promise.resolve(inParts(CONTENT)));
    vi.stubGlobal('caches', { open: () => Promise.reject(new DOMException('denied', 'SecurityError')) });
    expect(await fetchPinned(file, watch())).toMatchObject({ ok: true, value: { notes: [{ code: 'model/not-kept', params: { cause: { name: 'SecurityError' } } }] } });
  });

  const flipped = CONTENT.slice();
  flipped[0]! ^= 1;
  test.each([
    ['one changed bit', () => inParts(flipped), { code: 'model/digest-mismatch', expected: file.sha256 }],
    ['a body cut short', () => inParts(CONTENT.slice(0, 25)), { code: 'model/size-mismatch', expectedBytes: CONTENT.length, actualBytes: 25 }],
    ['no body at all', () => new Response(null), { code: 'model/size-mismatch', actualBytes: 0 }],
    ['a body that is too long', () => inParts(new Uint8Array([...CONTENT, 1, 2, 3])), { code: 'model/size-mismatch', actualBytes: 40 }],
    ['a missing file', () => new Response('', { status: 404 }), { code: 'model/download-failed', status: 404 }],
  ])('%s is refused and not kept', async (_title, answer, error) => {
    serve(() => Promise.resolve(answer()));
    expect(await fetchPinned(file, watch())).toMatchObject({ ok: false, error });
    expect(cache.entries.size).toBe(0);
  });

  test('a network that fails is named with its cause', async () => {
    const cause = new TypeError('Failed to fetch');
    serve(() => Promise.reject(cause));
    expect(await fetchPinned(file, watch())).toEqual({ ok: false, error: { code: 'model/download-failed', url: file.url, status: 0, cause } });
  });

  test('a connection that breaks in the body is named', async () => {
    serve(() => Promise.resolve(new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError('reset')) }))));
    expect(await fetchPinned(file, watch())).toMatchObject({ ok: false, error: { code: 'model/download-failed', status: 200 } });
  });

  test('an abort during the body ends as worker/aborted and keeps nothing', async () => {
    serve(() => Promise.resolve(inParts(CONTENT)));
    const controller = new AbortController();
    const watcher = { ...watch(controller.signal), onBytes: () => controller.abort() };
    expect(await fetchPinned(file, watcher)).toEqual({ ok: false, error: { code: 'worker/aborted' } });
    expect(cache.entries.size).toBe(0);
  });

  test('an abort before the answer ends as worker/aborted', async () => {
    const controller = new AbortController();
    serve((_url, { signal }) => new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')))));
    const reply = fetchPinned(file, watch(controller.signal));
    setTimeout(() => controller.abort(), 5);
    expect(await reply).toEqual({ ok: false, error: { code: 'worker/aborted' } });
  });

  test('a page without digests is refused before anything is fetched', async () => {
    const fetchStub = serve(() => Promise.resolve(inParts(CONTENT)));
    vi.stubGlobal('isSecureContext', false);
    expect(await fetchPinned(file, watch())).toEqual({ ok: false, error: { code: 'web/insecure-context' } });
    expect(fetchStub).not.toHaveBeenCalled();
  });
});
