import { describe, expect, test } from 'vitest';
import { GOOD, requestOf, scripted, STILL_WRONG, textProposal } from '../../tests/support.ts';
import { loadContract, type Contract } from '../contract/contract.ts';
import type { Proposer } from '../repair/proposer.ts';
import { repairCall } from '../repair/repair.ts';
import type { LedgerEntry } from './entry.ts';
import { freeze, isFrozenRepair, type FrozenRepair } from './freeze.ts';
import { Gold, scoreFrozen } from './gold.ts';
import { replayTrace } from './replay.ts';

async function frozenOf(...answers: string[]): Promise<FrozenRepair> {
  return (await repairCall(requestOf(), scripted(...answers), { seed: 13, manifest: { revision: 'abc' } })).frozen;
}

function contractOf(overrides: Readonly<Record<string, unknown>> = {}): Contract {
  const contract = loadContract(requestOf(overrides).contract);
  if (!contract.ok) throw new Error(contract.error.code);
  return contract.value;
}

describe('a frozen trace', () => {
  // checklist: G1, G5
  test('holds what was judged: call, reports, proposals, verdicts, budgets, retries', async () => {
    const frozen = await frozenOf(STILL_WRONG, GOOD);
    expect(frozen.opened).toMatchObject({
      caseId: 'case-1', contractDigest: contractOf().digest, contract: contractOf().document,
      call: { name: 'transfer', arguments: { text: '{"to":"ACC-2041","amount_cents":"150.00"}' } },
      report: [{ code: 'wrong_type', pointer: '/amount_cents' }], proposer: { policy: 'scripted' }, seed: 13, manifest: { revision: 'abc' },
    });
    expect(frozen.proposals).toMatchObject([
      { kind: 'attempt', number: 1, proposal: { text: STILL_WRONG }, patch: JSON.parse(STILL_WRONG), verdict: 'repair/still-invalid',
        report: [{ code: 'wrong_type' }], maskDigest: 'mask' },
      { kind: 'attempt', number: 2, verdict: 'accepted', report: [], tokens: { prompt: 100, generated: 10, forced: 4 } },
    ]);
    expect(frozen.closed).toMatchObject({
      status: 'repaired', reason: null, attempts: 2, retries: 1, operations: 2, attemptsLeft: 0, operationsLeft: 0, validatorCalls: 3, collateralOp: 0, collateralPtr: 0,
    });
  });

  test('counts an edit outside the reported pointers as collateral', async () => {
    const frozen = await frozenOf(JSON.stringify([...JSON.parse(GOOD) as unknown[], { op: 'add', path: '/memo', value: 'hi' }]));
    expect(frozen.closed).toMatchObject({ status: 'repaired', collateralOp: 0, collateralPtr: 1 });
  });

  test('holds mask digest and trail of every attempt, cut ones too, and what was measured beside them outside its digest', async () => {
    const maskTrail = { ids: [4, 7, 0], closedCount: 2 };
    const cut = { ...textProposal('[{"op'), kind: 'incomplete' as const, code: 'generate/token-budget', maskDigest: 'cut', maskTrail };
    const run = (mass: number) => repairCall(requestOf(), scripted(cut, { ...textProposal(GOOD), maskTrail, signals: { mass } }));
    const [{ frozen }, other] = [await run(0.25), await run(0.75)];
    expect(frozen.proposals).toMatchObject([{ isComplete: false, maskDigest: 'cut', maskTrail }, { isComplete: true, maskDigest: 'mask', maskTrail }]);
    expect(frozen.resources?.signals).toEqual([null, { mass: 0.25 }]);
    expect(other.frozen.digest).toBe(frozen.digest);
    expect(await replayTrace(frozen, contractOf())).toEqual({ ok: true, value: 4 });
    expect((await frozenOf(GOOD)).resources).not.toHaveProperty('signals');
  });

  test('is deep-frozen and does not share memory with the entries it was made of', async () => {
    const { entries } = await frozenOf(GOOD);
    const copy = structuredClone(entries) as LedgerEntry[];
    const frozen = freeze(copy);
    (copy[0] as { caseId: string }).caseId = 'changed';
    expect(frozen.opened.caseId).toBe('case-1');
    expect(Object.isFrozen(frozen.proposals[0])).toBe(true);
    expect(() => { (frozen.closed as { status: string }).status = 'valid'; }).toThrow(TypeError);
  });

  test('refuses entries that are not one whole repair', async () => {
    const { entries } = await frozenOf(STILL_WRONG, GOOD);
    const [opened, first, second, closed] = entries as [LedgerEntry, LedgerEntry, LedgerEntry, LedgerEntry];
    for (const wrong of [[], [opened], [opened, first], [first, opened, closed], [opened, closed, first], [opened, { ...first, caseId: 'other' }, second, closed]]) {
      expect(() => freeze(wrong)).toThrow(TypeError);
    }
    expect(freeze([opened, first, second, closed]).digest).toBe(freeze(entries).digest);
  });
});

