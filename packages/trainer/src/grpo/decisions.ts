/**
 * What a policy decided in one attempt: its tokens walked through the mask again, as a replay does, with what the mask allowed at each choice. Where
 * the mask took tokens back, what was written until then is a strand of its own: it was chosen, and is no past of what came after.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { MaskCursor } from '@contractrl/runtime-webgpu';
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
  let index = 0;
  while (index < ids.length) {
    const moved = cursor.advance(ids.length - index);
    if (!moved.ok) return err({ code: 'grpo/replay-differs', index });
    const move = moved.value;
    if (move.kind === 'taken-back') {
      strands.push({ ids: [...written], decisions });
      written.length -= move.count;
      decisions = [];
      continue;
    }
    if (move.kind === 'decision') {
      const { ids: allowed, count } = move.allowed;
      decisions.push({ index: written.length, allowed: allowed.slice(0, count) });
    }
    const next = move.kind === 'forced' ? move.ids : move.kind === 'decision' && cursor.choose(ids[index]!).ok ? [ids[index]!] : [];
    if (next.length === 0 || next.some((id, offset) => id !== ids[index + offset])) return err({ code: 'grpo/replay-differs', index });
    written.push(...next);
    index += next.length;
  }
  return cursor.endsAs(maskDigest) ? ok([...strands, { ids: [...written], decisions }]) : err({ code: 'grpo/replay-differs', index });
}
