import { describe, expect, test } from 'vitest';
import { MEANS, RATES, type RateName, type ScoredCase } from './measures.ts';
import type { CaseRecord } from './record.ts';
import type { CaseScore } from './score.ts';
import { summarise } from './summary.ts';

const RECORD: CaseRecord = {
  id: 'c', cohort: 'bugcases', arm: 'a', status: 'repaired', name: 't', arguments: {}, reports: [], attempts: 1, operations: 1, confidence: null,
  tokens: { prompt: 10, generated: 4, forced: 1 }, timing: { totalMs: 1, prefillMs: 0, decodeMs: 0, maskMs: 0 }, ledger: null,
};
const SCORE: CaseScore = {
  id: 'c', cohort: 'bugcases', arm: 'a', verdict: 'right-call', unsafe: null, patchEqual: true, arrivedInvalid: true, validAfter: 1, pointerFixed: true, emitted: true,
  retries: 0, validatorCalls: 2, collateralOp: 0, collateralPtr: 0, collateralGold: 0,
};

/** A case that dispatched nothing has no arguments. */
function scored(score: Partial<CaseScore>, { isDispatched = true, ...record }: Partial<CaseRecord> & { isDispatched?: boolean } = {}): ScoredCase {
  const { arguments: sent, ...rest } = { ...RECORD, ...record };
  return { record: isDispatched ? { ...rest, arguments: sent ?? {} } : rest, score: { ...SCORE, ...score } };
}

const RIGHT = scored({});
const WRONG = scored({ verdict: 'silently-wrong', patchEqual: false });
const SECOND = scored({ validAfter: 2, retries: 1 });
const WITHOUT_MODEL = scored({ validAfter: 0 });
const DECLINED = scored({ verdict: 'abstained-wrongly', patchEqual: false, validAfter: null, pointerFixed: false, emitted: false }, { status: 'abstained', isDispatched: false });
const DECLINED_RIGHTLY = scored({ verdict: 'abstained-rightly', patchEqual: null, validAfter: null, pointerFixed: false, emitted: false }, { status: 'abstained', isDispatched: false });
const EXHAUSTED = scored({ verdict: 'failed', patchEqual: false, validAfter: null, pointerFixed: true, retries: 1 }, { status: 'failed', isDispatched: false });
const ARRIVED_VALID = scored({ arrivedInvalid: false, patchEqual: null, validAfter: null, pointerFixed: null, emitted: false }, { status: 'valid' });

// checklist: D1, D3, D11, D12, D14, D15
describe('a case counts, does not count, or is no case of a share', () => {
  test.each<[RateName, (boolean | undefined)[]]>([
    //                RIGHT  WRONG  SECOND WITHOUT DECLINED RIGHTLY EXHAUSTED VALID
    ['right',         [true, false, true, true, false, true, false, true]],
    ['silentlyWrong', [false, true, false, false, false, false, false, false]],
    ['patchEqual',    [true, false, true, true, false, undefined, false, undefined]],
    ['validFirst',    [true, true, false, true, false, false, false, undefined]],
    ['validFinally',  [true, true, true, true, false, false, false, undefined]],
    ['pointerFixed',  [true, true, true, true, false, false, true, undefined]],
    ['coverage',      [true, true, true, true, false, false, true, undefined]],
    ['selectiveRisk', [false, true, false, false, undefined, undefined, true, undefined]],
    ['failClosed',    [undefined, false, undefined, undefined, true, true, true, undefined]],
  ])('%s', (name, expected) => {
    const cases = [RIGHT, WRONG, SECOND, WITHOUT_MODEL, DECLINED, DECLINED_RIGHTLY, EXHAUSTED, ARRIVED_VALID];
    expect(cases.map((one) => RATES[name].read(one))).toEqual(expected);
    const { rates } = summarise(cases, 'patch');
    const [hits, of] = [expected.filter((hit) => hit === true).length, expected.filter((hit) => hit !== undefined).length];
    expect(rates[name]).toMatchObject({ count: hits, n: of });
  });
});

// checklist: D16
test('what no case of an arm is in has no figure: n/a, and not 0', () => {
  const { rates, means, quantiles } = summarise([ARRIVED_VALID], 'patch');
  expect([rates.validFirst, rates.coverage, rates.selectiveRisk, rates.failClosed, rates.patchEqual]).toEqual(Array(5).fill(undefined));
  expect(rates.right).toMatchObject({ count: 1, n: 1 });
  expect(means.attempts).toMatchObject({ mean: 1, n: 1 });
  expect(quantiles.retriesP95).toBe(0);
});

// checklist: D16
test('an arm that writes whole objects has no figure of patches', () => {
  const [asPatches, asObjects] = [summarise([RIGHT], 'patch'), summarise([RIGHT], 'object')];
  expect([asPatches.rates.patchEqual?.n, asPatches.means.collateralOp?.mean]).toEqual([1, 0]);
  expect([asObjects.rates.patchEqual, asObjects.means.collateralOp]).toEqual([undefined, undefined]);
  expect(asObjects.rates.validFinally?.n).toBe(1);
});

// checklist: D7
test('retries have a mean and a tail, and those of refused patches are in both', () => {
  const cases = [...Array<ScoredCase>(18).fill(RIGHT), SECOND, EXHAUSTED];
  const { means, quantiles } = summarise(cases, 'patch');
  expect(means.retries).toMatchObject({ mean: 0.1, n: 20 });
  expect(quantiles.retriesP95).toBe(1);
});

// checklist: G8
test('no two measures share a name', () => {
  const names = [...Object.values(RATES), ...Object.values(MEANS)].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
