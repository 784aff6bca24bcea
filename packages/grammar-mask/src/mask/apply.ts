/** Writing a bitmask into logits: the first step after the model, before temperature, top-k, top-p and any penalty. */
import { bitmaskLength } from './token-bitmask.ts';

/**
 * Sets the logits of forbidden ids to −Infinity, in place. `logits` [logitWidth], `bitmask` [ceil(logitWidth / 32)].
 * Ids beyond the tokenizer (padding) carry no bit and are forbidden too. Throws RangeError where the lengths do not belong together.
 */
export function applyBitmask(logits: Float32Array, bitmask: Int32Array): void {
  if (bitmask.length !== bitmaskLength(logits.length)) throw new RangeError(`bitmask: expected ${bitmaskLength(logits.length)} words for ${logits.length} logits, got ${bitmask.length}`);
  for (let word = 0; word < bitmask.length; word += 1) {
    const bits = bitmask[word] as number;
    if (bits === -1) continue;
    const first = word << 5;
    const end = Math.min(first + 32, logits.length);
    if (bits === 0) {
      logits.fill(-Infinity, first, end);
      continue;
    }
    for (let id = first; id < end; id += 1) if (((bits >>> (id & 31)) & 1) === 0) logits[id] = -Infinity;
  }
}
