import { describe, expect, test } from 'vitest';
import { formatMs, shorten, toSafeJson, toSafeText } from './text.ts';

describe('text from outside', () => {
  test.each([
    { what: 'an escape sequence', text: '\u001b[2Jgone', shown: '\\u001b[2Jgone' },
    { what: 'a carriage return', text: 'pay 10\rpay 99', shown: 'pay 10\\u000dpay 99' },
    { what: 'a right-to-left override', text: 'a\u202eb', shown: 'a\\u202eb' },
    { what: 'a C1 control', text: 'a\u009bb', shown: 'a\\u009bb' },
    { what: 'plain text with accents, emoji and line breaks', text: 'Zürich 🚆\n\tok', shown: 'Zürich 🚆\n\tok' },
  ])('$what cannot repaint the terminal', ({ text, shown }) => {
    expect(toSafeText(text)).toBe(shown);
  });

  test('escaping keeps JSON readable as the same value', () => {
    const value = { 'a\u202e': 'x\u0085\u001b' };
    expect(JSON.parse(toSafeJson(value))).toEqual(value);
  });

  test('a long text says how much is left out', () => {
    expect(shorten('abcdef', 2)).toBe('ab… (4 more characters)');
    expect(shorten('ab', 2)).toBe('ab');
  });

  test.each([[0.4, '0 ms'], [740, '740 ms'], [3_240, '3.2 s']])('%d ms reads %s', (ms, text) => {
    expect(formatMs(ms)).toBe(text);
  });
});
