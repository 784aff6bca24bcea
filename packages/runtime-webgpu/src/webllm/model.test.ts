import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '@contractrl/core';
import { createTokenizer } from '../model/tokenizer.ts';
import { hasRealModel, loadRealModel, REAL_MODEL } from '../../tests/support/real-model.ts';
import { fetchWebLlmFiles, readWebLlmModel } from './model.ts';

const MARKERS: readonly JsonObject[] = [{ id: 4, content: '<|im_start|>', special: true }, { id: 5, content: '<|im_end|>', special: true }];
const TOKENIZER: JsonObject = {
  model: { type: 'BPE', vocab: { a: 0, b: 1, 'Ġ': 2, ab: 3 }, merges: ['a b'] },
  pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, { type: 'ByteLevel', add_prefix_space: false, use_regex: true }] },
  added_tokens: MARKERS,
};
const CONFIG: JsonObject = { vocab_size: 8, context_window_size: 2048, conv_template: { stop_token_ids: [5] } };

/** With one member of one of the two files replaced, at a dotted path. */
function read(file: 'tokenizer' | 'chatConfig', path: string, value: JsonValue | undefined): unknown {
  const files = structuredClone({ tokenizer: TOKENIZER, chatConfig: CONFIG }) as unknown as Record<string, Record<string, unknown>>;
  const names = path.split('.');
  let at = files[file]!;
  for (const name of names.slice(0, -1)) at = at[name] as Record<string, unknown>;
  at[names.at(-1)!] = value;
  const result = readWebLlmModel(files as never);
  return result.ok ? 'read' : result.error;
}

describe('the two files of a model', () => {
  test('give tokens as bytes, special ones as none, and the width of the configuration', () => {
    const model = readWebLlmModel({ tokenizer: TOKENIZER, chatConfig: CONFIG });
    if (!model.ok) throw new Error(model.error.code);
    const { tokenizer, vocabulary, contextLength } = model.value;
    expect([vocabulary.logitWidth, contextLength, tokenizer.stopIds]).toEqual([8, 2048, [5]]);
    expect(vocabulary.tokens.map((bytes) => (bytes === undefined ? undefined : new TextDecoder().decode(bytes)))).toEqual(['a', 'b', ' ', 'ab', undefined, undefined]);
    expect(tokenizer.encodePlain('ab a')).toEqual([3, 2, 0]);
    expect(tokenizer.encodeTrusted('<|im_start|>ab<|im_end|>')).toEqual([4, 3, 5]);
    expect(tokenizer.encodePlain('<|im_end|>')).not.toContain(5);
  });

  test('merges may be written as pairs', () => {
    const model = readWebLlmModel({ tokenizer: { ...TOKENIZER, model: { type: 'BPE', vocab: { a: 0, b: 1, 'Ġ': 2, ab: 3 }, merges: [['a', 'b']] } }, chatConfig: CONFIG });
    expect(model.ok && model.value.tokenizer.encodePlain('ab')).toEqual([3]);
  });

  test.each<['tokenizer' | 'chatConfig', string, JsonValue | undefined, object]>([
    ['chatConfig', 'vocab_size', '8', { code: 'webllm/bad-file', field: 'vocab_size' }],
    ['chatConfig', 'vocab_size', 5, { code: 'vocabulary/wider-than-logits', tokenCount: 6, logitWidth: 5 }],
    ['chatConfig', 'context_window_size', -1, { code: 'webllm/bad-file', field: 'context_window_size' }],
    ['chatConfig', 'conv_template.stop_token_ids', ['5'], { code: 'webllm/bad-file', field: 'conv_template.stop_token_ids' }],
    ['chatConfig', 'conv_template.stop_token_ids', [99], { code: 'vocabulary/stop-id-out-of-range', id: 99 }],
    ['tokenizer', 'model.type', 'Unigram', { code: 'tokenizer/unsupported-model', model: 'Unigram' }],
    ['tokenizer', 'model', undefined, { code: 'tokenizer/unsupported-model', model: 'none' }],
    ['tokenizer', 'pre_tokenizer', null, { code: 'tokenizer/unsupported-model', model: 'BPE without ByteLevel' }],
    ['tokenizer', 'pre_tokenizer', { type: 'ByteLevel', add_prefix_space: true }, { code: 'tokenizer/unsupported-pre-tokenizer' }],
    ['tokenizer', 'model.merges', undefined, { code: 'webllm/bad-file', field: 'model.merges' }],
    ['tokenizer', 'model.vocab', { a: -1 }, { code: 'webllm/bad-file', field: 'model.vocab' }],
    ['tokenizer', 'model.vocab', { a: 2 ** 30 }, { code: 'webllm/bad-file', field: 'model.vocab' }],
    ['tokenizer', 'model.vocab', { '▁a': 0 }, { code: 'webllm/bad-file', field: 'model.vocab' }],
    ['tokenizer', 'added_tokens', [{ id: 4 }], { code: 'webllm/bad-file', field: 'added_tokens' }],
    ['tokenizer', 'added_tokens', [{ id: 4, content: '<s>' }], { code: 'tokenizer/no-turn-markers' }],
  ])('%s with %s = %j is refused', (file, path, value, issue) => {
    expect(read(file, path, value)).toMatchObject(issue);
  });

  test.each([
    ['https://hub.test/org/model', 'https://hub.test/org/model/resolve/main/'],
    ['https://hub.test/org/model/', 'https://hub.test/org/model/resolve/main/'],
    ['https://hub.test/org/model/resolve/v1/', 'https://hub.test/org/model/resolve/v1/'],
  ])('are fetched from where WebLLM fetches them: %s', async (url, base) => {
    const asked: string[] = [];
    const files = await fetchWebLlmFiles(url, ((at: string) => Promise.resolve(new Response(JSON.stringify({ at: asked.push(at) })))) as typeof fetch);
    expect([files.ok, asked]).toEqual([true, [`${base}tokenizer.json`, `${base}mlc-chat-config.json`]]);
  });

  test.each([
    ['a missing file', () => Promise.resolve(new Response('', { status: 404 })), { status: 404 }],
    ['no JSON', () => Promise.resolve(new Response('<html>')), {}],
    ['no network', () => Promise.reject(new TypeError('failed to fetch')), {}],
  ])('%s is a failure with its address', async (_, respond, more) => {
    expect(await fetchWebLlmFiles('https://hub.test/m', respond as typeof fetch)).toMatchObject({ ok: false, error: { code: 'webllm/fetch-failed', url: 'https://hub.test/m/resolve/main/tokenizer.json', ...more } });
  });
});

