import { describe, expect, test } from 'vitest';
import { bugCases } from '../datasets/bugcases.ts';
import { ajvCoercion } from './ajv-coercion.ts';

const requests = new Map(bugCases().map(({ request }) => [request.id, request]));
const arm = ajvCoercion(() => 0);

describe('ajvCoercion', () => {
  test.each([
    { id: 'BC-005', what: 'turns digits in text into a number', expected: { status: 'repaired', arguments: { command: 'npm test', tail: 10 }, attempts: 1 } },
    { id: 'BC-013', what: 'leaves a valid call alone', expected: { status: 'valid', arguments: { limit: 5 }, attempts: 0 } },
    { id: 'BC-007', what: 'turns true into page 1, the known trap', expected: { status: 'repaired', arguments: { book: 'geology-101', page: 1 } } },
    { id: 'BC-006', what: 'is stopped where the value is immutable', expected: { status: 'failed', reason: 'shot/immutable-path' } },
    { id: 'BC-082', what: 'declines text that is cut', expected: { status: 'abstained', reason: 'coercion/unreadable', attempts: 0 } },
    { id: 'BC-028', what: 'declines what is missing', expected: { status: 'abstained', reason: 'coercion/still-invalid' } },
    { id: 'BC-092', what: 'never gets to a call that a gate refuses', expected: { status: 'rejected', reason: 'gate/reference-unknown', attempts: 0 } },
  ])('$what ($id)', async ({ id, expected }) => {
    const { record, frozen } = await arm.answer(requests.get(id)!, { aborted: false });
    expect(record).toMatchObject(expected);
    expect(frozen.closed).toMatchObject({ status: expected.status, attempts: record.attempts });
    expect(frozen.opened.report.map(({ code }) => code)).toEqual(record.reports.map(({ code }) => code));
  });

  test('a contract that cannot be honoured is a failure with its code', async () => {
    const request = requests.get('BC-005')!;
    const { record } = await arm.answer({ ...request, contract: { ...request.contract, operationBudget: -1 } }, { aborted: false });
    expect(record).toMatchObject({ status: 'failed', reason: 'contract/bad-budget', reports: [] });
  });

  test('a call of another tool is declined', async () => {
    const request = requests.get('BC-005')!;
    const { record } = await arm.answer({ ...request, call: { ...request.call, name: 'other' } }, { aborted: false });
    expect(record).toMatchObject({ status: 'abstained', reason: 'abstain/unknown-tool' });
  });
});
