/** The token ids of one tokenizer as byte strings: what the mask works on. */
import { digestOfText, err, ok, type Digest, type Result } from '@contractrl/core';

/** Index into the logits, 0 ≤ id < `logitWidth`. */
export type TokenId = number;

export interface Vocabulary {
  /** Width of the model's logits; ids that no token names are padding and always masked. */
  readonly logitWidth: number;
  /** Bytes by id; `undefined` for special tokens and padding, which never match text. */
  readonly tokens: readonly (Uint8Array | undefined)[];
  readonly stopIds: readonly TokenId[];
  readonly digest: Digest;
  /** The tokenizer's own encoding of plain text, special tokens not recognised: forced runs are spelled with it. */
  readonly encode: (text: string) => readonly TokenId[];
}

export type VocabularyIssue =
  | { readonly code: 'vocabulary/empty' }
  | { readonly code: 'vocabulary/stop-id-out-of-range'; readonly id: number }
  | { readonly code: 'vocabulary/wider-than-logits'; readonly tokenCount: number; readonly logitWidth: number };

export type VocabularyResult = Result<Vocabulary, VocabularyIssue>;

export interface VocabularySource {
  readonly logitWidth: number;
  readonly tokens: readonly (Uint8Array | undefined)[];
  readonly stopIds: readonly TokenId[];
  readonly encode: (text: string) => readonly TokenId[];
}

/**
 * Checks a tokenizer's tokens against the model they are meant for and computes their digest. Empty byte strings match nothing and count as
 * undefined; a stop token ends the output and is never text. Fails with a {@link VocabularyIssue}. O(total bytes).
 */
export function createVocabulary(source: VocabularySource): VocabularyResult {
  const { logitWidth, stopIds, encode } = source;
  if (!Number.isInteger(logitWidth) || logitWidth < 1) throw new RangeError(`logitWidth: expected a positive integer, got ${logitWidth}`);
  if (source.tokens.length > logitWidth) return err({ code: 'vocabulary/wider-than-logits', tokenCount: source.tokens.length, logitWidth });
  const badStop = stopIds.find((id) => !Number.isInteger(id) || id < 0 || id >= logitWidth);
  if (badStop !== undefined) return err({ code: 'vocabulary/stop-id-out-of-range', id: badStop });
  const stops = new Set(stopIds);
  const tokens = source.tokens.map((bytes, id) => (bytes === undefined || bytes.length === 0 || stops.has(id) ? undefined : bytes));
  if (tokens.every((bytes) => bytes === undefined)) return err({ code: 'vocabulary/empty' });
  return ok({ logitWidth, tokens, stopIds: [...stops], digest: digestOfText(describe(logitWidth, tokens, [...stops])), encode });
}

/** One line a token, in hexadecimal, so that different token lists never have the same text. */
function describe(logitWidth: number, tokens: readonly (Uint8Array | undefined)[], stopIds: readonly TokenId[]): string {
  const lines = tokens.map((bytes) => {
    if (bytes === undefined) return '-';
    let line = '';
    for (const byte of bytes) line += HEX[byte] as string;
    return line;
  });
  return `${logitWidth}\n${stopIds.join(',')}\n${lines.join('\n')}`;
}

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
