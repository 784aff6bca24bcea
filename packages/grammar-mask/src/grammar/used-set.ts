/**
 * Which literals of a list an array already holds, as a register: each set that is reached gets a number, so that a position of the automaton
 * can carry it. Only reached sets exist, however many the list could make.
 */

export const EMPTY_SET = 0;

export class UsedSets {
  readonly #sets: bigint[] = [0n];
  readonly #sizes: number[] = [0];
  readonly #known = new Map<bigint, number>([[0n, EMPTY_SET]]);

  has(set: number, literal: number): boolean {
    return (((this.#sets[set] as bigint) >> BigInt(literal)) & 1n) === 1n;
  }

  sizeOf(set: number): number {
    return this.#sizes[set] as number;
  }

  /** The set with one more literal, which it does not hold yet. */
  with(set: number, literal: number): number {
    const bits = (this.#sets[set] as bigint) | (1n << BigInt(literal));
    const known = this.#known.get(bits);
    if (known !== undefined) return known;
    this.#known.set(bits, this.#sets.length);
    this.#sizes.push(this.sizeOf(set) + 1);
    return this.#sets.push(bits) - 1;
  }
}
