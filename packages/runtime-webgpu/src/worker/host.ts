/**
 * The worker's side: takes calls one at a time, since one engine serves them all, and answers each exactly once.
 * It knows a repairer only by the port below, so that its manners can be tested without a model or a browser.
 */
import type { JsonValue, RepairOutcome, Result } from '@contractrl/core';
import {
  isToWorker, toRemoteFailure, toRemoteOutcome, type FromWorker, type LoadedRepairer, type LoadProgress, type LoadRequest, type WorkerCall,
} from './protocol.ts';

/** The half of a `MessagePort` or a worker's global scope that is needed here. */
export interface WorkerScope {
  postMessage(message: FromWorker): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

/** A repairer ready for use. */
export interface HostedRepairer {
  /** Another value once the repairer has moved to another engine. */
  readonly loaded: LoadedRepairer;
  /** Reads the record and repairs it. An unreadable record is an error; everything later is an outcome. */
  repair(record: JsonValue, signal: AbortSignal): Promise<Result<RepairOutcome, { readonly code: string }>>;
  dispose(): Promise<void>;
}

export type OpenHostedRepairer = (
  request: LoadRequest, onProgress: (progress: LoadProgress) => void, signal: AbortSignal,
) => Promise<Result<HostedRepairer, { readonly code: string }>>;

/** Any issue or failure of this project: a code and its parameters. */
type Failure = { readonly code: string; readonly [param: string]: unknown };
type Answer = Extract<FromWorker, { kind: 'done' | 'failed' }>;

/** Serves calls on `scope` until the worker is terminated, and says `ready` once. */
export function serveRepairer(scope: WorkerScope, open: OpenHostedRepairer): void {
  const controllers = new Map<number, AbortController>();
  let queue: Promise<void> = Promise.resolve();
  let repairer: HostedRepairer | undefined;

  scope.addEventListener('message', ({ data }) => {
    if (!isToWorker(data)) return;
    if (data.kind === 'ping') return scope.postMessage({ kind: 'pong' });
    if (data.kind === 'cancel') return controllers.get(data.id)?.abort();
    const controller = new AbortController();
    controllers.set(data.id, controller);
    queue = queue.then(async () => {
      await reply(data, controller.signal);
      controllers.delete(data.id);
    });
  });
  scope.postMessage({ kind: 'ready' });

  /** Never rejects, or no later call would be served. */
  async function reply(call: WorkerCall, signal: AbortSignal): Promise<void> {
    try {
      scope.postMessage(signal.aborted ? failed(call, { code: 'worker/aborted' }) : await run(call, signal));
    } catch (cause) {
      // the worker edge: an exception here is a bug or an exhausted heap, and the page must hear of it as data
      scope.postMessage(failed(call, { code: 'worker/exception', cause }));
    }
  }

  async function run(call: WorkerCall, signal: AbortSignal): Promise<Answer> {
    switch (call.method) {
      case 'load': {
        await release();
        const opened = await open(call.params, (progress) => scope.postMessage({ kind: 'progress', id: call.id, progress }), signal);
        if (!opened.ok) return failed(call, opened.error);
        repairer = opened.value;
        return { kind: 'done', id: call.id, method: call.method, value: repairer.loaded };
      }
      case 'repair': {
        if (repairer === undefined) return failed(call, { code: 'worker/not-loaded' });
        const startedAt = performance.now();
        const { loaded } = repairer;
        const repaired = await repairer.repair(call.params.record, signal);
        if (!repaired.ok) return failed(call, repaired.error);
        const moved = repairer.loaded === loaded ? {} : { loaded: repairer.loaded };
        return { kind: 'done', id: call.id, method: call.method, value: { outcome: toRemoteOutcome(repaired.value), totalMs: performance.now() - startedAt, ...moved } };
      }
      case 'dispose':
        await release();
        return { kind: 'done', id: call.id, method: call.method, value: null };
    }
  }

  /** Before a new model is loaded the old one goes, or two of them would have to fit into memory. */
  async function release(): Promise<void> {
    const old = repairer;
    repairer = undefined;
    await old?.dispose();
  }
}

function failed(call: WorkerCall, failure: Failure): Answer {
  return { kind: 'failed', id: call.id, failure: toRemoteFailure(failure) };
}
