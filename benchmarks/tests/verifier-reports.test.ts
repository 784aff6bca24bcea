/** The reports of core on the calls of the bug reports, against what the records list: codes and pointers, as sets. */
import { judgeArguments, loadContract } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { bugCases, listedErrors } from '../src/datasets/bugcases.ts';

const listed = listedErrors();

describe('the report on the call as it arrived', () => {
  test.each(bugCases().map(({ request }) => ({ id: request.id, request })))('$id names the listed codes and pointers', ({ id, request }) => {
    const contract = loadContract(request.contract);
    if (!contract.ok) throw new Error(contract.error.code);
    const judged = judgeArguments(contract.value, request.call.argumentsText, request.context, new Set());
    const found = judged.kind === 'invalid' ? judged.report.violations : judged.kind === 'rejected' ? [{ code: 'policy_reject', pointer: '' }] : [];
    const names = (errors: readonly { readonly code: string; readonly pointer: string }[]): readonly string[] => [...new Set(errors.map(({ code, pointer }) => `${code} ${pointer}`))].sort();
    expect(names(found)).toEqual(names(listed.get(id)!.errors));
  });
});
