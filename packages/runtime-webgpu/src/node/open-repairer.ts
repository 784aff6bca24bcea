/** The front door in Node: one call from nothing to a repairer. */
import { performance } from 'node:perf_hooks';
import { ok, type Result } from '@contractrl/core';
import { createRepairer, type Repairer } from '../repairer.ts';
import { openRuntime, type OpenFailure, type OpenOptions } from './open-runtime.ts';

/**
 * Fetches and verifies the model, builds its graph, loads the adapter. The first call on a machine downloads about 95 MB; later ones take about a
 * second. The caller disposes the repairer.
 */
export async function openRepairer(options: OpenOptions = {}): Promise<Result<Repairer, OpenFailure>> {
  const runtime = await openRuntime(options);
  return runtime.ok ? ok(createRepairer({ ...runtime.value, clock: () => performance.now() })) : runtime;
}
