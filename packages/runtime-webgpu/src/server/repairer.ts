/** A server behind one function: request → outcome. What its grammar leaves out is part of how the ledger names the policy. */
import { repairCall, type RepairOutcome, type RepairRequest } from '@contractrl/core';
import { createMaskMemory } from '../proposer.ts';
import type { RepairCallOptions } from '../repairer.ts';
import { createServerProposer, notCarriedBy, type ServerParts, type ServerProposerOptions } from './proposer.ts';

export type ServerCallOptions = ServerProposerOptions & Pick<RepairCallOptions, 'signal' | 'functions' | 'deterministic' | 'manifest'>;

export interface ServerRepairer {
  /** Never rejects for wrong data or a failing server: every such end is an outcome with a code. Repairs may be asked for at once. */
  repair(request: RepairRequest, options?: ServerCallOptions): Promise<RepairOutcome>;
}

/** Throws `TypeError` for a `baseUrl` that is not one of HTTP. Asks the server nothing yet. */
export function createServerRepairer(given: ServerParts): ServerRepairer {
  const parts = { memory: createMaskMemory(), ...given };
  createServerProposer(parts);
  return {
    repair(request, options = {}) {
      const { signal, functions, deterministic, manifest, sampling } = options;
      return repairCall(request, createServerProposer(parts, options, notCarriedBy(request, parts.format ?? 'gbnf', functions)), {
        ...(signal === undefined ? {} : { signal }),
        ...(functions === undefined ? {} : { functions }),
        ...(deterministic === undefined ? {} : { deterministic }),
        ...(manifest === undefined ? {} : { manifest }),
        ...(sampling?.kind === 'random' ? { seed: sampling.seed } : {}),
      });
    },
  };
}
