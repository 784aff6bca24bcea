/** Family: patterns written to run for ever, and texts that make them. */
// checklist: H5
import fc from 'fast-check';
import { expect } from 'vitest';
import { type JsonObject } from '../../src/index.ts';
import { compilePattern, PatternBudgetError } from '../../src/validate/pattern.ts';
import { requestOf } from '../support.ts';
import { attack, family, saying } from './support.ts';

const atom = fc.constantFrom('a', 'b', '.', '\\w', '\\s', '[ab]', '[^b]', '(?:a|a)', '(a|b)', 'a|', '\\p{L}', '\ud83d\ude00');
const quantifier = fc.constantFrom('', '*', '+', '?', '*?', '{2}', '{1,9}', '{0,99}', '{50,}', '{1000}', '{65535}');
const { pattern } = fc.letrec<{ readonly pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.tuple(atom, quantifier).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), quantifier).map(([inner, count]) => `(${inner})${count}`),
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), tie('pattern')).map((parts) => `(?:${parts.join('|')})`),
    fc.tuple(tie('pattern'), fc.constantFrom('(?=', '(?!', '(?<=')).map(([inner, look]) => `${look}${inner})`),
    tie('pattern').map((inner) => `(${inner})\\1`),
  ),
}));
const anchored = pattern.map((source) => `^${source}$`);
const text = fc.tuple(fc.constantFrom('a', 'ab', 'aab', ' ', 'a\u0301', '\ud83d\ude00'), fc.integer({ min: 0, max: 4_000 }), fc.constantFrom('', '!', 'b', '\u2028')).map(([unit, count, end]) => unit.repeat(count) + end);

family('a pattern is refused, or matches in bounded time and as the host does where the host can', fc.tuple(anchored, text), { runs: 400, sees: ['refused', 'matched', 'not matched'] }, ([source, subject]) => {
  const compiled = compilePattern(source);
  if (!compiled.ok) {
    expect(compiled.error.code).toMatch(/^pattern\//);
    return 'refused';
  }
  let verdict: boolean;
  try {
    verdict = compiled.value.test(subject);
  } catch (cause) {
    expect(cause).toBeInstanceOf(PatternBudgetError);
    return 'stopped';
  }
  // the host backtracks: it is asked about short texts alone, and not about many optional parts in a row, of which it tries every choice
  const short = subject.slice(0, 8);
  const isQuick = compiled.value.program.length <= 64 || !/[*?|,]/.test(source);
  if (isQuick && !/[\ud800-\udbff]$/.test(short)) expect(compiled.value.test(short)).toBe(new RegExp(source, 'u').test(short));
  return verdict ? 'matched' : 'not matched';
});

family('a contract with such a pattern repairs, declines or does not load', fc.tuple(anchored, text, text), { runs: 200, sees: ['failed', 'valid'] }, ([source, given, wanted]) => {
  const parameters: JsonObject = { type: 'object', properties: { code: { type: 'string', pattern: source } }, required: ['code'] };
  return attack(requestOf({ tool: { name: 'put', parameters }, call: { name: 'put', arguments: { code: given } } }), saying(JSON.stringify([{ op: 'replace', path: '/code', value: wanted }])));
});
