import { describe, expect, test } from 'vitest';
import { patchText, requestOf, scripted, textProposal } from '../../tests/support.ts';
import { loadContract, type Contract } from '../contract/contract.ts';
import type { LedgerEntry } from '../ledger/entry.ts';
import { freeze } from '../ledger/freeze.ts';
import { replayTrace } from '../ledger/replay.ts';
import { NO_POLICY } from './no-policy.ts';
import type { Observation, Proposer } from './proposer.ts';
import { repairCall } from './repair.ts';

const TEXT = '{"to":"ACC-2041","amount_cents":15000}';
const callOf = (text: string, name = 'transfer'): Readonly<Record<string, unknown>> => ({ call: { name, arguments: text } });
const AMOUNT = '{"to":"ACC-2041","amount_cents":"15000"}';

describe('a text that is read', () => {
  test('is dispatched as the object’s own bytes: repaired by no operation, the report is of the text as it arrived', async () => {
    const outcome = await repairCall(requestOf(callOf(`Sure: ${TEXT}`)), scripted());
    expect(outcome).toMatchObject({
      status: 'repaired', argumentsText: TEXT, patch: [], reports: [{ code: 'json_syntax' }], attempts: 0, operations: 0,
      reading: { steps: [{ kind: 'prose', start: 6, end: 6 + TEXT.length }] }, rules: [],
    });
    expect(outcome.frozen.opened).toMatchObject({ deterministic: true, reading: outcome.reading, call: { arguments: { text: `Sure: ${TEXT}` } } });
    expect(outcome.frozen.closed).toMatchObject({ patch: [], validatorCalls: 2, collateralOp: 0, collateralPtr: 0 });
  });

  test('goes on to the deterministic step and to the policy', async () => {
    const text = `\`\`\`json\n{"to":"2041","amount_cents":"15000"}\n\`\`\``;
    const outcome = await repairCall(requestOf(callOf(text)), scripted(patchText({ op: 'replace', path: '/to', value: 'ACC-2041' })));
    expect(outcome).toMatchObject({
      status: 'repaired', argumentsText: TEXT, attempts: 1, operations: 2, rules: ['text-to-json'], reading: { steps: [{ kind: 'code-fence' }] },
      patch: [{ path: '/amount_cents', value: 15000 }, { path: '/to', value: 'ACC-2041' }],
    });
  });

  test('is shown to the gates like any other', async () => {
    const contract = { gates: [{ kind: 'reference_exists', pointer: '/to', in: 'accounts' }] };
    const outcome = await repairCall(requestOf({ ...callOf(JSON.stringify(TEXT)), contract, context: { accounts: [] } }), scripted());
    expect(outcome).toMatchObject({ status: 'rejected', reason: 'gate/reference-unknown' });
  });

  test('is not, where the provider cut it for length or the step is off', async () => {
    const declined = { status: 'abstained', reason: 'abstain/unreadable-arguments', reading: undefined };
    expect(await repairCall(requestOf({ ...callOf(`Sure: ${TEXT}`), finishReason: 'length' }), scripted())).toMatchObject(declined);
    expect(await repairCall(requestOf(callOf(`Sure: ${TEXT}`)), scripted(), { deterministic: false })).toMatchObject(declined);
  });
});

describe('a wrong tool name', () => {
  const closest = { contract: { toolNames: 'closest' } };

  test('stands for the one it is close to where the contract allows it; result and ledger hold both', async () => {
    const outcome = await repairCall(requestOf({ ...callOf(TEXT, 'functions.Transfer'), ...closest }), scripted());
    expect(outcome).toMatchObject({ status: 'repaired', name: 'transfer', accepted: { name: 'transfer' }, reports: [{ code: 'tool_unknown' }], reading: { toolName: 'transfer' } });
    expect(outcome.frozen.opened).toMatchObject({ call: { name: 'functions.Transfer' }, reading: { toolName: 'transfer' } });
  });

  test('goes on to the repair of its arguments', async () => {
    expect(await repairCall(requestOf({ ...callOf(AMOUNT, 'trasnfer'), ...closest }), scripted()))
      .toMatchObject({ status: 'repaired', name: 'transfer', argumentsText: TEXT, reports: [{ code: 'tool_unknown' }, { code: 'wrong_type' }], rules: ['text-to-json'] });
  });

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['the contract is exact', callOf(TEXT, 'Transfer')],
    ['it is close to another tool', { ...callOf(TEXT, 'Refund'), tools: ['transfer', 'refund'], ...closest }],
    ['it is close to two', { ...callOf(TEXT, 'Transfer'), tools: ['transfer', 'trans_fer'], ...closest }],
    ['its tool is not on offer', { ...callOf(TEXT, 'Transfer'), tools: ['refund'], ...closest }],
  ])('stays unknown where %s', async (_, overrides) => {
    expect(await repairCall(requestOf(overrides), scripted())).toMatchObject({ status: 'abstained', reason: 'abstain/unknown-tool', reports: [{ code: 'tool_unknown' }] });
  });

  test('stays unknown where the step is off', async () => {
    expect(await repairCall(requestOf({ ...callOf(TEXT, 'Transfer'), ...closest }), scripted(), { deterministic: false })).toMatchObject({ reason: 'abstain/unknown-tool' });
  });
});

