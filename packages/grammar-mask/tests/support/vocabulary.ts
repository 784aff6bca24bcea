/** Vocabularies for tests: the real one of SmolLM2 with an encoder of our own, and small ones made by hand. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { createVocabulary, type TokenId, type Vocabulary } from '../../src/index.ts';

/** `<|im_end|>`. */
export const SMOLLM2_STOP: TokenId = 2;

let real: Vocabulary | undefined;

export function smollm2Vocabulary(): Vocabulary {
  if (real !== undefined) return real;
  const raw = gunzipSync(readFileSync(new URL('../fixtures/smollm2-vocabulary.gz', import.meta.url)));
  const tokens: (Uint8Array | undefined)[] = [];
  for (let offset = 0; offset < raw.length;) {
    const length = raw[offset] as number;
    tokens.push(length === 0 ? undefined : Uint8Array.from(raw.subarray(offset + 1, offset + 1 + length)));
    offset += 1 + length;
  }
  real = vocabularyOf(tokens, [SMOLLM2_STOP]);
  return real;
}

/** Tokens by id, with the merge order of the ids as a byte-pair encoder. `logitWidth` may exceed the tokens by padding. */
export function vocabularyOf(tokens: readonly (Uint8Array | undefined)[], stopIds: readonly TokenId[], logitWidth: number = tokens.length): Vocabulary {
  const created = createVocabulary({ logitWidth, tokens, stopIds, encode: createEncoder(tokens) });
  if (!created.ok) throw new Error(JSON.stringify(created.error));
  return created.value;
}

/** A byte vocabulary: id = byte, then `extra` tokens, then the stop token. */
export function byteVocabulary(extra: readonly string[], padding = 0): Vocabulary {
  const tokens: (Uint8Array | undefined)[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte));
  for (const text of extra) tokens.push(Uint8Array.from(Buffer.from(text, 'utf8')));
  tokens.push(undefined);
  return vocabularyOf(tokens, [tokens.length - 1], tokens.length + padding);
}

/** GPT-2's pre-tokenizer behind one that splits digits, as SmolLM2's. */
const PIECES = /\p{N}|'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

function createEncoder(tokens: readonly (Uint8Array | undefined)[]): (text: string) => readonly TokenId[] {
  const ids = new Map<string, TokenId>();
  tokens.forEach((bytes, id) => {
    const key = bytes === undefined ? undefined : Buffer.from(bytes).toString('latin1');
    if (key !== undefined && !ids.has(key)) ids.set(key, id);
  });
  return (text) => [...text.matchAll(PIECES)].flatMap(([piece]) => merge([...Buffer.from(piece, 'utf8').toString('latin1')], ids));
}

/** Merges the pair with the lowest id until none is a token. */
function merge(parts: string[], ids: ReadonlyMap<string, TokenId>): readonly TokenId[] {
  for (;;) {
    let best = Infinity;
    let at = -1;
    for (let index = 0; index + 1 < parts.length; index += 1) {
      const id = ids.get((parts[index] as string) + (parts[index + 1] as string));
      if (id !== undefined && id < best) [best, at] = [id, index];
    }
    if (at === -1) return parts.map((part) => ids.get(part) as TokenId);
    parts.splice(at, 2, (parts[at] as string) + (parts[at + 1] as string));
  }
}
