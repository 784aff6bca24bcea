import { loadContract } from '@contractrl/core';
import { expect, test } from 'vitest';
import { bugCaseGold, bugCases, listedErrors, proposedPatches } from './bugcases.ts';

test('all 61 cases are there, once each, with gold and listed errors of their own', () => {
  const ids = bugCases().map(({ request }) => request.id);
  expect(new Set(ids).size).toBe(61);
  expect([...bugCaseGold().keys()]).toEqual(ids);
  expect([...listedErrors().keys()]).toEqual(ids);
});

// checklist: F5
test('the public half names no gold field', () => {
  const text = JSON.stringify(bugCases());
  expect(['acceptable', 'abstain_ok', 'abstain_reason', 'expected_patch_verdict', 'proposed_patch', 'verifier_errors'].filter((name) => text.includes(name))).toEqual([]);
});

test('raw argument text is handed on to the character', () => {
  const texts = new Map(bugCases().map(({ request }) => [request.id, request.call.argumentsText]));
  expect(texts.get('BC-013')).toBe('{"limit":5.0}');
  expect(texts.get('BC-068')).toBe('');
  expect(texts.get('BC-005')).toBe('{"command":"npm test","tail":"10"}');
});

test('every contract loads', () => {
  const refused = bugCases().flatMap(({ request }) => {
    const contract = loadContract(request.contract);
    return contract.ok ? [] : [{ id: request.id, code: contract.error.code }];
  });
  expect(refused).toEqual([]);
});

test('eight cases come with a patch that must be refused', () => {
  expect(proposedPatches().map(({ id, code }) => `${id} ${code}`)).toEqual([
    'PC-01 path_not_found', 'PC-03 move_into_child', 'PC-05 forbidden_path', 'PC-06 forbidden_path', 'PC-07 path_not_found', 'PC-08 path_not_found',
    'PC-10 array_index_invalid', 'PC-11 forbidden_path',
  ]);
});
