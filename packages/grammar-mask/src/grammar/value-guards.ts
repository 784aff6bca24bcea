/**
 * States of a value of which some values are excluded: the value automaton and the walks along the excluded values, side by side. A state
 * lives here only while every byte so far agrees with an excluded value; behind the first other byte the automaton goes on alone. A state
 * that only excluded values lead on from is not entered, so that none is a dead end.
 */
import { isWalked, stepWalk, type ExcludedWalk } from './excluded-value.ts';
import { BYTES, DEAD, END, type StateId, type ValueAutomaton } from './value-automaton.ts';

/** A state beside excluded values, for masks: it differs from the state of the value automaton behind some bytes only. */
export interface GuardView {
  readonly unguarded: StateId;
  /** 1 for each byte behind which the two may differ. */
  readonly watched: Uint8Array;
}

const CLOSE_BRACE = 0x7d;

interface Guard {
  readonly state: StateId;
  readonly walks: readonly ExcludedWalk[];
  /** Its name among the states of the grammar, once it was entered. */
  id: StateId | undefined;
  isViable: boolean | undefined;
  readonly next: (StateId | Guard)[];
}

export class ValueGuards {
  readonly #automaton: ValueAutomaton;
  readonly #nameState: () => StateId;
  readonly #guards = new Map<StateId, Guard>();
  readonly #bytes = new Map<StateId, readonly number[]>();
  readonly #views = new Map<StateId, GuardView>();

  /** `nameState` gives a new negative state that nothing else uses. */
  constructor(automaton: ValueAutomaton, nameState: () => StateId) {
    this.#automaton = automaton;
    this.#nameState = nameState;
  }

  /** The values of `state` without the ones that `walks` spell; {@link DEAD} where none is left. */
  enter(state: StateId, walks: readonly ExcludedWalk[]): StateId {
    return walks.length === 0 || state === DEAD ? state : this.#idOf(guardOf(state, walks));
  }

  has(state: StateId): boolean {
    return this.#guards.has(state);
  }

  next(state: StateId, byte: number): StateId {
    const after = this.#step(this.#guards.get(state) as Guard, byte);
    return typeof after === 'number' ? after : this.#idOf(after);
  }

  bytesAt(state: StateId): readonly number[] {
    let bytes = this.#bytes.get(state);
    if (bytes === undefined) {
      bytes = [...this.#bytesOf(this.#guards.get(state) as Guard)].filter((byte) => this.next(state, byte) !== DEAD);
      this.#bytes.set(state, bytes);
    }
    return bytes;
  }

  viewOf(state: StateId): GuardView | undefined {
    const guard = this.#guards.get(state);
    let view = this.#views.get(state);
    if (guard === undefined || view !== undefined) return view;
    const { walks } = guard;
    const watched = Uint8Array.from({ length: 256 }, (_, byte) => Number(walks.some((walk) => stepWalk(walk, byte) !== undefined || (byte === CLOSE_BRACE && isWalked(walk)))));
    view = { unguarded: guard.state, watched };
    this.#views.set(state, view);
    return view;
  }

  #idOf(guard: Guard): StateId {
    if (!this.#isViable(guard)) return DEAD;
    if (guard.id === undefined) {
      guard.id = this.#nameState();
      this.#guards.set(guard.id, guard);
    }
    return guard.id;
  }

  #step(guard: Guard, byte: number): StateId | Guard {
    const known = guard.next[byte];
    if (known !== undefined) return known;
    const after = this.#compute(guard, byte);
    guard.next[byte] = after;
    return after;
  }

  #compute({ state, walks }: Guard, byte: number): StateId | Guard {
    const next = this.#automaton.advance(state, byte);
    if (next === DEAD) return DEAD;
    if (next === END) return walks.some(isWalked) ? DEAD : END;
    const further = walks.map((walk) => stepWalk(walk, byte)).filter((walk) => walk !== undefined);
    return further.length === 0 ? next : guardOf(next, further);
  }

  /** Whether a value that is not excluded can still be spelled. Depth first and without recursion: a literal may be long. */
  #isViable(guard: Guard): boolean {
    if (guard.isViable !== undefined) return guard.isViable;
    const path: { readonly guard: Guard; tried: number }[] = [{ guard, tried: 0 }];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const byte = this.#bytesOf(top.guard)[top.tried];
      const after = byte === undefined ? undefined : this.#step(top.guard, byte);
      top.tried += 1;
      if (after === undefined) {
        top.guard.isViable = false;
        path.pop();
      } else if (typeof after === 'number' ? after !== DEAD : after.isViable === true) {
        for (const step of path) step.guard.isViable = true;
        return true;
      } else if (typeof after !== 'number' && after.isViable === undefined) {
        path.push({ guard: after, tried: 0 });
      }
    }
    return false;
  }

  #bytesOf({ state }: Guard): Uint8Array {
    return this.#automaton.firstBytes(state) ?? BYTES;
  }
}

function guardOf(state: StateId, walks: readonly ExcludedWalk[]): Guard {
  return { state, walks, id: undefined, isViable: undefined, next: [] };
}
