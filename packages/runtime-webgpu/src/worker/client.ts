/**
 * The page's side: promises over messages. Every call ends, whatever happens to the worker: with a value, with the failure it reported,
 * with `worker/aborted` as soon as the caller's signal says so, or with `worker/…` where the worker is gone or silent.
 */
import { err, ok, type JsonValue, type Result } from '@contractrl/core';
import { afterAwakeMs } from './awake-timer.ts';
import { watchLifeLock } from './life-lock.ts';
import {
  isFromWorker, toRemoteFailure, type LoadProgress, type LoadRequest, type RemoteFailure, type ToWorker, type WorkerCall, type WorkerMethod, type WorkerMethods,
} from './protocol.ts';

/** The half of a `Worker` or a `MessagePort` that is needed here. */
export interface WorkerEndpoint {
  postMessage(message: ToWorker): void;
  addEventListener(type: string, listener: (event: unknown) => void): void;
  /** A worker is terminated; a port is closed. */
  terminate(): void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface LoadOptions extends CallOptions {
  readonly onProgress?: (progress: LoadProgress) => void;
}

type Reply<M extends WorkerMethod> = Result<WorkerMethods[M]['value'], RemoteFailure>;

export interface RepairerClient {
  /** Fetches, verifies and starts the model. A second call replaces the first repairer. */
  load(request: LoadRequest, options?: LoadOptions): Promise<Reply<'load'>>;
  repair(record: JsonValue, options?: CallOptions): Promise<Reply<'repair'>>;
  /** Frees the model, then ends the worker; at the latest after two seconds. Calls under way end with `worker/closed`. */
  dispose(): Promise<void>;
}

/** A module worker starts in tens of milliseconds; a development server that still has to bundle may need seconds. */
const START_TIMEOUT_MS = 60_000;
/** The longest step that a worker cannot listen in is the start of a WASM session: seconds, on a slow and busy machine most of a minute. */
const ANSWER_TIMEOUT_MS = 120_000;
/** A WASM run cannot be interrupted, so a polite goodbye is given this long and no longer. */
const DISPOSE_TIMEOUT_MS = 2_000;

export interface ClientOptions {
  /** Until the worker says that it is ready; default one minute. */
  readonly startTimeoutMs?: number;
  /** While a call is under way, the longest silence of the worker, two minutes by default. Time in which the browser lets the tab sleep does not count. */
  readonly answerTimeoutMs?: number;
}

interface Pending {
  settle(reply: Result<unknown, RemoteFailure>): void;
  onProgress: ((progress: LoadProgress) => void) | undefined;
}

/** What ends a worker without anybody having asked for it. */
export const WORKER_LOST: ReadonlySet<string> = new Set(['worker/did-not-start', 'worker/died', 'worker/no-answer', 'worker/unreadable-message']);

/**
 * Takes ownership of `worker`. Fails calls with a code of {@link WORKER_LOST}, with `worker/aborted` or `worker/closed`, and with `worker/not-data`
 * where what is to be sent holds functions or other things that cannot be posted; nothing is left out of it silently.
 */
export function connectRepairer(worker: WorkerEndpoint, { startTimeoutMs = START_TIMEOUT_MS, answerTimeoutMs = ANSWER_TIMEOUT_MS }: ClientOptions = {}): RepairerClient {
  const pending = new Map<number, Pending>();
  let nextId = 1;
  /** Set once; every later call fails with it. */
  let ending: RemoteFailure | undefined;
  const stopStart = afterAwakeMs(startTimeoutMs, () => end({ code: 'worker/did-not-start', params: { timeoutMs: startTimeoutMs } }));
  const lifeWatch = new AbortController();
  let stopSilence = (): void => undefined;

  worker.addEventListener('message', (event) => receive((event as { readonly data: unknown }).data));
  worker.addEventListener('messageerror', () => end({ code: 'worker/unreadable-message', params: {} }));
  worker.addEventListener('close', () => end({ code: 'worker/died', params: { detail: 'the port was closed' } }));
  worker.addEventListener('error', (event) => end({ code: 'worker/died', params: { detail: (event as { readonly message?: string }).message ?? '' } }));

  /** Begins the silence anew: at each sign of life, and with each call. */
  function listen(): void {
    stopSilence();
    if (pending.size === 0 || ending !== undefined) return;
    stopSilence = afterAwakeMs(
      answerTimeoutMs,
      () => end({ code: 'worker/no-answer', params: { timeoutMs: answerTimeoutMs } }),
      () => worker.postMessage({ kind: 'ping', id: 0 }),
    );
  }

  function receive(data: unknown): void {
    if (!isFromWorker(data)) return;
    listen();
    if (data.kind === 'ready') return stopStart();
    if (data.kind === 'pong') return;
    if (data.kind === 'holds') return watchLifeLock(data.lock, () => end({ code: 'worker/died', params: { detail: 'the worker ended' } }), lifeWatch.signal);
    const call = pending.get(data.id);
    // an aborted call was answered already; what the worker still says of it is of no interest
    if (call === undefined) return;
    switch (data.kind) {
      case 'progress': return call.onProgress?.(data.progress);
      case 'done': return call.settle(ok(data.value));
      case 'failed': return call.settle(err(data.failure));
    }
  }

  function end(failure: RemoteFailure): void {
    if (ending !== undefined) return;
    ending = failure;
    stopStart();
    stopSilence();
    lifeWatch.abort();
    worker.terminate();
    for (const call of [...pending.values()]) call.settle(err(failure));
  }

  function call<M extends WorkerMethod>(method: M, params: WorkerMethods[M]['params'], { signal, onProgress }: LoadOptions = {}): Promise<Reply<M>> {
    if (ending !== undefined) return Promise.resolve(err(ending));
    if (signal?.aborted === true) return Promise.resolve(err({ code: 'worker/aborted', params: {} }));
    const id = nextId++;
    return new Promise((resolve) => {
      const abort = (): void => {
        worker.postMessage({ kind: 'cancel', id });
        settle(err({ code: 'worker/aborted', params: {} }));
      };
      const settle = (reply: Result<unknown, RemoteFailure>): void => {
        pending.delete(id);
        if (pending.size === 0) stopSilence();
        signal?.removeEventListener('abort', abort);
        // the protocol's map guarantees it: the worker answers call `id` with the value of its own method
        resolve(reply as Reply<M>);
      };
      pending.set(id, { settle, onProgress });
      signal?.addEventListener('abort', abort);
      listen();
      try {
        worker.postMessage({ kind: 'call', id, method, params } as WorkerCall);
      } catch (cause) {
        const notData = { code: 'worker/not-data', cause };
        settle(err(toRemoteFailure(notData)));
      }
    });
  }

  return {
    load: (request, options) => call('load', request, options),
    repair: (record, options) => call('repair', { record }, options),
    async dispose() {
      const closed: RemoteFailure = { code: 'worker/closed', params: {} };
      for (const [id, { settle }] of [...pending]) {
        worker.postMessage({ kind: 'cancel', id });
        settle(err(closed));
      }
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([call('dispose', null), new Promise((resolve) => { timer = setTimeout(resolve, DISPOSE_TIMEOUT_MS); })]);
      clearTimeout(timer);
      end(closed);
    },
  };
}
