/** From a provider's tool definition and failed call to the repaired call in the same form, with a function of the host among the checks. */
import { expect, test } from 'vitest';
import { repairCall, type CheckFunction, type RepairOutcome } from '../../src/index.ts';
import { replayTrace } from '../../src/ledger/index.ts';
import { callFromOpenAi, contractFromOpenAi, loadContracts, toOpenAi, type WireCall } from '../../src/sources.ts';
import { patchText, scripted } from '../support.ts';

const DEFINITION = {
  type: 'function',
  function: {
    name: 'get_weather', description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } }, required: ['city'], additionalProperties: false },
  },
};
const FAILED = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo","days":"three"}' } };
const WEEK: CheckFunction = { name: 'within-a-week', version: '1', check: ({ days }, { most }) => typeof days !== 'number' || days <= (most as number) || '/days' };

async function repairWith(patch: string, functions: readonly CheckFunction[]): Promise<{ readonly outcome: RepairOutcome; readonly wire: WireCall }> {
  const source = contractFromOpenAi(DEFINITION, { contract: { crossField: [{ kind: 'function', name: 'within-a-week', version: '1', parameters: { most: 7 } }] } });
  const wire = callFromOpenAi(FAILED);
  if (!source.ok || !wire.ok) throw new Error('expected definition and call to be read');
  const toolset = loadContracts({ defaults: { immutablePaths: ['/city', '/account'], operationBudget: 1 }, tools: [source.value.document] }, { functions: [WEEK] });
  const contract = toolset.ok ? toolset.value.contracts.get(wire.value.call.name) : undefined;
  if (contract === undefined) throw new Error('expected the contract to load');
  const request = { id: 'a', request: [], contract: contract.document, toolNames: [wire.value.call.name], call: wire.value.call, finishReason: undefined, context: {} };
  const outcome = await repairCall(request, scripted(patch), { functions });
  if (functions.length > 0) expect((await replayTrace(outcome.frozen, contract)).ok).toBe(true);
  return { outcome, wire: wire.value };
}

test('a failed call comes back repaired under its own identifier', async () => {
  const { outcome, wire } = await repairWith(patchText({ op: 'replace', path: '/days', value: 3 }), [WEEK]);
  if (outcome.status !== 'repaired') throw new Error(outcome.status);
  expect(toOpenAi(wire, outcome)).toEqual({ ...FAILED, function: { name: 'get_weather', arguments: '{"city":"Oslo","days":3}' } });
});

test('what a function of the host refuses is not repaired', async () => {
  const { outcome } = await repairWith(patchText({ op: 'replace', path: '/days', value: 30 }), [WEEK]);
  expect(outcome.status).toBe('failed');
  expect(outcome).not.toHaveProperty('arguments');
});

test('without the function that its contract names nothing is repaired', async () => {
  const { outcome } = await repairWith(patchText({ op: 'replace', path: '/days', value: 3 }), []);
  expect(outcome).toMatchObject({ status: 'failed', reason: 'contract/unknown-function' });
});
