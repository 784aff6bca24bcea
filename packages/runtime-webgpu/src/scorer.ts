/** Logits of the ids that a decision is about: computed one by one where they are few, else all at once and looked up. */
import type { Engine } from './engine.ts';
import { SPARSE_LIMIT, type IdList } from './mask-cursor.ts';

export interface Scorer {
  /** Begins the decision behind `hidden`; `idCount` is the longest list that will be asked for. */
  open(hidden: Float32Array, idCount: number): void;
  /** The logits of a list, in its order. Computed once a decision. */
  logitsOf(list: IdList): Float32Array;
  /** The logits of all ids. A buffer of the scorer. */
  all(): Float32Array;
}

export function createScorer(engine: Engine): Scorer {
  let hidden: Float32Array = new Float32Array(0);
  let isDense = false;
  let full: Float32Array | undefined;
  /** By the list: a decision asks for one more than once. */
  let known = new Map<IdList, Float32Array>();
  return {
    open(state, idCount) {
      hidden = state;
      known = new Map();
      isDense = idCount > SPARSE_LIMIT || idCount === engine.logitWidth;
      if (isDense) engine.allLogits(hidden, full ??= new Float32Array(engine.logitWidth));
    },
    logitsOf(list) {
      const { ids, count } = list;
      const found = known.get(list);
      if (found !== undefined) return found;
      const logits = new Float32Array(count);
      if (isDense) for (let index = 0; index < count; index += 1) logits[index] = full![ids[index]!]!;
      else engine.logitsOf(hidden, ids.subarray(0, count), logits);
      known.set(list, logits);
      return logits;
    },
    all() {
      if (!isDense) throw new RangeError('all: the decision was opened for fewer ids');
      return full!;
    },
  };
}
