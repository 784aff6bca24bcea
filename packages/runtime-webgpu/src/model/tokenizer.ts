/**
 * The tokenizer that a GGUF describes: byte-level BPE from its tokens and merges, with the pre-tokenizer its `tokenizer.ggml.pre` names.
 * The library's own reading of such files drops the digit split, so the pipeline is spelled out here. Text is not normalised (llama.cpp
 * does not either): what is encoded decodes to the same bytes, which spelling forced runs relies on.
 * Reference: llama.cpp `src/llama-vocab.cpp` (pre-tokenizer expressions), ggml docs/gguf.md (token types).
 */
import { err, ok, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import type { Tokenizer } from '../tokenizer.ts';
import { tokenBytes } from './byte-level.ts';
import type { GgufModel } from './gguf.ts';
import type { ModelIssue } from './issue.ts';
import { readIntegers, readText, readTexts } from './metadata.ts';

export type TokenizerIssue =
  | ModelIssue
  | { readonly code: 'tokenizer/unsupported-model'; readonly model: string }
  | { readonly code: 'tokenizer/unsupported-pre-tokenizer'; readonly name: string }
  | { readonly code: 'tokenizer/bad-vocabulary'; readonly detail: string };

const BYTE_LEVEL_BPE = 'gpt2';

/** Expressions that cut text before BPE, applied in order; each match becomes a piece of its own. */
const PRE_TOKENIZERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['smollm', [String.raw`\p{N}`, String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`]],
  [
    'qwen2',
    [
      String.raw`(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
    ],
  ],
]);

/** `llama_token_type` of a token that stands for text. All others (unknown, control, user-defined, unused) never match text here. */
const NORMAL = 1;
const UNUSED = 5;

/** Texts of tokens that end a turn or a document in the families read here, beside the file's own end-of-sequence id. */
const END_TOKENS = ['<|im_end|>', '<|endoftext|>'];

/** Fails with a `tokenizer/…` issue on a scheme that is not known here, or `model/…` where the file's fields are missing or malformed. */
export function createTokenizer(model: GgufModel): Result<Tokenizer, TokenizerIssue> {
  const { metadata } = model;
  const scheme = readText(metadata, 'tokenizer.ggml.model');
  if (!scheme.ok) return scheme;
  if (scheme.value !== BYTE_LEVEL_BPE) return err({ code: 'tokenizer/unsupported-model', model: scheme.value });
  const pre = readText(metadata, 'tokenizer.ggml.pre');
  if (!pre.ok) return pre;
  const expressions = PRE_TOKENIZERS.get(pre.value);
  if (expressions === undefined) return err({ code: 'tokenizer/unsupported-pre-tokenizer', name: pre.value });
  const texts = readTexts(metadata, 'tokenizer.ggml.tokens');
  if (!texts.ok) return texts;
  const types = readIntegers(metadata, 'tokenizer.ggml.token_type');
  if (!types.ok) return types;
  const merges = readTexts(metadata, 'tokenizer.ggml.merges');
  if (!merges.ok) return merges;
  const vocabulary = readVocabulary(texts.value, types.value, model.vocabularySize);
  if (!vocabulary.ok) return vocabulary;
  const stopIds = readStopIds(metadata, texts.value, vocabulary.value.specialIds);
  if (!stopIds.ok) return stopIds;
  return ok(new BpeTokenizer(vocabulary.value, merges.value, expressions, stopIds.value));
}

interface VocabularyFields {
  readonly idOfText: ReadonlyMap<string, TokenId>;
  readonly specialIds: ReadonlyMap<string, TokenId>;
  readonly tokens: readonly (Uint8Array | undefined)[];
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

class BpeTokenizer implements Tokenizer {
  readonly specialIds: ReadonlyMap<string, TokenId>;
  readonly stopIds: readonly TokenId[];
  readonly tokens: readonly (Uint8Array | undefined)[];
  readonly #bpe: LibraryTokenizer;
  readonly #specialPattern: RegExp;
  readonly #textOfSpecial: ReadonlyMap<TokenId, string>;

  constructor(vocabulary: VocabularyFields, merges: readonly string[], expressions: readonly string[], stopIds: readonly TokenId[]) {
    this.specialIds = vocabulary.specialIds;
    this.tokens = vocabulary.tokens;
    this.stopIds = stopIds;
    this.#textOfSpecial = new Map(Array.from(vocabulary.specialIds, ([text, id]) => [id, text]));
    this.#specialPattern = anyOf([...vocabulary.specialIds.keys()]);
    // The BPE knows no special token at all, so plain text cannot come out as one.
    this.#bpe = new LibraryTokenizer(
      {
        added_tokens: [],
        normalizer: null,
        pre_tokenizer: {
          type: 'Sequence',
          pretokenizers: [
            ...expressions.map((Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false })),
            { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
          ],
        },
        post_processor: null,
        decoder: { type: 'ByteLevel' },
        model: { type: 'BPE', vocab: Object.fromEntries(vocabulary.idOfText), merges },
      },
      {},
    );
  }

  encodePlain(text: string): readonly TokenId[] {
    return text === '' ? [] : this.#bpe.encode(text, { add_special_tokens: false }).ids;
  }

  encodeTrusted(text: string): readonly TokenId[] {
    if (this.specialIds.size === 0) return this.encodePlain(text);
    return text.split(this.#specialPattern).flatMap((piece) => this.specialIds.get(piece) ?? this.encodePlain(piece));
  }

  decode(ids: readonly TokenId[]): string {
    const encoder = new TextEncoder();
    const pieces = ids.map((id) => this.tokens[id] ?? encoder.encode(this.#textOfSpecial.get(id) ?? ''));
    const bytes = new Uint8Array(pieces.reduce((total, piece) => total + piece.length, 0));
    let offset = 0;
    for (const piece of pieces) {
      bytes.set(piece, offset);
      offset += piece.length;
    }
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  }
}

/** Matches any of `texts`, the longest where one begins another; as a group, so that `split` keeps the matches. */
function anyOf(texts: readonly string[]): RegExp {
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  return new RegExp(`(${longestFirst.map((text) => text.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)).join('|')})`, 'u');
}
