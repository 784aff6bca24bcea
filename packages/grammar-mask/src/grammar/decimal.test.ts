import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NumberMachine, type NumberSpec } from './decimal.ts';
import { canBecomeNumber, isNumberIn } from '../../tests/support/naive-recognizer.ts';

const FREE = { lower: undefined, upper: undefined };
const between = (low: number, high: number, integer = false): NumberSpec => ({ integer, lower: { value: low, exclusive: false }, upper: { value: high, exclusive: false } });

const NUMBER = { integer: false, ...FREE };

/** −1 dead, 0 a prefix, 1 complete. */
function judge(spec: NumberSpec, text: string): number {
  const machine = new NumberMachine(spec);
  let state = machine.start;
  for (const character of text) {
    state = machine.next(state, character.charCodeAt(0));
    if (state < 0) return -1;
  }
  return machine.isComplete(state) ? 1 : 0;
}

test.each<[string, NumberSpec, string, number]>([
  ['1 may become 15 or 16', between(15, 16, true), '1', 0],
  ['2 may not', between(15, 16, true), '2', -1],
  ['15 is one', between(15, 16, true), '15', 1],
  ['a fraction of an integer is none', between(0, 9, true), '1.', -1],
  ['minus zero is none', { integer: true, ...FREE }, '-0', -1],
  ['a leading zero is none', { integer: true, ...FREE }, '01', -1],
  ['a plus is none', { integer: false, ...FREE }, '+', -1],
  ['a leading point is none', { integer: false, ...FREE }, '.', -1],
  ['an exponent is none', { integer: false, ...FREE }, '1e', -1],
  ['a point alone is unfinished', { integer: false, ...FREE }, '1.', 0],
  ['a fraction may end in zeros', { integer: false, ...FREE }, '1.50', 1],
  ['or be nothing but zeros: a model that began `4.` must be able to end', { integer: false, ...FREE }, '4.0', 1],
  ['so may zero', { integer: false, ...FREE }, '0.00', 1],
  ['but not minus zero', { integer: false, ...FREE }, '-0.0', 0],
  ['fifteen digits count the zeros at the end', { integer: false, ...FREE }, '1.00000000000000', 1],
  ['sixteen do too', { integer: false, ...FREE }, '1.000000000000000', -1],
  ['0.07 is one', between(0, 1), '0.07', 1],
  ['1.5 is above one', between(0, 1), '1.5', -1],
  ['1. leads to one at an upper bound of one', between(0, 1), '1.', 0],
  ['and 1.0 to nothing above it', between(0, 1), '1.01', -1],
  ['minus leads to small negative numbers', between(-0.5, 1), '-0', 0],
  ['2^53 − 1 is an integer', { integer: true, ...FREE }, '9007199254740991', 1],
  ['2^53 is not', { integer: true, ...FREE }, '9007199254740992', -1],
  ['fifteen digits are enough', { integer: false, ...FREE }, '0.123456789012345', 1],
  ['sixteen are too many', { integer: false, ...FREE }, '0.1234567890123456', -1],
  ['one millionth is the smallest', { integer: false, ...FREE }, '0.000001', 1],
  ['less is not', { integer: false, ...FREE }, '0.0000001', -1],
  ['an exclusive bound excludes itself', { integer: false, lower: { value: 0, exclusive: true }, upper: undefined }, '0', 0],
  ['a bound of 1e308 binds nothing', between(0, 1e308, true), '9007199254740991', 1],
  ['a bound of 5e-324 is above zero', between(5e-324, 1), '0', 0],
  ['19.99 is a multiple of 0.01, whatever its double divides to', { ...NUMBER, multiplesOf: [0.01] }, '19.99', 1],
  ['19.995 is not', { ...NUMBER, multiplesOf: [0.01] }, '19.995', -1],
  ['19.990 is', { ...NUMBER, multiplesOf: [0.01] }, '19.990', 1],
  ['a multiple of 7 up to 20 may begin with 1', { ...between(1, 20, true), multiplesOf: [7] }, '1', 0],
  ['but not with 2', { ...between(1, 20, true), multiplesOf: [7] }, '2', -1],
  ['nor go on with 5', { ...between(1, 20, true), multiplesOf: [7] }, '15', -1],
  ['two divisors bind together', { ...NUMBER, multiplesOf: [0.75, 0.5] }, '1.5', 1],
  ['neither alone', { ...NUMBER, multiplesOf: [0.75, 0.5] }, '0.75', -1],
  ['the divisor of a whole number may be broken', { ...between(1, 9, true), multiplesOf: [2.5] }, '5', 1],
  ['a divisor beyond 2^53 leaves zero', { integer: true, ...FREE, multiplesOf: [1e300] }, '0', 1],
  ['zero is no number that is no multiple', { ...NUMBER, notMultiplesOf: [3] }, '0', 0],
  ['12 is a multiple of 3', { integer: true, ...FREE, notMultiplesOf: [3] }, '12', 0],
  ['13 is none', { integer: true, ...FREE, notMultiplesOf: [3] }, '13', 1],
  ['a broken number is no multiple of 1', { ...NUMBER, notMultiplesOf: [1] }, '4.50', 1],
  ['4.0 is', { ...NUMBER, notMultiplesOf: [1] }, '4.0', 0],
  ['a value left out, in each spelling', { ...NUMBER, excluded: [4] }, '4.0', 0],
  ['the next to it', { ...NUMBER, excluded: [4] }, '4.01', 1],
  ['the only way on left out', { ...between(10, 11, true), excluded: [10] }, '10', -1],
])('%s', (_, spec, text, expected) => {
  expect(judge(spec, text)).toBe(expected);
});

