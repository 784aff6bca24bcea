import { describe, expect, test } from 'vitest';
import { COST, GOOD, patchText, requestOf, scripted, STILL_WRONG, textProposal, TRANSFER } from '../../tests/support.ts';
import type { Observation, Proposer } from './proposer.ts';
import { repairCall } from './repair.ts';

const abstain = (code: string): string => JSON.stringify({ abstain: code });

describe('a call that needs no repair', () => {
  const call = { name: 'transfer', arguments: '{ "to":"ACC-2041",\n "amount_cents": 1.5e4 }' };

  test('is valid, keeps its exact text and asks no policy', async () => {
    const proposer = scripted();
    const outcome = await repairCall(requestOf({ call }), proposer);
    expect(outcome).toMatchObject({ status: 'valid', argumentsText: call.arguments, arguments: { to: 'ACC-2041', amount_cents: 15000 }, attempts: 0, reports: [] });
    expect(proposer.asked()).toBe(0);
  });

  test('is rejected with the reason where a gate refuses it', async () => {
    const contract = { gates: [{ kind: 'reference_exists', pointer: '/to', in: 'accounts' }] };
    const outcome = await repairCall(requestOf({ call, contract, context: { accounts: ['ACC-0001'] } }), scripted());
    expect(outcome).toMatchObject({
      status: 'rejected', reason: 'gate/reference-unknown', params: { value: 'ACC-2041' }, reports: [{ code: 'policy_reject', pointer: '', keyword: 'gate' }],
    });
    expect(outcome).not.toHaveProperty('arguments');
  });

  test('is rejected where the context that a gate needs is missing', async () => {
    const contract = { gates: [{ kind: 'reference_exists', pointer: '/to', in: 'accounts' }] };
    expect(await repairCall(requestOf({ call, contract }), scripted())).toMatchObject({ status: 'rejected', reason: 'gate/context-missing' });
  });
});

describe('a call that is repaired', () => {
  test('in one attempt: the arguments are read back from the text, the patch is the proposed one', async () => {
    const outcome = await repairCall(requestOf(), scripted(textProposal(GOOD, 0.9)));
    expect(outcome).toMatchObject({
      status: 'repaired', argumentsText: '{"to":"ACC-2041","amount_cents":15000}', arguments: { to: 'ACC-2041', amount_cents: 15000 },
      patch: JSON.parse(GOOD), attempts: 1, operations: 1, confidence: 0.9, cost: COST,
      reports: [{ code: 'wrong_type', pointer: '/amount_cents' }],
      history: [{ verdict: 'accepted', code: undefined }],
    });
  });

  test('in two attempts: the patches are joined and the costs summed', async () => {
    const outcome = await repairCall(requestOf(), scripted(STILL_WRONG, GOOD));
    expect(outcome).toMatchObject({ status: 'repaired', patch: [...JSON.parse(STILL_WRONG), ...JSON.parse(GOOD)], attempts: 2, operations: 2 });
    expect(outcome.cost).toEqual({ promptTokenCount: 200, generatedTokenCount: 20, forcedTokenCount: 8, prefillMs: 10, decodeMs: 14, maskMs: 2 });
    expect(outcome.history.map(({ verdict }) => verdict)).toEqual(['repair/still-invalid', 'accepted']);
  });

  test('is rejected where a gate refuses the repaired call', async () => {
    const contract = { gates: [{ kind: 'reference_exists', pointer: '/to', in: 'accounts' }] };
    const outcome = await repairCall(requestOf({ contract, context: { accounts: [] } }), scripted(GOOD));
    expect(outcome).toMatchObject({ status: 'rejected', reason: 'gate/reference-unknown', attempts: 1, operations: 1 });
    expect(outcome.history).toMatchObject([{ verdict: 'gate/reference-unknown', code: 'policy_reject' }]);
    expect(outcome).not.toHaveProperty('arguments');
  });
});

