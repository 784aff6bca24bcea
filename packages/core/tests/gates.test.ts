/** Gates inside the loop: who may see why, how a repair ends that a gate refuses, and host functions in repair and replay. */
import { describe, expect, test } from 'vitest';
import { loadContract, repairCall, type Contract, type GateHost, type Observation, type Proposer, type RepairRequest } from '../src/index.ts';
import { replayTrace } from '../src/ledger/index.ts';
import { BOUND, patchText, requestOf, scripted, textProposal, TRANSFER } from './support.ts';

const LIMIT = { kind: 'lte', a: { argument: '/amount_cents' }, b: { state: '/limit' } };
const SHOWN = { ...LIMIT, mayShow: true };
const call = { name: 'transfer', arguments: { to: 'ACC-2041', amount_cents: 900 } };
const lower = (value: number): string => patchText({ op: 'replace', path: '/amount_cents', value });

function requestWith(gates: readonly object[], more: object = {}): RepairRequest {
  return requestOf({ call, context: { limit: 500 }, contract: { gates, ...more } });
}

function contractOf(request: RepairRequest): Contract {
  const loaded = loadContract(request.contract);
  if (!loaded.ok) throw new Error(loaded.error.code);
  return loaded.value;
}

/** Keeps what the policy was shown. */
function watching(...answers: readonly string[]): Proposer & { readonly seen: Observation[] } {
  const seen: Observation[] = [];
  return { identity: {}, seen, propose: (observation) => { seen.push(observation); return Promise.resolve({ ok: true, value: textProposal(answers[seen.length - 1] ?? '') }); } };
}

describe('a gate whose reason may be shown', () => {
  test('opens a repair of a valid call, with the reason and the place in the report', async () => {
    const proposer = watching(lower(500));
    const outcome = await repairCall(requestWith([SHOWN]), proposer);
    expect(proposer.seen[0]).toMatchObject({
      state: { code: 'policy_reject', pointer: '/amount_cents' },
      violations: [{ code: 'policy_reject', pointer: '/amount_cents', keyword: 'gate', params: { reason: 'gate/comparison', a: 900, b: 500 } }],
    });
    expect(outcome).toMatchObject({ status: 'repaired', arguments: { amount_cents: 500 }, attempts: 1 });
  });

  test('is asked again after every attempt, and has the last word when the attempts are spent', async () => {
    const proposer = watching(lower(800), 'nonsense');
    const outcome = await repairCall(requestWith([SHOWN]), proposer);
    expect(proposer.seen[1]?.violations).toMatchObject([{ code: 'policy_reject', params: { a: 800 } }]);
    expect(outcome).toMatchObject({ status: 'rejected', reason: 'gate/comparison', params: { a: 800, b: 500 }, attempts: 2 });
    expect(outcome).not.toHaveProperty('arguments');
  });

  test('has no last word over a candidate that is not valid any more', async () => {
    const outcome = await repairCall(requestWith([SHOWN]), scripted(patchText({ op: 'remove', path: '/amount_cents' }), 'no'));
    expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/attempts-exhausted' });
  });

  test.each([{ attemptBudget: 0 }, { operationBudget: 0 }])('with %j it refuses at once', async (budget) => {
    const proposer = watching();
    expect(await repairCall(requestWith([SHOWN], budget), proposer)).toMatchObject({ status: 'rejected', reason: 'gate/comparison', attempts: 0 });
    expect(proposer.seen).toEqual([]);
  });

  test('shows nothing of a gate behind it that may not be shown', async () => {
    const hidden = { kind: 'ne', a: { argument: '/amount_cents' }, b: { value: 500 } };
    const proposer = watching(lower(500), lower(400));
    expect(await repairCall(requestWith([SHOWN, hidden]), proposer)).toMatchObject({ status: 'rejected', reason: 'gate/comparison', params: { gate: 'ne' }, attempts: 1 });
    expect(proposer.seen).toHaveLength(1);
  });
});

test('a gate that says nothing of showing ends the repair without a question to the policy', async () => {
  const proposer = watching(lower(500));
  expect(await repairCall(requestWith([LIMIT]), proposer)).toMatchObject({ status: 'rejected', reason: 'gate/comparison', reports: [{ code: 'policy_reject', pointer: '' }] });
  expect(proposer.seen).toEqual([]);
});

describe('functions of the host', () => {
  const rule = { kind: 'function', name: 'even', version: '1', mayShow: true };
  const asked: unknown[] = [];
  const host: GateHost = {
    bound: BOUND,
    functions: [{
      name: 'even', version: '1',
      decide: ({ arguments: args }) => { asked.push(args); return (args['amount_cents'] as number) % 2 === 0 ? { kind: 'allow' } : { kind: 'reject', params: { want: 'even' } }; },
    }],
  };

  test('are asked about valid arguments alone, in the loop and in replay, which differs without them', async () => {
    asked.length = 0;
    const request = requestOf({ call: { ...call, arguments: { to: 'ACC-2041', amount_cents: 7 } }, contract: { gates: [rule] } });
    const outcome = await repairCall(request, scripted(lower(0), lower(8)), { gates: host });
    expect(outcome).toMatchObject({ status: 'repaired', arguments: { amount_cents: 8 }, reports: [{ params: { reason: 'gate/refused', want: 'even' } }] });
    expect(asked).toMatchObject([{ amount_cents: 7 }, { amount_cents: 8 }]);
    const contract = contractOf(request);
    expect(await replayTrace(outcome.frozen, contract, host)).toEqual({ ok: true, value: 4 });
    expect(await replayTrace(outcome.frozen, contract)).toMatchObject({ ok: false, error: { code: 'replay/difference' } });
  });

  test('that nobody gave refuse every call, and the contract binds their version', async () => {
    expect(await repairCall(requestWith([{ ...rule, mayShow: undefined, version: '2' }].map(({ kind, name, version }) => ({ kind, name, version }))), watching(), { gates: host }))
      .toMatchObject({ status: 'rejected', reason: 'gate/function-missing' });
    const digests = ['1', '2'].map((version) => contractOf(requestWith([{ ...rule, version }])).digest);
    expect(digests[0]).not.toBe(digests[1]);
  });
});

test('a proposer that never answers ends the repair when its time is up', async () => {
  const bad = { ...call, arguments: { to: 'ACC-2041', amount_cents: 900, colour: 'red' } };
  const silent: Proposer = { identity: {}, propose: () => new Promise(() => undefined) };
  const outcome = await repairCall(requestOf({ tool: TRANSFER, call: bad }), silent, { proposalBound: BOUND });
  expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/proposer-timeout', attempts: 0 });
});
