import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { PinnedFile } from '../worker/protocol.ts';
import { fetchPinned, type FetchWatcher } from './fetch-pinned.ts';
import { PART_BYTES } from './part-store.ts';

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
  return { signal, bytes, phases, onBytes: (loaded) => { bytes.push(loaded); }, onPhase: (phase) => phases.push(phase) };
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
  vi.stubGlobal('navigator', {});
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
    expect(watcher.phases).toEqual(['download', 'verify']);
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
    expect(await fetchPinned(file, watch())).toEqual({ ok: false, error: { code: 'model/download-failed', url: file.url, status: 0, receivedBytes: 0, cause } });
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

describe('a download of several parts', () => {
  const big = Uint8Array.from({ length: 2 * PART_BYTES + 1000 }, (_, i) => (i * 31 + (i >> 12)) % 251);
  const bigFile: PinnedFile = { url: 'https://page.test/model/big.gguf', sha256: createHash('sha256').update(big).digest('hex'), sizeBytes: big.length };

  /** In chunks that end beside the parts' borders; answers ranges unless told not to. */
  function serveBig(content: Uint8Array<ArrayBuffer>, hasRanges = true): { readonly ranges: (string | null)[] } {
    const ranges: (string | null)[] = [];
    serve((_url, { headers }) => {
      const range = new Headers(headers).get('range');
      ranges.push(range);
      const from = range !== null && hasRanges ? Number(/bytes=(\d+)-/u.exec(range)![1]) : 0;
      const chunks = Array.from({ length: Math.ceil((content.length - from) / 1_000_000) }, (_, i) => content.slice(from + i * 1_000_000, from + (i + 1) * 1_000_000));
      const body = new ReadableStream({ pull: (controller) => { const chunk = chunks.shift(); if (chunk === undefined) controller.close(); else controller.enqueue(chunk); } });
      return Promise.resolve(new Response(body, { status: from > 0 ? 206 : 200 }));
    });
    return { ranges };
  }

  /** Starts a download and cancels it once `bytes` have arrived. */
  async function cancelAfter(bytes: number): Promise<void> {
    const controller = new AbortController();
    const watcher = { ...watch(controller.signal), onBytes: (loaded: number) => { if (loaded >= bytes) controller.abort(); } };
    expect(await fetchPinned(bigFile, watcher)).toEqual({ ok: false, error: { code: 'worker/aborted' } });
  }

  test('goes on, after a cancel, behind the last whole part', async () => {
    const { ranges } = serveBig(big);
    await cancelAfter(PART_BYTES + 2_000_000);
    const watcher = watch();
    const seen: [number, number][] = [];
    const fetched = await fetchPinned(bigFile, { ...watcher, onBytes: (loaded, resumed) => { seen.push([loaded, resumed]); } });
    expect(fetched).toMatchObject({ ok: true, value: { fromCache: false, notes: [] } });
    expect(fetched.ok && Buffer.compare(fetched.value.bytes, big)).toBe(0);
    expect(ranges).toEqual([null, `bytes=${PART_BYTES}-`]);
    expect(seen[0]).toEqual([PART_BYTES, PART_BYTES]);
    expect(seen.at(-1)).toEqual([big.length, PART_BYTES]);
    expect(await fetchPinned(bigFile, watch())).toMatchObject({ ok: true, value: { fromCache: true } });
  });

  test('goes on after a connection that broke', async () => {
    const { ranges } = serveBig(big);
    const first = vi.mocked(fetch).getMockImplementation()!;
    vi.mocked(fetch).mockImplementationOnce(async (...args) => {
      const body = (await first(...args)).body!.getReader();
      return new Response(new ReadableStream({ pull: async (controller) => {
        const { value } = await body.read();
        if (cache.entries.size === 1) controller.error(new TypeError('reset'));
        else controller.enqueue(value);
      } }));
    });
    expect(await fetchPinned(bigFile, watch())).toMatchObject({ ok: false, error: { code: 'model/download-failed', status: 200 } });
    expect(await fetchPinned(bigFile, watch())).toMatchObject({ ok: true, value: { fromCache: false } });
    expect(ranges).toEqual([null, `bytes=${PART_BYTES}-`]);
  });

  test('starts again where the server knows no ranges', async () => {
    serveBig(big, false);
    await cancelAfter(PART_BYTES + 1);
    expect(await fetchPinned(bigFile, watch())).toMatchObject({ ok: true, value: { fromCache: false } });
  });

  test.each([
    ['damaged', (part: Uint8Array<ArrayBuffer>) => { part[5]! ^= 1; }],
    ['cut short', () => { const [key, part] = [...cache.entries][0]!; cache.entries.set(key, part.slice(1)); }],
  ])('a kept part that was %s costs a second download, never a wrong file', async (_what, damage) => {
    serveBig(big);
    await cancelAfter(PART_BYTES + 1);
    damage([...cache.entries.values()][0]!);
    expect(await fetchPinned(bigFile, watch())).toMatchObject({ ok: true, value: { fromCache: false } });
    expect(await fetchPinned(bigFile, watch())).toMatchObject({ ok: true, value: { fromCache: true } });
  });

  test('another file under the same address is refused, and nothing of it is kept', async () => {
    const other = big.slice();
    other[PART_BYTES + 7]! ^= 1;
    serveBig(other);
    expect(await fetchPinned(bigFile, watch())).toMatchObject({ ok: false, error: { code: 'model/digest-mismatch' } });
    expect(cache.entries.size).toBe(0);
  });

  test('a browser whose room ends in the middle says how much there is, and keeps no half file', async () => {
    serveBig(big);
    vi.stubGlobal('navigator', { storage: { estimate: () => Promise.resolve({ quota: 6e6, usage: 5e6 }) } });
    const watcher = watch();
    const fetched = await fetchPinned(bigFile, { ...watcher, onBytes: (loaded) => { if (loaded > PART_BYTES + 2_000_000) cache.refusal = new DOMException('no room', 'QuotaExceededError'); } });
    expect(fetched).toMatchObject({ ok: true, value: { notes: [{ code: 'model/not-kept', params: { neededBytes: big.length, storage: { quotaBytes: 6e6, usageBytes: 5e6 } } }] } });
    expect(cache.entries.size).toBe(0);
  });
});

