import { judgeArguments } from '@contractrl/core';
import { expect, test } from 'vitest';
import { dialogueOf } from './episode.ts';
import { retailShop, sandboxEpisodes, sandboxGold, TRIALS } from './episodes.ts';
import { isWrite } from './retail.ts';
import { sandboxCases } from './run.ts';

const shop = retailShop();
const episodes = sandboxEpisodes();
const gold = await sandboxGold();

// checklist: A3
test('every trajectory has one spoilt call, which changes something when it is right; the trials of a task have different faults', () => {
  expect(episodes).toHaveLength(30 * TRIALS);
  for (const { id, calls, step, form } of episodes) {
    const { call: { acceptable: [legal] } } = gold.get(id)!;
    const { name, argumentsText } = calls[step]!;
    expect(isWrite(name)).toBe(true);
    expect([id, form, judgeArguments(shop.contracts.get(name)!, argumentsText, {}).kind]).toEqual([id, form, 'invalid']);
    expect(argumentsText).not.toBe(JSON.stringify(legal));
  }
  const faults = episodes.map(({ task, calls, step }) => `${task} ${String(step)} ${calls[step]!.argumentsText}`);
  expect(new Set(faults).size).toBe(faults.length);
});

test('the same seed gives the same trajectories', () => {
  expect(sandboxEpisodes()).toEqual(episodes);
});

// checklist: F5
test('the public half holds neither the legal call nor its patch', () => {
  for (const { id, calls, step } of episodes) {
    const { call: { acceptable, patches } } = gold.get(id)!;
    const text = JSON.stringify(calls[step]);
    expect([...acceptable, ...patches].filter((hidden) => text.includes(JSON.stringify(JSON.stringify(hidden)).slice(1, -1)))).toEqual([]);
  }
});

test('the legal trajectory is executed throughout and changes the shop', () => {
  for (const { id, calls } of episodes) {
    const { steps, changes } = gold.get(id)!;
    expect(steps).toHaveLength(calls.length);
    expect(changes.length).toBeGreaterThan(0);
  }
});

test('what a fault took away stands in what a policy may read, so that declining is never the only right answer', async () => {
  for (const { request } of await sandboxCases(shop, episodes)) {
    const [legal] = gold.get(request.id)!.call.acceptable;
    const known = JSON.stringify([request.request, request.call, request.contract]);
    const texts = Object.values(legal!).flat().map(String);
    expect(texts.filter((text) => !known.includes(text))).toEqual([]);
  }
});

test('a dialogue has the answers of the tools in their order, and ends in what the user wants', () => {
  expect(dialogueOf('Cancel it.', [{ name: 'a', result: { n: 1 } }, { name: 'b', result: null }])).toEqual([
    { role: 'tool', content: 'a → {"n":1}' }, { role: 'tool', content: 'b → null' }, { role: 'user', content: 'Cancel it.' },
  ]);
});
