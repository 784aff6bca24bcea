import { describe, expect, test } from 'vitest';
import { GOOD, requestOf, scripted, STILL_WRONG, textProposal } from '../../tests/support.ts';
import { loadContract } from '../contract/contract.ts';
import type { Proposer } from '../repair/proposer.ts';
import { repairCall } from '../repair/repair.ts';
import { checkRepair } from './check-repair.ts';
import type { LedgerEntry } from './entry.ts';
import { freeze, type FrozenRepair } from './freeze.ts';
import { replayTrace } from './replay.ts';

async function frozenOf(answers: readonly string[], overrides: Readonly<Record<string, unknown>> = {}): Promise<FrozenRepair> {
  return (await repairCall(requestOf(overrides), scripted(...answers), { deterministic: false })).frozen;
}

const WHOLE = { ok: true, value: { checked: ['structure', 'texts', 'judgement'], notChecked: [] } };

describe('a repair on record is judged again', () => {
  test.each<[string, string[], Record<string, unknown>]>([
    ['repaired at the second attempt', [STILL_WRONG, GOOD], {}],
    ['abstained', ['{"abstain":"ambiguous"}'], {}],
    ['valid as it came', [], { call: { name: 'transfer', arguments: { to: 'ACC-2041', amount_cents: 1 } } }],
    ['failed because the proposer failed', [], {}],
  ])('that was %s', async (_, answers, overrides) => {
    expect(await checkRepair(await frozenOf(answers, overrides))).toEqual(WHOLE);
  });

  test('with the deterministic step before it', async () => {
    expect(await checkRepair((await repairCall(requestOf(), scripted(GOOD))).frozen)).toEqual(WHOLE);
  });

  test('under the contract it holds, loaded once for all repairs of a ledger', async () => {
    const contracts = new Map();
    for (const answers of [[GOOD], [STILL_WRONG, GOOD]]) expect(await checkRepair(await frozenOf(answers), {}, contracts)).toEqual(WHOLE);
    expect(contracts.size).toBe(1);
  });
});

describe('what cannot be judged again is named', () => {
  test('a contract that was not recorded', async () => {
    const frozen = await frozenOf([], { contract: { attemptBudget: -1 } });
    expect(frozen.opened.contract).toBeNull();
    expect(await checkRepair(frozen)).toEqual({ ok: true, value: { checked: ['structure', 'texts'], notChecked: [{ step: 'judgement', reason: 'replay/contract-not-recorded' }] } });
  });

  test('a text that was too long to record', async () => {
    const report = await checkRepair(await frozenOf([' '.repeat(300_000), GOOD]));
    expect(report).toEqual({ ok: true, value: { checked: ['structure'], notChecked: [{ step: 'texts', reason: 'replay/text-not-recorded' }, { step: 'judgement', reason: 'replay/text-not-recorded' }] } });
  });

  test('a function of the host, until it is given', async () => {
    const gates = [{ kind: 'function', name: 'open-hours', version: '1' }];
    const host = { functions: [{ name: 'open-hours', version: '1', decide: () => ({ kind: 'allow' }) }], bound: { timeoutMs: 1_000, sleep: () => new Promise<void>(() => undefined) } };
    const { frozen } = await repairCall(requestOf({ contract: { gates } }), scripted(GOOD), { gates: host as never, deterministic: false });
    expect(await checkRepair(frozen)).toMatchObject({ ok: true, value: { checked: ['structure', 'texts'], notChecked: [{ step: 'judgement', reason: 'replay/functions-not-given' }] } });
    expect(await checkRepair(frozen, { gates: host as never })).toEqual(WHOLE);
  });
});

describe('texts that were too long to record', () => {
  const long = 'x'.repeat(262_145);

  test.each<[string, object]>([
    ['the arguments', { call: { name: 'transfer', arguments: `{"to":"ACC-2041","amount_cents":"15000","memo":"${long}"}` } }],
    ['one message of several', { request: [{ role: 'user', content: 'Send 150.00 to ACC-2041.' }, { role: 'user', content: long }] }],
  ])('%s', async (_, overrides) => {
    const frozen = await frozenOf([GOOD], overrides as never);
    const contract = loadContract(frozen.opened.contract);
    expect(contract.ok && await replayTrace(frozen, contract.value)).toEqual({ ok: false, error: { code: 'replay/text-not-recorded', index: 0 } });
    expect(await checkRepair(frozen)).toMatchObject({ ok: true, value: { notChecked: [{ step: 'texts', reason: 'replay/text-not-recorded' }, { step: 'judgement' }] } });
  });

  test('a text of exactly the limit is recorded', async () => {
    const frozen = await frozenOf([GOOD], { request: 'y'.repeat(262_144) } as never);
    expect(frozen.opened.request?.[0]?.content.text).toHaveLength(262_144);
  });
});

