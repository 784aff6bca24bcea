/**
 * Verifying an attempt from its record alone, without the model: the recorded token ids go through the masks again, which must admit each of them
 * and come to the recorded digest. The digest covers contract, document, vocabulary, rules and every mask that was asked for, so a change in any
 * of them, or in one id, is seen. Reference: one SHA-256 an attempt, as `MaskMatcher.maskDigest` computes it.
 */
import { err, ok, type MaskTrail, type Result } from '@contractrl/core';
import type { MaskMatcher, TokenId } from '@contractrl/grammar-mask';
import { MaskCursor } from './mask-cursor.ts';

export interface MaskRecord {
  readonly maskTrail: MaskTrail;
  readonly maskDigest: string;
  /** As the attempt was decoded; the policy's identity says so. */
  readonly jumpForward: boolean;
}

export type MaskReplayIssue =
  /** The mask refuses the id, or forces another one. */
  | { readonly code: 'replay/token-refused'; readonly index: number; readonly id: TokenId }
  /** The output had ended before the id. */
  | { readonly code: 'replay/token-after-end'; readonly index: number; readonly id: TokenId }
  /** The closed mask was in use for another number of tokens. */
  | { readonly code: 'replay/closed-differs'; readonly recorded: number | null; readonly replayed: number | null }
  | { readonly code: 'replay/mask-differs'; readonly recorded: string; readonly replayed: string };

/**
 * Replays an attempt under `matcher`, at its start and bound as it was then; `closed` likewise, where a closed mask ran beside it. `ok` holds the text
 * that the ids spell. O(tokens) masks, no logits.
 */
export function replayMask(record: MaskRecord, matcher: MaskMatcher, closed?: MaskMatcher): Result<string, MaskReplayIssue> {
  const { maskTrail: { ids, closedCount }, maskDigest, jumpForward } = record;
  const cursor = new MaskCursor(matcher, { jumpForward, closed });
  let index = 0;
  while (index < ids.length) {
    const id = ids[index]!;
    const moved = cursor.advance(ids.length - index);
    if (!moved.ok) return err({ code: 'replay/token-refused', index, id });
    const move = moved.value;
    if (move.kind === 'taken-back') continue;
    if (move.kind === 'ended' || move.kind === 'goal-unreachable') return err({ code: 'replay/token-after-end', index, id });
    if (move.kind === 'forced') {
      const other = move.ids.findIndex((forced, offset) => forced !== ids[index + offset]);
      if (other !== -1) return err({ code: 'replay/token-refused', index: index + other, id: ids[index + other]! });
      index += move.ids.length;
      continue;
    }
    if (move.wider !== undefined) {
      if (index === closedCount) cursor.leaveClosed();
      else cursor.stayClosed();
    }
    if (!cursor.choose(id).ok) return err({ code: 'replay/token-refused', index, id });
    index += 1;
  }
  const inClosed = cursor.trail().closedCount;
  if (inClosed !== closedCount) return err({ code: 'replay/closed-differs', recorded: closedCount, replayed: inClosed });
  const [text, replayed] = [cursor.text(), cursor.maskDigest()];
  return cursor.endsAs(maskDigest) ? ok(text) : err({ code: 'replay/mask-differs', recorded: maskDigest, replayed });
}
