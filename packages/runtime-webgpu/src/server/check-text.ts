/**
 * A finished text under the contract's mask, one byte a token: whether the mask could have written it. Every mask on the way is asked, so that the
 * digest is one that `replayMask` computes anew from the ids, with no tokenizer but {@link BYTE_VOCABULARY}.
 */
import { err, hasLoneSurrogate, ok, type MaskTrail, type Result } from '@contractrl/core';
import { createVocabulary, type MaskMatcher, type TokenId, type Vocabulary } from '@contractrl/grammar-mask';
import { MaskCursor } from '../mask-cursor.ts';

const STOP: TokenId = 256;

/** Id = byte; 256 stops. */
export const BYTE_VOCABULARY: Vocabulary = byteVocabulary();

export interface CheckedText {
  readonly maskDigest: string;
  readonly maskTrail: MaskTrail;
}

/** `byteIndex`: the first byte that the mask refuses; the length of the text where it only ends too early. */
export interface OutsideLanguage {
  readonly code: 'server/outside-language';
  readonly byteIndex: number;
}

/** `matcher` is at its start, of a mask compiled for {@link BYTE_VOCABULARY}. O(bytes) masks. */
export function checkText(matcher: MaskMatcher, text: string): Result<CheckedText, OutsideLanguage> {
  const outside = (byteIndex: number): Result<never, OutsideLanguage> => err({ code: 'server/outside-language', byteIndex });
  // it would become another character in UTF-8
  if (hasLoneSurrogate(text)) return outside(0);
  const ids: readonly TokenId[] = [...new TextEncoder().encode(text), STOP];
  const cursor = new MaskCursor(matcher, { jumpForward: true });
  let written = 0;
  while (written < ids.length) {
    const moved = cursor.advance(ids.length - written);
    if (!moved.ok) return outside(written);
    const move = moved.value;
    if (move.kind === 'forced') {
      const other = move.ids.findIndex((id, offset) => id !== ids[written + offset]);
      if (other !== -1) return outside(written + other);
      written += move.ids.length;
    } else if (move.kind === 'decision' && cursor.choose(ids[written]!).ok) written += 1;
    else return outside(written);
  }
  return ok({ maskDigest: cursor.maskDigest(), maskTrail: cursor.trail() });
}

function byteVocabulary(): Vocabulary {
  const tokens = Array.from({ length: STOP }, (_, byte) => Uint8Array.of(byte));
  const created = createVocabulary({ logitWidth: STOP + 1, tokens, stopIds: [STOP], encode: (text) => [...new TextEncoder().encode(text)] });
  if (!created.ok) throw new TypeError(created.error.code);
  return created.value;
}
