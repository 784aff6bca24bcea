import { judgeArguments, loadContract, type JsonObject } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { isRight, mayAbstain } from '../scoring/rightness.ts';
import { familyGold, familyRequests, familyRows } from './bfcl-families.ts';

describe.each(['repairable', 'unrepairable'] as const)('the %s cases', (file) => {
  const rows = familyRows(file);
  const requests = familyRequests(file);

  test('are calls that the judge refuses, each id once, each tool once a family', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(new Set(rows.map(({ family, record }) => `${family} ${(record['tool'] as { readonly name: string }).name}`)).size).toBe(rows.length);
    for (const { id, contract: document, call, context } of requests) {
      const contract = loadContract(document);
      if (!contract.ok) throw new Error(`${id}: ${contract.error.code}`);
      expect([id, judgeArguments(contract.value, call.argumentsText, context, new Set()).kind]).toEqual([id, 'invalid']);
    }
  });

  test('have gold of their own', () => {
    expect([...familyGold(file).keys()]).toEqual(rows.map(({ id }) => id));
  });
});

test('what is acceptable is valid, is not the failed call, and leaves the other arguments alone', () => {
  const gold = familyGold('repairable');
  const rows = familyRows('repairable');
  for (const [index, request] of familyRequests('repairable').entries()) {
    const label = gold.get(request.id)!;
    const contract = loadContract(request.contract);
    if (label.kind !== 'one-of' || !contract.ok) throw new Error(request.id);
    const failed = JSON.parse(request.call.argumentsText) as JsonObject;
    const [legal] = label.acceptable;
    expect([request.id, judgeArguments(contract.value, JSON.stringify(legal), {}, new Set()).kind]).toEqual([request.id, 'accepted']);
    expect(isRight(failed, label)).toBe(false);
    const { corrupted } = rows[index]!;
    const rest = (call: JsonObject): object => Object.fromEntries(Object.entries(call).filter(([name]) => !corrupted.includes(name)));
    for (const call of label.acceptable) expect(rest(call)).toEqual(rest(failed));
  }
});

test('of the unrepairable ones nothing but declining is right', () => {
  expect([...familyGold('unrepairable').values()].every(mayAbstain)).toBe(true);
  expect([...new Set(familyRows('unrepairable').map(({ family }) => family))]).toEqual(['value_unknown', 'locked_field', 'other_tool']);
});
