import { describe, expect, test } from 'vitest';
import { readRows } from '../datasets/jsonl.ts';
import { BFCL_FILE, type BfclRow } from '../datasets/bfcl-corruptions.ts';
import type { CaseGold } from '../datasets/case.ts';
import { isRight, mayAbstain } from './rightness.ts';

const answers: CaseGold = {
  kind: 'answers',
  answers: { city: ['Paris', 'Paris, France'], days: [3], unit: ['metric', ''], filter: [{ stars: [4, 5], view: ['sea', ''] }], tags: [['a', 'b']] },
  original: { city: 'Paris', days: 3, filter: { stars: 4 }, tags: ['a', 'b'] },
  corrupted: 'city',
  patches: [],
};

// checklist: D2, I6
describe('BFCL answers', () => {
  const right = { city: 'Paris', days: 3, filter: { stars: 4 }, tags: ['a', 'b'] };
  test.each([
    { what: 'the gold call', call: right, expected: true },
    { what: 'another acceptable value in the corrupted field', call: { ...right, city: 'Paris, France' }, expected: true },
    { what: 'a value in another case', call: { ...right, city: 'paris' }, expected: false },
    { what: 'an acceptable value in a field that was not corrupted', call: { ...right, filter: { stars: 5 } }, expected: false },
    { what: 'an optional field that was not there before', call: { ...right, unit: 'metric' }, expected: false },
    { what: 'a field nobody knows', call: { ...right, extra: 1 }, expected: false },
    { what: 'a lost field', call: { city: 'Paris', filter: { stars: 4 }, tags: ['a', 'b'] }, expected: false },
    { what: 'a list in another order', call: { ...right, tags: ['b', 'a'] }, expected: false },
    { what: 'a number as text', call: { ...right, days: '3' }, expected: false },
  ])('$what: $expected', ({ call, expected }) => {
    expect(isRight(call, answers)).toBe(expected);
  });

  test('an acceptable nested object takes acceptable members and no others', () => {
    const gold = { ...answers, corrupted: 'filter' };
    expect(isRight({ ...right, filter: { stars: 5, view: 'sea' } }, gold)).toBe(true);
    expect(isRight({ ...right, filter: { view: 'sea' } }, gold)).toBe(false);
    expect(isRight({ ...right, filter: { stars: 5, pool: true } }, gold)).toBe(false);
  });

  test('the gold call of every row of the file is right under its own answers', () => {
    const rows = readRows<BfclRow>(BFCL_FILE).filter((row) => row.schema_valid);
    const wrong = rows.filter((row) => !isRight(row.call.arguments, { kind: 'answers', answers: row.answers, original: row.call.arguments, corrupted: '', patches: [] }));
    expect(rows.length).toBe(1525);
    expect(wrong.map((row) => row.id)).toEqual([]);
  });
});

describe('bug reports', () => {
  const gold: CaseGold = { kind: 'one-of', acceptable: [{ a: 1 }, { a: 1, b: [2] }], patches: [], abstainOk: false };

  test('arguments are right when they equal one acceptable object, in any member order', () => {
    expect(isRight({ b: [2], a: 1 }, gold)).toBe(true);
    expect(isRight({ a: 1, b: [] }, gold)).toBe(false);
  });

  test('no arguments are right where only declining is', () => {
    expect(isRight({}, { kind: 'abstain' })).toBe(false);
    expect([mayAbstain({ kind: 'abstain' }), mayAbstain(gold), mayAbstain({ ...gold, abstainOk: true }), mayAbstain(answers)]).toEqual([true, false, true, false]);
  });
});
