/**
 * The tokenizer that a GGUF describes: byte-level BPE from its tokens and merges, with the pre-tokenizer its `tokenizer.ggml.pre` names.
 * The library's own reading of such files drops the digit split, so the pipeline is spelled out here. Text is not normalised (llama.cpp
 * does not either): what is encoded decodes to the same bytes, which spelling forced runs relies on.
 * Reference: llama.cpp `src/llama-vocab.cpp` (pre-tokenizer expressions), ggml docs/gguf.md (token types).
 */
import { err, ok, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { Tokenizer } from '../tokenizer.ts';
import { BpeTokenizer, END_TOKENS, type VocabularyFields } from './bpe-tokenizer.ts';
import { tokenBytes } from './byte-level.ts';
import type { GgufModel } from './gguf.ts';
import type { ModelIssue } from './issue.ts';
import { readIntegers, readText, readTexts } from './metadata.ts';
import { hasTurnMarkers } from './turn-markers.ts';

export type TokenizerIssue =
  | ModelIssue
  | { readonly code: 'tokenizer/unsupported-model'; readonly model: string }
  | { readonly code: 'tokenizer/unsupported-pre-tokenizer'; readonly name: string }
  | { readonly code: 'tokenizer/bad-vocabulary'; readonly detail: string }
  /** Turns would be marked by plain characters, which a request can forge. `known` names the formats whose tokens are looked for. */
  | { readonly code: 'tokenizer/no-turn-markers'; readonly known: string };

const BYTE_LEVEL_BPE = 'gpt2';

const GPT2_EXPRESSION = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;

/** What Llama 3 and Qwen share; they differ in how many digits go together. */
function wordExpression(digits: string): string {
  return String.raw`(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|${digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
}

interface PreTokenizer {
  /** They cut text before BPE, applied in order; each match becomes a piece of its own. */
  readonly expressions: readonly string[];
  /** A piece that is a token as a whole is that token, whatever the merges would make of it. */
  readonly ignoreMerges: boolean;
}

const LLAMA_3: PreTokenizer = { expressions: [wordExpression(String.raw`\p{N}{1,3}`)], ignoreMerges: true };
const QWEN_2: PreTokenizer = { expressions: [wordExpression(String.raw`\p{N}`)], ignoreMerges: false };
const GPT_2: PreTokenizer = { expressions: [GPT2_EXPRESSION], ignoreMerges: false };

/** By `tokenizer.ggml.pre`. */
const PRE_TOKENIZERS: ReadonlyMap<string, PreTokenizer> = new Map([
  ['smollm', { expressions: [String.raw`\p{N}`, GPT2_EXPRESSION], ignoreMerges: false }],
  ['llama-bpe', LLAMA_3],
  ['llama3', LLAMA_3],
  ['llama-v3', LLAMA_3],
  ['qwen2', QWEN_2],
  ['deepseek-r1-qwen', QWEN_2],
  ['gpt-2', GPT_2],
  ['default', { expressions: [String.raw`[\p{P}$+<=>^~|]+`, GPT2_EXPRESSION, String.raw`\p{N}+`, '[0-9][0-9][0-9]'], ignoreMerges: false }],
]);

/** `llama_token_type` of a token that stands for text. All others (unknown, control, user-defined, unused) never match text here. */
const NORMAL = 1;
const UNUSED = 5;

/** Fails with a `tokenizer/…` issue on a scheme that is not known here, or `model/…` where the file's fields are missing or malformed. */
export function createTokenizer(model: Pick<GgufModel, 'metadata' | 'vocabularySize'>): Result<Tokenizer, TokenizerIssue> {
  const { metadata } = model;
  const scheme = readText(metadata, 'tokenizer.ggml.model');
  if (!scheme.ok) return scheme;
  if (scheme.value !== BYTE_LEVEL_BPE) return err({ code: 'tokenizer/unsupported-model', model: scheme.value });
  const pre = readText(metadata, 'tokenizer.ggml.pre');
  if (!pre.ok) return pre;
  const preTokenizer = PRE_TOKENIZERS.get(pre.value);
  if (preTokenizer === undefined) return err({ code: 'tokenizer/unsupported-pre-tokenizer', name: pre.value });
  const texts = readTexts(metadata, 'tokenizer.ggml.tokens');
  if (!texts.ok) return texts;
  const types = readIntegers(metadata, 'tokenizer.ggml.token_type');
  if (!types.ok) return types;
  const merges = readTexts(metadata, 'tokenizer.ggml.merges');
  if (!merges.ok) return merges;
  const vocabulary = readVocabulary(texts.value, types.value, model.vocabularySize);
  if (!vocabulary.ok) return vocabulary;
  if (!hasTurnMarkers(vocabulary.value.specialIds)) return err({ code: 'tokenizer/no-turn-markers', known: 'ChatML, Llama 3' });
  const stopIds = readStopIds(metadata, texts.value, vocabulary.value.specialIds);
  if (!stopIds.ok) return stopIds;
  return ok(new BpeTokenizer(vocabulary.value, { merges: merges.value, preTokenizer: toPipeline(preTokenizer), ignoreMerges: preTokenizer.ignoreMerges }, stopIds.value));
}

function readVocabulary(texts: readonly string[], types: readonly number[], vocabularySize: number): Result<VocabularyFields, TokenizerIssue> {
  if (types.length !== texts.length) return err({ code: 'tokenizer/bad-vocabulary', detail: `${texts.length} tokens, ${types.length} token types` });
  if (texts.length > vocabularySize) return err({ code: 'tokenizer/bad-vocabulary', detail: `${texts.length} tokens, ${vocabularySize} logits` });
  const idOfText = new Map<string, TokenId>();
  const specialIds = new Map<string, TokenId>();
  const tokens: (Uint8Array | undefined)[] = [];
  for (const [id, text] of texts.entries()) {
    const isText = types[id] === NORMAL;
    const bytes = isText ? tokenBytes(text) : undefined;
    if (text === '' || (isText && bytes === undefined)) return err({ code: 'tokenizer/bad-vocabulary', detail: `token ${id} spells no bytes` });
    tokens.push(bytes);
    if (isText) idOfText.set(text, id);
    else if (types[id] !== UNUSED) specialIds.set(text, id);
  }
  return ok({ idOfText, specialIds, tokens });
}

function readStopIds(metadata: GgufModel['metadata'], texts: readonly string[], specialIds: ReadonlyMap<string, TokenId>): Result<readonly TokenId[], ModelIssue> {
  const key = 'tokenizer.ggml.eos_token_id';
  const endId = metadata[key];
  if (endId === undefined) return err({ code: 'model/missing-field', key });
  if (typeof endId !== 'number' || endId >= texts.length) return err({ code: 'model/bad-field', key, detail: 'not a token id' });
  const named = END_TOKENS.flatMap((text) => specialIds.get(text) ?? []);
  return ok([...new Set([endId, ...named])]);
}

function toPipeline({ expressions }: PreTokenizer): object {
  const splits = expressions.map((Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false }));
  return { type: 'Sequence', pretokenizers: [...splits, { type: 'ByteLevel', add_prefix_space: false, use_regex: false }] };
}
