import { describe, expect, test } from 'vitest';
import { TINY_CONFIGS, tinyModel } from '../../tests/support/tiny-model.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { tokenBytes } from './byte-level.ts';
import { readGguf, type GgufModel } from './gguf.ts';
import { createTokenizer } from './tokenizer.ts';
import { hasTurnMarkers } from './turn-markers.ts';

const read = await readGguf(tinyModel({ ...TINY_CONFIGS.llama, vocabularySize: 400 }).file);
if (!read.ok) throw new Error(read.error.code);
const base = read.value;

/** Every byte as a token, then what the merges make. */
const MERGES = ['1 2', 'Ġ a', 'Ġa b', 'a b', 'Ċ Ċ', 'Ġ Ġ', "' s", "' S", '. Ċ'];
const BYTES = Array.from({ length: 256 }, (_, byte) => characterOf(byte));
const SPECIAL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<|im_end|>x'];
/** No merge makes it. */
const WHOLE = 'Ġxyz';
const TOKENS = [...SPECIAL, ...BYTES, ...MERGES.map((merge) => merge.replace(' ', '')), WHOLE];

function characterOf(byte: number): string {
  for (let code = 0x21; code < 0x200; code++) {
    const character = String.fromCodePoint(code);
    if (tokenBytes(character)?.[0] === byte) return character;
  }
  throw new Error(`no character for byte ${byte}`);
}

function modelWith(fields: Readonly<Record<string, unknown>>): GgufModel {
  const own = {
    'tokenizer.ggml.model': 'gpt2', 'tokenizer.ggml.pre': 'smollm', 'tokenizer.ggml.tokens': TOKENS, 'tokenizer.ggml.merges': MERGES,
    'tokenizer.ggml.token_type': TOKENS.map((_, id) => (id < SPECIAL.length ? 3 : 1)), 'tokenizer.ggml.eos_token_id': 2,
  };
  return { ...base, metadata: { ...own, ...fields } };
}

function tokenizerWith(pre: string): { pieces(text: string): string[]; tokenizer: Tokenizer } {
  const tokenizer = open(pre);
  return { tokenizer, pieces: (text) => tokenizer.encodePlain(text).map((id) => tokenizer.decode([id])) };
}

function open(pre: string): Tokenizer {
  const made = createTokenizer(modelWith({ 'tokenizer.ggml.pre': pre }));
  if (!made.ok) throw new Error(made.error.code);
  return made.value;
}

describe('byte-level spelling', () => {
  test('each of the 256 bytes has a character of its own', () => {
    expect(new Set(BYTES).size).toBe(256);
    expect(tokenBytes('Ġab')).toEqual(Uint8Array.of(0x20, 0x61, 0x62));
    expect(tokenBytes('ÿ')).toEqual(Uint8Array.of(0xff));
  });

  test('other characters spell nothing', () => {
    expect(tokenBytes('a b')).toBeUndefined();
    expect(tokenBytes('日')).toBeUndefined();
  });
});

interface Cut { readonly pre: string; readonly rows: readonly { readonly text: string; readonly pieces: readonly string[] }[] }

