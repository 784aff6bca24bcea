/** Laws of patterns: the linear-time matcher and the host's backtracking RegExp agree wherever the host answers. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern } from '../../src/validate/pattern.ts';
import { machineOf, type PatternThreads } from '../../src/validate/pattern-machine.ts';
import { textAutomaton, type TextAutomaton } from '../../src/validate/text-automaton.ts';

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

/** Lone surrogates are in no text that is spelled. */
const spelledText = text.map((sample) => sample.replace(/\p{Cs}/gu, ''));

test('stepping code point by code point says the same as testing the whole text', () => {
  fc.assert(fc.property(source, spelledText, (pattern, sample) => {
    const compiled = compilePattern(pattern);
    if (!compiled.ok) throw new Error(compiled.error.code);
    const machine = machineOf(compiled.value);
    let threads: PatternThreads | 'matched' = machine.start;
    let previous: number | undefined;
    for (const next of [...[...sample].map((character) => character.codePointAt(0)), undefined]) {
      if (threads === 'matched') break;
      threads = machine.step(threads, previous, next);
      previous = next;
    }
    expect(threads === 'matched').toBe(compiled.value.test(sample));
  }), { numRuns: 2_000 });
});

function stateAfter({ intervalStarts, intervalSymbols, symbolCount, next }: TextAutomaton, sample: string): number {
  let state = 0;
  for (const character of sample) {
    const codePoint = character.codePointAt(0) as number;
    const symbol = intervalSymbols[intervalStarts.findLastIndex((start) => start <= codePoint)] as number;
    if (state >= 0) state = next[state * symbolCount + symbol] as number;
  }
  return state;
}

test('the automaton of several patterns accepts what all of them match, and has no dead end', () => {
  fc.assert(fc.property(fc.array(source, { minLength: 1, maxLength: 3 }), spelledText, (patterns, sample) => {
    const automaton = textAutomaton(patterns);
    if (!automaton.ok) throw new Error(automaton.error.code);
    const { freeState, isAccepting, next, stateCount, symbolCount } = automaton.value;
    const state = stateAfter(automaton.value, sample);
    const tests = patterns.map((pattern) => compilePattern(pattern)).map((pattern) => pattern.ok && pattern.value.test(sample));
    expect(state >= 0 && isAccepting[state] === 1).toBe(!tests.includes(false));
    if (freeState >= 0) expect(next.subarray(freeState * symbolCount, (freeState + 1) * symbolCount).every((target) => target === freeState)).toBe(true);
    for (let each = 1; each < stateCount; each += 1) {
      const isEntered = next.includes(each);
      const goesOn = next.subarray(each * symbolCount, (each + 1) * symbolCount).some((target) => target >= 0);
      expect(!isEntered || goesOn || isAccepting[each] === 1).toBe(true);
    }
  }), { numRuns: 1_000 });
});
