/** Bit sets over token ids in XGrammar's layout: bit `id & 31` of word `id >> 5`, 1 = allowed. */
import type { TokenId } from '../vocab/vocabulary.ts';

/** Words a bitmask needs for logits of this width. */
export function bitmaskLength(logitWidth: number): number {
  return (logitWidth + 31) >> 5;
}

export function isAllowed(bitmask: Int32Array, id: TokenId): boolean {
  return id >= 0 && id >> 5 < bitmask.length && (((bitmask[id >> 5] as number) >>> (id & 31)) & 1) === 1;
}

/** The ids in ascending order. O(words + ids). */
export function allowedIdsOf(bitmask: Int32Array): TokenId[] {
  const ids: TokenId[] = [];
  for (let word = 0; word < bitmask.length; word += 1) {
    for (let bits = bitmask[word] as number; bits !== 0; bits &= bits - 1) ids.push((word << 5) + 31 - Math.clz32(bits & -bits));
  }
  return ids;
}
