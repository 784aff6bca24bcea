/**
 * A repairer that moves on once its engine is lost: the failed repair has changed nothing, so it is run again, from the start, on the next one, as in a
 * browser's worker.
 */
import type { RepairOutcome, RepairRequest, Result } from '@contractrl/core';
import { ENGINE_LOST } from '../engine-losses.ts';
import type { Clock } from '../generate.ts';
import { recording, type RepairCallOptions, type Repairer } from '../repairer.ts';

/** `openNext` is called at most once, with the code of what was lost, when the first engine is freed; it opens the repairer that all later repairs run on. */
export function createFallbackRepairer(first: Repairer, clock: Clock, openNext: (code: string) => Promise<Result<Repairer, { readonly code: string }>>): Repairer {
  let current = first;
  let next: Promise<Repairer | undefined> | undefined;

  async function move(code: string): Promise<Repairer | undefined> {
    // two models at once might not fit into memory
    await first.dispose();
    const opened = await openNext(code);
    if (!opened.ok) return undefined;
    current = opened.value;
    return current;
  }

  async function repair(request: RepairRequest, options?: RepairCallOptions): Promise<RepairOutcome> {
    const used = current;
    const outcome = await used.repair(request, options);
    if (used !== first || outcome.status !== 'failed' || !ENGINE_LOST.has(outcome.reason)) return outcome;
    next ??= move(outcome.reason);
    return (await next)?.repair(request, options) ?? outcome;
  }

  return {
    repair,
    repairToRecord: recording(repair, clock),
    identity: (options) => current.identity(options),
    async dispose() {
      await next;
      await current.dispose();
    },
  };
}
