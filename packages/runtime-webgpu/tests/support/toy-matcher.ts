/**
 * A mask over a finite set of texts, as plain as can be: for tests of what stands above the mask. Token 0 is the stop token, the others are
 * pieces of text; forced runs are spelled with the longest piece first and held back where a legal piece spans their end.
 */
import type { MaskMatcher, MatcherFailure, TokenId } from '@contractrl/grammar-mask';
import { err, ok, type Result } from '@contractrl/core';

export const STOP: TokenId = 0;

export function createToyMatcher(pieces: readonly string[], texts: readonly string[], logitWidth: number = pieces.length + 1): MaskMatcher {
  let accepted: TokenId[] = [];
  let failed = false;
  const spell = (id: TokenId): string => (id === STOP ? '' : pieces[id - 1]!);
  const text = (): string => accepted.map(spell).join('');
  const isTerminated = (): boolean => accepted.at(-1) === STOP;
  const open = (): readonly string[] => texts.filter((candidate) => candidate.startsWith(text()));
  const isAllowed = (id: TokenId): boolean =>
    !isTerminated() && (id === STOP ? texts.includes(text()) : id <= pieces.length && texts.some((candidate) => candidate.startsWith(text() + spell(id))));
  const allowed = (): readonly TokenId[] => (failed ? [] : Array.from({ length: logitWidth }, (_, id) => id).filter(isAllowed));

  function forcedText(): string {
    const rests = open().map((candidate) => candidate.slice(text().length));
    const [first = ''] = rests;
    let length = 0;
    while (length < first.length && rests.every((rest) => rest[length] === first[length])) length += 1;
    return first.slice(0, length);
  }

  function forcedTokens(): readonly TokenId[] {
    if (isTerminated() || failed) return [];
    const forced = forcedText();
    if (forced === '') return open().length === 1 ? [STOP] : [];
    const ids: TokenId[] = [];
    let done = 0;
    while (done < forced.length) {
      const rest = forced.slice(done);
      const spans = open().length > 1 && pieces.some((piece) => piece.length > rest.length && open().some((candidate) => candidate.slice(text().length + done).startsWith(piece)));
      const longest = pieces.reduce((best, piece) => (rest.startsWith(piece) && piece.length > best.length ? piece : best), '');
      if (spans || longest === '') break;
      ids.push(pieces.indexOf(longest) + 1);
      done += longest.length;
    }
    return ids;
  }

  function acceptToken(id: TokenId): Result<void, MatcherFailure> {
    if (failed) return err({ code: 'mask/failed' });
    if (isTerminated()) return err({ code: 'mask/terminated' });
    if (!isAllowed(id)) {
      failed = true;
      return err({ code: 'mask/token-not-allowed', id, reason: 'not in the set' });
    }
    accepted.push(id);
    return ok(undefined);
  }

  return {
    logitWidth,
    fillBitmask(bitmask) {
      bitmask.fill(0);
      for (const id of allowed()) bitmask[id >> 5]! |= 1 << (id & 31);
      return allowed().length;
    },
    allowedIds(out) {
      const ids = allowed();
      if (ids.length > out.length) return -1;
      out.set(ids);
      return ids.length;
    },
    acceptToken,
    isAllowed: (id) => !failed && isAllowed(id),
    explain: (id) => (!failed && isAllowed(id) ? { isAllowed: true } : { isAllowed: false, clause: { kind: 'spelling' } }),
    forcedBytes: () => new TextEncoder().encode(forcedText()),
    forcedTokens,
    shortestCompletion: () => (isTerminated() ? 0 : 1 + Math.min(...open().map((candidate) => candidate.length - text().length))),
    fork() {
      throw new Error('not needed');
    },
    rollback(count) {
      failed = false;
      accepted = accepted.slice(0, accepted.length - count);
    },
    reset() {
      failed = false;
      accepted = [];
    },
    isAccepting: () => texts.includes(text()),
    isCompleted: () => open().length === 1 && texts.includes(text()),
    isTerminated,
    isGoalMiss: () => false,
    banMiss() {
      throw new Error('not needed');
    },
    text,
    maskDigest: () => 'toy',
  };
}
