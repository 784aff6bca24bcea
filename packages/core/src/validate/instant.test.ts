import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareInstants, parseInstant } from './instant.ts';

test.each([
  '2023-02-29', '2024-13-01', '2024-00-10', '2024-04-31', '2024-1-1', '2024-01-01T24:00:00Z', '2024-01-01T00:60:00Z', '2024-01-01T00:00:61Z',
  '2024-01-01T00:00:00', '2024-01-01 ', '2024-01-01T00:00:00+24:00', '20240101', '',
])('%j is no date or date-time', (text) => {
  expect(parseInstant(text)).toBeUndefined();
});

test('whole seconds are those of the host\'s calendar, from year 0 to 9999', () => {
  fc.assert(fc.property(fc.date({ min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }), (date) => {
    const instant = parseInstant(date.toISOString());
    expect(instant?.seconds).toBe(Math.floor(date.getTime() / 1_000));
    expect(parseInstant(date.toISOString().slice(0, 10))).toMatchObject({ kind: 'date', seconds: Math.floor(date.getTime() / 86_400_000) * 86_400 });
  }));
});

test('order is the order of moments, whatever the offset and the fraction', () => {
  const order = (a: string, b: string): number | undefined => {
    const [left, right] = [parseInstant(a), parseInstant(b)];
    return left && right && Math.sign(compareInstants(left, right));
  };
  expect(order('2024-01-01T01:30:00+01:00', '2024-01-01T00:30:00Z')).toBe(0);
  expect(order('2024-01-01T00:00:00.10Z', '2024-01-01t00:00:00.1z')).toBe(0);
  expect(order('2024-01-01T00:00:00.09Z', '2024-01-01T00:00:00.1Z')).toBe(-1);
  expect(order('2024-12-31T23:59:60Z', '2024-12-31T23:59:59.9Z')).toBe(1);
});
