/** The front door in Node: one call from nothing to a repairer, which moves to the processor where the graphics adapter is lost. */
import { performance } from 'node:perf_hooks';
import { ok, type Result } from '@contractrl/core';
import { createRepairer, type Repairer } from '../repairer.ts';
import { createFallbackRepairer } from './fallback-repairer.ts';
import { openRuntime, type OpenFailure, type OpenOptions } from './open-runtime.ts';

/**
 * Fetches and verifies the model, builds its graph, loads the adapter. The first call on a machine downloads about 95 MB; later ones take about a
 * second. The caller disposes the repairer.
 */
export async function openRepairer(options: OpenOptions = {}): Promise<Result<Repairer, OpenFailure>> {
  const runtime = await openRuntime(options);
  if (!runtime.ok) return runtime;
  const clock = (): number => performance.now();
  const repairer = createRepairer({ ...runtime.value, clock });
  if (runtime.value.choice.engine === 'cpu') return ok(repairer);
  return ok(createFallbackRepairer(repairer, clock, async (code) => {
    options.onProgress?.({ stage: 'engine-rejected', engine: 'webgpu', reason: { code } });
    return openRepairer({ ...options, engine: 'cpu' });
  }));
}
