/** The 20 reference repairs of `fixtures/repair-prompts.jsonl.gz` as requests and observations. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { loadContract, openRepair, validateValue, type Contract, type JsonObject, type Observation, type RepairRequest, type ToolDefinition } from '@contractrl/core';

export interface ReferenceRepair {
  readonly id: string;
  readonly query: string;
  readonly tool: ToolDefinition;
  readonly candidate: JsonObject;
  readonly code: string;
  readonly pointer: string;
  readonly locked: readonly string[];
  /** The arguments before they were corrupted. */
  readonly expected: JsonObject;
  readonly prompt: string;
  readonly promptIds: readonly number[];
  /** What the adapter answers greedily without a mask. */
  readonly answer: string;
}

const fixture = new URL('../fixtures/repair-prompts.jsonl.gz', import.meta.url);

export const REFERENCE_REPAIRS: readonly ReferenceRepair[] = gunzipSync(readFileSync(fixture))
  .toString('utf8').trim().split('\n').map((line) => JSON.parse(line) as ReferenceRepair);

/** The schema is closed, so that a member too many is a violation as in the reference. */
export function requestOf({ id, query, tool, candidate, locked }: ReferenceRepair): RepairRequest {
  return {
    id,
    request: [{ role: 'user', content: query }],
    contract: {
      tool: { ...tool, parameters: { ...tool.parameters, additionalProperties: false } },
      allowedOperations: ['add', 'remove', 'replace', 'move', 'copy'], operationBudget: 2, attemptBudget: 2, immutablePaths: locked, crossField: [], gates: [],
    },
    toolNames: [tool.name],
    call: { name: tool.name, argumentsText: JSON.stringify(candidate) },
    finishReason: undefined,
    context: {},
  };
}

export function contractOf(request: RepairRequest): Contract {
  const contract = loadContract(request.contract);
  if (!contract.ok) throw new Error(`${contract.error.code} at ${contract.error.pointer}`);
  return contract.value;
}

export function observationOf(request: RepairRequest): Observation {
  const contract = contractOf(request);
  const candidate = JSON.parse(request.call.argumentsText) as JsonObject;
  const report = validateValue(contract, candidate);
  if (report.kind === 'valid') throw new Error('the candidate is valid');
  return { contract, request: request.request, context: request.context, state: openRepair(contract, report, candidate), violations: report.violations };
}
