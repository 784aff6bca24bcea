/** Rows of docs/checklist.md that no other test is about. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { repairCall } from '../src/index.ts';
import { GOOD, patchText, requestOf, scripted } from './support.ts';

// checklist: B5
test('a patch away from the reported pointer is admitted: nearness is the policy\'s to prefer, not the mask\'s to demand', async () => {
  const outcome = await repairCall(requestOf(), scripted(patchText({ op: 'add', path: '/memo', value: 'rent' }), GOOD));
  expect(outcome).toMatchObject({ status: 'repaired', attempts: 2, arguments: { to: 'ACC-2041', amount_cents: 15000, memo: 'rent' } });
  expect(outcome.reports[0]).toMatchObject({ pointer: '/amount_cents' });
});

// checklist: A6, H1, H2, H3, H4, O5
test('the threat model has its four parts, and says what a gate is not', () => {
  const text = readFileSync(new URL('../../../docs/threat-model.md', import.meta.url), 'utf8');
  const headings = text.split('\n').filter((line) => line.startsWith('## ')).map((line) => line.slice(3).toLowerCase());
  for (const part of ['goal', 'knowledge', 'capability', 'victim']) expect(headings.some((heading) => heading.startsWith(part)), part).toBe(true);
  for (const other of ['reflection', 'guardrail', 'judge']) expect(text.toLowerCase()).toContain(other);
});
