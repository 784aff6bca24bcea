/** The page's side: a proposer whose engine and mask are in a worker. Every call ends, whatever happens to the worker. */
import { err, type JsonObject, type Proposal, type Proposer, type ProposerFailure, type Result } from '@contractrl/core';
import { toProposerFailure } from '../failure-text.ts';
import { watchLifeLock } from '../worker/life-lock.ts';
import type { RemoteFailure } from '../worker/protocol.ts';
import { webLlmIdentity, type WebLlmProposerOptions } from './proposer.ts';
import { isWebLlmMessage, type FromWebLlm, type LoadReport, type OpenedWebLlm, type OpenParams, type RemoteResult, type ToWebLlm } from './protocol.ts';

/** The half of a `Worker` that is needed here. */
export interface WebLlmWorker {
  postMessage(message: ToWebLlm): void;
  addEventListener(type: string, listener: (event: unknown) => void): void;
  terminate(): void;
}

export interface WebLlmClient {
  /** Loads a model in the worker, in place of the one before. WebLLM cannot stop a load: after an abort it goes on, and what it loads is not used. */
  open(params: OpenParams, options?: { readonly signal?: AbortSignal; readonly onProgress?: (report: LoadReport) => void }): Promise<Result<OpenedWebLlm, RemoteFailure>>;
  /** Of the model that `open` gave. An abort takes effect at the next token. */
  proposer(opened: OpenedWebLlm, options?: WebLlmProposerOptions): Proposer;
  /** Ends the worker; calls under way end with `worker/closed`. */
  dispose(): void;
}

interface Pending {
  settle(result: RemoteResult<never>): void;
  readonly onProgress: ((report: LoadReport) => void) | undefined;
}

/** Takes ownership of `worker`, whose file calls `serveWebLlm`. */
export function connectWebLlm(worker: WebLlmWorker): WebLlmClient {
  const pending = new Map<number, Pending>();
  let nextId = 1;
  let ending: RemoteFailure | undefined;
  const lifeWatch = new AbortController();

  worker.addEventListener('message', (event) => {
    const { data } = event as { readonly data: unknown };
    if (!isWebLlmMessage(data)) return;
    const message = data as unknown as FromWebLlm;
    if (message.webllm === 'holds') return watchLifeLock(message.lock, () => end({ code: 'worker/died', params: { detail: 'the worker ended' } }), lifeWatch.signal);
    const call = pending.get(message.id);
    if (message.webllm === 'progress') call?.onProgress?.(message.progress);
    // the worker answers each call with a value of its own kind
    else call?.settle(message.result as RemoteResult<never>);
  });
  worker.addEventListener('messageerror', () => end({ code: 'worker/unreadable-message', params: {} }));
  worker.addEventListener('close', () => end({ code: 'worker/died', params: { detail: 'the port was closed' } }));
  worker.addEventListener('error', (event) => end({ code: 'worker/died', params: { detail: (event as { readonly message?: string }).message ?? '' } }));

  function end(failure: RemoteFailure): void {
    if (ending !== undefined) return;
    ending = failure;
    lifeWatch.abort();
    worker.terminate();
    for (const call of [...pending.values()]) call.settle(err(failure));
  }

  function call<T>(message: Omit<Extract<ToWebLlm, { params: unknown }>, 'id'>, signal: AbortSignal | undefined, onProgress?: (report: LoadReport) => void): Promise<RemoteResult<T>> {
    if (ending !== undefined) return Promise.resolve(err(ending));
    const aborted = err({ code: 'engine/aborted', params: {} });
    if (signal?.aborted === true) return Promise.resolve(aborted);
    const id = nextId++;
    return new Promise((resolve) => {
      const settle = (result: RemoteResult<T>): void => {
        pending.delete(id);
        signal?.removeEventListener('abort', abort);
        resolve(result);
      };
      const abort = (): void => {
        worker.postMessage({ webllm: 'cancel', id });
        settle(aborted);
      };
      pending.set(id, { settle, onProgress });
      signal?.addEventListener('abort', abort);
      worker.postMessage({ ...message, id } as ToWebLlm);
    });
  }

  return {
    open: (params, { signal, onProgress } = {}) => call({ webllm: 'open', params }, signal, onProgress),
    proposer: ({ modelId, vocabulary }, options = {}) => ({
      identity: webLlmIdentity(modelId, vocabulary, options),
      async propose({ contract, ...observation }, signal) {
        const message = { webllm: 'propose', params: { document: contract.document, contractDigest: contract.digest, observation, options } } as const;
        const result = await call<Proposal>(message, signal instanceof AbortSignal ? signal : undefined);
        return result.ok ? result : err(toFailure(result.error));
      },
    }),
    dispose: () => end({ code: 'worker/closed', params: {} }),
  };
}

function toFailure({ code, params, message }: RemoteFailure & { readonly message?: string }): ProposerFailure {
  const known = toProposerFailure({ ...(params as JsonObject), code });
  return message === undefined ? known : { ...known, message };
}
