/** Issues of the record, the ledger and the replay have sentences that name the place and what to do. */
import { expect, test } from 'vitest';
import { formatIssue, type CoreIssue } from '../src/issue.ts';
import { readLedgerText } from '../src/ledger/index.ts';
import { readRepairRequest } from '../src/records.ts';

function issueOf(result: { readonly ok: true } | { readonly ok: false; readonly error: CoreIssue }): CoreIssue {
  if (result.ok) throw new Error('expected an issue');
  return result.error;
}

test('a field that is not known is named with the ones that are', () => {
  expect(formatIssue(issueOf(readRepairRequest({ id: 'a', requests: '' })))).toMatch(/^At "\/requests": .*known are: id, request, tool/);
});

test('a torn row is named with its number and how to go on', () => {
  expect(formatIssue(issueOf(readLedgerText('{"sequence"')))).toBe('Row 0 was written only in part. Cut the file after the row before it, then append again.');
});

test('no placeholder is left open', () => {
  const issues: CoreIssue[] = [
    { code: 'ledger/truncated', index: 3, expectedCount: 9 },
    { code: 'ledger/open-repair', index: 1, caseId: 'c' },
    { code: 'replay/text-not-recorded', index: 2 },
    { code: 'replay/inconsistent', index: 2, detail: 'attempts' },
    { code: 'replay/contract-refused', issue: 'contract/bad-budget' },
    { code: 'ledger/bad-row', index: 2, detail: 'kind: unknown' },
  ];
  for (const issue of issues) expect(formatIssue(issue)).not.toMatch(/[{}]/);
});
