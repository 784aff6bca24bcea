import { Gold } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { counterCase, scriptedArm } from '../tests/scripted-arm.ts';
import type { CaseGold } from './datasets/case.ts';
import { runArms } from './run.ts';
import { freezeRun } from './record.ts';
import { scoreRun, type CaseScore } from './score.ts';

const FIVE: CaseGold = { kind: 'one-of', acceptable: [{ n: 5 }], abstainOk: false };
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

describe('collateral', () => {
  // checklist: D5
  test('counts changed leaves outside the reported pointers and against the target, and no operations where there is no patch', async () => {
    const twoFields = counterCase('c', '{"n":"5","extra":1}');
    const run = await runArms([twoFields], [scriptedArm('scripted', { c: '{"n":5}' })], { aborted: false }, () => undefined);
    const [score] = scoreRun(run!, [twoFields], new Map([['c', new Gold<CaseGold>({ kind: 'one-of', acceptable: [{ n: 5, extra: 1 }], abstainOk: false })]]));
    expect(score).toMatchObject({ collateralOp: null, collateralPtr: 0, collateralGold: 1 });
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
