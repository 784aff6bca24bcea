/** Laws of patterns: the linear-time matcher and the host's backtracking RegExp agree wherever the host answers. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern } from '../../src/validate/pattern.ts';

const atom = fc.constantFrom('a', 'b', '.', '\\d', '\\w', '\\s', '\\S', '[ab]', '[^a]', '[a-c\\]]', '\\p{L}', '\\u{1F600}', '😀', '[😀-😂]', '\\.', '\\x61', '\\u0061', '\\ud83d\\ude00', '^', '$', '\\b', '\\B', '[]', '[^]');
const quantifier = fc.constantFrom('', '', '*', '+', '?', '{0}', '{2}', '{1,}', '{0,2}', '*?', '+?', '{1,2}?');
const { source } = fc.letrec<{ source: string; term: string }>((tie) => ({
  term: fc.oneof({ depthSize: 'small' },
    fc.tuple(atom, quantifier).map(([text, count]) => (/^(?:\^|\$|\\b|\\B)$/.test(text) ? text : text + count)),
    fc.tuple(fc.constantFrom('(', '(?:'), tie('source'), quantifier).map(([open, body, count]) => `${open}${body})${count}`)),
  source: fc.array(fc.oneof(tie('term'), fc.constant('|')), { maxLength: 4 }).map((parts) => parts.join('')),
}));
const text = fc.array(fc.constantFrom('a', 'b', 'c', '1', ' ', '.', ']', '😀', 'é', '\n', '\u2028', '_', '\ud83d'), { maxLength: 8 }).map((parts) => parts.join(''));

test('both say the same of every pattern and text', () => {
  fc.assert(fc.property(source, text, (pattern, sample) => {
    // V8 also tries a zero-width match between the two halves of a pair, where ECMA-262 §22.2.7.2 steps by code points
    fc.pre(!pattern.includes('\\B') || !/[\u{10000}-\u{10ffff}]/u.test(sample));
    const compiled = compilePattern(pattern);
    expect(compiled.ok).toBe(true);
    expect(compiled.ok && compiled.value.test(sample)).toBe(new RegExp(pattern, 'u').test(sample));
  }), { numRuns: 3_000 });
});
