/**
 * Gold labels, kept apart from the online path. A {@link Gold} value has no readable member and serialises to `{}`; its content comes out
 * only inside {@link scoreFrozen}, which takes a frozen repair and nothing else. So a score can never steer the repair it is about.
 */
import { isFrozenRepair, type FrozenRepair } from './freeze.ts';

let open: <T>(gold: Gold<T>) => T;

/** A sealed label: targets, canonical patches, expected tool results. */
export class Gold<T> {
  readonly #label: T;

  constructor(label: T) {
    this.#label = label;
  }

  static {
    open = (gold) => gold.#label;
  }
}

/** Joins a frozen repair with its label. `frozen` that `freeze` did not make is a caller's bug: TypeError. */
export function scoreFrozen<T, S>(frozen: FrozenRepair, gold: Gold<T>, scorer: (frozen: FrozenRepair, label: T) => S): S {
  if (!isFrozenRepair(frozen)) throw new TypeError('frozen must come from freeze(): a repair is scored after it is sealed');
  return scorer(frozen, open(gold));
}
