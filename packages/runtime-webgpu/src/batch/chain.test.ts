import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Chain, sharedLength, type Segment } from './chain.ts';

interface Piece { readonly name: string }
const owner = {};

/** Lengths of chunks, and where to cut after some of them. */
const growths = fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.option(fc.nat(20))), { maxLength: 8 });

/** A chain and, as plain as can be, its positions: `chunk:offset` each. */
function grow(steps: readonly (readonly [number, number | null])[], name: string, from: Chain<Piece> = new Chain<Piece>(owner), before: readonly string[] = []): { readonly chain: Chain<Piece>; readonly positions: readonly string[] } {
  let chain = from;
  let positions = [...before];
  for (const [index, [count, cut]] of steps.entries()) {
    const chunk = { name: `${name}${index}` };
    chain = chain.append({ chunk, count }, undefined);
    positions.push(...Array.from({ length: count }, (_, at) => `${chunk.name}:${at}`));
    if (cut === null) continue;
    const length = Math.min(cut, chain.length);
    chain = chain.shorten(length);
    positions = positions.slice(0, length);
  }
  return { chain, positions };
}

function positionsOf(segments: readonly Segment<Piece>[]): readonly string[] {
  return segments.flatMap(({ chunk, count }) => Array.from({ length: count }, (_, at) => `${chunk.name}:${at}`));
}

test('growing and cutting is that of a list of positions', () => {
  fc.assert(fc.property(growths, (steps) => {
    const { chain, positions } = grow(steps, 'a');
    expect(positionsOf(chain.segments)).toEqual(positions);
    expect(chain.length).toBe(positions.length);
  }));
});

test('two that begin alike share just the positions they have in common, and none longer than was cut', () => {
  fc.assert(fc.property(growths, growths, growths, (common, one, other) => {
    const root = grow(common, 'r');
    const [a, b] = [grow(one, 'a', root.chain, root.positions), grow(other, 'b', root.chain, root.positions)];
    let expected = 0;
    while (expected < a.positions.length && a.positions[expected] === b.positions[expected]) expected += 1;
    expect(sharedLength(a.chain.segments, b.chain.segments)).toBe(expected);
    expect(a.chain.isSame(b.chain)).toBe(a.positions.join() === b.positions.join());
  }));
});

test('an older one is what it was', () => {
  const old = new Chain<Piece>(owner).append({ chunk: { name: 'x' }, count: 3 }, undefined);
  old.append({ chunk: { name: 'y' }, count: 2 }, undefined);
  old.shorten(1);
  expect(positionsOf(old.segments)).toEqual(['x:0', 'x:1', 'x:2']);
});

test.each([-1, 4, 0.5])('a length of %d, which it has not, is refused', (length) => {
  expect(() => new Chain<Piece>(owner, [{ chunk: { name: 'x' }, count: 3 }]).shorten(length)).toThrow(RangeError);
});
