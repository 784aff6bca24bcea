import type { EventEmitter } from 'node:events';
import { err, NO_POLICY, ok, repairCall, type AcceptedCall, type Digest, type FrozenRepair, type JsonObject, type RepairOutcome } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectRepairer, type ClientOptions, type RepairerClient, type WorkerEndpoint } from './client.ts';
import { serveRepairer, type HostedRepairer, type OpenHostedRepairer, type WorkerScope } from './host.ts';
import { isFromWorker, isToWorker, toRemoteFailure, type LoadedRepairer, type LoadProgress, type LoadRequest } from './protocol.ts';

const request: LoadRequest = {
  model: { url: 'https://example.test/model.gguf', sha256: '00', sizeBytes: 4 },
  adapter: undefined,
  threads: 1,
  runtimes: { wasm: { mjs: '', wasm: '' } },
};
const loaded: LoadedRepairer = {
  identity: { backend: 'fake' }, threads: 1, fromCache: false, notes: [], phaseMs: { wait: 0, download: 0, verify: 0, build: 0, test: 0, start: 0 },
  choice: { engine: 'wasm', reason: { code: 'choice/asked-for' }, rejected: [] }, selfTest: { maxDifference: 0, tolerance: 1 },
};
const entries: FrozenRepair['entries'] = [];
const outcome: RepairOutcome = {
  accepted: { name: 'tool', argumentsText: '{"a":1}', arguments: { a: 1 } } as unknown as AcceptedCall,
  frozen: { entries, digest: 'ab' } as unknown as FrozenRepair,
  id: 'case', name: 'tool', reading: undefined, rules: [], reports: [], history: [], attempts: 0, operations: 0, confidence: undefined, status: 'valid', argumentsText: '{"a":1}', arguments: { a: 1 },
  cost: { promptTokenCount: 0, generatedTokenCount: 0, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 }, ledger: 'ab' as Digest,
};
const halfway: LoadProgress = { phase: 'download', loadedBytes: 2, totalBytes: 4, bytesPerSecond: 1 };

/** Both halves over a real channel: messages are really cloned. */
function connect(open: OpenHostedRepairer, options?: ClientOptions): { readonly client: RepairerClient; readonly endpoint: WorkerEndpoint; readonly far: MessagePort } {
  const { port1, port2 } = new MessageChannel();
  serveRepairer(port2 as unknown as WorkerScope, open);
  port2.start();
  const endpoint = { postMessage: port1.postMessage.bind(port1), addEventListener: port1.addEventListener.bind(port1), terminate: () => port1.close() } as WorkerEndpoint;
  const client = connectRepairer(endpoint, options);
  port1.start();
  opened.push(client);
  return { client, endpoint, far: port2 };
}
const opened: RepairerClient[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.dispose()));
});

function fakeRepairer(overrides: Partial<HostedRepairer> = {}): HostedRepairer {
  return { loaded, repair: () => Promise.resolve(ok(outcome)), dispose: () => Promise.resolve(), ...overrides };
}

/** Ends only when the signal says so, as a download or a long decode does. */
function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