describe('the deterministic step', () => {
  test('repairs without asking the policy, costs operations and no attempt, and is one entry of the ledger', async () => {
    const proposer = scripted();
    const outcome = await repairCall(requestOf(callOf(AMOUNT)), proposer);
    const patch = [{ op: 'replace', path: '/amount_cents', value: 15000 }];
    expect(outcome).toMatchObject({ status: 'repaired', argumentsText: TEXT, patch, rules: ['text-to-json'], attempts: 0, operations: 1, history: [] });
    expect(outcome.frozen.deterministic).toEqual({
      kind: 'deterministic', caseId: 'case-1', patch, rules: ['text-to-json'],
      written: [{ pointer: '/amount_cents', origin: { kind: 'candidate', pointer: '/amount_cents', rule: 'text-to-json', start: 0, end: 5, derivation: 'verbatim' } }], verdict: 'accepted', report: [],
    });
    expect(outcome.frozen.closed).toMatchObject({ attempts: 0, retries: 0, operations: 1, attemptsLeft: 2, operationsLeft: 1, validatorCalls: 2, collateralPtr: 0 });
    expect(proposer.asked()).toBe(0);
  });

  test('leaves the rest to the policy, which sees the candidate, the report and the budget after it', async () => {
    const seen: Observation[] = [];
    const proposer: Proposer = {
      identity: {},
      propose: (observation) => {
        seen.push(observation);
        return Promise.resolve({ ok: true, value: textProposal('{"abstain":"ambiguous"}') });
      },
    };
    const outcome = await repairCall(requestOf(callOf('{"to":"2041","amount_cents":"15000"}')), proposer);
    expect(seen).toMatchObject([{
      state: { candidate: { to: '2041', amount_cents: 15000 }, pointer: '/to', history: [], attemptsLeft: 2, operationsLeft: 1 },
      violations: [{ code: 'pattern_mismatch', pointer: '/to' }],
    }]);
    expect(outcome).toMatchObject({ status: 'abstained', operations: 1, attempts: 0 });
    expect(outcome.frozen.deterministic).toMatchObject({ verdict: 'repair/still-invalid', report: [{ pointer: '/to' }] });
  });

  test('is allowed where the policy has no attempt, and not where there is no operation', async () => {
    const attemptBudget = 0;
    expect(await repairCall(requestOf({ ...callOf(AMOUNT), contract: { attemptBudget } }), scripted())).toMatchObject({ status: 'repaired', operations: 1 });
    expect(await repairCall(requestOf({ ...callOf('{"to":"2041","amount_cents":"15000"}'), contract: { attemptBudget } }), scripted()))
      .toMatchObject({ status: 'abstained', reason: 'abstain/over-budget', operations: 1 });
    expect(await repairCall(requestOf({ ...callOf(AMOUNT), contract: { operationBudget: 0 } }), scripted())).toMatchObject({ status: 'abstained', reason: 'abstain/over-budget', operations: 0 });
  });

  test('is shown to the gates', async () => {
    const contract = { gates: [{ kind: 'reference_exists', pointer: '/to', in: 'accounts' }] };
    const outcome = await repairCall(requestOf({ ...callOf(AMOUNT), contract, context: { accounts: [] } }), scripted());
    expect(outcome).toMatchObject({ status: 'rejected', reason: 'gate/reference-unknown', rules: ['text-to-json'], operations: 1 });
    expect(outcome).not.toHaveProperty('arguments');
  });

  test('off, the call goes to the policy as it stands', async () => {
    expect(await repairCall(requestOf(callOf(AMOUNT)), NO_POLICY, { deterministic: false })).toMatchObject({ status: 'abstained', reason: 'abstain/no-policy', operations: 0, rules: [] });
  });
});

describe('replay', () => {
  const contractOf = (overrides: Readonly<Record<string, unknown>> = {}): Contract => {
    const contract = loadContract(requestOf(overrides).contract);
    if (!contract.ok) throw new Error(contract.error.code);
    return contract.value;
  };

  test.each<[string, number, (entry: Record<string, unknown>) => void]>([
    ['a reading', 0, (entry) => { entry['reading'] = { steps: [] }; }],
    ['a step that was on', 0, (entry) => { delete entry['deterministic']; }],
    ['a rule', 1, (entry) => { entry['rules'] = ['enum-case']; }],
    ['a patch', 1, (entry) => { entry['patch'] = []; }],
  ])('names %s that was changed', async (_, index, change) => {
    const { frozen } = await repairCall(requestOf(callOf(`[${AMOUNT}]`)), scripted());
    expect(await replayTrace(frozen, contractOf())).toEqual({ ok: true, value: 3 });
    const entries = structuredClone(frozen.entries) as LedgerEntry[];
    change(entries[index] as unknown as Record<string, unknown>);
    expect(await replayTrace(freeze(entries), contractOf())).toMatchObject({ ok: false });
  });
});
