/**
 * A client that outlives its worker once per repair: a worker that dies or falls silent has changed nothing, so another one is started, loads the
 * same model on the next engine, and the repair is run again from the start. Where no other engine is left the same one gets a second worker, since
 * a heap that outgrew its memory is new there. What moved, and why, is in `loaded`.
 */
import { err, ok } from '@contractrl/core';
import type { RejectedEngine, WebEngineName } from '../probe/choice.ts';
import { connectRepairer, WORKER_LOST, type CallOptions, type ClientOptions, type RepairerClient, type WorkerEndpoint } from './client.ts';
import type { LoadedRepairer, LoadRequest, RemoteFailure } from './protocol.ts';

interface Session {
  readonly client: RepairerClient;
  readonly request: LoadRequest;
  loaded: LoadedRepairer;
  /** The session after this one, once its worker was lost. */
  next: Promise<Session | undefined> | undefined;
}

/** As {@link connectRepairer}, with a worker from `startWorker` now, and whenever a call finds the one before lost. */
export function connectLastingRepairer(startWorker: () => WorkerEndpoint, options: ClientOptions = {}): RepairerClient {
  let client = connectRepairer(startWorker(), options);
  let session: Session | undefined;
  let isClosed = false;

  const isLost = ({ code }: RemoteFailure): boolean => !isClosed && WORKER_LOST.has(code);

  /** Whoever finds `lost` gone asks for it; the first of them starts the next worker. */
  function replace(lost: RepairerClient): void {
    if (client === lost) client = connectRepairer(startWorker(), options);
  }

  const load: RepairerClient['load'] = async (request, { signal, onProgress } = {}) => {
    session = undefined;
    let wanted = request;
    for (let isSecond = false; ; isSecond = true) {
      const used = client;
      let busyWith: WebEngineName | undefined;
      const reply = await used.load(wanted, {
        ...(signal === undefined ? {} : { signal }),
        onProgress: (progress) => {
          busyWith = progress.engine;
          onProgress?.(progress);
        },
      });
      if (reply.ok) session = { client: used, request, loaded: reply.value, next: undefined };
      if (reply.ok || !isLost(reply.error)) return reply;
      replace(used);
      if (isSecond) return reply;
      // one that died before it had an engine was lost to something else, and tries the same again
      if (busyWith !== undefined) wanted = { ...request, failed: [...(request.failed ?? []), { engine: busyWith, reason: reasonOf(reply.error) }] };
    }
  };

  /** Repairs that were under way together share one successor. */
  async function succeed({ client: lost, request, loaded }: Session, failure: RemoteFailure): Promise<Session | undefined> {
    replace(lost);
    const { engine, rejected } = loaded.choice;
    const elsewhere = await load({ ...request, failed: [...rejected, { engine, reason: reasonOf(failure) }] });
    if (!elsewhere.ok && elsewhere.error.code === 'engine/none-left') await load({ ...request, failed: rejected });
    return session;
  }

  return {
    load,
    async repair(record, callOptions = {}) {
      const used = session;
      if (used === undefined) return client.repair(record, callOptions);
      const reply = await used.client.repair(record, callOptions);
      if (reply.ok) used.loaded = reply.value.loaded ?? used.loaded;
      if (reply.ok || !isLost(reply.error)) return reply;
      used.next ??= succeed(used, reply.error);
      const next = await untilAborted(used.next, callOptions);
      if (next === 'aborted') return err({ code: 'worker/aborted', params: {} });
      if (next === undefined) return reply;
      const again = await next.client.repair(record, callOptions);
      return again.ok ? ok({ loaded: next.loaded, ...again.value }) : again;
    },
    dispose() {
      isClosed = true;
      return client.dispose();
    },
  };
}

function reasonOf({ code, params }: RemoteFailure): RejectedEngine['reason'] {
  return { ...params, code };
}

/** `aborted` as soon as the signal says so; what was waited for goes on, for the calls that come after. */
function untilAborted<T>(work: Promise<T>, { signal }: CallOptions): Promise<T | 'aborted'> {
  if (signal === undefined) return work;
  return new Promise((resolve) => {
    const abort = (): void => resolve('aborted');
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve).finally(() => signal.removeEventListener('abort', abort));
  });
}