test.each<[string, NumberSpec, boolean]>([
  ['no integer between 0.2 and 0.8', between(0.2, 0.8, true), true],
  ['a number between them', between(0.2, 0.8), false],
  ['crossed bounds', between(2, 1), true],
  ['an open interval without short decimals', { integer: false, lower: { value: 0, exclusive: true }, upper: { value: 1e-7, exclusive: false } }, true],
  ['only zero', between(0, 0), false],
  ['beyond what an integer can be', between(2 ** 53, 2 ** 60, true), true],
  ['no multiple between the bounds', { ...between(1, 6, true), multiplesOf: [7] }, true],
  ['a multiple that a hole takes away', { ...between(1, 8, true), multiplesOf: [7], notMultiplesOf: [7] }, true],
  ['the only value left out', { ...between(3, 3), excluded: [3] }, true],
  ['all values but one left out', { ...between(3, 5, true), excluded: [3, 5] }, false],
])('%s: empty is %s', (_, spec, isEmpty) => {
  expect(new NumberMachine(spec).isEmpty).toBe(isEmpty);
});

describe('against candidates next to the bounds', () => {
  const bound = fc.oneof(fc.integer({ min: -120, max: 120 }), fc.constantFrom(0.5, -0.25, 1.005, 99.95, -7.125, 1e-6, 1e-7, 12345.6789, 9007199254740991, 123456789012345), fc.double({ min: -1000, max: 1000, noNaN: true }));
  const limit = fc.option(fc.record({ value: bound, exclusive: fc.boolean() }), { nil: undefined });
  const divisors = fc.array(fc.constantFrom(2, 3, 7, 10, 0.5, 0.01, 0.25, 1.5, 0.07, 1e-7, 997, 86400), { maxLength: 2 });
  const excluded = fc.array(fc.constantFrom(0, 1, -1, 0.5, 7, 15, 99.95, 100, 1e-6), { maxLength: 3 });
  const spec = fc.oneof(
    fc.record({ integer: fc.boolean(), lower: limit, upper: limit }),
    fc.record({ integer: fc.boolean(), lower: limit, upper: limit, multiplesOf: divisors, notMultiplesOf: fc.array(fc.constantFrom(1, 3, 10, 0.5, 0.02), { maxLength: 1 }), excluded }),
  );

  test('every byte after random prefixes is judged alike', () => {
    let pairCount = 0;
    let roundCount = 0;
    fc.assert(fc.property(spec, fc.array(fc.nat(11), { maxLength: 18 }), (random, choices) => {
      roundCount += 1;
      const machine = new NumberMachine(random);
      const node = { kind: 'number' as const, ...random };
      let state = machine.start;
      let text = '';
      for (const choice of choices) {
        const alive = [...'0123456789-.'].filter((character) => {
          const isAlive = machine.next(state, character.charCodeAt(0)) >= 0;
          expect({ text: text + character, isAlive }).toEqual({ text: text + character, isAlive: canBecomeNumber(text + character, node) });
          pairCount += 1;
          return isAlive;
        });
        expect({ text, complete: machine.isComplete(state) }).toEqual({ text, complete: isNumberIn(text, node) });
        if (alive.length === 0) break;
        const character = alive[choice % alive.length] as string;
        state = machine.next(state, character.charCodeAt(0));
        text += character;
      }
    }), { numRuns: 30 });
    expect(pairCount).toBeGreaterThan(33 * roundCount);
  }, 60_000);
});
