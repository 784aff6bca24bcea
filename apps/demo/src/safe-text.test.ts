import { expect, test } from 'vitest';
import { toReadableJson, toSafeText } from './safe-text.ts';

test.each([
  ['a right-to-left override', 'pay \u202e001', 'pay \\u202e001'],
  ['a control character', 'a\u0007b', 'a\\u0007b'],
  ['a line break stays', 'a\nb', 'a\nb'],
  ['letters of any script stay', 'Grüße, 日本, עברית', 'Grüße, 日本, עברית'],
])('%s', (_title, text, expected) => {
  expect(toSafeText(text)).toBe(expected);
});

test('JSON is indented, other text shown as it came', () => {
  expect(toReadableJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(toReadableJson('{"a":')).toBe('{"a":');
});
