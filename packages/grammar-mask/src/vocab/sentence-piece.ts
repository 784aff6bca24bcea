/**
 * The tokens of a SentencePiece model as byte strings: `▁` stands for a space, and with byte fallback `<0xNN>` for one byte.
 * Reference: google/sentencepiece `src/sentencepiece_model.proto` (`SentencePiece.Type`), whose numbers GGUF's `tokenizer.ggml.token_type` repeats.
 */
import { err, ok, type Result } from '@contractrl/core';
import { toUtf8 } from '../bytes.ts';
import type { TokenId } from './vocabulary.ts';

const NORMAL = 1;
const BYTE = 6;

export interface SentencePiece {
  readonly piece: string;
  /** 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte: of these, normal and byte pieces are text. */
  readonly type: number;
}

export type SentencePieceIssue =
  /** A byte piece that is not written `<0xNN>`. */
  | { readonly code: 'vocabulary/bad-byte-piece'; readonly id: TokenId; readonly piece: string }
  /** A normal piece that no UTF-8 text can hold. */
  | { readonly code: 'vocabulary/bad-piece'; readonly id: TokenId; readonly piece: string };

/**
 * Bytes by id, for `createVocabulary`; undefined for all that is not text. Pieces may share bytes, as `A` and `<0x41>` do. The encoder given
 * beside them must add no space in front of a text, or the mask forces no tokens.
 */
export function tokensFromSentencePieces(pieces: readonly SentencePiece[]): Result<readonly (Uint8Array | undefined)[], SentencePieceIssue> {
  const tokens: (Uint8Array | undefined)[] = [];
  for (const [id, { piece, type }] of pieces.entries()) {
    if (type === BYTE) {
      const [, digits] = /^<0x([0-9A-Fa-f]{2})>$/.exec(piece) ?? [];
      if (digits === undefined) return err({ code: 'vocabulary/bad-byte-piece', id, piece });
      tokens.push(Uint8Array.of(Number.parseInt(digits, 16)));
    } else if (type === NORMAL) {
      if (/\p{Surrogate}/u.test(piece)) return err({ code: 'vocabulary/bad-piece', id, piece });
      tokens.push(toUtf8(piece.replaceAll('\u2581', ' ')));
    } else {
      tokens.push(undefined);
    }
  }
  return ok(tokens);
}