describe('a page and its worker', () => {
  test('load reports progress in order and resolves with what was loaded', async () => {
    const { client } = connect((_request, onProgress) => {
      onProgress(halfway);
      onProgress({ ...halfway, loadedBytes: 4 });
      return Promise.resolve(ok(fakeRepairer()));
    });
    const seen: number[] = [];
    expect(await client.load(request, { onProgress: ({ loadedBytes }) => seen.push(loadedBytes) })).toEqual(ok(loaded));
    expect(seen).toEqual([2, 4]);
  });

  test('repair hands the record over unread and returns the outcome as data, without the two brands', async () => {
    const repair = vi.fn(() => Promise.resolve(ok(outcome)));
    const { client } = connect(() => Promise.resolve(ok(fakeRepairer({ repair }))));
    await client.load(request);
    const reply = await client.repair({ id: 'case', call: { name: 'tool' } });
    expect(repair).toHaveBeenCalledWith({ id: 'case', call: { name: 'tool' } }, expect.any(AbortSignal));
    const { accepted: _accepted, frozen: _frozen, ...data } = outcome;
    expect(reply.ok && reply.value.outcome).toEqual({ ...data, entries });
    expect(reply.ok && reply.value.totalMs).toBeGreaterThanOrEqual(0);
  });

  test('a failure crosses with its parameters, and a cause as name and message', async () => {
    const failure = { code: 'model/digest-mismatch', expected: 'aa', actual: 'bb', cause: new TypeError('no'), callback: () => 1 };
    const { client } = connect(() => Promise.resolve(err(failure)));
    expect(await client.load(request)).toEqual(err({
      code: 'model/digest-mismatch', params: { expected: 'aa', actual: 'bb', cause: { name: 'TypeError', message: 'no' } },
    }));
  });

  test('an exception inside the worker is a typed failure, and the worker serves on', async () => {
    let isFirst = true;
    const { client } = connect(() => {
      if (!isFirst) return Promise.resolve(ok(fakeRepairer()));
      isFirst = false;
      throw new RangeError('Array buffer allocation failed');
    });
    expect(await client.load(request)).toEqual(err({ code: 'worker/exception', params: { cause: { name: 'RangeError', message: 'Array buffer allocation failed' } } }));
    expect((await client.load(request)).ok).toBe(true);
  });

  test('a value that cannot be cloned is a typed failure, and the worker serves on', async () => {
    const { client } = connect(() => Promise.resolve(ok(fakeRepairer({ loaded: { ...loaded, identity: { f: (() => 1) as never } } }))));
    expect(await client.load(request)).toMatchObject({ ok: false, error: { code: 'worker/exception', params: { cause: { name: 'DataCloneError' } } } });
    expect((await client.repair({})).ok).toBe(true);
  });

  test.each<[string, object]>([
    ['a check', { contract: { crossField: [{ kind: 'function', name: 'even', version: '1', check: () => true }] } }],
    ['a gate', { contract: { gates: [() => true] } }],
  ])('%s that is a function is refused, not left out, and the worker serves on', async (_, record) => {
    const repair = vi.fn(() => Promise.resolve(ok(outcome)));
    const { client } = connect(() => Promise.resolve(ok(fakeRepairer({ repair }))));
    await client.load(request);
    expect(await client.repair(record as JsonObject)).toMatchObject({ ok: false, error: { code: 'worker/not-data', params: { cause: { name: 'DataCloneError' } } } });
    expect(repair).not.toHaveBeenCalled();
    expect((await client.repair({})).ok).toBe(true);
  });

  const FAILED_CALL = { id: 'x', request: 'r', tool: { name: 't', description: 'd', parameters: { type: 'object', properties: { n: { type: 'integer' } } } }, call: { name: 't', arguments: { n: 2 } } };

  test.each([
    ['check', { crossField: [{ kind: 'function', name: 'even', version: '1', parameters: { at: '/n' } }] }, { status: 'failed', reason: 'contract/unknown-function' }],
    ['gate', { gates: [{ kind: 'function', name: 'allowed', version: '1' }] }, { status: 'rejected' }],
  ])('a %s that names a function of the host ends the repair, since the worker has none', async (_, contract, ending) => {
    const repair: HostedRepairer['repair'] = async (record, signal) => {
      const read = readRepairRequest(record);
      return read.ok ? ok(await repairCall(read.value, NO_POLICY, { signal })) : err(read.error);
    };
    const { client } = connect(() => Promise.resolve(ok(fakeRepairer({ repair }))));
    await client.load(request);
    const reply = await client.repair({ ...FAILED_CALL, contract });
    expect(reply.ok && reply.value.outcome).toMatchObject(ending);
  });

  test('repair before load is refused', async () => {
    const { client } = connect(() => Promise.resolve(ok(fakeRepairer())));
    expect(await client.repair({})).toEqual(err({ code: 'worker/not-loaded', params: {} }));
  });

  test('a second load frees the first repairer before it opens another', async () => {
    const order: string[] = [];
    const { client } = connect(() => {
      order.push('open');
      return Promise.resolve(ok(fakeRepairer({ dispose: () => { order.push('dispose'); return Promise.resolve(); } })));
    });
    await client.load(request);
    await client.load(request);
    expect(order).toEqual(['open', 'dispose', 'open']);
  });
});

describe('cancelling', () => {
  test('an aborted load ends at once, reaches the worker, and leaves room for another load', async () => {
    let isFirst = true;
    let workerSawAbort = false;
    const { client } = connect(async (_request, onProgress, signal) => {
      if (!isFirst) return ok(fakeRepairer());
      isFirst = false;
      onProgress(halfway);
      await untilAborted(signal);
      workerSawAbort = true;
      return err({ code: 'worker/aborted' });
    });
    const controller = new AbortController();
    expect(await client.load(request, { signal: controller.signal, onProgress: () => controller.abort() })).toEqual(err({ code: 'worker/aborted', params: {} }));
    expect((await client.load(request)).ok).toBe(true);
    expect(workerSawAbort).toBe(true);
  });

  test('an aborted repair ends at once, although the worker is still busy', async () => {
    const { client } = connect(() => Promise.resolve(ok(fakeRepairer({ repair: async (_record, signal) => { await untilAborted(signal); return ok(outcome); } }))));
    await client.load(request);
    const controller = new AbortController();
    const reply = client.repair({}, { signal: controller.signal });
    controller.abort();
    expect(await reply).toEqual(err({ code: 'worker/aborted', params: {} }));
  });

  test('a call that is cancelled while it waits in the queue never starts', async () => {
    const repair = vi.fn(async (_record: unknown, signal: AbortSignal) => { await untilAborted(signal); return ok(outcome); });
    const { client } = connect(() => Promise.resolve(ok(fakeRepairer({ repair }))));
    await client.load(request);
    const [first, second] = [new AbortController(), new AbortController()];
    const replies = [client.repair({ id: 1 }, { signal: first.signal }), client.repair({ id: 2 }, { signal: second.signal })];
    await vi.waitFor(() => expect(repair).toHaveBeenCalledTimes(1));
    second.abort();
    first.abort();
    await Promise.all(replies);
    // a third call proves that the queue moved past both
    expect(await client.repair({ id: 3 }, { signal: AbortSignal.timeout(50) })).toEqual(err({ code: 'worker/aborted', params: {} }));
    expect(repair.mock.calls.map(([record]) => record)).toEqual([{ id: 1 }, { id: 3 }]);
  });

  test('a signal that is aborted beforehand sends nothing', async () => {
    const open = vi.fn(() => Promise.resolve(ok(fakeRepairer())));
    const { client } = connect(open);
    expect(await client.load(request, { signal: AbortSignal.abort() })).toEqual(err({ code: 'worker/aborted', params: {} }));
    expect(open).not.toHaveBeenCalled();
  });
});

