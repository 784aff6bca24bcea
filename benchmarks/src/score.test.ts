import { applyPatch, loadContract, repairCall, type JsonPointer, type JsonValue, type Patch, type Proposer } from '@contractrl/core';
import { countCollateral, Gold } from '@contractrl/core/ledger';
import { toRepairRecord } from '@contractrl/core/records';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { counterCase, scriptedArm } from '../tests/scripted-arm.ts';
import type { CaseGold } from './datasets/case.ts';
import { runArms } from './run.ts';
import { freezeRun } from './record.ts';
import { scoreRun, type CaseScore } from './score.ts';

const FIVE: Extract<CaseGold, { readonly kind: 'one-of' }> = { kind: 'one-of', acceptable: [{ n: 5 }], patches: [[{ op: 'replace', path: '/n' as JsonPointer, value: 5 }]], abstainOk: false };
const DECLINE: CaseGold = { kind: 'abstain' };

async function scoreOne(argumentsText: string, shot: string | { readonly decline: string }, gold: CaseGold): Promise<CaseScore> {
  const cases = [counterCase('c', argumentsText)];
  const run = await runArms(cases, [scriptedArm('scripted', { c: shot })], { aborted: false }, () => undefined);
  const [score] = scoreRun(run!, cases, new Map([['c', new Gold(gold)]]));
  return score!;
}

// checklist: D2
describe('verdicts', () => {
  test.each([
    { what: 'the acceptable call', shot: '{"n":5}', gold: FIVE, verdict: 'right-call' },
    { what: 'a valid call with another value', shot: '{"n":6}', gold: FIVE, verdict: 'silently-wrong' },
    { what: 'a valid call where only declining is right', shot: '{"n":5}', gold: DECLINE, verdict: 'silently-wrong' },
    { what: 'declining where only that is right', shot: { decline: 'x/y' }, gold: DECLINE, verdict: 'abstained-rightly' },
    { what: 'declining where it is right as well', shot: { decline: 'x/y' }, gold: { ...FIVE, abstainOk: true }, verdict: 'abstained-rightly' },
    { what: 'declining what could be repaired', shot: { decline: 'x/y' }, gold: FIVE, verdict: 'abstained-wrongly' },
    { what: 'an invalid object, which is no decision to decline', shot: '{"n":0}', gold: DECLINE, verdict: 'failed' },
    { what: 'text that is not JSON', shot: '{"n":', gold: FIVE, verdict: 'failed' },
  ])('$what: $verdict', async ({ shot, gold, verdict }) => {
    expect(await scoreOne('{"n":"5"}', shot, gold)).toMatchObject({ verdict, unsafe: null });
  });

  test('an arm that regenerates an immutable value is stopped before it counts as dispatched', async () => {
    expect(await scoreOne('{"n":"5","note":"a"}', '{"n":5,"note":"b"}', FIVE)).toMatchObject({ verdict: 'failed' });
  });

  // checklist: C4
  test('a dispatch that the second validation refuses is unsafe, whatever gold says', async () => {
    const valid = counterCase('c', '{"n":"5"}');
    const run = await runArms([valid], [scriptedArm('scripted', { c: '{"n":5}' })], { aborted: false }, () => undefined);
    // The same records against a stricter contract: as if the product's validator had overlooked `maximum`.
    const { contract } = valid.request;
    const parameters = { ...contract.tool.parameters, maxProperties: 0 };
    const strict = { ...valid, request: { ...valid.request, contract: { ...contract, tool: { ...contract.tool, parameters } } } };
    expect(scoreRun(run!, [strict], new Map([['c', new Gold(FIVE)]]))[0]).toMatchObject({ verdict: 'unsafe', unsafe: 'schema' });
  });
});

