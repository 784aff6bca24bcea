/**
 * The whole of a worker's entry file: an application's bundler needs that file to be its own, so it holds this one call.
 * What it takes to repair is imported at the first load, so a page that only talks to the worker never sees it.
 */
import { serveRepairer, type WorkerScope } from '../worker/host.ts';
import { holdLifeLock } from '../worker/life-lock.ts';

/** Serves the page that made this worker. Call it once, at the top of a module worker. */
export function serveRepairWorker(): void {
  const scope = globalThis as unknown as WorkerScope;
  holdLifeLock((lock) => scope.postMessage({ kind: 'holds', lock }));
  serveRepairer(scope, async (request, onProgress, signal) => {
    const { openWebRepairer } = await import('./open-repairer.ts');
    return openWebRepairer(request, onProgress, signal);
  });
}