test.skipIf(!hasRealModel)(`the tokenizer read from JSON is the one read from GGUF: ${REAL_MODEL}`, async () => {
  const gguf = await loadRealModel();
  const expected = createTokenizer(gguf);
  if (!expected.ok) throw new Error(expected.error.code);
  const { 'tokenizer.ggml.tokens': texts, 'tokenizer.ggml.token_type': types, 'tokenizer.ggml.merges': merges } = gguf.metadata as unknown as Record<string, readonly (string & number)[]>;
  const isNormal = (id: number): boolean => Number(types![id]) === 1;
  const entries = texts!.map((content, id) => ({ content, id }));
  const model = readWebLlmModel({
    tokenizer: {
      model: { type: 'BPE', vocab: Object.fromEntries(entries.filter(({ id }) => isNormal(id)).map(({ content, id }) => [content, id])), merges: merges as readonly string[] },
      added_tokens: entries.filter(({ id }) => !isNormal(id)),
      // as SmolLM2's own file has it
      pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }] },
    } as unknown as JsonObject,
    chatConfig: { vocab_size: gguf.vocabularySize, context_window_size: 2048, conv_template: { stop_token_ids: [2, 0] } },
  });
  if (!model.ok) throw new Error(model.error.code);
  const { tokenizer, vocabulary } = model.value;
  expect(vocabulary.tokens).toHaveLength(texts!.length);
  for (const text of ['[{"op":"replace","path":"/städte/0","value":"São Paulo 12345"}]', ' it\'s  1,234.50 €\n\n\t— 東京 👍🏽', '<|im_end|> not a marker']) {
    expect(tokenizer.encodePlain(text)).toEqual(expected.value.encodePlain(text));
    expect(tokenizer.decode(tokenizer.encodePlain(text))).toBe(text);
  }
  const turn = '<|im_start|>user\nHi<|im_end|>\n';
  expect(tokenizer.encodeTrusted(turn)).toEqual(expected.value.encodeTrusted(turn));
  expect(tokenizer.tokens.every((bytes, id) => (bytes ?? []).join() === (expected.value.tokens[id] ?? []).join())).toBe(true);
});
