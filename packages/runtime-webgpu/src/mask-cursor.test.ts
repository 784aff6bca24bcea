import { describe, expect, test } from 'vitest';
import type { MaskMatcher } from '@contractrl/grammar-mask';
import { MaskCursor } from './mask-cursor.ts';
import { replayMask } from './replay-mask.ts';
import { createToyMatcher } from '../tests/support/toy-matcher.ts';

const PIECES = ['[', '1', ']'];

/** Allows nothing once so many tokens are written; its digest counts the masks that were asked for. */
function dryMatcher(dryAfter: number): MaskMatcher {
  const matcher = createToyMatcher(PIECES, ['[1]'], PIECES.length + 1);
  let [written, asked] = [0, 0];
  return {
    ...matcher,
    allowedIds(out) {
      asked += 1;
      return written >= dryAfter ? 0 : matcher.allowedIds(out);
    },
    acceptToken(id) {
      written += 1;
      return matcher.acceptToken(id);
    },
    maskDigest: () => `asked ${String(asked)}`,
  };
}

/** Writes what the mask allows until nothing leads on. */
function writeUntilDry(dryAfter: number): { readonly ids: readonly number[]; readonly maskDigest: string } {
  const cursor = new MaskCursor(dryMatcher(dryAfter), { jumpForward: false });
  for (;;) {
    const moved = cursor.advance(9);
    if (!moved.ok) throw new Error(moved.error.code);
    if (moved.value.kind === 'goal-unreachable') return { ids: cursor.trail().ids, maskDigest: cursor.maskDigest() };
    if (moved.value.kind !== 'decision') throw new Error(moved.value.kind);
    cursor.choose(moved.value.allowed.ids[0]!);
  }
}

describe('an answer that ended because nothing led on', () => {
  const { ids, maskDigest } = writeUntilDry(2);

  test('asked for one mask more than it has tokens', () => {
    expect([ids.length, maskDigest]).toEqual([2, 'asked 3']);
  });

  test('comes out as it was recorded', () => {
    expect(replayMask({ maskTrail: { ids, closedCount: null }, maskDigest, jumpForward: false }, dryMatcher(2))).toEqual({ ok: true, value: '[1' });
  });

  test.each([
    ['of a mask that leads on', 3, maskDigest],
    ['with the digest of more masks', 2, 'asked 4'],
  ])('and a record %s does not', (_, dryAfter, recorded) => {
    expect(replayMask({ maskTrail: { ids, closedCount: null }, maskDigest: recorded, jumpForward: false }, dryMatcher(dryAfter))).toMatchObject({ ok: false, error: { code: 'replay/mask-differs', replayed: 'asked 2' } });
  });
});
