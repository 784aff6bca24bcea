/**
 * A repairer that survives its engine once per repair: where the GPU is lost or memory runs out, the failed repair has changed nothing (its
 * outcome is the original call), so it is run again, from the start, on the next engine. What moved, and why, is in `loaded`.
 */
import { err, ok, type RepairOutcome, type RepairRequest, type Result } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';
import { ENGINE_LOST } from '../engine-losses.ts';
import type { Repairer } from '../repairer.ts';
import type { RejectedEngine } from '../probe/choice.ts';
import type { HostedRepairer } from '../worker/host.ts';
import type { LoadedRepairer } from '../worker/protocol.ts';

export interface StartedRepairer {
  readonly repairer: Pick<Repairer, 'repair' | 'dispose'>;
  readonly loaded: LoadedRepairer;
}

/** Starts a repairer on the best engine that is not among `failed`. */
export type StartRepairer = (failed: readonly RejectedEngine[], signal: AbortSignal) => Promise<Result<StartedRepairer, { readonly code: string }>>;

/** Fails where not even the first start succeeds, which passes over the engines in `failed`. */
export async function createFailoverRepairer(
  start: StartRepairer, signal: AbortSignal, failed: readonly RejectedEngine[] = [],
): Promise<Result<HostedRepairer, { readonly code: string }>> {
  const first = await start(failed, signal);
  return first.ok ? ok(new FailoverRepairer(first.value, start)) : first;
}

class FailoverRepairer implements HostedRepairer {
  #current: StartedRepairer;
  readonly #start: StartRepairer;

  constructor(first: StartedRepairer, start: StartRepairer) {
    this.#current = first;
    this.#start = start;
  }

  get loaded(): LoadedRepairer {
    return this.#current.loaded;
  }

  async repair(record: Parameters<HostedRepairer['repair']>[0], signal: AbortSignal): Promise<Result<RepairOutcome, { readonly code: string }>> {
    const request = readRepairRequest(record);
    if (!request.ok) return err(request.error);
    const outcome = await this.#current.repairer.repair(request.value, { signal });
    return ok(outcome.status === 'failed' && ENGINE_LOST.has(outcome.reason) ? await this.#repairElsewhere(request.value, outcome, signal) : outcome);
  }

  dispose(): Promise<void> {
    return this.#current.repairer.dispose();
  }

  /** The first outcome stays where no other engine can be had. */
  async #repairElsewhere(request: RepairRequest, outcome: RepairOutcome & { readonly status: 'failed' }, signal: AbortSignal): Promise<RepairOutcome> {
    const { repairer, loaded } = this.#current;
    // freed first: two models at once might not fit into memory
    await repairer.dispose();
    const { engine, rejected } = loaded.choice;
    const next = await this.#start([...rejected, { engine, reason: { code: outcome.reason } }], signal);
    if (!next.ok) return outcome;
    this.#current = next.value;
    return this.#current.repairer.repair(request, { signal });
  }
}
