import { describe, expect, test } from 'vitest';
import { tinyDataset } from '../../tests/support/tiny-policy.ts';
import { readTask, taskText } from './task.ts';

const { examples } = tinyDataset(40);

test('a task comes back as it was, the order of members included', () => {
  for (const example of examples) {
    const { record, noise, answer, target } = example;
    const read = readTask(taskText(example));
    expect(read).toEqual({ ok: true, value: { record, noise, answer, target } });
    expect(JSON.stringify(read.ok && read.value.record)).toBe(JSON.stringify(record));
  }
});

describe('a text that is no task is refused', () => {
  const whole = JSON.parse(taskText(examples[0]!)) as Record<string, unknown>;
  test.each([
    ['no JSON', 'hello', { code: 'task/not-json', reason: 'json/syntax' }],
    ['two values', '{}{}', { code: 'task/not-json', reason: 'json/trailing' }],
    ['a list', '[]', { code: 'task/bad-field', field: '' }],
    ['without a record', JSON.stringify({ ...whole, record: undefined }), { code: 'task/bad-field', field: 'record' }],
    ['with a target that is a text', JSON.stringify({ ...whole, target: 'x' }), { code: 'task/bad-field', field: 'target' }],
    ['without a target', JSON.stringify({ ...whole, target: undefined }), { code: 'task/bad-field', field: 'target' }],
    ['with an answer that is an object', JSON.stringify({ ...whole, answer: {} }), { code: 'task/bad-field', field: 'answer' }],
    ['with noise of another form', JSON.stringify({ ...whole, noise: { kind: 'wrong-code', shown: ['x'] } }), { code: 'task/bad-field', field: 'noise' }],
    ['with a field more', JSON.stringify({ ...whole, reward: 1 }), { code: 'task/bad-field', field: 'reward' }],
  ])('%s', (_, text, error) => {
    expect(readTask(text)).toEqual({ ok: false, error });
  });
});
