import { createHash } from 'node:crypto';
import { judgeArguments, loadContract } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { bfclCases, bfclGold, CASES_PER_KIND } from './bfcl-corruptions.ts';
import { isRight } from '../scoring/rightness.ts';

const cases = bfclCases();
const gold = bfclGold();

describe('the 64 corruptions of seed 13', () => {
  test('are half and half, of 64 different tools', () => {
    expect(cases.map(({ cohort }) => cohort)).toEqual([
      ...Array<string>(CASES_PER_KIND).fill('bfcl-missing-required'), ...Array<string>(CASES_PER_KIND).fill('bfcl-wrong-type'),
    ]);
    expect(new Set(cases.map(({ request }) => request.contract.tool.name)).size).toBe(64);
    expect(new Set(cases.map(({ request }) => request.id)).size).toBe(64);
  });

  // checklist: A3, J2
  test('are the same on every machine', () => {
    const text = JSON.stringify(cases.map(({ request }) => [request.id, request.call.argumentsText]));
    expect(createHash('sha256').update(text).digest('hex')).toBe('ee7cec11a5cc0a284633c0cc4cbf1b47d52d842003c9cde49cf7979af8bbfa48');
  });

  test.each(cases.map(({ cohort, request }) => ({ id: request.id, cohort, request })))('$id is invalid by its one corruption alone', ({ cohort, request }) => {
    const contract = loadContract(request.contract);
    if (!contract.ok) throw new Error(contract.error.code);
    const judged = judgeArguments(contract.value, request.call.argumentsText, request.context, new Set());
    const code = cohort === 'bfcl-missing-required' ? 'missing_required' : 'wrong_type';
    const label = gold.get(request.id)!;
    if (label.kind !== 'answers') throw new Error(label.kind);
    expect(judged.kind === 'invalid' && judged.report.violations.map((one) => [one.code, one.pointer])).toEqual([[code, `/${label.corrupted}`]]);
  });

  test('differ from the gold call in the corrupted argument only, and the gold call is right', () => {
    for (const { request } of cases) {
      const label = gold.get(request.id)!;
      if (label.kind !== 'answers') throw new Error(label.kind);
      const { original, corrupted } = label;
      const without = (value: object): object => Object.fromEntries(Object.entries(value).filter(([name]) => name !== corrupted));
      expect(without(JSON.parse(request.call.argumentsText) as object)).toEqual(without(original));
      expect(isRight(original, label)).toBe(true);
    }
  });

  test('leave no room for omission: the corrupted argument must be given', () => {
    const omissible = [...gold.values()].filter((label) => label.kind === 'answers' && label.answers[label.corrupted]?.includes(''));
    expect(omissible.length).toBe(0);
  });

  test('hold lossless and lossy forms of a wrong type', () => {
    const forms = new Map<string, number>();
    for (const { request } of cases.slice(CASES_PER_KIND)) {
      const label = gold.get(request.id)!;
      if (label.kind !== 'answers') throw new Error(label.kind);
      const wrong = (JSON.parse(request.call.argumentsText) as Record<string, unknown>)[label.corrupted];
      const form = Array.isArray(wrong) ? 'list' : wrong !== null && typeof wrong === 'object' ? 'wrapped' : wrong === null || wrong === true || wrong === 'unknown' ? 'lossy' : 'text';
      forms.set(form, (forms.get(form) ?? 0) + 1);
    }
    expect([...forms.keys()].sort()).toEqual(['list', 'lossy', 'text', 'wrapped']);
  });
});

test('another seed gives other cases', () => {
  const ids = new Set(cases.map(({ request }) => request.id));
  expect(bfclCases(14).filter(({ request }) => !ids.has(request.id)).length).toBeGreaterThan(32);
});

// checklist: A3, F5
test('the public half carries no answers', () => {
  const text = JSON.stringify(cases);
  expect(text.includes('"answers"')).toBe(false);
  expect(text.includes('"original"')).toBe(false);
});
