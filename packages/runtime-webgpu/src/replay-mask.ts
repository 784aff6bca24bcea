/**
 * Verifying an attempt from its record alone, without the model: the recorded token ids go through the masks again, which must admit each of them
 * and come to the recorded digest. The digest covers contract, document, vocabulary, rules and every mask that was asked for, so a change in any
 * of them, or in one id, is seen. Reference: one SHA-256 an attempt, as `MaskMatcher.maskDigest` computes it.
 */
import { err, ok, type MaskTrail, type Result } from '@contractrl/core';
import type { MaskMatcher, TokenId } from '@contractrl/grammar-mask';
import { MaskCursor, type Move } from './mask-cursor.ts';

export interface MaskRecord {
  readonly maskTrail: MaskTrail;
  readonly maskDigest: string;
  /** As the attempt was decoded; the policy's identity says so. */
  readonly jumpForward: boolean;
}

/** `token-refused`: the mask refuses the id, or forces another one. `token-after-end`: the output had ended before it. */
export interface TrailIssue {
  readonly code: 'replay/token-refused' | 'replay/token-after-end';
  readonly index: number;
  readonly id: TokenId;
}

export type MaskReplayIssue = TrailIssue
  /** The closed mask was in use for another number of tokens. */
  | { readonly code: 'replay/closed-differs'; readonly recorded: number | null; readonly replayed: number | null }
  | { readonly code: 'replay/mask-differs'; readonly recorded: string; readonly replayed: string };

/**
 * Replays an attempt under `matcher`, at its start and bound as it was then; `closed` likewise, where a closed mask ran beside it. `ok` holds the text
 * that the ids spell. O(tokens) masks, no logits.
 */
export function replayMask({ maskTrail, maskDigest, jumpForward }: MaskRecord, matcher: MaskMatcher, closed?: MaskMatcher): Result<string, MaskReplayIssue> {
  const cursor = new MaskCursor(matcher, { jumpForward, closed });
  const walked = walkTrail(cursor, maskTrail);
  if (!walked.ok) return walked;
  const inClosed = cursor.trail().closedCount;
  if (inClosed !== maskTrail.closedCount) return err({ code: 'replay/closed-differs', recorded: maskTrail.closedCount, replayed: inClosed });
  const [text, replayed] = [cursor.text(), cursor.maskDigest()];
  return cursor.endsAs(maskDigest) ? ok(text) : err({ code: 'replay/mask-differs', recorded: maskDigest, replayed });
}

/** What leads through a trail. */
export type TrailMove = Exclude<Move, { readonly kind: 'ended' | 'goal-unreachable' }>;

/**
 * Takes a recorded trail through `cursor`, at its start and bound as in the attempt. `see` is told of every move before its tokens are held against the recorded
 * ones, which begin at `index` of the trail; what a decision allowed can be read until it returns. Whether the end is the recorded one is the caller's to ask.
 */
export function walkTrail(cursor: MaskCursor, { ids, closedCount }: MaskTrail, see?: (move: TrailMove, index: number) => void): Result<void, TrailIssue> {
  let index = 0;
  while (index < ids.length) {
    const id = ids[index]!;
    const moved = cursor.advance(ids.length - index);
    if (!moved.ok) return err({ code: 'replay/token-refused', index, id });
    const move = moved.value;
    if (move.kind === 'ended' || move.kind === 'goal-unreachable') return err({ code: 'replay/token-after-end', index, id });
    see?.(move, index);
    if (move.kind === 'forced') {
      const other = move.ids.findIndex((forced, offset) => forced !== ids[index + offset]);
      if (other !== -1) return err({ code: 'replay/token-refused', index: index + other, id: ids[index + other]! });
      index += move.ids.length;
    } else if (move.kind === 'decision') {
      if (move.wider !== undefined) {
        if (index === closedCount) cursor.leaveClosed();
        else cursor.stayClosed();
      }
      if (!cursor.choose(id).ok) return err({ code: 'replay/token-refused', index, id });
      index += 1;
    }
  }
  return ok(undefined);
}
