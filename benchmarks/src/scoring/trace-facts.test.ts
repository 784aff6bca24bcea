import { loadContract, NO_POLICY, ok, repairCall, type ContractDocument, type FrozenRepair, type Proposer, type RepairRequest } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { counterCase, scriptedArm } from '../../tests/scripted-arm.ts';
import { traceFacts, type TraceFacts } from './trace-facts.ts';

const COST = { promptTokenCount: 0, generatedTokenCount: 0, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };

/** Proposes `texts` in turn. */
function proposing(...texts: readonly string[]): Proposer {
  let next = 0;
  return { identity: {}, propose: () => Promise.resolve(ok({ kind: 'text', text: texts[next++]!, confidence: undefined, maskDigest: undefined, cost: COST })) };
}

const DOCUMENT: ContractDocument = {
  tool: { name: 'pay', description: '', parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 1 }, m: { type: 'integer' }, to: { type: 'string' } }, required: ['n', 'm'], additionalProperties: false } },
  allowedOperations: ['add', 'replace'], operationBudget: 4, attemptBudget: 2, immutablePaths: [], crossField: [], gates: [{ kind: 'reference_exists', pointer: '/to', in: 'known' }],
};

async function traceOf(argumentsText: string, policy: Proposer, document: ContractDocument = DOCUMENT): Promise<FrozenRepair> {
  expect(loadContract(document).ok).toBe(true);
  const request: RepairRequest = { id: 'c', request: [], contract: document, toolNames: ['pay'], call: { name: 'pay', argumentsText }, finishReason: undefined, context: { known: ['a'] } };
  return (await repairCall(request, policy)).frozen;
}

const set = (path: string, value: unknown): string => JSON.stringify([{ op: 'replace', path, value }]);
const NONE = { arrivedInvalid: false, validAfter: null, pointerFixed: null, emitted: false };

// checklist: D3, D11, D14
describe('facts of a trace', () => {
  test.each<{ what: string; text: string; policy: Proposer; facts: Partial<TraceFacts> }>([
    { what: 'a call that was valid as it came', text: '{"n":1,"m":2}', policy: NO_POLICY, facts: NONE },
    { what: 'a call that only a gate refuses', text: '{"n":1,"m":2,"to":"x"}', policy: NO_POLICY, facts: NONE },
    { what: 'a repair by the deterministic step', text: '{"n":"1","m":2}', policy: NO_POLICY, facts: { validAfter: 0, pointerFixed: true, emitted: true, retries: 0 } },
    { what: 'a repair by another reading', text: '```json\n{"n":1,"m":2}\n```', policy: NO_POLICY, facts: { validAfter: 0, pointerFixed: true, emitted: true } },
    { what: 'a reading that a gate then refuses', text: '```json\n{"n":1,"m":2,"to":"x"}\n```', policy: NO_POLICY, facts: { validAfter: 0, pointerFixed: true, emitted: true } },
    { what: 'a repair at the first attempt', text: '{"n":"one","m":2}', policy: proposing(set('/n', 1)), facts: { validAfter: 1, pointerFixed: true, emitted: true, retries: 0, validatorCalls: 2 } },
    { what: 'a repair at the second', text: '{"n":"one","m":2}', policy: proposing(set('/n', 0), set('/n', 1)), facts: { validAfter: 2, pointerFixed: true, emitted: true, retries: 1, validatorCalls: 3 } },
    { what: 'a valid patch that a gate refuses', text: '{"n":"one","m":2,"to":"x"}', policy: proposing(set('/n', 1)), facts: { validAfter: 1, pointerFixed: true, emitted: true } },
    { what: 'one place mended and the other not', text: '{"n":"one","m":"two"}', policy: proposing(set('/n', 1), '[]'), facts: { validAfter: null, pointerFixed: true, emitted: true, retries: 1 } },
    { what: 'the other place mended', text: '{"n":"one","m":"two"}', policy: proposing(set('/m', 1), '[]'), facts: { validAfter: null, pointerFixed: false, emitted: true } },
    { what: 'patches that cannot be applied', text: '{"n":"one","m":2}', policy: proposing('[]', 'no patch'), facts: { validAfter: null, pointerFixed: false, emitted: true, retries: 1 } },
    { what: 'declining at once', text: '{"n":"one","m":2}', policy: NO_POLICY, facts: { validAfter: null, pointerFixed: false, emitted: false, retries: 0 } },
    { what: 'declining after an attempt', text: '{"n":"one","m":2}', policy: proposing(set('/n', 0), '{"abstain":"not-in-state"}'), facts: { validAfter: null, pointerFixed: false, emitted: false, retries: 0 } },
    { what: 'text that nobody can read', text: '{"n":', policy: NO_POLICY, facts: { validAfter: null, pointerFixed: false, emitted: false } },
  ])('$what', async ({ text, policy, facts }) => {
    expect(traceFacts(await traceOf(text, policy))).toMatchObject({ arrivedInvalid: facts.arrivedInvalid ?? true, ...facts });
  });

  test('a contract that cannot be loaded was never asked about the call', async () => {
    const { frozen } = await scriptedArm('x', {}).answer({ ...counterCase('c', '{}').request, contract: { ...DOCUMENT, operationBudget: -1 } }, { aborted: false });
    expect(traceFacts(frozen)).toMatchObject(NONE);
  });

  test.each([
    { what: 'an object that is valid', shot: '{"n":5}', facts: { validAfter: 1, pointerFixed: true, emitted: true } },
    { what: 'an object that is not', shot: '{"n":0}', facts: { validAfter: null, pointerFixed: false, emitted: true } },
    { what: 'an object with another fault', shot: '{"n":5,"x":1}', facts: { validAfter: null, pointerFixed: true, emitted: true } },
    { what: 'text that was cut', shot: '{"n":5', facts: { validAfter: null, pointerFixed: false, emitted: true } },
  ])('of arms that write whole objects: $what', async ({ shot, facts }) => {
    const { frozen } = await scriptedArm('x', { c: shot }).answer(counterCase('c', '{"n":"five"}').request, { aborted: false });
    expect(traceFacts(frozen)).toMatchObject({ arrivedInvalid: true, ...facts });
  });
});
