import { describe, expect, test } from 'vitest';
import { GOOD, requestOf, scripted } from '../../tests/support.ts';
import { failedRecord, toRepairRecord } from './record.ts';
import { repairCall } from './repair.ts';

const FIELDS = ['id', 'status', 'name', 'reports', 'attempts', 'operations', 'confidence', 'tokens', 'timing', 'ledger'];

describe('the output record', () => {
  test('of a repaired call has its arguments, the patch and the whole cost', async () => {
    const outcome = await repairCall(requestOf(), scripted(GOOD));
    expect(toRepairRecord(outcome, { totalMs: 20 })).toEqual({
      id: 'case-1', status: 'repaired', name: 'transfer', arguments: { to: 'ACC-2041', amount_cents: 15000 },
      patch: [{ op: 'replace', path: '/amount_cents', value: 15000 }], written: [{ pointer: '/amount_cents', origin: { kind: 'model' } }],
      reports: [{ code: 'wrong_type', pointer: '/amount_cents', keyword: 'type', params: outcome.reports[0]?.params }],
      attempts: 1, operations: 1, confidence: 0.5, tokens: { prompt: 100, generated: 10, forced: 4 },
      timing: { totalMs: 20, prefillMs: 5, decodeMs: 7, maskMs: 1 }, ledger: outcome.ledger,
    });
  });

  test.each([
    ['valid', { call: { name: 'transfer', arguments: { to: 'ACC-2041', amount_cents: 1 } } }, [], ['arguments']],
    ['abstained', {}, ['{"abstain":"locked"}'], ['reason']],
    ['failed', {}, ['no', 'no'], ['reason']],
    ['rejected', { contract: { gates: [{ kind: 'reference_exists', pointer: '/to', in: 'accounts' }] } }, [GOOD], ['reason']],
  ])('of a call that is %s has these fields and no others', async (status, overrides, answers, extra) => {
    const record = toRepairRecord(await repairCall(requestOf(overrides), scripted(...answers)), { totalMs: 1 });
    expect(record.status).toBe(status);
    expect(Object.keys(record).sort()).toEqual([...FIELDS, ...extra].sort());
    expect(JSON.parse(JSON.stringify(record))).toEqual(record);
  });
});

test('a broken input line has a failed record with its code and no ledger', () => {
  const record = failedRecord('line 7', { code: 'request/not-json', pointer: '' as never, params: {} });
  expect(record).toMatchObject({ id: 'line 7', status: 'failed', reason: 'request/not-json', ledger: null });
});

test('the record says how the call was read and by which rules it was repaired', async () => {
  const call = { name: 'transfer', arguments: '[{"to":"ACC-2041","amount_cents":"15000"}]' };
  expect(toRepairRecord(await repairCall(requestOf({ call }), scripted()), { totalMs: 1 })).toMatchObject({
    status: 'repaired', reading: { steps: [{ kind: 'list-of-one', start: 1, end: 41 }] }, rules: ['text-to-json'], attempts: 0, operations: 1,
  });
});
