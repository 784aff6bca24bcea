/** One number machine over every short text: states that it takes for the same must have the same continuations. */
import { expect, test } from 'vitest';
import { NumberMachine, type NumberSpec } from '../src/grammar/decimal.ts';
import { canBecomeNumber, isNumberIn } from './support/naive-recognizer.ts';

const LONGEST = 5;
const from = (value: number, exclusive = false): NumberSpec['lower'] => ({ value, exclusive });

test.each<[string, NumberSpec]>([
  ['integers in a range', { integer: true, lower: from(-12), upper: from(120) }],
  ['integers in an open range', { integer: true, lower: from(-5, true), upper: from(21, true) }],
  ['integers below zero', { integer: true, lower: undefined, upper: from(-3) }],
  ['numbers in a range of fractions', { integer: false, lower: from(0.25), upper: from(1.5) }],
  ['numbers in an open range', { integer: false, lower: from(-1, true), upper: from(1.05, true) }],
  ['numbers from above zero', { integer: false, lower: from(0, true), upper: undefined }],
  ['multiples', { integer: true, lower: from(1), upper: from(100), multiplesOf: [7] }],
  ['multiples of a fraction', { integer: false, lower: from(-0.5), upper: from(2), multiplesOf: [0.25] }],
  ['no multiples', { integer: false, lower: from(0), upper: from(30), notMultiplesOf: [3] }],
  ['numbers with holes', { integer: false, lower: from(-2), upper: from(30), excluded: [0, 1.5, 12, -1] }],
  ['integers with holes', { integer: true, lower: from(-2), upper: from(30), excluded: [0, 2, 12, 13, -1] }],
])('%s: every text of at most 5 characters is judged alike', (_, spec) => {
  const machine = new NumberMachine(spec);
  const node = { kind: 'number' as const, ...spec };
  let textCount = 0;
  const wrong: string[] = [];
  const visit = (state: number, text: string): void => {
    textCount += 1;
    if (machine.isComplete(state) !== isNumberIn(text, node)) wrong.push(`${text} as an end`);
    if (text.length === LONGEST) return;
    for (const character of '0125-.') {
      const next = machine.next(state, character.charCodeAt(0));
      if (next >= 0 !== canBecomeNumber(text + character, node)) wrong.push(text + character);
      if (next >= 0) visit(next, text + character);
    }
  };
  visit(machine.start, '');
  expect(wrong).toEqual([]);
  expect(textCount).toBeGreaterThan(4);
}, 120_000);
