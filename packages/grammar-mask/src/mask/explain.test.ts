import { describe, expect, test } from 'vitest';
import { ALL_OPERATIONS, allowed, contractOf, feed, matcherOf, stateOf, WEATHER } from '../../tests/support/contracts.ts';
import { byteVocabulary } from '../../tests/support/vocabulary.ts';
import { compileMask, compileValueMask } from './compile.ts';
import type { MaskClause } from './explain.ts';
import type { MaskMatcher } from './matcher.ts';

const words = ['Celsius"', '/city"', '/none"', '/unit"', '/c', 'move', 'test', '  ', '99', '"too long for a city"', 'true', '},{', '/tags/7"', 'x"}'];
const vocabulary = byteVocabulary(words, 4);
const stopId = vocabulary.stopIds[0] as number;
const utf8 = (text: string): number[] => [...Buffer.from(text, 'utf8')];
const idOf = (text: string): number => (text.length === 1 ? text.charCodeAt(0) : 256 + words.indexOf(text));
const DOCUMENT = { city: 7, unit: 'C', tags: ['x'], days: 3 };
const contract = contractOf(WEATHER, { allowedOperations: ['add', 'replace', 'remove'], immutablePaths: ['/city'] });

function clauseOf(matcher: MaskMatcher, id: number): MaskClause | 'allowed' {
  const verdict = matcher.explain(id);
  return verdict.isAllowed ? 'allowed' : verdict.clause;
}

describe('the clause that forbids a token', () => {
  test.each<[string, string, string, MaskClause]>([
    ['an operation that the contract does not allow', '[{"op":"', 'move', { kind: 'operation', operation: 'move' }],
    ['an operation that is none', '[{"op":"', 'test', { kind: 'spelling' }],
    ['a locked pointer', '[{"op":"replace","path":"', '/city"', { kind: 'pointer', pointer: '/city', code: 'patch/locked-path' }],
    ['the beginning of a locked pointer', '[{"op":"replace","path":"', '/c', { kind: 'pointer', pointer: '/c', code: 'patch/locked-path' }],
    ['a pointer that does not resolve', '[{"op":"replace","path":"', '/none"', { kind: 'pointer', pointer: '/none', code: 'patch/path-unresolved' }],
    ['an index that is not there', '[{"op":"remove","path":"', '/tags/7"', { kind: 'pointer', pointer: '/tags/7', code: 'patch/path-unresolved' }],
    ['a pointer that core would take and the mask spells otherwise', '[{"op":"add","path":"', '/unit"', { kind: 'pointer', pointer: '/unit', code: undefined }],
    ['a value outside its enum', '[{"op":"replace","path":"/unit","value":"', 'Celsius"', { kind: 'value', pointer: '/unit', keyword: 'enum', keywordLocation: '/properties/unit/enum' }],
    ['a value of another type', '[{"op":"replace","path":"/unit","value":', 'true', { kind: 'value', pointer: '/unit', keyword: 'type', keywordLocation: '/properties/unit/type' }],
    ['a number that is too large', '[{"op":"replace","path":"/days","value":', '99', { kind: 'value', pointer: '/days', keyword: 'maximum', keywordLocation: '/properties/days/maximum' }],
    ['an item that is too long', '[{"op":"replace","path":"/tags","value":["abcdef', 'x"}', { kind: 'value', pointer: '/tags/0', keyword: 'maxLength', keywordLocation: '/properties/tags/items/maxLength' }],
    ['white space', '[{"op":"replace","path":"/days","value":', '  ', { kind: 'whitespace' }],
    ['white space inside a number', '[{"op":"replace","path":"/days","value":1', ' ', { kind: 'whitespace' }],
    ['a leading zero', '[{"op":"replace","path":"/days","value":', '0', { kind: 'value', pointer: '/days', keyword: 'minimum', keywordLocation: '/properties/days/minimum' }],
    ['an escape that is not needed', '[{"op":"add","path":"/when","value":"\\', '/', { kind: 'spelling' }],
    ['an operation too many', '[{"op":"remove","path":"/unit"', '},{', { kind: 'operation-budget' }],
    ['a byte of no skeleton', '[', 'x', { kind: 'spelling' }],
    ['text behind the end', '[{"op":"remove","path":"/unit"}]', ' ', { kind: 'ended' }],
  ])('%s', (_, output, token, clause) => {
    const matcher = matcherOf(contract, DOCUMENT, vocabulary, 1);
    expect(feed(matcher, utf8(output))).toBe(true);
    expect(clauseOf(matcher, idOf(token))).toEqual(clause);
  });

  test('stop tokens, special tokens and padding', () => {
    const matcher = matcherOf(contract, DOCUMENT, vocabulary, 1);
    expect(clauseOf(matcher, stopId)).toEqual({ kind: 'not-complete' });
    for (const id of [stopId + 1, 1e9, -1]) expect(clauseOf(matcher, id)).toEqual({ kind: 'no-text' });
    feed(matcher, [...utf8('{"abstain":"locked"}'), stopId]);
    expect(clauseOf(matcher, 0x5b)).toEqual({ kind: 'ended' });
  });

  test('the token budget, the value that stands there already, and a patch that misses its goal', () => {
    const compiled = compileMask(contract, vocabulary, { excludeNoOps: true, goal: true });
    if (!compiled.ok) throw new Error(compiled.error.code);
    const open = (tokenBudget: number, document: object = DOCUMENT): MaskMatcher => {
      const bound = compiled.value.bind(stateOf(document as never, 2), { tokenBudget });
      if (!bound.ok) throw new Error(bound.error.code);
      return bound.value;
    };
    const short = open(22);
    expect(clauseOf(short, 0x5b)).toEqual({ kind: 'token-budget', tokensLeft: 22 });
    const same = open(200);
    feed(same, utf8('[{"op":"replace","path":"/days","value":'));
    // 3 stands there, and no number of two digits that begins with it is in range
    expect(clauseOf(same, 0x33)).toEqual({ kind: 'excluded-value', pointer: '/days' });
    const early = open(200, { ...DOCUMENT, city: 'Rome' });
    feed(early, utf8('[{"op":"replace","path":"/days","value":4}'));
    expect(clauseOf(early, 0x5d)).toEqual({ kind: 'goal' });
  });

  test('of a bare value is its schema, or white space', () => {
    const compiled = compileValueMask({ type: 'integer' }, vocabulary);
    const matcher = compiled.ok ? compiled.value.createMatcher() : undefined;
    expect(matcher?.explain(0x22)).toMatchObject({ clause: { kind: 'value' } });
    expect(matcher?.explain(0x20)).toMatchObject({ clause: { kind: 'whitespace' } });
  });
});

test('what is explained as allowed is what the mask allows, and asking changes nothing', () => {
  const matcher = matcherOf(contractOf(WEATHER, { allowedOperations: ALL_OPERATIONS }), DOCUMENT, vocabulary, 2);
  for (const byte of utf8('[{"op":"replace","path":"/place","value":{"lat":-1.5,"lon":0}},{"op":"copy","from":"/unit","path":"/city"}]')) {
    const ids = new Set(allowed(matcher));
    for (let id = 0; id < vocabulary.logitWidth; id += 1) {
      expect(matcher.isAllowed(id), `${matcher.text()} then ${id}`).toBe(ids.has(id));
      expect(matcher.explain(id).isAllowed).toBe(ids.has(id));
    }
    if (!matcher.acceptToken(byte).ok) break;
  }
});
