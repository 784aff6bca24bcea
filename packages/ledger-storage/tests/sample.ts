/** Repairs to store: real ones, of a small tool and a policy that answers from a list. */
import { repairCall, type FrozenRepair } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';

const COST = { promptTokenCount: 100, generatedTokenCount: 10, forcedTokenCount: 4, prefillMs: 5, decodeMs: 7, maskMs: 1 };

/** One repair that succeeds, of a case of this name. `note` makes its rows as long as it is. */
export async function sampleRepair(id: string, note: string = ''): Promise<FrozenRepair> {
  const request = readRepairRequest({
    id, request: 'Run the tests.',
    tool: { name: 'run', description: 'Run a command', parameters: { type: 'object', properties: { tail: { type: 'integer' }, note: { type: 'string' } }, required: ['tail'], additionalProperties: false } },
    call: { name: 'run', arguments: { tail: 'ten', note } },
  });
  if (!request.ok) throw new Error(request.error.code);
  const answer = { kind: 'text', text: '[{"op":"replace","path":"/tail","value":10}]', confidence: 0.5, cost: COST, maskDigest: undefined } as const;
  const { frozen } = await repairCall(request.value, { identity: { policy: 'scripted' }, propose: () => Promise.resolve({ ok: true, value: answer }) });
  return frozen;
}
