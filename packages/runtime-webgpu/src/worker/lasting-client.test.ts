/** Against real threads: each speaks the protocol in a few lines of JavaScript and dies in its own way. */
import { Worker } from 'node:worker_threads';
import { ok, type JsonObject } from '@contractrl/core';
import { afterEach, describe, expect, test } from 'vitest';
import type { RejectedEngine } from '../probe/choice.ts';
import type { ClientOptions, RepairerClient, WorkerEndpoint } from './client.ts';
import { connectLastingRepairer } from './lasting-client.ts';
import type { LoadedRepairer, LoadRequest } from './protocol.ts';

const REQUEST: LoadRequest = { model: { url: '', sha256: '', sizeBytes: 0 }, adapter: undefined, threads: 1, runtimes: {} };
const RECORD: JsonObject = { id: 'x' };

/**
 * The worker: loads onto the first of `engines` that has not failed, and tells in the outcome which failures it was told of. `death` is what it does
 * when it should repair, or load, on an engine of `deadly`.
 */
const SCRIPT = `
  const { parentPort, workerData: { engines, deadly, death, deathAt } } = require('node:worker_threads');
  let engine, failed;
  const die = () => { eval(death); };
  parentPort.on('message', ({ kind, id, method, params }) => {
    if (kind === 'ping') return parentPort.postMessage({ kind: 'pong' });
    if (kind !== 'call') return;
    const done = (value) => parentPort.postMessage({ kind: 'done', id, method, value });
    if (method === 'load') {
      failed = params.failed ?? [];
      engine = engines.find((name) => !failed.some((each) => each.engine === name));
      if (engine === undefined) return parentPort.postMessage({ kind: 'failed', id, failure: { code: 'engine/none-left', params: {} } });
      parentPort.postMessage({ kind: 'progress', id, progress: { phase: 'start', engine, loadedBytes: 0, totalBytes: 0, bytesPerSecond: 0 } });
      if (deathAt === 'load' && deadly.includes(engine)) return die();
      return done({ choice: { engine, reason: { code: 'choice/gpu' }, rejected: failed } });
    }
    if (method === 'repair' && deathAt === 'repair' && deadly.includes(engine)) return die();
    done(method === 'repair' ? { outcome: { status: 'repaired', engine }, totalMs: 1 } : null);
  });
  parentPort.postMessage({ kind: 'ready' });
`;

interface Fault {
  readonly death: string;
  readonly deadly: readonly string[];
  readonly deathAt?: 'repair' | 'load';
  readonly engines?: readonly string[];
  /** From this worker on, from 0, none dies. */
  readonly wellFrom?: number;
}

const clients: RepairerClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.dispose()));
});

function connect({ death, deadly, deathAt = 'repair', engines = ['webgpu', 'wasm'], wellFrom = Infinity }: Fault, options?: ClientOptions): { readonly client: RepairerClient; readonly started: Worker[] } {
  const started: Worker[] = [];
  const client = connectLastingRepairer(() => {
    const workerData = { engines, deadly: started.length < wellFrom ? deadly : [], death, deathAt };
    const worker = new Worker(SCRIPT, { eval: true, workerData, stderr: true, resourceLimits: { maxOldGenerationSizeMb: 16 } });
    started.push(worker);
    return endpointOf(worker);
  }, options);
  clients.push(client);
  return { client, started };
}

/** A thread of Node with the face of a browser's worker. */
function endpointOf(worker: Worker): WorkerEndpoint {
  return {
    postMessage: (message) => worker.postMessage(message),
    addEventListener(type, listener) {
      if (type === 'message') worker.on('message', (data) => listener({ data }));
      else worker.on(type === 'close' ? 'exit' : type, listener);
    },
    terminate: () => void worker.terminate(),
  };
}

const choice = (engine: string, rejected: readonly RejectedEngine[]): LoadedRepairer['choice'] => ({ engine, reason: { code: 'choice/gpu' }, rejected }) as LoadedRepairer['choice'];

