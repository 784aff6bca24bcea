/** The whole of an engine-check worker's entry file, as `serveRepairWorker` is of a repair worker's. */
import type { CheckEvent, CheckTask } from '../worker/engine-check.ts';

interface CheckScope {
  postMessage(event: CheckEvent): void;
  addEventListener(type: 'message', listener: (event: { readonly data: CheckTask }) => void): void;
}

/** Serves the page that made this worker. Call it once, at the top of a module worker. */
export function serveEngineChecks(): void {
  const scope = globalThis as unknown as CheckScope;
  scope.addEventListener('message', ({ data }) => {
    void import('./check-engine.ts').then(({ runCheckTask }) => runCheckTask(data, (event) => scope.postMessage(event)));
  });
}