describe('the digest', () => {
  // checklist: G3
  test('is the same in every run and on every machine: pinned', async () => {
    expect((await frozenOf(STILL_WRONG, GOOD)).digest).toMatchInlineSnapshot(`"1ba79f4be6edc830885cb1e0a12adb88381648caa8b4f89a6697816835d6abac"`);
  });

  test('leaves wall-clock figures and confidence out, and binds everything else', async () => {
    const run = async (answer: ReturnType<typeof textProposal>, options: Parameters<typeof repairCall>[2] = {}, request = requestOf()): Promise<string> =>
      (await repairCall(request, scripted(answer), options)).ledger;
    const plain = textProposal(GOOD);
    const base = await run(plain);
    expect(await run({ ...plain, confidence: 0.1, cost: { ...plain.cost, prefillMs: 999, decodeMs: 999, maskMs: 999 } })).toBe(base);
    const others = [
      await run({ ...plain, cost: { ...plain.cost, generatedTokenCount: 11 } }),
      await run(textProposal(` ${GOOD}`)),
      await run(plain, { seed: 1 }),
      await run(plain, { manifest: { revision: 'def' } }),
      await run(plain, {}, requestOf({ id: 'case-2' })),
      await run(plain, {}, requestOf({ request: 'Send 150.01 to ACC-2041.' })),
      await run(plain, {}, requestOf({ contract: { attemptBudget: 1 } })),
    ];
    expect(new Set([base, ...others]).size).toBe(others.length + 1);
  });
});

// checklist: G4
describe('replay without the policy', () => {
  test.each<[string, string[]]>([
    ['repaired at once', [GOOD]],
    ['repaired at the second attempt', [STILL_WRONG, GOOD]],
    ['refused and given up', ['no', '[]']],
    ['abstained', [STILL_WRONG, '{"abstain":"ambiguous"}']],
    ['failed because the proposer threw', ['no']],
  ])('agrees on a trace that was %s', async (_, answers) => {
    const frozen = await frozenOf(...answers);
    expect(await replayTrace(frozen, contractOf())).toEqual({ ok: true, value: frozen.proposals.length + 2 });
  });

  test('agrees on an aborted repair', async () => {
    const signal = { aborted: false };
    const aborting: Proposer = {
      identity: {},
      propose: () => {
        signal.aborted = true;
        return Promise.resolve({ ok: true, value: textProposal(GOOD) });
      },
    };
    const { frozen } = await repairCall(requestOf(), aborting, { signal });
    expect(await replayTrace(frozen, contractOf())).toMatchObject({ ok: true });
  });

  test.each<[string, number, (entry: Record<string, unknown>) => void]>([
    ['a verdict that was turned into acceptance', 1, (entry) => { entry['verdict'] = 'accepted'; }],
    ['a report that was emptied', 1, (entry) => { entry['report'] = []; }],
    ['a patch that differs from its text', 2, (entry) => { entry['patch'] = []; }],
    ['an attempt that was not counted', 3, (entry) => { entry['attempts'] = 1; }],
    ['a collateral count that was changed', 3, (entry) => { entry['collateralPtr'] = 5; }],
    ['a first report that was changed', 0, (entry) => { entry['report'] = []; }],
  ])('names %s, although a chain over it would be sound', async (_, index, change) => {
    const entries = structuredClone((await frozenOf(STILL_WRONG, GOOD)).entries) as unknown as Record<string, unknown>[];
    change(entries[index] as Record<string, unknown>);
    expect(await replayTrace(freeze(entries as unknown as LedgerEntry[]), contractOf())).toMatchObject({ ok: false, error: { code: 'replay/difference', index } });
  });

  test('needs the contract of the trace', async () => {
    expect(await replayTrace(await frozenOf(GOOD), contractOf({ contract: { attemptBudget: 1 } }))).toMatchObject({ ok: false, error: { code: 'replay/contract-mismatch' } });
  });

  test('names an entry whose text is recorded by digest alone', async () => {
    const frozen = await frozenOf(' '.repeat(300_000), GOOD);
    expect(frozen.proposals[0]).toMatchObject({ proposal: { text: null, length: 300_000 } });
    expect(await replayTrace(frozen, contractOf())).toMatchObject({ ok: false, error: { code: 'replay/text-not-recorded', index: 1 } });
  });
});

