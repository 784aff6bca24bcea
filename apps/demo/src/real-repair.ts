/** The page's own example on the real model, timed: from nothing to a model that is ready, the first repair, and one more. */
import type { RemoteFailure, WebEngineName } from '@contractrl/runtime-webgpu/web';
import example from './example.json' with { type: 'json' };
import { formatBytes } from './format.ts';
import { createRepairController, type DemoState, type RepairController } from './repair-controller.ts';

export interface RealRepair {
  readonly engine: WebEngineName;
  readonly threads: number;
  readonly loadMs: number;
  readonly wasCached: boolean;
  /** Of the outcome. */
  readonly status: string;
  readonly firstMs: number;
  readonly nextMs: number;
  /** Of page and workers with the model loaded, on WASM with one thread, where the browser tells. */
  readonly memoryBytes: number | undefined;
}

/** `say` hears what is under way, in words. The model is freed at the end. */
export async function timeRealRepair(say: (text: string) => void): Promise<RealRepair | RemoteFailure> {
  const startedAt = performance.now();
  const controller = await loaded(say);
  const { state: ready } = controller;
  if (ready.kind !== 'ready') return failureIn(ready);
  const loadMs = performance.now() - startedAt;
  const times: number[] = [];
  let status = '';
  let last = ready.loaded;
  while (times.length < 2) {
    say('Repairing a call');
    await controller.repair(example);
    const { state } = controller;
    if (state.kind !== 'done') {
      await controller.unload();
      return failureIn(state);
    }
    times.push(state.totalMs);
    status = state.outcome.status;
    last = state.loaded;
  }
  const memoryBytes = await measureMemory(controller, last.threads, say);
  await controller.unload();
  return { engine: last.choice.engine, threads: last.threads, loadMs, wasCached: ready.loaded.fromCache, status, firstMs: times[0]!, nextMs: times[1]!, memoryBytes };
}

async function loaded(say: (text: string) => void, threads?: number): Promise<RepairController> {
  const controller = createRepairController((state) => {
    if (state.kind !== 'loading') return;
    const { phase, loadedBytes = 0, totalBytes = 0 } = state.progress ?? {};
    say(`Loading the model${phase === undefined ? '' : `: ${phase}`}${loadedBytes === 0 ? '' : `, ${formatBytes(loadedBytes)} of ${formatBytes(totalBytes)}`}`);
  }, threads);
  await controller.load();
  return controller;
}

function failureIn(state: DemoState): RemoteFailure {
  return ('failure' in state ? state.failure : undefined) ?? { code: 'worker/aborted', params: {} };
}

/** Browsers answer after their next collection of garbage; one that has not done so by then is not waited for. */
const MEASURE_TIMEOUT_MS = 60_000;

/**
 * A WASM thread that waits for work never answers, and the browser waits for all of them: then the model is loaded once more, with one thread.
 * Reference: W3C "Measure Memory API"; Chromium alone, and only in a cross-origin isolated page.
 */
async function measureMemory(controller: RepairController, threads: number, say: (text: string) => void): Promise<number | undefined> {
  const { measureUserAgentSpecificMemory: measure } = performance as { readonly measureUserAgentSpecificMemory?: () => Promise<{ readonly bytes: number }> };
  if (measure === undefined || !crossOriginIsolated) return undefined;
  if (threads > 1) await controller.unload();
  const weighed = threads > 1 ? await loaded(say, 1) : controller;
  say('Asking the browser for the memory in use');
  const timeout = new Promise<undefined>((resolve) => { setTimeout(resolve, MEASURE_TIMEOUT_MS, undefined); });
  const bytes = await Promise.race([measure.call(performance).then((measured) => measured.bytes, () => undefined), timeout]);
  const { kind } = weighed.state;
  await weighed.unload();
  return kind === 'ready' || kind === 'done' ? bytes : undefined;
}
