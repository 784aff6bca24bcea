/**
 * Tokenizer and vocabulary of a model that WebLLM runs, from the two JSON files beside its weights. Byte-level BPE only, as in GGUF files; the rest
 * is refused by name. Reference: Hugging Face `tokenizer.json`; MLC LLM `mlc-chat-config.json`.
 */
import { err, ok, type JsonObject, type JsonValue, type Result } from '@contractrl/core';
import { createVocabulary, type TokenId, type Vocabulary, type VocabularyIssue } from '@contractrl/grammar-mask';
import { BpeTokenizer, END_TOKENS, type BpeSettings } from '../model/bpe-tokenizer.ts';
import { tokenBytes } from '../model/byte-level.ts';
import { hasTurnMarkers } from '../model/turn-markers.ts';
import type { Tokenizer } from '../tokenizer.ts';

export interface WebLlmFiles {
  readonly tokenizer: JsonValue;
  readonly chatConfig: JsonValue;
}

export interface WebLlmModel {
  readonly tokenizer: Tokenizer;
  /** As wide as the configuration says that the logits are. */
  readonly vocabulary: Vocabulary;
  readonly contextLength: number;
}

export type WebLlmModelIssue =
  | VocabularyIssue
  | { readonly code: 'webllm/fetch-failed'; readonly url: string; readonly status?: number; readonly cause?: unknown }
  | { readonly code: 'webllm/bad-file'; readonly file: 'tokenizer.json' | 'mlc-chat-config.json'; readonly field: string }
  | { readonly code: 'tokenizer/unsupported-model'; readonly model: string }
  | { readonly code: 'tokenizer/unsupported-pre-tokenizer'; readonly name: string }
  | { readonly code: 'tokenizer/no-turn-markers'; readonly known: string };

/** Both files from where WebLLM looks for them under a model's address. */
export async function fetchWebLlmFiles(modelUrl: string, fetch: typeof globalThis.fetch = globalThis.fetch, signal?: AbortSignal): Promise<Result<WebLlmFiles, WebLlmModelIssue>> {
  const folder = `${modelUrl.replace(/\/+$/u, '')}/`;
  const base = /\/resolve\/[^/]+\/$/u.test(folder) ? folder : `${folder}resolve/main/`;
  const read = async (name: string): Promise<Result<JsonValue, WebLlmModelIssue>> => {
    const url = base + name;
    try {
      const response = await fetch(url, signal === undefined ? {} : { signal });
      return response.ok ? ok(await response.json() as JsonValue) : err({ code: 'webllm/fetch-failed', url, status: response.status });
    } catch (cause) {
      return err({ code: 'webllm/fetch-failed', url, cause });
    }
  };
  const [tokenizer, chatConfig] = await Promise.all([read('tokenizer.json'), read('mlc-chat-config.json')]);
  if (!tokenizer.ok) return tokenizer;
  return chatConfig.ok ? ok({ tokenizer: tokenizer.value, chatConfig: chatConfig.value }) : chatConfig;
}

/** O(vocabulary). */
export function readWebLlmModel({ tokenizer, chatConfig }: WebLlmFiles): Result<WebLlmModel, WebLlmModelIssue> {
  const { vocab_size: logitWidth, context_window_size: contextLength, conv_template: template } = asObject(chatConfig);
  const bad = (field: string): Result<never, WebLlmModelIssue> => err({ code: 'webllm/bad-file', file: 'mlc-chat-config.json', field });
  if (!isCount(logitWidth)) return bad('vocab_size');
  // −1 where the window slides: what was said first would be forgotten
  if (!isCount(contextLength)) return bad('context_window_size');
  const { stop_token_ids: stops = [] } = asObject(template);
  if (!Array.isArray(stops) || !stops.every((id) => Number.isInteger(id))) return bad('conv_template.stop_token_ids');
  const read = readTokenizer(tokenizer, stops as readonly TokenId[]);
  if (!read.ok) return read;
  const { tokens, stopIds } = read.value;
  const vocabulary = createVocabulary({ logitWidth, tokens, stopIds, encode: (text) => read.value.encodePlain(text) });
  return vocabulary.ok ? ok({ tokenizer: read.value, vocabulary: vocabulary.value, contextLength }) : vocabulary;
}

function readTokenizer(file: JsonValue, stops: readonly TokenId[]): Result<Tokenizer, WebLlmModelIssue> {
  const { model, added_tokens: added = [], pre_tokenizer: preTokenizer = null } = asObject(file);
  const { type, vocab, merges, ignore_merges: ignoreMerges = false } = asObject(model);
  const bad = (field: string): Result<never, WebLlmModelIssue> => err({ code: 'webllm/bad-file', file: 'tokenizer.json', field });
  if (type !== 'BPE') return err({ code: 'tokenizer/unsupported-model', model: typeof type === 'string' ? type : 'none' });
  const steps = stepsOf(preTokenizer);
  const byteLevel = steps.find((step) => step['type'] === 'ByteLevel');
  // SentencePiece's kind of BPE, which spells spaces and unknown bytes its own way
  if (byteLevel === undefined) return err({ code: 'tokenizer/unsupported-model', model: 'BPE without ByteLevel' });
  if (byteLevel['add_prefix_space'] === true) return err({ code: 'tokenizer/unsupported-pre-tokenizer', name: 'ByteLevel with add_prefix_space' });
  if (!Array.isArray(merges)) return bad('model.merges');
  if (!Array.isArray(added)) return bad('added_tokens');

  const specialIds = new Map<string, TokenId>();
  for (const token of added) {
    const { id, content } = asObject(token as JsonValue);
    if (!isId(id) || typeof content !== 'string' || content === '') return bad('added_tokens');
    specialIds.set(content, id);
  }
  const idOfText = new Map<string, TokenId>();
  const tokens: (Uint8Array | undefined)[] = [];
  for (const [text, id] of Object.entries(asObject(vocab))) {
    if (!isId(id)) return bad('model.vocab');
    if (specialIds.has(text)) continue;
    const bytes = tokenBytes(text);
    if (bytes === undefined || bytes.length === 0) return bad('model.vocab');
    tokens[id] = bytes;
    idOfText.set(text, id);
  }
  for (const id of specialIds.values()) tokens[id] = undefined;
  if (!hasTurnMarkers(specialIds)) return err({ code: 'tokenizer/no-turn-markers', known: 'ChatML, Llama 3' });
  const stopIds = [...new Set([...stops, ...END_TOKENS.flatMap((text) => specialIds.get(text) ?? [])])];
  const fields = { idOfText, specialIds, tokens: Array.from(tokens) };
  return ok(new BpeTokenizer(fields, { merges: merges as BpeSettings['merges'], preTokenizer: preTokenizer as object, ignoreMerges: ignoreMerges === true }, stopIds));
}

/** A pre-tokenizer, or those of a sequence. */
function stepsOf(preTokenizer: JsonValue): readonly JsonObject[] {
  const { type, pretokenizers } = asObject(preTokenizer);
  return type === 'Sequence' && Array.isArray(pretokenizers) ? pretokenizers.map((step) => asObject(step as JsonValue)) : [asObject(preTokenizer)];
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as JsonObject : {};
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}

/** No vocabulary comes near the bound; without one, a list as long as the largest id would be made. */
function isId(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 22;
}