describe('gold is opened only over a frozen repair', () => {
  test('the scorer sees the trace and the label', async () => {
    const frozen = await frozenOf(GOOD);
    const score = scoreFrozen(frozen, new Gold({ patch: GOOD }), (trace, label) => JSON.stringify(trace.closed.patch) === label.patch);
    expect(score).toBe(true);
  });

  // checklist: F1, F5
  test('what was not frozen is refused, also a copy that looks the same', async () => {
    const frozen = await frozenOf(GOOD);
    expect(isFrozenRepair(frozen)).toBe(true);
    expect(() => scoreFrozen({ ...frozen } as FrozenRepair, new Gold(1), () => 1)).toThrow(TypeError);
    expect(() => scoreFrozen(structuredClone(frozen), new Gold(1), () => 1)).toThrow(TypeError);
  });

  // checklist: F4
  test('a label has nothing to read, list, print or serialise', () => {
    const gold = new Gold({ secret: 'target' });
    expect(JSON.stringify({ gold })).toBe('{"gold":{}}');
    expect(Reflect.ownKeys(gold)).toEqual([]);
    expect(String(gold)).not.toContain('target');
  });
});

describe('what is not one whole repair', () => {
  test.each<[string, (entries: readonly LedgerEntry[]) => readonly LedgerEntry[]]>([
    ['two beginnings', ([opened, ...rest]) => [opened, opened, ...rest] as LedgerEntry[]],
    ['an end in the middle', ([opened, attempt, closed, ...rest]) => [opened, closed, attempt, closed, ...rest] as LedgerEntry[]],
    ['resources in the middle', ([opened, attempt, closed, resources]) => [opened, resources, attempt, closed, resources] as LedgerEntry[]],
    ['no end', ([opened, attempt]) => [opened, attempt] as LedgerEntry[]],
    ['resources alone', ([, , , resources]) => [resources] as LedgerEntry[]],
    ['another case in its resources', ([opened, attempt, closed, resources]) => [opened, attempt, closed, { ...resources, caseId: 'x' }] as LedgerEntry[]],
  ])('%s', async (_, change) => {
    const { entries } = await frozenOf(GOOD);
    expect(() => freeze(change(entries))).toThrow('entries must be opened, perhaps deterministic, attempts, closed and resources of one case, in this order');
  });

  test('an entry that is no JSON is named by its fault', async () => {
    const { entries } = await frozenOf(GOOD);
    expect(() => freeze([{ ...entries[0], context: { f: () => 1 } } as never, ...entries.slice(1)])).toThrow(/^entry is not JSON: json\//);
  });

  test.each([null, undefined, 7, 'frozen', {}, []])('%j is no frozen repair, and is not scored', (value) => {
    expect(isFrozenRepair(value)).toBe(false);
    expect(() => scoreFrozen(value as never, new Gold(1), () => 0)).toThrow('frozen must come from freeze(): a repair is scored after it is sealed');
  });
});
