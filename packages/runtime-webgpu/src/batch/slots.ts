/**
 * Keys and values of the rows of a pass, in the one piece that a run reads. A copy of what the chunks hold: a row whose cache has only grown since
 * its last pass costs a copy of what is new, one that went back or forked what differs, and where a slot lies is nobody's business but this file's.
 */
import type { InferenceSession } from 'onnxruntime-node';
import type { ModelConfig } from '../model/config.ts';
import { pastKey, pastValue, presentKey, presentValue } from '../onnx/names.ts';
import { lengthOf, sharedLength, type Segment } from './chain.ts';

/** Keys and values of some positions of one row: `[tensor, kvHeadCount, count, headSize]`, the tensors in the order of {@link pastNames}. */
export interface Chunk {
  readonly count: number;
  readonly data: Float32Array<ArrayBuffer>;
}

type Shape = Pick<ModelConfig, 'layerCount' | 'kvHeadCount' | 'headSize'>;

/** Places of past are had in steps: a run reads all of them, and growing copies every row anew. */
const CAPACITY_STEP = 64;

export function pastNames({ layerCount }: Shape): readonly string[] {
  return Array.from({ length: layerCount }, (_, layer) => [pastKey(layer), pastValue(layer)]).flat();
}

export class Slots {
  readonly #shape: Shape;
  readonly #width: number;
  /** Places of past in each slot; those behind a row's length hold anything finite. */
  capacity = 0;
  /** By tensor, `[width, kvHeadCount, capacity, headSize]`. */
  #tensors: readonly Float32Array<ArrayBuffer>[] = [];
  /** By slot, what it holds. */
  #held: (readonly Segment<Chunk>[])[] = [];

  constructor(shape: Shape, width: number) {
    this.#shape = shape;
    this.#width = width;
  }

  /** Puts `rows`, at most as many as there are slots, into the first ones; gives which row is in which. */
  arrange(rows: readonly (readonly Segment<Chunk>[])[]): readonly number[] {
    this.#resize(Math.max(...rows.map(lengthOf)));
    const order = assign(rows.map((row) => this.#held.slice(0, rows.length).map((held) => sharedLength(row, held))));
    for (const [slot, row] of order.entries()) this.#fill(slot, rows[row]!);
    return order;
  }

  /** By tensor, the first `rowCount` slots. */
  views(rowCount: number): readonly Float32Array<ArrayBuffer>[] {
    const { kvHeadCount, headSize } = this.#shape;
    return this.#tensors.map((tensor) => tensor.subarray(0, rowCount * kvHeadCount * this.capacity * headSize));
  }

  /** Lets go of everything. */
  clear(): void {
    this.capacity = 0;
    this.#tensors = [];
    this.#held = [];
  }

  #resize(length: number): void {
    const needed = Math.max(1, Math.ceil(length / CAPACITY_STEP)) * CAPACITY_STEP;
    if (needed <= this.capacity && needed * 2 > this.capacity) return;
    const { layerCount, kvHeadCount, headSize } = this.#shape;
    this.capacity = needed;
    this.#tensors = Array.from({ length: 2 * layerCount }, () => new Float32Array(this.#width * kvHeadCount * needed * headSize));
    this.#held = Array.from({ length: this.#width }, () => []);
  }

  #fill(slot: number, row: readonly Segment<Chunk>[]): void {
    const { kvHeadCount, headSize } = this.#shape;
    const known = sharedLength(this.#held[slot]!, row);
    let start = 0;
    for (const { chunk, count } of row) {
      const skipped = Math.min(count, Math.max(0, known - start));
      for (const [index, tensor] of skipped === count ? [] : this.#tensors.entries()) {
        for (let head = 0; head < kvHeadCount; head++) {
          const from = (index * kvHeadCount + head) * chunk.count;
          const to = (slot * kvHeadCount + head) * this.capacity + start;
          tensor.set(chunk.data.subarray((from + skipped) * headSize, (from + count) * headSize), (to + skipped) * headSize);
        }
      }
      start += count;
    }
    this.#held[slot] = row;
  }
}

/** The `count` new positions of the row in `slot`, out of what a run gave: `[1, b, kvHeadCount, width, headSize]` by output. */
export function chunkOf(outputs: InferenceSession.ReturnType, { layerCount, kvHeadCount, headSize }: Shape, slot: number, count: number): Chunk {
  const data = new Float32Array(2 * layerCount * kvHeadCount * count * headSize);
  const names = Array.from({ length: layerCount }, (_, layer) => [presentKey(layer), presentValue(layer)]).flat();
  for (const [index, name] of names.entries()) {
    const { data: from, dims } = outputs[name]!;
    const stride = dims[3]! * headSize;
    for (let head = 0; head < kvHeadCount; head++) {
      const at = (slot * kvHeadCount + head) * stride;
      data.set((from as Float32Array).subarray(at, at + count * headSize), (index * kvHeadCount + head) * count * headSize);
    }
  }
  return { count, data };
}

/** Rows to as many slots, those with the most in common first: `[row][slot]` → row by slot. */
function assign(shared: readonly (readonly number[])[]): readonly number[] {
  const pairs = shared.flatMap((bySlot, row) => bySlot.map((length, slot) => ({ row, slot, length }))).sort((a, b) => b.length - a.length);
  const order = new Map<number, number>();
  const placed = new Set<number>();
  for (const { row, slot } of pairs) {
    if (order.has(slot) || placed.has(row)) continue;
    order.set(slot, row);
    placed.add(row);
  }
  return shared.map((_, slot) => order.get(slot)!);
}
