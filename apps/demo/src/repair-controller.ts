/**
 * The only bridge between the page and the packages: a small state machine over the worker's client.
 * After a load that failed or was cancelled the worker is thrown away, because a WASM heap never shrinks.
 */
import type { JsonValue } from '@contractrl/core';
import {
  connectLastingRepairer, DEFAULT_ADAPTER, DEFAULT_MODEL, type LoadedRepairer, type LoadProgress, type LoadRequest, type RemoteFailure, type RemoteOutcome, type RepairerClient,
} from '@contractrl/runtime-webgpu/web';
import { RUNTIMES } from './runtimes.ts';

export type DemoState =
  | { readonly kind: 'empty'; readonly failure: RemoteFailure | undefined }
  | { readonly kind: 'loading'; readonly progress: LoadProgress | undefined }
  | { readonly kind: 'ready'; readonly loaded: LoadedRepairer; readonly failure: RemoteFailure | undefined }
  | { readonly kind: 'repairing'; readonly loaded: LoadedRepairer }
  | { readonly kind: 'done'; readonly loaded: LoadedRepairer; readonly outcome: RemoteOutcome; readonly totalMs: number };

export interface RepairController {
  readonly state: DemoState;
  load(): Promise<void>;
  repair(record: JsonValue): Promise<void>;
  /** Ends the load or the repair under way; the state says `worker/aborted` at once. */
  cancel(): void;
  /** Frees the model. It can be loaded again. */
  unload(): Promise<void>;
}

const MODEL_URL = '/model/model.gguf';
const ADAPTER_URLS = { config: '/adapter/adapter_config.json', weights: '/adapter/adapter_model.safetensors', calibration: '/adapter/calibration.json' };

/** `onChange` hears every new state, progress included. A call that the state does not allow (no model, another one running) does nothing. */
export function createRepairController(onChange: (state: DemoState) => void, threads?: number): RepairController {
  let state: DemoState = { kind: 'empty', failure: undefined };
  let client: RepairerClient | undefined;
  let running: AbortController | undefined;
  /** Ends when the workers thrown away so far are gone. */
  let closing: Promise<void> = Promise.resolve();

  function become(next: DemoState): void {
    state = next;
    onChange(next);
  }

  return {
    get state() { return state; },

    async load() {
      if (state.kind === 'loading' || state.kind === 'repairing') return;
      running = new AbortController();
      become({ kind: 'loading', progress: undefined });
      // two models at once might not fit into memory
      await discardClient();
      const opened = connectLastingRepairer(() => new Worker(new URL('./repair-worker.ts', import.meta.url), { type: 'module' }));
      client = opened;
      const reply = await opened.load(loadRequest(threads), { signal: running.signal, onProgress: (progress) => become({ kind: 'loading', progress }) });
      if (reply.ok) return become({ kind: 'ready', loaded: reply.value, failure: undefined });
      become({ kind: 'empty', failure: reply.error });
      await discardClient();
    },

    async repair(record) {
      if (client === undefined || (state.kind !== 'ready' && state.kind !== 'done')) return;
      const { loaded } = state;
      running = new AbortController();
      become({ kind: 'repairing', loaded });
      const reply = await client.repair(record, { signal: running.signal });
      // the reply names what is loaded now where engine or worker were lost on the way
      if (reply.ok) return become({ kind: 'done', loaded, ...reply.value });
      const isWorkerLost = reply.error.code.startsWith('worker/') && reply.error.code !== 'worker/aborted';
      become(isWorkerLost ? { kind: 'empty', failure: reply.error } : { kind: 'ready', loaded, failure: reply.error });
    },

    cancel() {
      running?.abort();
    },

    async unload() {
      await discardClient();
      become({ kind: 'empty', failure: undefined });
    },
  };

  function discardClient(): Promise<void> {
    const old = client;
    client = undefined;
    if (old !== undefined) closing = closing.then(() => old.dispose());
    return closing;
  }
}

function loadRequest(threads: number | undefined): LoadRequest {
  const absolute = (path: string): string => new URL(path, location.href).href;
  return {
    model: { ...DEFAULT_MODEL, url: absolute(MODEL_URL) },
    adapter: {
      config: { ...DEFAULT_ADAPTER.config, url: absolute(ADAPTER_URLS.config) },
      weights: { ...DEFAULT_ADAPTER.weights, url: absolute(ADAPTER_URLS.weights) },
      calibration: { ...DEFAULT_ADAPTER.calibration, url: absolute(ADAPTER_URLS.calibration) },
    },
    threads,
    runtimes: RUNTIMES,
  };
}