describe('a worker that is lost in the middle of a repair', () => {
  test.each([
    ['throws what nobody catches', "throw new Error('bug')", 'worker/died', {}],
    ['runs out of memory', 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length));', 'worker/died', {}],
    ['ends', 'process.exit(1)', 'worker/died', {}],
    ['never answers again', 'for (;;) ;', 'worker/no-answer', { answerTimeoutMs: 300 }],
  ])('and %s: the repair is done again on the next engine, which says why', async (_, death, code, options) => {
    const { client, started } = connect({ death, deadly: ['webgpu'] }, options);
    expect(await client.load(REQUEST)).toMatchObject(ok({ choice: choice('webgpu', []) }));
    const moved = choice('wasm', [{ engine: 'webgpu', reason: { code } }]);
    expect(await client.repair(RECORD)).toMatchObject(ok({ outcome: { status: 'repaired', engine: 'wasm' }, loaded: { choice: moved } }));
    expect(started).toHaveLength(2);
    // it stays there
    expect(await client.repair(RECORD)).toEqual(ok({ outcome: { status: 'repaired', engine: 'wasm' }, totalMs: 1 }));
  }, 20_000);

  test('takes repairs that waited behind it along, and one worker serves them all', async () => {
    const { client, started } = connect({ death: 'process.exit(1)', deadly: ['webgpu'] });
    await client.load(REQUEST);
    const replies = await Promise.all([client.repair(RECORD), client.repair(RECORD), client.repair(RECORD)]);
    for (const reply of replies) expect(reply).toMatchObject(ok({ outcome: { engine: 'wasm' } }));
    expect(started).toHaveLength(2);
  });

  test('gets a second worker on the same engine where no other is left', async () => {
    const { client } = connect({ death: 'process.exit(1)', deadly: ['wasm'], engines: ['wasm'], wellFrom: 1 });
    await client.load(REQUEST);
    expect(await client.repair(RECORD)).toMatchObject(ok({ outcome: { engine: 'wasm' }, loaded: { choice: choice('wasm', []) } }));
  });

  test('is not tried a third time, and the next repair finds a worker again', async () => {
    const { client, started } = connect({ death: 'process.exit(1)', deadly: ['webgpu', 'wasm'], wellFrom: 2 });
    await client.load(REQUEST);
    expect(await client.repair(RECORD)).toMatchObject({ ok: false, error: { code: 'worker/died' } });
    expect(started).toHaveLength(2);
    expect(await client.repair(RECORD)).toMatchObject(ok({ outcome: { status: 'repaired' } }));
  });

  test('a cancel during the move is answered at once, and the move serves the next repair', async () => {
    const { client, started } = connect({ death: 'process.exit(1)', deadly: ['webgpu'] });
    await client.load(REQUEST);
    const controller = new AbortController();
    const reply = client.repair(RECORD, { signal: controller.signal });
    while (started.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort();
    expect(await reply).toMatchObject({ ok: false, error: { code: 'worker/aborted' } });
    expect(await client.repair(RECORD)).toMatchObject(ok({ outcome: { engine: 'wasm' } }));
    expect(started).toHaveLength(2);
  });
});

describe('a worker that is lost while it loads', () => {
  test('has the engine it was busy with put aside, and another worker loads the next', async () => {
    const { client } = connect({ death: 'process.exit(1)', deadly: ['webgpu'], deathAt: 'load' });
    expect(await client.load(REQUEST)).toMatchObject(ok({ choice: choice('wasm', [{ engine: 'webgpu', reason: { code: 'worker/died' } }]) }));
  });

  test('ends the load where no engine is left', async () => {
    const { client } = connect({ death: 'process.exit(1)', deadly: ['wasm'], deathAt: 'load', engines: ['wasm'] });
    expect(await client.load(REQUEST)).toMatchObject({ ok: false, error: { code: 'engine/none-left' } });
  });
});

test('one that is closed is not started again', async () => {
  const { client, started } = connect({ death: '', deadly: [] });
  await client.load(REQUEST);
  const reply = client.repair(RECORD);
  await client.dispose();
  expect(await reply).toMatchObject({ ok: false, error: { code: 'worker/closed' } });
  expect(await client.load(REQUEST)).toMatchObject({ ok: false, error: { code: 'worker/closed' } });
  expect(started).toHaveLength(1);
});
