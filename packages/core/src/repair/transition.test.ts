import { describe, expect, test } from 'vitest';
import { requestOf } from '../../tests/support.ts';
import { loadContract, type Contract } from '../contract/contract.ts';
import { ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import type { Violation } from '../validate/violation.ts';
import { openRepair, type InvalidReport, type RepairState } from './state.ts';
import { refuse, transition } from './transition.ts';

function contractOf(): Contract {
  const contract = loadContract(requestOf({ contract: { operationBudget: 3, attemptBudget: 4 } }).contract);
  if (!contract.ok) throw new Error(contract.error.code);
  return contract.value;
}

function reportAt(pointer: string, code: Violation['code'] = 'wrong_type'): InvalidReport {
  return { kind: 'invalid', violations: [{ code, pointer: pointer as JsonPointer, keyword: 'type', keywordLocation: '', params: {} }] };
}

const PATCH = [{ op: 'remove', path: '/memo' as JsonPointer }] as const;

function open(candidate = { to: 1, memo: { deep: ['x'] } }): RepairState {
  return openRepair(contractOf(), reportAt('/to'), candidate);
}

describe('opening a repair', () => {
  // checklist: B1
  test('gives exactly the six parts, with whole budgets', () => {
    expect(open()).toEqual({ candidate: { to: 1, memo: { deep: ['x'] } }, code: 'wrong_type', pointer: '/to', history: [], attemptsLeft: 4, operationsLeft: 3 });
  });

  test('leaves the caller’s value as it was: a frozen copy is taken', () => {
    const candidate = { to: 1, memo: { deep: ['x'] } };
    const state = open(candidate);
    candidate.memo.deep.push('y');
    expect(state.candidate).toEqual({ to: 1, memo: { deep: ['x'] } });
    expect(() => { (state as { attemptsLeft: number }).attemptsLeft = 9; }).toThrow(TypeError);
    expect(() => { (state.history as unknown[]).push({}); }).toThrow(TypeError);
  });
});

describe('an applied patch', () => {
  test('replaces candidate and report, and costs one attempt and its operations', () => {
    const next = transition(open(), PATCH, { to: 1 }, reportAt('', 'cross_field'));
    expect(next).toEqual({
      candidate: { to: 1 }, code: 'cross_field', pointer: ROOT_POINTER, attemptsLeft: 3, operationsLeft: 2,
      history: [{ patch: PATCH, verdict: 'repair/still-invalid', code: 'cross_field', pointer: ROOT_POINTER }],
    });
  });
});

describe('a refused proposal', () => {
  test('costs one attempt alone and keeps candidate and report', () => {
    const state = open();
    const next = refuse(state, undefined, 'json/syntax');
    expect(next).toEqual({ ...state, attemptsLeft: 3, history: [{ patch: undefined, verdict: 'json/syntax', code: 'wrong_type', pointer: '/to' }] });
  });
});

// checklist: B1
test('history grows by one an attempt; earlier states and entries stay as they were, and cannot be changed', () => {
  const first = refuse(open(), PATCH, 'patch/locked-path');
  const second = transition(first, PATCH, { to: 1 }, reportAt('/to'));
  expect(first.history).toHaveLength(1);
  expect(second.history.slice(0, 1)).toEqual(first.history);
  expect(() => { (second.history[0] as { verdict: string }).verdict = 'accepted'; }).toThrow(TypeError);
  expect(() => { (second.history[0]?.patch as unknown[]).pop(); }).toThrow(TypeError);
});
