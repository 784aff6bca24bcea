import { NO_POLICY, repairCall } from '@contractrl/core';
import { expect, test } from 'vitest';
import { bfclGold } from '../datasets/bfcl-corruptions.ts';
import { allCases, SEEDS } from './cases.ts';
import { speedLeakage } from './speed.ts';

const requests = allCases();

// checklist: D13
test('gold of every seed is found where a policy was shown it, and only there', async () => {
  const chosen = SEEDS.map((seed) => requests.find(({ id }) => id.startsWith(`${String(seed)}:`) && id.endsWith(':missing_required'))!);
  const answers = await Promise.all(chosen.map(async (request) => ({ record: { arm: 'adapter', id: request.id }, frozen: (await repairCall(request, NO_POLICY)).frozen })));
  const honest = chosen.map(({ id, request }) => ({ arm: 'adapter', id, texts: [`${id} ${JSON.stringify(request)}`] }));
  expect(speedLeakage(answers, chosen, honest)).toEqual({ answerCount: 3, leaks: [] });
  const told = chosen.map(({ id }, index) => ({ arm: 'adapter', id, texts: [JSON.stringify(bfclGold(SEEDS[index]!).get(id.slice(id.indexOf(':') + 1)))] }));
  const { answerCount, leaks } = speedLeakage(answers, chosen, told);
  expect(answerCount).toBe(3);
  expect(new Set(leaks.map(({ id }) => id))).toEqual(new Set(chosen.map(({ id }) => id)));
});

test('every case has gold to look for', () => {
  const known = new Set(SEEDS.flatMap((seed) => [...bfclGold(seed).keys()].map((id) => `${String(seed)}:${id}`)));
  expect(requests.filter(({ id }) => !known.has(id))).toEqual([]);
});