// checklist: B8, H3
describe('a refused proposal costs one attempt, leaves the candidate and is shown to the next attempt', () => {
  test.each([
    ['text that is no JSON', 'sorry, I cannot', 'json/syntax'],
    ['empty text', '', 'json/empty'],
    ['cut text', '[{"op":"add"', 'json/truncated'],
    ['a value that is no patch', '{"amount_cents":15000}', 'patch/not-array'],
    ['an empty patch', '[]', 'patch/empty'],
    ['an inherited operation name', '[{"op":"toString","path":"/to"}]', 'patch/op-unknown'],
    ['a path into a prototype', patchText({ op: 'add', path: '/__proto__', value: {} }), 'patch/forbidden-token'],
    ['a path that is not there', patchText({ op: 'replace', path: '/memo', value: 'x' }), 'patch/path-unresolved'],
    ['more operations than are left', patchText(...Array.from({ length: 3 }, () => ({ op: 'replace', path: '/amount_cents', value: 1 }))), 'patch/operation-budget'],
    ['an abstention with an unknown code', abstain('because I say so'), 'patch/not-array'],
    ['a number that a double cannot hold', '[{"op":"replace","path":"/amount_cents","value":9007199254740993}]', 'json/precision-loss'],
  ])('%s', async (_, text, code) => {
    const seen: Observation[] = [];
    const answers = [text, GOOD];
    const proposer: Proposer = {
      identity: {},
      propose: (observation) => {
        seen.push(observation);
        return Promise.resolve({ ok: true, value: textProposal(answers[seen.length - 1] ?? '') });
      },
    };
    const outcome = await repairCall(requestOf(), proposer);
    expect(seen[1]?.state).toMatchObject({ candidate: { to: 'ACC-2041', amount_cents: '150.00' }, attemptsLeft: 1, operationsLeft: 2, history: [{ verdict: code }] });
    expect(outcome).toMatchObject({ status: 'repaired', attempts: 2, operations: 1, patch: JSON.parse(GOOD) });
  });

  test('a generation that stopped early', async () => {
    const outcome = await repairCall(requestOf(), scripted({ kind: 'incomplete', text: '[{"op":', code: 'engine/token-limit', cost: COST }, GOOD));
    expect(outcome).toMatchObject({ status: 'repaired', attempts: 2, history: [{ verdict: 'engine/token-limit', patch: undefined }, { verdict: 'accepted' }] });
  });

  test('a patch on a locked path, even one that would make the call valid', async () => {
    const outcome = await repairCall(requestOf({ contract: { immutablePaths: ['/amount_cents'] } }), scripted(GOOD, GOOD));
    expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/attempts-exhausted', history: [{ verdict: 'patch/locked-path' }, { verdict: 'patch/locked-path' }] });
  });
});

describe('budgets are hard', () => {
  test('attempts: after two refusals no third proposal is asked for', async () => {
    const proposer = scripted('no', 'no', GOOD);
    expect(await repairCall(requestOf(), proposer)).toMatchObject({ status: 'failed', reason: 'repair/attempts-exhausted', attempts: 2, operations: 0 });
    expect(proposer.asked()).toBe(2);
  });

  test('operations: spent ones end the repair while attempts are left', async () => {
    const outcome = await repairCall(requestOf({ contract: { operationBudget: 1, attemptBudget: 5 } }), scripted(STILL_WRONG, GOOD));
    expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/operations-exhausted', attempts: 1, operations: 1 });
  });

  // checklist: B2
  test.each([{ attemptBudget: 0 }, { operationBudget: 0 }])('with %j the only outcome is to abstain', async (contract) => {
    const proposer = scripted(GOOD);
    expect(await repairCall(requestOf({ contract }), proposer)).toMatchObject({ status: 'abstained', reason: 'abstain/over-budget', attempts: 0 });
    expect(proposer.asked()).toBe(0);
  });
});

