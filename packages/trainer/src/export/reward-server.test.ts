import { describe, expect, test } from 'vitest';
import { PROMPT_VERSION } from '@contractrl/runtime-webgpu';
import { STOP, TINY_VOCABULARY, tinyDataset } from '../../tests/support/tiny-policy.ts';
import type { Example } from '../data/example.ts';
import { DEFAULT_REWARD_WEIGHTS } from '../grpo/reward.ts';
import { NO_MORE_COMPLETIONS } from './judge-episode.ts';
import { answerLine, type RewardServerParts } from './reward-server.ts';
import { taskText } from './task.ts';
import { createMaskAlong } from './token-masks.ts';

const { examples } = tinyDataset(80);
const weights = { collateral: 0.5, retry: 0.25, refused: 0.125, token: 0.0625 };
const repairable = examples.find(({ target, answer }) => target !== null && answer.includes('"op":"add"')) as Example;
const unrepairable = examples.find(({ target }) => target === null) as Example;

async function ask(request: unknown, parts: Partial<RewardServerParts> = {}): Promise<unknown> {
  const line = await answerLine(typeof request === 'string' ? request : JSON.stringify(request), { weights, masks: undefined, ...parts });
  expect(line).not.toContain('\n');
  return JSON.parse(line);
}

const completionsOf = (...texts: readonly string[]): readonly object[] => texts.map((text) => ({ text, tokenCount: 2 }));
const rewardsOf = (example: Example, ...texts: readonly string[]): Promise<unknown> => ask({ id: 1, op: 'rewards', items: [{ task: taskText(example), completions: completionsOf(...texts) }] });

test('the right answer of every example is a success that costs its tokens alone', async () => {
  const items = examples.map((example) => ({ task: taskText(example), completions: completionsOf(example.answer) }));
  const answered = await ask({ id: 'all', op: 'rewards', items }) as { results: readonly { reward: number; end: string; refused: number }[] };
  expect(answered).toMatchObject({ id: 'all', ok: true });
  for (const [index, { reward, end, refused }] of answered.results.entries()) {
    expect([end, reward, refused]).toEqual([examples[index]!.target === null ? 'abstained-rightly' : 'right', 1 - 2 * weights.token, 0]);
  }
});

test.each([
  ['a text that is no JSON, as no mask held it back, is a refused attempt', repairable, ['I would say'], { end: 'rejected', refused: 1, retries: 0, reason: NO_MORE_COMPLETIONS, reward: -0.125 - 0.125 }],
  ['an operation that may not be is a refused attempt', repairable, ['[{"op":"test","path":"","value":1}]'], { end: 'rejected', refused: 1, reward: -0.125 - 0.125 }],
  ['a patch of a place that is not there is a refused attempt', repairable, ['[{"op":"remove","path":"/nowhere"}]'], { end: 'rejected', refused: 1 }],
  ['declining what can be repaired is no success', repairable, ['{"abstain":"not-in-state"}'], { end: 'abstained-falsely', status: 'abstained', reason: 'abstain/not-in-state', refused: 0, reward: -0.125 }],
  ['declining what cannot be is one, whatever reason is named', unrepairable, ['{"abstain":"unrepairable"}'], { end: 'abstained-rightly', reward: 1 - 0.125 }],
  ['an unknown reason is no abstention', unrepairable, ['{"abstain":"because"}'], { end: 'rejected', refused: 1 }],
  ['a second attempt that is right costs a retry', repairable, ['nothing', repairable.answer], { end: 'right', retries: 1, refused: 1, tokens: 4, reward: 1 - 0.25 - 0.125 - 4 * 0.0625 }],
  ['a third attempt is not made', repairable, ['a', 'b', repairable.answer], { end: 'rejected', reason: 'repair/attempts-exhausted', refused: 2, tokens: 4 }],
])('%s', async (_, example, texts, result) => {
  expect(await rewardsOf(example, ...texts)).toMatchObject({ id: 1, ok: true, results: [result] });
});

