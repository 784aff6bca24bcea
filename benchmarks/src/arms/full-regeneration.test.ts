import { err, ok, type Digest } from '@contractrl/core';
import { createVocabulary, type TokenId } from '@contractrl/grammar-mask';
import type { Engine, KvCache, Tokenizer } from '@contractrl/runtime-webgpu';
import { describe, expect, test } from 'vitest';
import { counterCase } from '../../tests/scripted-arm.ts';
import { encodeRegenerationPrompt, fullRegeneration } from './full-regeneration.ts';

const STOP = 256;
const WIDTH = 257;
const bytesOf = (text: string): readonly number[] => [...new TextEncoder().encode(text)];
const tokens = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));

/** One token a byte; what is trusted is marked, so that a prompt can be read back. */
const tokenizer: Tokenizer = {
  encodePlain: bytesOf,
  encodeTrusted: bytesOf,
  decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids)),
  specialIds: new Map(),
  stopIds: [STOP],
  tokens,
};

/** Wants to write `wish`, byte by byte, and then to stop; where it may not, it likes a closing brace, then the digit 7. */
function wishfulEngine(wish: string, fault?: 'engine/run-failed'): Engine & { readonly prompts: string[] } {
  const prompts: string[] = [];
  const wanted = [...bytesOf(wish), STOP];
  let promptLength = 0;
  const score = (position: number, id: TokenId): number => (id === wanted[position - promptLength] ? 3 : id === 0x7d ? 2 : id === 0x37 ? 1 : 0);
  return {
    prompts,
    identity: { backend: 'wishful', modelDigest: '0'.repeat(64) as Digest, format: 'test' },
    logitWidth: WIDTH,
    contextLength: 4096,
    emptyCache: { length: 0 },
    adapterDigest: undefined,
    useAdapter: () => ok(undefined),
    extend(cache: KvCache, ids) {
      if (fault !== undefined) return Promise.resolve(err({ code: fault, cause: undefined }));
      if (cache.length === 0) {
        prompts.push(tokenizer.decode(ids));
        promptLength = ids.length;
      }
      const length = cache.length + ids.length;
      return Promise.resolve(ok({ cache: { length }, hidden: Float32Array.of(length) }));
    },
    verify: (cache, ids) => Promise.resolve(ok({ cache: { length: cache.length + ids.length }, hiddens: ids.map((_, i) => Float32Array.of(cache.length + i + 1)) })),
    shorten: (_cache, length) => ({ length }),
    logitsOf: (hidden, ids, out) => ids.forEach((id, index) => (out[index] = score(hidden[0]!, id))),
    allLogits: (hidden, out) => out.forEach((_, id) => (out[id] = score(hidden[0]!, id))),
    dispose: () => Promise.resolve(),
  };
}

function armFor(engine: Engine): ReturnType<typeof fullRegeneration> {
  const vocabulary = createVocabulary({ logitWidth: WIDTH, tokens: [...tokens, undefined], stopIds: [STOP], encode: bytesOf });
  if (!vocabulary.ok) throw new Error(vocabulary.error.code);
  return fullRegeneration({ engine, tokenizer, vocabulary: vocabulary.value, clock: () => 0 });
}

const { request } = counterCase('c', '{"n":"5"}');

describe('fullRegeneration', () => {
  test('writes the whole object once and dispatches it where the validator accepts', async () => {
    const { record, frozen } = await armFor(wishfulEngine('{"n":5}')).answer(request, { aborted: false });
    expect(record).toMatchObject({ status: 'repaired', arguments: { n: 5 }, attempts: 1, operations: 0, confidence: null });
    expect(record.tokens.generated).toBe('{"n":5}'.length + 1);
    expect(frozen.proposals[0]!.proposal.text).toBe('{"n":5}');
  });

  test('is held to the schema at every token, whatever the model would rather write', async () => {
    const { record } = await armFor(wishfulEngine('{"n":"no number at all"}')).answer(request, { aborted: false });
    expect(record).toMatchObject({ status: 'repaired', arguments: { n: 7 } });
  });

  test('is stopped where it changes an immutable value', async () => {
    const locked = counterCase('c', '{"n":"5","note":"keep"}').request;
    const { record } = await armFor(wishfulEngine('{"n":5,"note":"lost"}')).answer(locked, { aborted: false });
    expect(record).toMatchObject({ status: 'failed', reason: 'shot/immutable-path' });
    expect(record.arguments).toBeUndefined();
  });

  test('an object that does not end within the token budget is no answer', async () => {
    const { contract } = request;
    const wordy = { ...request, contract: { ...contract, tool: { ...contract.tool, parameters: { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] } } } };
    const { record } = await armFor(wishfulEngine(`{"n":"${'x'.repeat(400)}"}`)).answer({ ...wordy, call: { name: 'count', argumentsText: '{}' } }, { aborted: false });
    expect(record).toMatchObject({ status: 'failed', reason: 'shot/incomplete', attempts: 1 });
  });

  test('a failing engine is a failed case with its code', async () => {
    const { record } = await armFor(wishfulEngine('', 'engine/run-failed')).answer(request, { aborted: false });
    expect(record).toMatchObject({ status: 'failed', reason: 'engine/run-failed', attempts: 0 });
  });

  test('a schema that the mask cannot constrain is refused by name, never decoded without it', async () => {
    const { contract } = request;
    const engine = wishfulEngine('{"n":5}');
    const strange = { ...contract, tool: { ...contract.tool, parameters: { type: 'object', properties: { n: { type: 'array', uniqueItems: true } }, required: ['n'] } } };
    const { record } = await armFor(engine).answer({ ...request, contract: strange, call: { name: 'count', argumentsText: '{}' } }, { aborted: false });
    expect(record).toMatchObject({ status: 'failed', reason: 'mask/unsupported-keyword' });
    expect(engine.prompts).toEqual([]);
  });

  test('a valid call never reaches the model', async () => {
    const engine = wishfulEngine('{"n":9}');
    const { record } = await armFor(engine).answer(counterCase('c', '{"n":5}').request, { aborted: false });
    expect(record).toMatchObject({ status: 'valid', arguments: { n: 5 }, attempts: 0 });
    expect(engine.prompts).toEqual([]);
  });
});

test('the prompt shows request, tool, schema, failed call and report', () => {
  const violation = { code: 'wrong_type', pointer: '/n', keyword: 'type', keywordLocation: '/properties/n/type', params: {} } as never;
  expect(tokenizer.decode(encodeRegenerationPrompt(request, [violation], tokenizer))).toBe([
    '<|im_start|>system', 'Write the corrected arguments of a failed tool call as one JSON object.<|im_end|>', '<|im_start|>user',
    'Request: Count to five.', 'Tool: count: Counts',
    'Schema: {"type":"object","properties":{"n":{"type":"integer","minimum":1},"note":{"type":"string"}},"required":["n"],"additionalProperties":false}',
    'Failed arguments: {"n":"5"}', 'Errors: wrong_type at /n<|im_end|>', '<|im_start|>assistant', '',
  ].join('\n'));
});