// checklist: B9
describe('abstaining', () => {
  test.each(['ambiguous', 'not-in-state', 'over-budget', 'locked', 'unsafe', 'unknown-tool', 'unrepairable'])('%s ends the repair and leaves the budget', async (code) => {
    const outcome = await repairCall(requestOf(), scripted(abstain(code)));
    expect(outcome).toMatchObject({ status: 'abstained', reason: `abstain/${code}`, attempts: 0, operations: 0, cost: COST });
    expect(outcome.frozen.closed).toMatchObject({ attemptsLeft: 2, operationsLeft: 2, retries: 0 });
  });

  test('after an applied patch keeps what that patch cost', async () => {
    expect(await repairCall(requestOf(), scripted(STILL_WRONG, abstain('ambiguous')))).toMatchObject({ status: 'abstained', attempts: 1, operations: 1 });
  });

  test.each([
    ['is not the tool of the contract', { call: { name: 'refund', arguments: {} } }],
    ['is not on offer', { tools: ['refund', { name: 'refund_all', description: '', parameters: {} }] }],
    ['is offered and has no contract', { tools: ['transfer', 'refund'], call: { name: 'refund', arguments: {} } }],
  ])('a tool that %s is unknown', async (_, overrides) => {
    const outcome = await repairCall(requestOf(overrides), scripted());
    expect(outcome).toMatchObject({ status: 'abstained', reason: 'abstain/unknown-tool', reports: [{ code: 'tool_unknown' }] });
  });
});

describe('when the world fails the original stays whole', () => {
  test('a failure of the proposer ends the repair with its code', async () => {
    const proposer: Proposer = { identity: {}, propose: () => Promise.resolve({ ok: false, error: { code: 'engine/device-lost', message: 'The device was lost.' } }) };
    expect(await repairCall(requestOf(), proposer)).toMatchObject({ status: 'failed', reason: 'engine/device-lost', message: 'The device was lost.', attempts: 0 });
  });

  test.each<[string, Proposer['propose']]>([
    ['throws', () => { throw new Error('no such table'); }],
    ['rejects', () => Promise.reject(new Error('no such table'))],
  ])('a proposer that %s is a failure', async (_, propose) => {
    expect(await repairCall(requestOf(), { identity: {}, propose })).toMatchObject({ status: 'failed', reason: 'repair/proposer-threw' });
  });

  test('an abort before the first proposal asks no policy', async () => {
    const proposer = scripted(GOOD);
    expect(await repairCall(requestOf(), proposer, { signal: { aborted: true } })).toMatchObject({ status: 'failed', reason: 'repair/aborted' });
    expect(proposer.asked()).toBe(0);
  });

  test('Ctrl-C in mid-repair drops the proposal that comes back', async () => {
    const signal = { aborted: false };
    const proposer: Proposer = {
      identity: {},
      propose: () => {
        signal.aborted = true;
        return Promise.resolve({ ok: true, value: textProposal(GOOD) });
      },
    };
    const outcome = await repairCall(requestOf(), proposer, { signal });
    expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/aborted', attempts: 0 });
    expect(outcome).not.toHaveProperty('arguments');
    expect(outcome.frozen.entries.map(({ kind }) => kind)).toEqual(['opened', 'closed', 'resources']);
  });

  test.each([
    ['a negative budget', { contract: { attemptBudget: -1 } }],
    ['a budget that is no integer', { contract: { operationBudget: 1.5 } }],
    ['an unknown operation', { contract: { allowedOperations: ['test'] } }],
    ['an immutable path that is no pointer', { contract: { immutablePaths: ['amount'] } }],
    ['an unknown check across fields', { contract: { crossField: [{ kind: 'regex', a: '/to', b: '/memo' }] } }],
    ['an unknown gate', { contract: { gates: [{ kind: 'eval', code: 'true' }] } }],
    ['an unknown schema keyword', { tool: { ...TRANSFER, parameters: { type: 'object', frobnicate: true } } }],
    ['an unknown dialect', { tool: { ...TRANSFER, parameters: { $schema: 'https://example.org/my-schema', type: 'object' } } }],
    ['a schema that refers to a URL', { tool: { ...TRANSFER, parameters: { type: 'object', properties: { to: { $ref: 'https://example.org/to.json' } } } } }],
  ])('a contract with %s is refused before anything is tried', async (_, overrides) => {
    const proposer = scripted(GOOD);
    const outcome = await repairCall(requestOf(overrides), proposer);
    expect(outcome).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^contract\//), attempts: 0, message: expect.stringMatching(/\w+ \w+/) });
    expect(outcome.frozen.opened).toMatchObject({ contractDigest: null });
    expect(proposer.asked()).toBe(0);
  });
});

