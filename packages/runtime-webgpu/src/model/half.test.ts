import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HALF_VALUES, toHalves } from './half.ts';

test('every finite half is the half of its own value', () => {
  const finite = Uint16Array.from({ length: 65_536 }, (_, bits) => bits).filter((bits) => Number.isFinite(HALF_VALUES[bits]!));
  expect(toHalves(Float32Array.from(finite, (bits) => HALF_VALUES[bits]!))).toEqual(finite);
});

test('a value becomes the nearest half, and of two equally near the even one', () => {
  fc.assert(fc.property(fc.float({ min: -65_500, max: 65_500, noNaN: true }), (value) => {
    const [bits] = toHalves(Float32Array.of(value)) as unknown as [number];
    const error = Math.abs(HALF_VALUES[bits]! - value);
    for (const neighbour of [bits - 1, bits + 1]) {
      const other = Math.abs((HALF_VALUES[neighbour] ?? Infinity) - value);
      if (Number.isNaN(other)) continue;
      expect(error < other || (error === other && bits % 2 === 0)).toBe(true);
    }
  }), { numRuns: 2000 });
});

test.each([65_520, -70_000, Infinity, NaN])('%d has no half', (value) => {
  expect(() => toHalves(Float32Array.of(value))).toThrow(RangeError);
});
