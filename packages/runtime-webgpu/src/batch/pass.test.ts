import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planPass, type PassRow } from './pass.ts';

const rows = fc.array(fc.record({ pastLength: fc.nat(6), tokenCount: fc.integer({ min: 1, max: 5 }), kept: fc.constantFrom<PassRow['kept']>('last', 'all') }), { minLength: 1, maxLength: 5 });
const CAPACITY = 8;

test('each token stands in its row, at its position, and sees the row’s past and itself and what is before it in the row, nothing else', () => {
  fc.assert(fc.property(rows, (given) => {
    const pass = planPass(given, CAPACITY);
    const span = CAPACITY + pass.width;
    let token = 0;
    for (const [row, { pastLength, tokenCount }] of given.entries()) {
      for (let index = 0; index < tokenCount; index++, token++) {
        const place = row * pass.width + index;
        expect(pass.tokenPlaces[token]).toBe(place);
        expect(pass.rowTokens[place]).toBe(token);
        expect(pass.positionIds[token]).toBe(BigInt(pastLength + index));
        const seen = Array.from(pass.bias.subarray(place * span, (place + 1) * span), (value) => value === 0);
        expect(seen).toEqual(Array.from({ length: span }, (_, at) => (at < CAPACITY ? at < pastLength : at - CAPACITY <= index)));
      }
    }
    expect(pass.tokenPlaces.length).toBe(token);
  }));
});

test('a place that is too many is of its own row and sees something, so that no other row’s numbers reach it and none of its are NaN', () => {
  fc.assert(fc.property(rows, (given) => {
    const { width, rowTokens, tokenPlaces, bias } = planPass(given, CAPACITY);
    const span = CAPACITY + width;
    for (const [place, token] of rowTokens.entries()) {
      expect(Math.floor(tokenPlaces[token]! / width)).toBe(Math.floor(place / width));
      expect(bias.subarray(place * span, (place + 1) * span).includes(0)).toBe(true);
    }
  }));
});

test('states are kept of every token of a row that is verified, of the last one of others', () => {
  const pass = planPass([{ pastLength: 0, tokenCount: 3, kept: 'last' }, { pastLength: 2, tokenCount: 2, kept: 'all' }, { pastLength: 1, tokenCount: 1, kept: 'last' }], CAPACITY);
  expect([...pass.keptPositions]).toEqual([2, 3, 4, 5]);
});