describe('two tabs', () => {
  /** The lock manager of one origin, for exclusive locks. */
  function fakeLocks(): { readonly request: (name: string, options: { ifAvailable?: boolean; signal?: AbortSignal }, work: (lock: object | null) => Promise<unknown>) => Promise<unknown> } {
    let holder: Promise<unknown> | undefined;
    return {
      async request(_name, { ifAvailable, signal }, work) {
        if (holder !== undefined && ifAvailable) return work(null);
        while (holder !== undefined) {
          const aborted = new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
          await Promise.race([holder, aborted]);
        }
        holder = work({}).finally(() => { holder = undefined; });
        return holder;
      },
    };
  }

  test('download once: the second waits, says so, and reads what the first has kept', async () => {
    const fetchStub = serve(() => Promise.resolve(inParts(CONTENT)));
    vi.stubGlobal('navigator', { locks: fakeLocks() });
    const watchers = [watch(), watch()] as const;
    const [first, second] = await Promise.all(watchers.map((watcher) => fetchPinned(file, watcher)));
    expect(first).toMatchObject({ ok: true, value: { fromCache: false } });
    expect(second).toMatchObject({ ok: true, value: { fromCache: true, bytes: CONTENT } });
    expect(watchers[1].phases).toEqual(['wait', 'download', 'verify']);
    expect(fetchStub).toHaveBeenCalledOnce();
  });

  test('one that waits can be cancelled, and the other goes on', async () => {
    serve(() => Promise.resolve(inParts(CONTENT)));
    vi.stubGlobal('navigator', { locks: fakeLocks() });
    const controller = new AbortController();
    const first = fetchPinned(file, watch());
    const second = fetchPinned(file, { ...watch(controller.signal), onPhase: () => controller.abort() });
    expect(await second).toEqual({ ok: false, error: { code: 'worker/aborted' } });
    expect(await first).toMatchObject({ ok: true });
  });
});
