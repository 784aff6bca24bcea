/**
 * What a policy decided in one attempt: its tokens walked through the mask again, as a replay does, with what the mask allowed at each choice. Where
 * the mask took tokens back, what was written until then is a strand of its own: it was chosen, and is no past of what came after.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import { walkTrail, type MaskCursor } from '@contractrl/runtime-webgpu';
import type { Decision } from '../gradient/pack-sequences.ts';

export interface Strand {
  readonly ids: readonly TokenId[];
  /** Taken since the strand before it ended; by place among `ids`. */
  readonly decisions: readonly Decision[];
}

/** The mask does not take the recorded tokens, or not as it did when they were written: they cannot be learnt from. */
export interface WalkIssue {
  readonly code: 'grpo/replay-differs';
  readonly index: number;
}

/** `cursor` at its start, bound as in the attempt; `ids` in the order they were written, those that were taken back included. */
export function walkDecisions(cursor: MaskCursor, ids: readonly TokenId[], maskDigest: string | undefined): Result<readonly Strand[], WalkIssue> {
  const strands: Strand[] = [];
  const written: TokenId[] = [];
  let decisions: Decision[] = [];
  const walked = walkTrail(cursor, { ids, closedCount: null }, (move, index) => {
    if (move.kind === 'taken-back') {
      strands.push({ ids: [...written], decisions });
      written.length -= move.count;
      decisions = [];
      return;
    }
    if (move.kind === 'decision') decisions.push({ index: written.length, allowed: move.allowed.ids.slice(0, move.allowed.count) });
    written.push(...(move.kind === 'forced' ? move.ids : [ids[index]!]));
  });
  if (!walked.ok) return err({ code: 'grpo/replay-differs', index: walked.error.index });
  return cursor.endsAs(maskDigest) ? ok([...strands, { ids: written, decisions }]) : err({ code: 'grpo/replay-differs', index: ids.length });
}