describe('a request is refused whole, and says why', () => {
  const item = { task: taskText(repairable), completions: completionsOf('x') };
  const valid = { ...repairable, record: { ...repairable.record, call: { name: (repairable.record['tool'] as { name: string }).name, arguments: JSON.stringify(repairable.target) } } };
  const unknownContract = { ...repairable, record: { ...repairable.record, contract: { version: 99 } } };
  test.each([
    ['no JSON', '{"id":1', null, { code: 'request/not-json', reason: 'json/truncated' }],
    ['no object', '[]', null, { code: 'request/bad-field', field: '' }],
    ['an unknown operation', { id: 2, op: 'train' }, 2, { code: 'request/unknown-op', op: 'train' }],
    ['no items', { id: 3, op: 'rewards' }, 3, { code: 'request/bad-field', field: 'items' }],
    ['an item that is no object', { id: 3, op: 'rewards', items: [1] }, 3, { code: 'request/bad-field', field: 'items' }],
    ['a task that is an object', { id: 4, op: 'rewards', items: [item, { ...item, task: {} }] }, 4, { code: 'request/bad-field', field: 'task', item: 1 }],
    ['a task that is none', { id: 5, op: 'rewards', items: [{ ...item, task: '{}' }] }, 5, { code: 'task/bad-field', field: 'record', item: 0 }],
    ['no completion', { id: 6, op: 'rewards', items: [{ ...item, completions: [] }] }, 6, { code: 'request/bad-field', field: 'completions', item: 0 }],
    ['a completion without a count', { id: 7, op: 'rewards', items: [{ ...item, completions: [{ text: 'x' }] }] }, 7, { code: 'request/bad-field', field: 'completions', item: 0 }],
    ['a count below 0', { id: 7, op: 'rewards', items: [{ ...item, completions: [{ text: 'x', tokenCount: -1 }] }] }, 7, { code: 'request/bad-field', field: 'completions', item: 0 }],
    ['a call that is valid', { id: 8, op: 'rewards', items: [{ ...item, task: taskText(valid) }] }, 8, { code: 'trainer/call-valid', item: 0 }],
    ['a contract that cannot be honoured', { id: 8, op: 'rewards', items: [{ ...item, task: taskText(unknownContract) }] }, 8, { code: 'episode/no-contract', reason: 'contract/unknown-version', item: 0 }],
    ['masks without a model', { id: 9, op: 'masks', items: [{ task: item.task, ids: [] }] }, 9, { code: 'masks/no-model', item: 0 }],
  ])('%s', async (_, request, id, error) => {
    expect(await ask(request)).toEqual({ id, ok: false, error });
  });
});

test('masks come as bits over the ids of the model', async () => {
  const masks = createMaskAlong(TINY_VOCABULARY);
  const items = [{ task: taskText(repairable), ids: [...new TextEncoder().encode('[{"op":')], from: 7 }];
  const answered = await ask({ id: 1, op: 'masks', items }, { masks }) as { results: readonly { masks: readonly string[] }[] };
  const [bits] = answered.results[0]!.masks.map((text) => new Int32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer));
  const allowed = Array.from({ length: TINY_VOCABULARY.logitWidth }, (_, id) => id).filter((id) => ((bits![id >> 5]! >> (id & 31)) & 1) === 1);
  expect(allowed).toContain('"'.charCodeAt(0));
  expect(allowed).not.toContain(STOP);
  expect(await ask({ id: 2, op: 'masks', items: [{ ...items[0], from: 8 }] }, { masks })).toMatchObject({ ok: false, error: { code: 'request/bad-field', field: 'from', item: 0 } });
  expect(await ask({ id: 3, op: 'masks', items: [{ ...items[0], ids: [120], from: 0 }] }, { masks })).toMatchObject({ ok: false, error: { code: 'masks/refused', index: 0, item: 0 } });
});

test('it says what it judges by', async () => {
  expect(await ask({ id: 1, op: 'about' }, { weights: DEFAULT_REWARD_WEIGHTS })).toEqual({
    id: 1, ok: true, results: [{ promptVersion: PROMPT_VERSION, weights: DEFAULT_REWARD_WEIGHTS, masks: false }],
  });
});
