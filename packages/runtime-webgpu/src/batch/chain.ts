/**
 * Caches of a batch as values: a list of chunks, each what one run gave of one row. Caches that begin alike share their chunks, so a group of rows
 * over one prompt holds it once, a rollback is holding on to an older cache, and a chunk that no cache names any more is collected.
 */
import type { Digest } from '@contractrl/core';
import type { KvCache } from '../engine.ts';

/** The first `count` positions of a chunk. */
export interface Segment<Chunk> {
  readonly chunk: Chunk;
  readonly count: number;
}

export class Chain<Chunk> implements KvCache {
  readonly length: number;
  /** The engine that made it. */
  readonly owner: object;
  readonly segments: readonly Segment<Chunk>[];
  /** Under which its positions were computed; means nothing where there are none. */
  readonly adapterDigest: Digest | undefined;

  constructor(owner: object, segments: readonly Segment<Chunk>[] = [], adapterDigest: Digest | undefined = undefined) {
    this.owner = owner;
    this.segments = segments;
    this.adapterDigest = adapterDigest;
    this.length = lengthOf(segments);
  }

  append(segment: Segment<Chunk>, adapterDigest: Digest | undefined): Chain<Chunk> {
    return new Chain(this.owner, [...this.segments, segment], adapterDigest);
  }

  /** Whether it is of the same positions, each made by the same run. */
  isSame(other: Chain<Chunk>): boolean {
    return this.length === other.length && sharedLength(this.segments, other.segments) === this.length;
  }

  /** The first `length` positions. Throws `RangeError` where it has fewer. */
  shorten(length: number): Chain<Chunk> {
    if (!Number.isInteger(length) || length < 0 || length > this.length) throw new RangeError(`length: must be 0 to ${this.length}`);
    const segments: Segment<Chunk>[] = [];
    let left = length;
    for (const { chunk, count } of this.segments) {
      if (left === 0) break;
      segments.push({ chunk, count: Math.min(count, left) });
      left -= Math.min(count, left);
    }
    return new Chain(this.owner, segments, this.adapterDigest);
  }
}

export function lengthOf(segments: readonly Segment<unknown>[]): number {
  return segments.reduce((length, { count }) => length + count, 0);
}

/** How many positions two caches have in common from the first on, by identity of the chunks. */
export function sharedLength<Chunk>(a: readonly Segment<Chunk>[], b: readonly Segment<Chunk>[]): number {
  let length = 0;
  for (let index = 0; index < a.length && index < b.length; index++) {
    const [one, other] = [a[index]!, b[index]!];
    if (one.chunk !== other.chunk) break;
    length += Math.min(one.count, other.count);
    if (one.count !== other.count) break;
  }
  return length;
}
