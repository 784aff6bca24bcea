import { describe, expect, test } from 'vitest';
import { compilePattern, PatternBudgetError } from './pattern.ts';

function matches(source: string, text: string): boolean | string {
  const pattern = compilePattern(source);
  return pattern.ok ? pattern.value.test(text) : pattern.error.code;
}

describe('patterns that backtrack for ever elsewhere end at once', () => {
  test.each(['^(a+)+$', '^(a|aa)*$', '^(a|a?)+$', '^(?:a*)*b$', '(x+x+)+y', '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+$'])('%s', (source) => {
    expect(matches(source, `${'a'.repeat(5_000)}${'x'.repeat(5_000)}!`)).toBe(false);
  });
});

test.each<[string, string]>([
  ['(', 'pattern/invalid'],
  ['^5\\-', 'pattern/invalid'],
  ['^(?=a)', 'pattern/look-around'],
  ['(?!a)b', 'pattern/look-around'],
  ['(?<=a)b', 'pattern/look-around'],
  ['(?<!a)b', 'pattern/look-around'],
  ['(a)\\1', 'pattern/back-reference'],
  ['(?<n>a)\\k<n>', 'pattern/back-reference'],
  ['(?:(?:a{1000}){1000}){1000}', 'pattern/too-large'],
])('%s is refused', (source, code) => {
  expect(matches(source, 'a')).toBe(code);
});

test.each<[string, string, boolean]>([
  ['a', 'xay', true], ['^a$', 'a\n', false], ['', '', true], ['a|', 'b', true], ['(?<year>\\d{4})', 'in 2024', true],
  ['^.{3}$', 'a😀b', true], ['^.$', '\u2028', false], ['^[^\\d]$', '٣', true], ['\\s', '\u3000', true], ['\\B', 'a😀a', false], ['^(?:){1000000000}$', '', true],
])('%s on %j', (source, text, expected) => {
  expect(matches(source, text)).toBe(expected);
});

test('a test that needs too many steps stops with an error that the judge reports as undecided', () => {
  expect(() => matches('a{0,200}b', 'a'.repeat(400_000))).toThrow(PatternBudgetError);
});
