/** docs/threat-model.md says what it must, and names every family that there is. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const text = readFileSync(new URL('../../../../docs/threat-model.md', import.meta.url), 'utf8');

// checklist: A6
test('the threat model has a part each for goal, knowledge, capability and victim', () => {
  const headings = [...text.matchAll(/^## (.+)$/gmu)].map(([, heading]) => heading);
  expect(headings.slice(0, 4)).toEqual(['Goal', 'Knowledge', 'Capability', 'Victim']);
});

// checklist: O5
test('it tells a gate from a reflection, an output guardrail and a model that judges', () => {
  expect([...text.matchAll(/^\| (reflection|output guardrail|a model as judge) \|/gmu)]).toHaveLength(3);
});

test('every family stands in its table, and no other does', () => {
  const here = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.test.ts') && name !== 'threat-model.test.ts');
  expect([...text.matchAll(/^\|.*\| `([a-z-]+\.test\.ts)` \|$/gmu)].map(([, name]) => name).sort()).toEqual(here.sort());
});