describe('numbers that the first reading had to round', () => {
  const properties = { id: { type: 'integer' }, note: { type: 'string' }, copy: { type: 'integer' } };
  const tool = { name: 'get_order', parameters: { type: 'object', properties, required: ['id', 'note'] } };
  const call = { name: 'get_order', arguments: '{"id":9007199254740993}' };

  test('are never dispatched, although the rounded value fits the schema and can be written exactly', async () => {
    const answers = [patchText({ op: 'add', path: '/note', value: 'x' }), patchText({ op: 'move', from: '/id', path: '/copy' })];
    const outcome = await repairCall(requestOf({ tool, call }), scripted(...answers));
    expect(outcome).toMatchObject({ status: 'failed', history: [{ verdict: 'repair/still-invalid', code: 'precision_loss', pointer: '/id' }, { verdict: 'repair/still-invalid' }] });
  });

  test('may be replaced by what the request says', async () => {
    const text = { ...tool, parameters: { ...tool.parameters, properties: { ...properties, id: { type: 'string' } }, required: ['id'] } };
    const outcome = await repairCall(requestOf({ tool: text, call }), scripted(patchText({ op: 'replace', path: '/id', value: '9007199254740993' })));
    expect(outcome).toMatchObject({ status: 'repaired', argumentsText: '{"id":"9007199254740993"}' });
  });
});

test('what is judged is what is sent: a patch beyond the reader’s depth is refused although it applies', async () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const tool = { name: 'put', parameters: { type: 'object', properties: { a: { type: 'array' }, b: { type: 'string' } }, required: ['b'] } };
  const outcome = await repairCall(
    requestOf({ tool, call: { name: 'put', arguments: `{"a":${nested(100)}}` }, contract: { attemptBudget: 1 } }),
    scripted(`[{"op":"add","path":"${'/a'}${'/0'.repeat(99)}/0","value":${nested(100)}}]`),
  );
  expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/attempts-exhausted', operations: 0, history: [{ verdict: 'repair/unreadable-result' }] });
});

describe('what the host hands in', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text that is a number', { kind: 'text', text: 7, confidence: 0.5, cost: COST, maskDigest: undefined }],
    ['a confidence that is NaN', { kind: 'text', text: GOOD, confidence: Number.NaN, cost: COST, maskDigest: undefined }],
    ['signals that are no JSON', { kind: 'text', text: GOOD, confidence: 0.5, cost: COST, maskDigest: undefined, signals: { mass: Number.NaN } }],
    ['a mask trail that is no JSON', { kind: 'text', text: GOOD, confidence: 0.5, cost: COST, maskDigest: undefined, maskTrail: new Map() }],
    ['a cost that is NaN', { kind: 'text', text: GOOD, confidence: 0.5, cost: { ...COST, decodeMs: Number.NaN }, maskDigest: undefined }],
  ])('a proposer that gives back %s is a failure', async (_, value) => {
    const proposer = { identity: {}, propose: () => Promise.resolve({ ok: true, value }) } as unknown as Proposer;
    expect(await repairCall(requestOf(), proposer)).toMatchObject({ status: 'failed', reason: expect.stringMatching(/^repair\/(bad-proposal|proposer-threw)$/) });
  });

  test('live context is seen as it was when the repair began', async () => {
    const context = { accounts: ['ACC-0001'] };
    const contract = { gates: [{ kind: 'reference_exists', pointer: '/to', in: 'accounts' }] };
    const request = { ...requestOf({ contract }), context };
    const proposer: Proposer = {
      identity: {},
      propose: () => {
        context.accounts.push('ACC-2041');
        return Promise.resolve({ ok: true, value: textProposal(GOOD) });
      },
    };
    expect(await repairCall(request, proposer)).toMatchObject({ status: 'rejected', reason: 'gate/reference-unknown' });
  });

  test('context that is not JSON is the caller’s bug, found before anything is tried', async () => {
    const request = { ...requestOf(), context: { now: new Date(0) } as never };
    const proposer = scripted(GOOD);
    await expect(repairCall(request, proposer)).rejects.toThrow(TypeError);
    await expect(repairCall({ ...requestOf(), id: '\ud800' }, proposer)).rejects.toThrow(TypeError);
    expect(proposer.asked()).toBe(0);
  });
});
