/**
 * The worker's side: makes the engine here, since WebLLM's own worker client does not carry a logit processor over, and answers with proposals.
 * An application's worker file holds this one call and its import of WebLLM.
 */
import { err, loadContract, ok, type Observation, type Proposal } from '@contractrl/core';
import { createMaskMemory } from '../proposer.ts';
import { holdLifeLock } from '../worker/life-lock.ts';
import { toRemoteFailure } from '../worker/protocol.ts';
import { fetchWebLlmFiles, readWebLlmModel } from './model.ts';
import type { WebLlmEngine } from './port.ts';
import { createWebLlmProposer } from './proposer.ts';
import { isWebLlmMessage, type FromWebLlm, type LoadReport, type OpenedWebLlm, type OpenParams, type ProposeParams, type RemoteResult, type ToWebLlm } from './protocol.ts';
import { openWebLlm, type WebLlmSession } from './session.ts';

/** The half of a worker's global scope or a `MessagePort` that is needed here. */
export interface WebLlmScope {
  postMessage(message: FromWebLlm): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

export interface ServeOptions {
  /** For the two JSON files of a model; default the worker's own. */
  readonly fetch?: typeof globalThis.fetch;
}

/** `createEngine` as in `(onProgress) => new MLCEngine({ initProgressCallback: onProgress })`; called once. */
export function serveWebLlm(scope: WebLlmScope, createEngine: (onProgress: (report: LoadReport) => void) => WebLlmEngine, { fetch }: ServeOptions = {}): void {
  const memory = createMaskMemory();
  const controllers = new Map<number, AbortController>();
  let openingId = 0;
  let engine: WebLlmEngine | undefined;
  let session: WebLlmSession | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  holdLifeLock((lock) => scope.postMessage({ webllm: 'holds', id: 0, lock }));
  scope.addEventListener('message', ({ data }) => {
    if (!isWebLlmMessage(data)) return;
    const message = data as unknown as ToWebLlm;
    if (message.webllm === 'cancel') return controllers.get(message.id)?.abort();
    const controller = new AbortController();
    controllers.set(message.id, controller);
    queue = queue.then(async () => {
      if (message.webllm === 'open') scope.postMessage({ webllm: 'opened', id: message.id, result: await settled(() => open(message.id, message.params, controller.signal)) });
      else scope.postMessage({ webllm: 'proposed', id: message.id, result: await settled(() => propose(message.params, controller.signal)) });
      controllers.delete(message.id);
    });
  });

  /** The worker edge: what is thrown here is a bug or an exhausted heap, and the page must hear of it as data. */
  async function settled<T>(work: () => Promise<RemoteResult<T>>): Promise<RemoteResult<T>> {
    try {
      return await work();
    } catch (cause) {
      return failed({ code: 'worker/exception', cause });
    }
  }

  async function open(id: number, { modelId, modelUrl }: OpenParams, signal: AbortSignal): Promise<RemoteResult<OpenedWebLlm>> {
    session = undefined;
    openingId = id;
    const files = await fetchWebLlmFiles(modelUrl, fetch, signal);
    if (!files.ok) return failed(signal.aborted ? { code: 'engine/aborted' } : files.error);
    const model = readWebLlmModel(files.value);
    if (!model.ok) return failed(model.error);
    engine ??= createEngine(({ progress, text }) => scope.postMessage({ webllm: 'progress', id: openingId, progress: { progress, text } }));
    const opened = await openWebLlm(engine, modelId, model.value);
    if (!opened.ok) return failed(opened.error);
    if (signal.aborted) return failed({ code: 'engine/aborted' });
    session = opened.value;
    const { logitWidth } = session;
    return ok({ modelId, vocabulary: model.value.vocabulary.digest, logitWidth, contextLength: model.value.contextLength });
  }

  async function propose({ document, contractDigest, observation, options }: ProposeParams, signal: AbortSignal): Promise<RemoteResult<Proposal>> {
    if (session === undefined) return failed({ code: 'worker/not-loaded' });
    const contract = loadContract(document);
    if (!contract.ok) return failed(contract.error);
    if (contract.value.digest !== contractDigest) return failed({ code: 'worker/contract-differs' });
    const shown: Observation = { ...observation, contract: contract.value };
    const proposed = await createWebLlmProposer({ session, memory, clock: () => performance.now() }, options).propose(shown, signal);
    if (proposed.ok) return proposed;
    const { message, params, ...failure } = proposed.error;
    return err({ ...toRemoteFailure({ ...params, ...failure }), message });
  }
}

function failed(failure: { readonly code: string; readonly cause?: unknown }): RemoteResult<never> {
  return err(toRemoteFailure(failure));
}
