import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyBitmask } from './apply.ts';
import { allowedIdsOf, bitmaskLength, isAllowed } from './token-bitmask.ts';

function bitmaskOf(width: number, ids: readonly number[]): Int32Array {
  const bitmask = new Int32Array(bitmaskLength(width));
  for (const id of ids) bitmask[id >> 5]! |= 1 << (id & 31);
  return bitmask;
}

const widthAndIds = fc.integer({ min: 1, max: 200 }).chain((width) => fc.tuple(fc.constant(width), fc.uniqueArray(fc.nat(width - 1))));

test('ids go in and come out in order, the highest bit of a word included', () => {
  fc.assert(fc.property(widthAndIds, ([width, ids]) => {
    const bitmask = bitmaskOf(width, ids);
    expect(allowedIdsOf(bitmask)).toEqual([...ids].sort((a, b) => a - b));
    for (let id = 0; id < width; id += 1) expect(isAllowed(bitmask, id)).toBe(ids.includes(id));
  }));
});

test('ids outside the bitmask are not allowed', () => {
  const bitmask = bitmaskOf(40, [0, 39]);
  expect([-1, 40, 64, 1e9].map((id) => isAllowed(bitmask, id))).toEqual([false, false, false, false]);
});

test('applying leaves allowed logits as they are and sets all others to −Infinity', () => {
  fc.assert(fc.property(widthAndIds, ([width, ids]) => {
    const logits = Float32Array.from({ length: width }, (_, id) => id + 0.5);
    applyBitmask(logits, bitmaskOf(width, ids));
    expect([...logits]).toEqual(Array.from({ length: width }, (_, id) => (ids.includes(id) ? id + 0.5 : -Infinity)));
  }));
});

test('a word that allows its first id alone allows no other', () => {
  const logits = new Float32Array(40);
  applyBitmask(logits, Int32Array.of(1, 0));
  expect(logits.findLastIndex((logit) => logit === 0)).toBe(0);
});

test('a bitmask of another width is a bug of the caller', () => {
  expect(() => { applyBitmask(new Float32Array(65), new Int32Array(2)); }).toThrow(RangeError);
});