test('a repair that was aborted, that failed, or that a gate refused comes out again', async () => {
  const aborted = { aborted: false };
  const stop: Proposer = { identity: {}, propose: () => { aborted.aborted = true; return Promise.resolve({ ok: true, value: textProposal(GOOD) }); } };
  const gates = [{ kind: 'lte', a: { argument: '/amount_cents' }, b: { value: 1 } }];
  const outcomes = [
    await repairCall(requestOf(), stop, { signal: aborted as never, deterministic: false }),
    await repairCall(requestOf(), { identity: {}, propose: () => Promise.resolve({ ok: false, error: { code: 'engine/run-failed', message: 'no' } }) }, { deterministic: false }),
    await repairCall(requestOf({ contract: { gates } }), scripted(GOOD), { deterministic: false }),
    await repairCall(requestOf({ finishReason: 'length' }), scripted(STILL_WRONG, GOOD), { deterministic: false, seed: 5 }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual(['failed', 'failed', 'rejected', 'repaired']);
  expect(outcomes[2]?.frozen.closed.params).toMatchObject({ gate: 'lte', b: 1 });
  for (const { frozen } of outcomes) expect(await checkRepair(frozen)).toEqual(WHOLE);
});

describe('a trace that no repair wrote is named at the first entry that contradicts', () => {
  type Change = (entry: Record<string, unknown>) => void;
  const set = (name: string, value: unknown): Change => (entry) => { entry[name] = value; };
  test.each<[string, number, Change, RegExp]>([
    ['an attempt with another number', 1, set('number', 2), /^number/],
    ['acceptance in the middle', 1, set('verdict', 'accepted'), /^verdict/],
    ['acceptance with a report', 2, set('report', [{}]), /^verdict/],
    ['an attempt that was not counted', 3, set('attempts', 1), /^attempts/],
    ['retries that do not follow', 3, set('retries', 2), /^retries/],
    ['a budget below zero', 3, set('operationsLeft', -1), /^attemptsLeft/],
    ['attempts below zero', 3, set('attemptsLeft', -1), /^attemptsLeft/],
    ['no origins where the call was repaired', 3, (entry) => { delete entry['written']; }, /^written: given exactly/],
    ['a reason for what was accepted', 3, set('reason', 'gate/comparison'), /^reason/],
    ['no arguments where they were accepted', 3, set('argumentsDigest', null), /^argumentsDigest/],
    ['no patch where the call was repaired', 3, set('patch', null), /^patch/],
    ['operations that were not applied', 3, set('operations', 5), /^operations/],
    ['arguments that are not those of their digest', 0, (entry) => { (entry['call'] as { arguments: { text: string } }).arguments.text = '{}'; }, /^text/],
    ['arguments of another text and the same length', 0, (entry) => { const recorded = (entry['call'] as { arguments: { text: string } }).arguments; recorded.text = recorded.text.replace('150', '151'); }, /^text: not the text of its length and digest$/],
    ['a message of another text', 0, (entry) => { ((entry['request'] as { content: { text: string } }[])[0] as { content: { text: string } }).content.text = 'x'; }, /^text/],
    ['a proposal of another length', 1, (entry) => { (entry['proposal'] as { length: number }).length += 1; }, /^text/],
  ])('%s', async (_, index, change, detail) => {
    const entries = structuredClone((await frozenOf([STILL_WRONG, GOOD])).entries) as unknown as Record<string, unknown>[];
    change(entries[index] as Record<string, unknown>);
    expect(await checkRepair(freeze(entries as unknown as LedgerEntry[]))).toMatchObject({ ok: false, error: { code: 'replay/inconsistent', index, detail: expect.stringMatching(detail) as string } });
  });

  test('acceptance of a repair that ended otherwise', async () => {
    const entries = structuredClone((await frozenOf([GOOD])).entries) as unknown as Record<string, unknown>[];
    Object.assign(entries[2] as object, { status: 'failed', reason: 'x', argumentsDigest: null, patch: null });
    expect(await checkRepair(freeze(entries as unknown as LedgerEntry[]))).toEqual({ ok: false, error: { code: 'replay/inconsistent', index: 1, detail: 'verdict: what is accepted has no report and ends the repair' } });
  });

  test('a step after an abstention', async () => {
    const [opened, abstention, closed] = (await frozenOf(['{"abstain":"ambiguous"}'])).entries as [LedgerEntry, LedgerEntry, LedgerEntry];
    expect(await checkRepair(freeze([opened, abstention, abstention, closed]))).toEqual({ ok: false, error: { code: 'replay/inconsistent', index: 1, detail: 'kind: nothing follows an abstention' } });
  });

  test('a judgement that does not come out again, and a contract that was changed', async () => {
    const changed = structuredClone((await frozenOf([STILL_WRONG, GOOD])).entries) as unknown as Record<string, unknown>[];
    (changed[3] as Record<string, unknown>)['validatorCalls'] = 9;
    expect(await checkRepair(freeze(changed as unknown as LedgerEntry[]))).toMatchObject({ ok: false, error: { code: 'replay/difference', index: 3 } });
    const forged = structuredClone((await frozenOf([GOOD])).entries) as unknown as { contract: Record<string, unknown> }[];
    (forged[0] as { contract: Record<string, unknown> }).contract['operationBudget'] = 1;
    expect(await checkRepair(freeze(forged as unknown as LedgerEntry[]))).toMatchObject({ ok: false, error: { code: 'replay/contract-mismatch' } });
    (forged[0] as { contract: Record<string, unknown> }).contract['operationBudget'] = -1;
    expect(await checkRepair(freeze(forged as unknown as LedgerEntry[]))).toMatchObject({ ok: false, error: { code: 'replay/contract-refused' } });
  });
});