// checklist: D1
describe('the canonical patch', () => {
  const replace = (value: number): Patch => [{ op: 'replace', path: '/n' as JsonPointer, value }];
  const scoreOf = async (proposal: string, gold: CaseGold): Promise<boolean | null | undefined> => {
    const cases = [counterCase('c', '{"n":"five"}')];
    const cost = { promptTokenCount: 0, generatedTokenCount: 0, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };
    const policy: Proposer = { identity: {}, propose: () => Promise.resolve({ ok: true, value: { kind: 'text', text: proposal, confidence: undefined, maskDigest: undefined, cost } }) };
    const outcome = await repairCall(cases[0]!.request, policy);
    const record = { ...toRepairRecord(outcome, { totalMs: 0 }), cohort: 'bugcases' as const, arm: 'patches' };
    return scoreRun(freezeRun([{ record, frozen: outcome.frozen }]), cases, new Map([['c', new Gold(gold)]]))[0]?.patchEqual;
  };
  const written = (...operations: readonly object[]): string => JSON.stringify(operations);

  test.each<{ what: string; proposal: string; gold: CaseGold; expected: boolean | null }>([
    { what: 'the same operation', proposal: written({ op: 'replace', path: '/n', value: 5 }), gold: FIVE, expected: true },
    { what: 'its members in another order', proposal: written({ value: 5, path: '/n', op: 'replace' }), gold: FIVE, expected: true },
    { what: 'one of two canonical patches', proposal: written({ op: 'replace', path: '/n', value: 5 }), gold: { ...FIVE, patches: [replace(6), replace(5)] }, expected: true },
    { what: 'another value', proposal: written({ op: 'replace', path: '/n', value: 6 }), gold: FIVE, expected: false },
    { what: 'another operation with the same object', proposal: written({ op: 'add', path: '/n', value: 5 }), gold: FIVE, expected: false },
    { what: 'one operation more', proposal: written({ op: 'replace', path: '/n', value: 4 }, { op: 'replace', path: '/n', value: 5 }), gold: FIVE, expected: false },
    { what: 'declining', proposal: '{"abstain":"not-in-state"}', gold: FIVE, expected: false },
    { what: 'a case whose canonical patch is none', proposal: '{"abstain":"not-in-state"}', gold: { ...FIVE, patches: [[]] }, expected: null },
    { what: 'a case where declining is right', proposal: '{"abstain":"not-in-state"}', gold: DECLINE, expected: null },
  ])('$what: $expected', async ({ proposal, gold, expected }) => {
    expect(await scoreOf(proposal, gold)).toBe(expected);
  });
});

describe('collateral', () => {
  // checklist: D5
  test('counts changed leaves outside the reported pointers and against the target, and no operations where there is no patch', async () => {
    const twoFields = counterCase('c', '{"n":"5","extra":1}');
    const run = await runArms([twoFields], [scriptedArm('scripted', { c: '{"n":5}' })], { aborted: false }, () => undefined);
    const [score] = scoreRun(run!, [twoFields], new Map([['c', new Gold<CaseGold>({ kind: 'one-of', acceptable: [{ n: 5, extra: 1 }], patches: [], abstainOk: false })]]));
    expect(score).toMatchObject({ collateralOp: null, collateralPtr: 0, collateralGold: 1 });
  });

  // checklist: D6
  test('outside the operations there is none by construction, whatever a patch does', () => {
    const value = fc.letrec<{ any: JsonValue }>((tie) => ({
      any: fc.oneof({ maxDepth: 2 }, fc.integer(), fc.array(tie('any'), { maxLength: 3 }), fc.dictionary(fc.constantFrom('a', 'b'), tie('any'))),
    })).any;
    const document = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value);
    const path = fc.array(fc.constantFrom('a', 'b', 'c', '0', '1', '-'), { minLength: 1, maxLength: 3 }).map((tokens) => tokens.map((token) => `/${token}`).join(''));
    const operation = fc.record({ op: fc.constantFrom('add', 'replace', 'remove', 'move', 'copy'), path, from: path, value });
    const contract = loadContract({ tool: { name: 't', description: '', parameters: { type: 'object' } } });
    if (!contract.ok) throw new Error(contract.error.code);
    const free = contract.value;
    let counted = 0;
    fc.assert(fc.property(document, fc.array(operation, { minLength: 1, maxLength: 3 }), (before, drawn) => {
      const patch: Patch[number][] = [];
      let after = before as JsonValue;
      for (const { op, path: at, from, value: put } of drawn) {
        const one = (op === 'move' || op === 'copy' ? { op, from, path: at } : op === 'remove' ? { op, path: at } : { op, path: at, value: put }) as Patch[number];
        const applied = applyPatch(free, after, [one], 1);
        if (!applied.ok) continue;
        after = applied.value;
        patch.push(one);
      }
      counted += patch.length;
      expect(countCollateral(before, after, patch, []).collateralOp).toBe(0);
    }), { numRuns: 2000 });
    expect(counted).toBeGreaterThan(500);
  });

  test('does not apply where nothing was dispatched', async () => {
    expect(await scoreOne('{"n":"5"}', { decline: 'x/y' }, FIVE)).toMatchObject({ collateralOp: null, collateralPtr: null, collateralGold: null });
  });
});

test('a record of a case that nobody knows is refused', async () => {
  const cases = [counterCase('c', '{"n":"5"}')];
  const run = await runArms(cases, [scriptedArm('scripted', { c: '{"n":5}' })], { aborted: false }, () => undefined);
  expect(() => scoreRun(run!, cases, new Map())).toThrow(RangeError);
  expect(() => scoreRun(run!, [], new Map([['c', new Gold(FIVE)]]))).toThrow(RangeError);
});

// checklist: F1
test('only sealed repairs can be scored', async () => {
  const cases = [counterCase('c', '{"n":"5"}')];
  const run = await runArms(cases, [scriptedArm('scripted', { c: '{"n":5}' })], { aborted: false }, () => undefined);
  const { record, frozen } = run!.cases[0]!;
  expect(() => freezeRun([{ record, frozen: structuredClone({ ...frozen }) as typeof frozen }])).toThrow(RangeError);
});