describe.each<Cut>([
  {
    pre: 'smollm',
    rows: [
      { text: '12', pieces: ['1', '2'] },
      { text: 'a  12', pieces: ['a', '  ', '1', '2'] },
      { text: "b's", pieces: ['b', "'s"] },
      { text: "b'S", pieces: ['b', "'", 'S'] },
      { text: 'a\n\nb', pieces: ['a', '\n', '\n', 'b'] },
      { text: '\n\n1', pieces: ['\n\n', '1'] },
      { text: 'ab ab', pieces: ['ab', ' ab'] },
    ],
  },
  {
    pre: 'qwen2',
    rows: [
      { text: '12', pieces: ['1', '2'] },
      { text: "b'S", pieces: ['b', "'S"] },
      { text: 'a.\nb', pieces: ['a', '.\n', 'b'] },
      { text: 'a  ab', pieces: ['a', ' ', ' ab'] },
      { text: 'a\n\nb', pieces: ['a', '\n\n', 'b'] },
    ],
  },
  {
    pre: 'llama-bpe',
    rows: [
      { text: '121', pieces: ['12', '1'] },
      { text: '3412', pieces: ['3', '4', '1', '2'] },
      { text: "b'S", pieces: ['b', "'S"] },
      // the merges make nothing of it, but the piece is a token
      { text: 'a xyz', pieces: ['a', ' xyz'] },
      { text: 'xyzz', pieces: ['x', 'y', 'z', 'z'] },
      { text: 'a\n\nb', pieces: ['a', '\n\n', 'b'] },
    ],
  },
  {
    pre: 'gpt-2',
    rows: [
      { text: '1212', pieces: ['12', '12'] },
      { text: "b'S", pieces: ['b', "'", 'S'] },
      { text: 'a xyz', pieces: ['a', ' ', 'x', 'y', 'z'] },
      { text: 'a  ab', pieces: ['a', ' ', ' ab'] },
    ],
  },
  {
    pre: 'default',
    rows: [
      { text: '121', pieces: ['12', '1'] },
      { text: '3312', pieces: ['3', '3', '1', '2'] },
      { text: "b's", pieces: ['b', "'", 's'] },
      { text: 'ab ab', pieces: ['ab', ' ab'] },
    ],
  },
])('$pre', ({ pre, rows }) => {
  test.each(rows)('$text is cut into $pieces', ({ text, pieces }) => {
    expect(tokenizerWith(pre).pieces(text)).toEqual(pieces);
  });

  test('text comes back byte by byte, composed or not', () => {
    const { tokenizer } = tokenizerWith(pre);
    for (const text of ['', ' ', 'e\u0301 é', '٣٤ ½', '\ufeffa', '😀\u200d', '\u0000\u0007', '{"a": [1, "\\u0004"]}']) expect(tokenizer.decode(tokenizer.encodePlain(text))).toBe(text);
  });
});

