/** The product without a model: readings and the deterministic step, and whatever they leave is declined. */
import { NO_POLICY, repairCall } from '@contractrl/core';
import { toRepairRecord } from '@contractrl/core/records';
import type { Arm, Clock } from './arm.ts';

export function deterministicOnly(clock: Clock): Arm {
  return {
    name: 'deterministic',
    description: 'readings of the argument text and the deterministic step alone, no model; what they leave is declined.',
    output: 'patch',
    identity: NO_POLICY.identity,
    async answer(request, signal) {
      const startedAt = clock();
      const outcome = await repairCall(request, NO_POLICY, { signal });
      return { frozen: outcome.frozen, record: toRepairRecord(outcome, { totalMs: clock() - startedAt }) };
    },
  };
}
