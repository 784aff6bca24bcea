import { expect, test } from 'vitest';
import { valueAt } from './value-at.ts';

test.each([
  { pointer: '/a/1', value: 2 },
  { pointer: '/x~1y', value: 3 },
  { pointer: '/~0', value: 4 },
  { pointer: '', value: { a: [1, 2], 'x/y': 3, '~': 4 } },
  { pointer: '/a/2', value: undefined },
  { pointer: '/toString', value: undefined },
  { pointer: '/x~1y/z', value: undefined },
])('"$pointer" addresses own members only', ({ pointer, value }) => {
  expect(valueAt({ a: [1, 2], 'x/y': 3, '~': 4 }, pointer)).toEqual(value);
});

test('nothing is addressed in a document that is not there', () => {
  expect(valueAt(undefined, '')).toBeUndefined();
});
