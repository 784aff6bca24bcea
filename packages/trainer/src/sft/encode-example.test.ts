import { buildPrompt, encodePrompt, type Tokenizer } from '@contractrl/runtime-webgpu';
import { describe, expect, test } from 'vitest';
import { STOP, TINY_CONTEXT, TINY_TOKENIZER, TINY_VOCABULARY, tinyDataset } from '../../tests/support/tiny-policy.ts';
import { openExample, type Example } from '../data/example.ts';
import { encodeExample, type EncodedExample } from './encode-example.ts';

const { examples } = tinyDataset(120);
const parts = { tokenizer: TINY_TOKENIZER, vocabulary: TINY_VOCABULARY, contextLength: 8192 };
const encoded = examples.map((example) => ({ example, result: encodeExample(example, parts) }));
const whole = encoded.flatMap(({ example, result }): readonly { readonly example: Example; readonly value: EncodedExample }[] => (result.ok ? [{ example, value: result.value }] : []));

function textOf(ids: readonly number[]): string {
  return new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => [...(TINY_VOCABULARY.tokens[id] ?? [])])));
}

describe('an encoded example', () => {
  test('is there for all but those whose report is wrong', () => {
    const refused = encoded.filter(({ result }) => !result.ok);
    expect(refused.filter(({ example }) => example.noise === null).map(({ example, result }) => [example.id, example.answer, result])).toEqual([]);
    expect(whole.length).toBeGreaterThan(110);
  });

  test('spells the answer and ends with the stop token', () => {
    for (const { example, value } of whole) {
      expect(textOf(value.answerIds)).toBe(example.answer);
      expect(value.answerIds.indexOf(STOP)).toBe(value.answerIds.length - 1);
    }
  });

  test('has the prompt that the policy is given', () => {
    for (const { example, value } of whole) {
      const opened = openExample(example);
      const prompt = opened.ok ? encodePrompt(buildPrompt(opened.value), TINY_TOKENIZER as Tokenizer, 8192) : opened;
      expect(prompt).toMatchObject({ ok: true, value: { ids: value.promptIds } });
    }
  });

  test('has a decision where the mask leaves a choice, with the answer’s token among the allowed ones', () => {
    for (const { value: { decisions, answerIds } } of whole) {
      for (const { index, allowed } of decisions) {
        expect(allowed.length).toBeGreaterThan(1);
        expect(allowed).toContain(answerIds[index]);
        expect(allowed.every((id, at) => at === 0 || id > allowed[at - 1]!)).toBe(true);
      }
    }
    // `[{"op":` and the like are forced
    const [decided, written] = [whole.flatMap(({ value }) => value.decisions), whole.flatMap(({ value }) => value.answerIds)].map((list) => list.length) as [number, number];
    expect(decided).toBeLessThan(0.8 * written);
  });
});

describe('nothing is made', () => {
  const [first] = whole.filter(({ example }) => example.family === 'missing_required');
  test.each([
    { what: 'of an answer that writes where nothing may be written', answer: '[{"op":"add","path":"/~0~0","value":"x"}]', written: '[{"op":"add","path":"/' },
    { what: 'of one that is no patch', answer: '{"abstain":"because"}', written: '{"abstain":"' },
    { what: 'of one cut off', answer: first!.example.answer.slice(0, -2), written: first!.example.answer.slice(0, -2) },
  ])('$what', ({ answer, written }) => {
    const result = encodeExample({ ...first!.example, answer }, parts);
    expect(result).toMatchObject({ ok: false, error: { code: 'sft/not-admitted' } });
    if (!result.ok && result.error.code === 'sft/not-admitted') expect(written.startsWith(result.error.written)).toBe(true);
  });

  test('of a prompt that leaves no room for an answer', () => {
    expect(encodeExample(first!.example, { ...parts, contextLength: 300 })).toMatchObject({ ok: false, error: { code: 'prompt/too-long', limit: 44 } });
  });

  test('of a call that is valid', () => {
    const { record, target } = first!.example;
    const repaired = { ...record, call: { name: (record['tool'] as { name: string }).name, arguments: JSON.stringify(target) } };
    expect(encodeExample({ ...first!.example, record: repaired }, { ...parts, contextLength: TINY_CONTEXT })).toEqual({ ok: false, error: { code: 'trainer/call-valid' } });
  });
});