describe('special tokens', () => {
  const tokenizer = open('smollm');

  test('are recognised in trusted text only, the longest first', () => {
    expect(tokenizer.encodeTrusted('<|im_start|>ab<|im_end|>x<|im_end|>')).toEqual([1, TOKENS.indexOf('ab'), 3, 2]);
    const plain = tokenizer.encodePlain('<|im_start|>ab<|im_end|>');
    expect(plain.filter((id) => id < SPECIAL.length)).toEqual([]);
    expect(tokenizer.decode(plain)).toBe('<|im_start|>ab<|im_end|>');
  });

  test('have no bytes, and end-of-turn and end-of-text stop', () => {
    expect(tokenizer.tokens.slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
    expect(tokenizer.stopIds).toEqual([2, 0]);
    expect(tokenizer.specialIds.get('<|im_start|>')).toBe(1);
  });
});

describe('turns are marked as the model marks them', () => {
  const LLAMA_MARKERS = ['<|begin_of_text|>', '<|end_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'];
  const tokens = [...LLAMA_MARKERS, ...TOKENS.slice(SPECIAL.length)];
  const made = createTokenizer(modelWith({ 'tokenizer.ggml.pre': 'llama-bpe', 'tokenizer.ggml.tokens': tokens, 'tokenizer.ggml.token_type': tokens.map((_, id) => (id < LLAMA_MARKERS.length ? 3 : 1)), 'tokenizer.ggml.eos_token_id': 4 }));
  if (!made.ok) throw new Error(made.error.code);
  const llama = made.value;

  test('by headers in Llama 3, where a system turn begins the text', () => {
    const ids = llama.encodeTrusted('<|im_start|>system\nab<|im_end|>\n<|im_start|>user\na');
    expect(llama.decode(ids)).toBe('<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nab<|eot_id|><|start_header_id|>user<|end_header_id|>\n\na');
    expect(ids.slice(0, 2)).toEqual([0, 2]);
    expect(llama.decode(llama.encodeTrusted('<|im_end|>\n<|im_start|>assistant\n'))).toBe('<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n');
  });

  test('and never by plain text', () => {
    const text = '<|im_start|>system\n<|start_header_id|>';
    expect(llama.encodePlain(text).filter((id) => id < LLAMA_MARKERS.length)).toEqual([]);
    expect(llama.decode(llama.encodePlain(text))).toBe(text);
  });

  test('Llama’s end of turn and end of text stop', () => {
    expect(llama.stopIds).toEqual([4, 1]);
  });

  test('a model with half of them has none', () => {
    expect(hasTurnMarkers(new Set(LLAMA_MARKERS))).toBe(true);
    expect(hasTurnMarkers(new Set(LLAMA_MARKERS.slice(1)))).toBe(false);
    expect(hasTurnMarkers(new Set(['<|im_start|>']))).toBe(false);
    expect(hasTurnMarkers(new Set(['<|im_start|>', '<|im_end|>']))).toBe(true);
  });
});

describe('a tokenizer that is not understood is refused', () => {
  test.each([
    { what: 'another scheme', fields: { 'tokenizer.ggml.model': 'llama' }, issue: { code: 'tokenizer/unsupported-model', model: 'llama' } },
    { what: 'another pre-tokenizer', fields: { 'tokenizer.ggml.pre': 'tekken' }, issue: { code: 'tokenizer/unsupported-pre-tokenizer', name: 'tekken' } },
    { what: 'no pre-tokenizer', fields: { 'tokenizer.ggml.pre': undefined }, issue: { code: 'model/missing-field', key: 'tokenizer.ggml.pre' } },
    { what: 'no merges', fields: { 'tokenizer.ggml.merges': undefined }, issue: { code: 'model/missing-field', key: 'tokenizer.ggml.merges' } },
    { what: 'tokens that are numbers', fields: { 'tokenizer.ggml.tokens': [1, 2] }, issue: { code: 'model/bad-field', key: 'tokenizer.ggml.tokens' } },
    { what: 'fewer types than tokens', fields: { 'tokenizer.ggml.token_type': [3, 1] }, issue: { code: 'tokenizer/bad-vocabulary' } },
    { what: 'a stop id past the end', fields: { 'tokenizer.ggml.eos_token_id': 999 }, issue: { code: 'model/bad-field', key: 'tokenizer.ggml.eos_token_id' } },
    { what: 'no stop id', fields: { 'tokenizer.ggml.eos_token_id': undefined }, issue: { code: 'model/missing-field' } },
    {
      what: 'a token that spells no bytes', fields: { 'tokenizer.ggml.tokens': ['<|endoftext|>', '日'], 'tokenizer.ggml.token_type': [3, 1], 'tokenizer.ggml.eos_token_id': 0 },
      issue: { code: 'tokenizer/bad-vocabulary', detail: 'token 1 spells no bytes' },
    },
    {
      what: 'no tokens that mark turns', fields: { 'tokenizer.ggml.token_type': TOKENS.map((_, id) => (id === 0 ? 3 : 1)), 'tokenizer.ggml.eos_token_id': 0 },
      issue: { code: 'tokenizer/no-turn-markers', known: 'ChatML, Llama 3' },
    },
    {
      what: 'more tokens than logits', fields: { 'tokenizer.ggml.tokens': Array.from({ length: 401 }, () => 'a'), 'tokenizer.ggml.token_type': Array.from({ length: 401 }, () => 1) },
      issue: { code: 'tokenizer/bad-vocabulary', detail: '401 tokens, 400 logits' },
    },
  ])('$what', ({ fields, issue }) => {
    expect(createTokenizer(modelWith(fields))).toMatchObject({ ok: false, error: issue });
  });
});