describe('a worker that is gone', () => {
  test('dies under a call: the call and every later one fail with worker/died', async () => {
    const { client, far } = connect(async (_request, onProgress, signal) => {
      onProgress(halfway);
      await untilAborted(signal);
      return err({ code: 'worker/aborted' });
    });
    const died = err({ code: 'worker/died', params: { detail: 'the port was closed' } });
    expect(await client.load(request, { onProgress: () => far.close() })).toEqual(died);
    expect(await client.repair({})).toEqual(died);
  });

  test.each([
    ['error', { message: 'out of memory' }, { code: 'worker/died', params: { detail: 'out of memory' } }],
    ['messageerror', {}, { code: 'worker/unreadable-message', params: {} }],
  ])('an %s event of the worker ends its calls', async (type, event, failure) => {
    const listeners = new Map<string, (event: unknown) => void>();
    const terminate = vi.fn();
    const client = connectRepairer({ postMessage: () => undefined, addEventListener: (name, listener) => listeners.set(name, listener), terminate });
    const reply = client.repair({});
    listeners.get(type)?.(event);
    expect(await reply).toEqual(err(failure));
    expect(terminate).toHaveBeenCalledOnce();
  });

  test('one that never says ready is a failure, not a wait for ever', async () => {
    const client = connectRepairer({ postMessage: () => undefined, addEventListener: () => undefined, terminate: () => undefined }, { startTimeoutMs: 5 });
    expect(await client.load(request)).toEqual(err({ code: 'worker/did-not-start', params: { timeoutMs: 5 } }));
  });

  test('one that is busy for longer than that and answers between two steps is left in peace', async () => {
    const { client } = connect(async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return ok(fakeRepairer());
    }, { answerTimeoutMs: 100 });
    expect((await client.load(request)).ok).toBe(true);
  });

  test('one that falls silent under a call is given up; one that has nothing to do may be', async () => {
    const { client, far } = connect(() => Promise.resolve(ok(fakeRepairer())), { answerTimeoutMs: 100 });
    await client.load(request);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await client.repair({})).ok).toBe(true);
    // as one that is ended: the messages go nowhere, and nobody says so
    (far as unknown as EventEmitter).removeAllListeners('message');
    far.onmessage = () => undefined;
    expect(await client.repair({})).toEqual(err({ code: 'worker/no-answer', params: { timeoutMs: 100 } }));
  });

  test('dispose ends calls under way with worker/closed and frees the repairer', async () => {
    const dispose = vi.fn(() => Promise.resolve());
    const { client } = connect(() => Promise.resolve(ok(fakeRepairer({ dispose, repair: async (_record, signal) => { await untilAborted(signal); return ok(outcome); } }))));
    await client.load(request);
    const reply = client.repair({});
    await client.dispose();
    expect(await reply).toEqual(err({ code: 'worker/closed', params: {} }));
    expect(dispose).toHaveBeenCalledOnce();
    expect(await client.load(request)).toEqual(err({ code: 'worker/closed', params: {} }));
  });
});

describe('the wire', () => {
  test.each([null, 'text', 7, {}, { kind: 'call' }, { kind: 'vite', id: 1 }, { kind: 'call', id: 'x' }])('%j is no message of ours', (data) => {
    expect(isToWorker(data)).toBe(false);
  });
  test.each([undefined, [], { type: 'webpackOk' }, { kind: 1 }])('%j is no answer of ours', (data) => {
    expect(isFromWorker(data)).toBe(false);
  });
  test('a failure keeps nested data and drops what cannot be cloned', () => {
    const failure = { code: 'a/b', list: [1, undefined, { f: () => 1, s: 'x' }], nothing: undefined, none: null };
    const remote = toRemoteFailure(failure);
    expect(remote).toEqual({ code: 'a/b', params: { list: [1, null, { s: 'x' }], none: null } });
    expect(structuredClone(remote)).toEqual(remote);
  });
});
