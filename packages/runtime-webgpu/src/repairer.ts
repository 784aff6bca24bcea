/**
 * The whole of it behind one function: request → outcome. Puts an engine, a tokenizer and a mask behind core's repair loop and measures the time.
 * Repairs may be asked for at once; the engine runs them one step at a time.
 */
import { repairCall, type CheckFunction, type JsonObject, type RepairOutcome, type RepairRequest } from '@contractrl/core';
import { toRepairRecord, type RepairRecord } from '@contractrl/core/records';
import type { Vocabulary } from '@contractrl/grammar-mask';
import type { Engine } from './engine.ts';
import type { Clock } from './generate.ts';
import { createMaskedProposer, createProposerMemory, type ProposerMemory, type ProposerOptions } from './proposer.ts';
import type { Release } from './release/release.ts';
import type { Tokenizer } from './tokenizer.ts';

export interface RepairerParts {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
  /** Milliseconds from any fixed point, for the timings. */
  readonly clock: Clock;
  /** Default: one of its own. */
  readonly memory?: ProposerMemory;
  /** The adapter's own release rule; default none. */
  readonly release?: Release;
}

export interface RepairCallOptions extends ProposerOptions {
  readonly signal?: AbortSignal;
  /** The functions that the contract's checks across fields name. */
  readonly functions?: readonly CheckFunction[];
  /** As core's option: the deterministic step before the model, true by default. */
  readonly deterministic?: boolean;
  /** For the ledger: configuration and source revision of the run. */
  readonly manifest?: JsonObject;
}

export interface Repairer {
  /** Never rejects for wrong data or a failing engine: every such end is an outcome with a code. */
  repair(request: RepairRequest, options?: RepairCallOptions): Promise<RepairOutcome>;
  /** The same, with the record that is printed and logged: the outcome plus the time from call to answer. */
  repairToRecord(request: RepairRequest, options?: RepairCallOptions): Promise<{ readonly outcome: RepairOutcome; readonly record: RepairRecord }>;
  /** How answers of these options are named in the ledger. */
  identity(options?: ProposerOptions): JsonObject;
  /** Frees the engine. */
  dispose(): Promise<void>;
}

export function createRepairer(parts: RepairerParts): Repairer {
  const { engine, clock, memory = createProposerMemory(engine) } = parts;

  function repair(request: RepairRequest, options: RepairCallOptions = {}): Promise<RepairOutcome> {
    const { signal, functions, deterministic, manifest, sampling } = options;
    return repairCall(request, createMaskedProposer({ ...parts, memory }, options), {
      ...(signal === undefined ? {} : { signal }),
      ...(functions === undefined ? {} : { functions }),
      ...(deterministic === undefined ? {} : { deterministic }),
      ...(manifest === undefined ? {} : { manifest }),
      ...(sampling?.kind === 'random' ? { seed: sampling.seed } : {}),
    });
  }

  return {
    repair,
    repairToRecord: recording(repair, clock),
    identity: (options) => createMaskedProposer({ ...parts, memory }, options).identity,
    async dispose() {
      memory.prefixes.clear();
      await engine.dispose();
    },
  };
}

/** What a repairer's `repairToRecord` is, whatever its `repair` does. */
export function recording(repair: (request: RepairRequest, options?: RepairCallOptions) => Promise<RepairOutcome>, clock: Clock): Repairer['repairToRecord'] {
  return async (request, options) => {
    const startedAt = clock();
    const outcome = await repair(request, options);
    return { outcome, record: toRepairRecord(outcome, { totalMs: clock() - startedAt }) };
  };
}
