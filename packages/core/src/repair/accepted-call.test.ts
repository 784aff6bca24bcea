import { describe, expect, test } from 'vitest';
import { BOUND, requestOf } from '../../tests/support.ts';
import { loadContract, type Contract } from '../contract/contract.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { contractOfAccepted, judgeArguments, judgeWithHost, lossyNumbers, roundedNumbers } from './accepted-call.ts';

const contract = contractOf(requestOf().contract);
const GOOD = '{"to":"ACC-2041","amount_cents":15000}';

function contractOf(document: unknown): Contract {
  const loaded = loadContract(document);
  if (!loaded.ok) throw new TypeError(loaded.error.code);
  return loaded.value;
}

describe('the judge', () => {
  test('accepts the very text, frozen, under the contract it was judged by', () => {
    const judgement = judgeArguments(contract, GOOD, {});
    expect(judgement).toEqual({ kind: 'accepted', call: { name: 'transfer', argumentsText: GOOD, arguments: { to: 'ACC-2041', amount_cents: 15000 } } });
    if (judgement.kind !== 'accepted') return;
    expect(contractOfAccepted(judgement.call)).toBe(contract);
    expect(contractOfAccepted({ ...judgement.call })).toBeUndefined();
    expect([Object.isFrozen(judgement.call), Object.isFrozen(judgement.call.arguments)]).toEqual([true, true]);
  });

  test.each<[string, JsonObject]>([
    ['{"to":"ACC-2041","amount_cents":"1"}', { code: 'wrong_type', pointer: '/amount_cents' }],
    ['{"to":"ACC-2041","amount_cents":1', { code: 'json_truncated', pointer: '' }],
    ['[]', { code: 'wrong_type', pointer: '' }],
  ])('says of %s what is wrong', (text, violation) => {
    expect(judgeArguments(contract, text, {})).toMatchObject({ kind: 'invalid', report: { kind: 'invalid', violations: [violation] } });
  });

  test('accepts nothing under what was not loaded', () => {
    expect(() => judgeArguments({ ...contract } as Contract, GOOD, {})).toThrow(TypeError);
  });

  test('shows of a gate that may be shown its place and reason, of another its reason alone', () => {
    const gate = { kind: 'lte', a: { argument: '/amount_cents' }, b: { value: 500 } };
    const [hidden, shown] = [[gate], [{ ...gate, mayShow: true }]].map((gates) => judgeArguments(contractOf({ ...requestOf().contract as object, gates }), GOOD, {}));
    const params = { reason: 'gate/comparison', gate: 'lte', a: 15000, b: 500 };
    expect(hidden).toMatchObject({ kind: 'rejected', mayShow: false, report: { kind: 'invalid', violations: [{ code: 'policy_reject', pointer: '', keyword: 'gate', keywordLocation: '', params }] } });
    expect(shown).toMatchObject({ kind: 'rejected', mayShow: true, report: { violations: [{ pointer: '/amount_cents', params }] } });
  });

  test('asks functions of the host about valid arguments alone', async () => {
    const asked: JsonObject[] = [];
    const withFunction = contractOf({ ...requestOf().contract as object, gates: [{ kind: 'function', name: 'f', version: '1' }] });
    const host = { bound: BOUND, functions: [{ name: 'f', version: '1', decide: ({ arguments: args }: { readonly arguments: JsonObject }) => { asked.push(args); return { kind: 'allow' as const }; } }] };
    expect(await judgeWithHost(withFunction, '{"to":"ACC-2041"}', {}, host)).toMatchObject({ kind: 'invalid' });
    expect(asked).toEqual([]);
    expect(await judgeWithHost(withFunction, GOOD, {}, host)).toMatchObject({ kind: 'accepted' });
    expect(await judgeWithHost(withFunction, GOOD, {}, undefined)).toMatchObject({ kind: 'rejected', reason: 'gate/function-missing' });
    expect(asked).toEqual([{ to: 'ACC-2041', amount_cents: 15000 }]);
  });
});

describe('rounded numbers', () => {
  const value: JsonValue = { a: 9007199254740992, l: [1, { b: 9007199254740992 }], t: '9007199254740992' };

  test('are found wherever they still stand, and nothing else is', () => {
    const found = roundedNumbers(value, new Set([9007199254740992]));
    expect(found).toEqual(['/a', '/l/1/b'].map((pointer) => ({ code: 'precision_loss', pointer, keyword: '', keywordLocation: '', params: {} })));
    expect(roundedNumbers(value, new Set())).toEqual([]);
  });

  test('are those where the report says so, and not the texts beside them', () => {
    const report = { kind: 'invalid', violations: ['/a', '/t', '/none'].map((pointer) => ({ code: 'precision_loss', pointer })).concat({ code: 'wrong_type', pointer: '/l/0' }) };
    expect([...lossyNumbers(report as never, value)]).toEqual([9007199254740992]);
  });

  test('keep a call from being accepted', () => {
    expect(judgeArguments(contract, GOOD, {}, new Set([15000]))).toMatchObject({ kind: 'invalid', report: { violations: [{ code: 'precision_loss', pointer: '/amount_cents' }] } });
  });
});
