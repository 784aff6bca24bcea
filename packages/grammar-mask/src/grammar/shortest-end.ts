/**
 * How many bytes at least lead from a state of the value automaton to the end: what a token budget is measured with. A position costs what brings
 * it to the frame it returns to, whichever that is, plus what that frame costs; the first part is found once for all frames, cheapest first, over
 * the automaton's own steps, so that no kind of value needs arithmetic of its own.
 */
import { BYTES, DEAD, END, type StateId, type ValueAutomaton } from './value-automaton.ts';

/** A value that takes more steps than this to finish is taken as too long for any budget. */
const MAX_VISITED = 20_000;

export class ShortestEnds {
  readonly #automaton: ValueAutomaton;
  readonly #byState: number[] = [];
  readonly #byPosition: number[] = [];
  /** Bytes up to the return, by frame. */
  readonly #byFrame: number[] = [];

  constructor(automaton: ValueAutomaton) {
    this.#automaton = automaton;
  }

  /** Bytes from a state to the end of the output, `]` behind an operation included, as if it were the last; Infinity from {@link DEAD}. */
  bytesFrom(state: StateId): number {
    if (state === DEAD) return Infinity;
    return this.#byState[state] ??= Math.min(...this.#automaton.positionsOf(state).map((position) => this.#bytesFromPosition(position)));
  }

  #bytesFromPosition(position: number): number {
    const known = this.#byPosition[position];
    if (known !== undefined) return known;
    const rest = this.#automaton.returnOf(position);
    const bytes = rest === undefined ? Number(position === this.#automaton.positionsOf(END)[0]) : this.#bytesToReturn(position) + this.#bytesFromPosition(rest);
    this.#byPosition[position] = bytes;
    return bytes;
  }

  /** Dijkstra with one list a distance: a byte costs 1, and a value that begins inside costs its own bytes too. */
  #bytesToReturn(start: number): number {
    const automaton = this.#automaton;
    const frame = automaton.frameOf(start);
    const known = this.#byFrame[frame];
    if (known !== undefined) return known;
    const target = automaton.returnOf(start) as number;
    const queue: number[][] = [[start]];
    const seen = new Set<number>();
    let bytes = Infinity;
    for (let distance = 0; distance < Math.min(queue.length, bytes) && seen.size < MAX_VISITED; distance += 1) {
      for (const position of queue[distance] ?? []) {
        if (seen.has(position)) continue;
        seen.add(position);
        const further = this.#byFrame[automaton.frameOf(position)];
        if (further !== undefined || automaton.mayReturn(position)) {
          bytes = Math.min(bytes, distance + (further ?? 0));
          continue;
        }
        for (let index = 0; index < 256 && bytes > distance + 1; index += 1) {
          const byte = BYTES[index] as number;
          for (const next of automaton.stepPosition(position, byte)) this.#reach(next, target, distance + 1, (at, place) => {
            if (place === target) bytes = Math.min(bytes, at);
            else (queue[at] ??= []).push(place);
          });
        }
      }
    }
    this.#byFrame[frame] = bytes;
    return bytes;
  }

  /** From a position that may lie in a value inside: up to the level whose return is `target`, at the cost of the values in between. */
  #reach(position: number, target: number, distance: number, visit: (distance: number, position: number) => void): void {
    let [place, at] = [position, distance];
    while (place !== target) {
      const rest = this.#automaton.returnOf(place);
      // a number that ends steps on for the frame it returns to: that is not a way of its own
      if (rest === undefined) return;
      if (rest === target) break;
      at += this.#bytesToReturn(place);
      if (at === Infinity) return;
      place = rest;
    }
    visit(at, place);
  }
}
