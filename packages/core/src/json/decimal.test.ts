import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isMultipleOf, rescale, toDecimal } from './decimal.ts';

/** The definition, in whole numbers. */
function isMultiple(value: number, divisor: number): boolean {
  const [a, b] = [toDecimal(value), toDecimal(divisor)];
  const scale = Math.max(a.scale, b.scale);
  return rescale(a, scale) % rescale(b, scale) === 0n;
}

test.each([
  [19.99, 0.01, true], [19.995, 0.01, false], [0.3, 0.1, true], [0.1 + 0.2, 0.1, false], [12_391_239_123, 1e-8, true], [-7.5, 2.5, true], [0, 0.7, true],
  [1e308, 3, false], [4.5e15, 1.5, true], [9_007_199_254_740_991, 3, false], [0.0075, 0.0001, true], [1e-7, 1e-7, true], [5e-324, 1, false],
])('%d is a multiple of %d: %s', (value, divisor, expected) => {
  expect(isMultipleOf(value, divisor)).toBe(expected);
});

test('the short way in doubles agrees with whole numbers', () => {
  const decimal = fc.tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: 0, max: 12 })).map(([units, scale]) => units / 10 ** scale);
  const divisor = fc.tuple(fc.integer({ min: 1, max: 10_000 }), fc.integer({ min: 0, max: 9 })).map(([units, scale]) => units / 10 ** scale);
  const value = fc.oneof(decimal, fc.double({ noNaN: true, noDefaultInfinity: true }));
  fc.assert(fc.property(value, divisor, (a, b) => isMultipleOf(a, b) === isMultiple(a, b)), { numRuns: 5_000 });
  fc.assert(fc.property(fc.integer({ min: -100_000, max: 100_000 }), divisor, (count, b) => {
    const product = Number((count * b).toPrecision(15));
    return isMultipleOf(product, b) === isMultiple(product, b);
  }), { numRuns: 5_000 });
});
