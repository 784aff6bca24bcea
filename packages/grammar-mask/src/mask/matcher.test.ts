import { describe, expect, test } from 'vitest';
import { allowed, contractOf, feed, matcherOf, stateOf } from '../../tests/support/contracts.ts';
import { byteVocabulary } from '../../tests/support/vocabulary.ts';
import { compileMask, compileValueMask } from './compile.ts';
import type { MaskMatcher } from './matcher.ts';
import { bitmaskLength } from './token-bitmask.ts';

const vocabulary = byteVocabulary([], 30);
const stopId = vocabulary.stopIds[0] as number;
const bytes = (text: string): number[] => [...Buffer.from(text, 'utf8')];
const SWITCH = contractOf({ type: 'object', properties: { on: { type: 'boolean' } }, additionalProperties: false }, { allowedOperations: ['add', 'replace'], operationBudget: 2 });

/** All outputs, by trying every byte everywhere. */
function outputsOf(matcher: MaskMatcher): readonly string[] {
  const found: string[] = [];
  const visit = (): void => {
    for (const id of allowed(matcher)) {
      matcher.acceptToken(id);
      if (id === stopId) found.push(matcher.text());
      else visit();
      matcher.rollback(1);
    }
  };
  visit();
  return found.sort();
}

describe('the whole language of a small contract', () => {
  const abstentions = ['ambiguous', 'locked', 'not-in-state', 'over-budget', 'unknown-tool', 'unrepairable', 'unsafe'].map((code) => `{"abstain":"${code}"}`);

  test('one operation: every admissible patch, every abstention, nothing else', () => {
    expect(outputsOf(matcherOf(SWITCH, {}, vocabulary, 1))).toEqual([
      '[{"op":"add","path":"/on","value":false}]', '[{"op":"add","path":"/on","value":true}]', ...abstentions,
    ]);
  });

  test('two operations: the second sees what the first left', () => {
    const outputs = outputsOf(matcherOf(SWITCH, {}, vocabulary, 2));
    expect(outputs).toHaveLength(2 + 4 + abstentions.length);
    expect(outputs).toContain('[{"op":"add","path":"/on","value":true},{"op":"replace","path":"/on","value":false}]');
  });

  test.each([['no operation left', {}, 0, 2], ['no attempt left', {}, 2, 0]])('%s: only abstentions', (_, document, operationsLeft, attemptsLeft) => {
    const compiled = compileMask(SWITCH, vocabulary);
    const bound = compiled.ok ? compiled.value.bind(stateOf(document, operationsLeft, attemptsLeft)) : compiled;
    expect(bound.ok && outputsOf(bound.value)).toEqual(abstentions);
  });

  test('nothing admissible: only abstentions', () => {
    const closed = contractOf({ type: 'object', properties: {}, additionalProperties: false }, { allowedOperations: ['add'] });
    expect(outputsOf(matcherOf(closed, {}, vocabulary))).toEqual(abstentions);
  });

  test('a contract may narrow the reasons to abstain', () => {
    const matcher = matcherOf(SWITCH, {}, vocabulary, 0, { abstainCodes: ['unsafe'] });
    expect(outputsOf(matcher)).toEqual(['{"abstain":"unsafe"}']);
  });
});

describe('states of a matcher', () => {
  test('stops only where the output is complete, and then nothing else follows', () => {
    const matcher = matcherOf(SWITCH, {}, vocabulary, 1);
    expect(matcher.isAccepting()).toBe(false);
    feed(matcher, bytes('[{"op":"add","path":"/on","value":true}'));
    expect([matcher.isAccepting(), matcher.isCompleted()]).toEqual([false, false]);
    feed(matcher, bytes(']'));
    expect([matcher.isAccepting(), matcher.isCompleted(), matcher.isTerminated()]).toEqual([true, true, false]);
    expect(allowed(matcher)).toEqual([stopId]);
    expect(matcher.acceptToken(stopId).ok).toBe(true);
    expect([matcher.isAccepting(), matcher.isCompleted(), matcher.isTerminated()]).toEqual([false, true, true]);
    expect(allowed(matcher)).toEqual([]);
    expect(matcher.acceptToken(stopId)).toEqual({ ok: false, error: { code: 'mask/terminated' } });
    expect(matcher.text()).toBe('[{"op":"add","path":"/on","value":true}]');
  });

  test.each([['a byte outside the language', 0x7b + 1], ['the stop token too early', stopId], ['padding', stopId + 5], ['an id that is none', 1e9], ['a negative id', -1]])('%s fails the matcher', (_, id) => {
    const matcher = matcherOf(SWITCH, {}, vocabulary, 1);
    expect(matcher.acceptToken(id)).toMatchObject({ ok: false, error: { code: 'mask/token-not-allowed', id } });
    expect(matcher.acceptToken(0x5b)).toEqual({ ok: false, error: { code: 'mask/failed' } });
    expect(matcher.fork().acceptToken(0x5b)).toEqual({ ok: false, error: { code: 'mask/failed' } });
    expect(allowed(matcher)).toEqual([]);
    expect([matcher.isAccepting(), matcher.isCompleted(), matcher.forcedBytes().length, matcher.forcedTokens().length]).toEqual([false, false, 0, 0]);
    matcher.reset();
    expect(matcher.acceptToken(0x5b).ok).toBe(true);
  });

  test('rollback takes back accepted tokens and a failure, and cannot go before the start', () => {
    const matcher = matcherOf(SWITCH, {}, vocabulary, 1);
    feed(matcher, bytes('[{'));
    matcher.acceptToken(0x5d);
    matcher.rollback(1);
    expect(matcher.text()).toBe('[');
    expect(() => { matcher.rollback(2); }).toThrow(RangeError);
    expect(() => { matcher.rollback(-1); }).toThrow(RangeError);
  });

  test('a bitmask of the wrong width is a bug of the caller', () => {
    const matcher = matcherOf(SWITCH, {}, vocabulary, 1);
    expect(() => matcher.fillBitmask(new Int32Array(bitmaskLength(matcher.logitWidth) - 1))).toThrow(RangeError);
  });

  test('allowed ids come in order, and −1 where they do not fit', () => {
    const matcher = matcherOf(SWITCH, {}, vocabulary, 1);
    const out = new Int32Array(2);
    expect(matcher.allowedIds(out)).toBe(2);
    expect([...out]).toEqual([0x5b, 0x7b]);
    expect(matcher.allowedIds(new Int32Array(1))).toBe(-1);
  });

  test('text leaves out a character that is not complete', () => {
    const contract = contractOf({ type: 'object', properties: { s: { type: 'string' } } });
    const matcher = matcherOf(contract, {}, vocabulary, 1);
    feed(matcher, [...bytes('[{"op":"add","path":"/s","value":"é'), 0xf0, 0x9f]);
    expect(matcher.text()).toBe('[{"op":"add","path":"/s","value":"é');
  });
});

describe('the mask digest', () => {
  const digestAfter = (ids: readonly number[], document: object, ask = true): string => {
    const matcher = matcherOf(SWITCH, document as never, vocabulary, 1);
    for (const id of ids) {
      if (ask) allowed(matcher);
      matcher.acceptToken(id);
    }
    return matcher.maskDigest();
  };

  test('is replayed by the same contract, document and tokens', () => {
    expect(digestAfter(bytes('[{'), {})).toBe(digestAfter(bytes('[{'), {}));
    expect(digestAfter([], {})).toMatch(/^[0-9a-f]{64}$/);
  });

  test('changes with the tokens, the document, and the masks that were asked for', () => {
    const all = [digestAfter(bytes('[{'), {}), digestAfter(bytes('{"'), {}), digestAfter(bytes('[{'), { on: true }), digestAfter(bytes('[{'), {}, false), digestAfter(bytes('['), {})];
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('compiling', () => {
  const compile = (parameters: object, allowedOperations: readonly string[]): ReturnType<typeof compileMask> => compileMask(contractOf(parameters as never, { allowedOperations }), vocabulary);
  const onlyPattern = { type: 'object', properties: { a: { type: 'string', pattern: 'x.{20}y' } }, additionalProperties: false };

  test('fails where nothing can be written or moved, and names the keyword', () => {
    expect(compile(onlyPattern, ['add', 'replace'])).toEqual({
      ok: false, error: { code: 'mask/unsupported-keyword', keyword: 'pattern', keywordLocation: '/properties/a/pattern', instanceLocation: '/a' },
    });
  });

  test('a place it cannot constrain loses add and replace but keeps remove, move and copy, and the certificate lists it', () => {
    const compiled = compile({ ...onlyPattern, properties: { ...onlyPattern.properties, b: { type: 'null' } } }, ['add', 'replace', 'remove', 'move']);
    if (!compiled.ok) throw new Error(compiled.error.code);
    expect(compiled.value.certificate.unsupported).toMatchObject([{ keyword: 'pattern', instanceLocation: '/a' }]);
    expect(compiled.value.certificate.readableCount).toBe(1);
    const bound = compiled.value.bind(stateOf({ a: 'y' }, 1));
    const outputs = bound.ok ? outputsOf(bound.value).filter((output) => output.startsWith('[')) : [];
    expect(outputs).toEqual(['[{"op":"add","path":"/b","value":null}]', '[{"op":"move","from":"/a","path":"/b"}]', '[{"op":"remove","path":"/a"}]']);
  });

  test.each([['attemptsLeft', -1, 1], ['operationsLeft', 1, 1.5]])('a budget that is none is refused: %s', (budget, attemptsLeft, operationsLeft) => {
    const compiled = compileMask(SWITCH, vocabulary);
    expect(compiled.ok && compiled.value.bind(stateOf({}, operationsLeft, attemptsLeft))).toMatchObject({ ok: false, error: { code: 'mask/bad-budget', budget } });
  });

  test('a vocabulary without stop token, or without a byte that patches need, is refused', () => {
    expect(compileMask(SWITCH, { ...vocabulary, stopIds: [] })).toEqual({ ok: false, error: { code: 'mask/no-stop-token' } });
    expect(compileMask(SWITCH, { ...vocabulary, tokens: vocabulary.tokens.map((token, id) => (id === 0x7b ? undefined : token)) })).toEqual({ ok: false, error: { code: 'mask/unspellable-byte', byte: 0x7b } });
  });

  test('limits that are none are a bug of the caller', () => {
    expect(() => compileMask(SWITCH, vocabulary, { maxItems: -1 })).toThrow(RangeError);
  });
});

describe('a bare value as the whole output', () => {
  const valuesOf = (schema: object): readonly string[] => {
    const compiled = compileValueMask(schema as never, vocabulary, { maxStringLength: 1, maxItems: 2 });
    if (!compiled.ok) throw new Error(compiled.error.code);
    return outputsOf(compiled.value.createMatcher());
  };

  test.each<[string, object, readonly string[]]>([
    ['integers, which end where they stop', { type: 'integer', minimum: 9, maximum: 11 }, ['10', '11', '9']],
    ['numbers that other numbers begin with', { enum: [1, 12, 1.5] }, ['1', '1.5', '12']],
    ['arrays by their counts', { type: 'array', items: { type: 'boolean' }, minItems: 1, maxItems: 2 }, ['[false,false]', '[false,true]', '[false]', '[true,false]', '[true,true]', '[true]']],
    ['members in order, required ones always', { type: 'object', properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } }, required: ['b'] }, ['{"b":2,"a":1,"c":3}', '{"b":2,"a":1}', '{"b":2,"c":3}', '{"b":2}']],
    ['nested literals', { const: { a: [1, { b: null }] } }, ['{"a":[1,{"b":null}]}']],
    ['tuples that end', { type: 'array', prefixItems: [{ const: 'x' }, { type: 'null' }], items: false }, ['["x",null]', '["x"]', '[]']],
  ])('spells %s', (_, schema, expected) => {
    expect(valuesOf(schema)).toEqual(expected);
  });

  test('a bare number may stop and may go on', () => {
    const compiled = compileValueMask({ enum: [1, 12] }, vocabulary);
    const matcher = compiled.ok ? compiled.value.createMatcher() : undefined;
    expect(matcher?.acceptToken(0x31).ok).toBe(true);
    expect([matcher?.isAccepting(), matcher?.isCompleted(), matcher?.forcedTokens()]).toEqual([true, false, []]);
    expect(matcher?.acceptToken(0x32).ok).toBe(true);
    expect([matcher?.isAccepting(), matcher?.isCompleted(), matcher?.forcedTokens()]).toEqual([true, true, [stopId]]);
  });

  test('a schema that accepts nothing, or that cannot be constrained, does not compile', () => {
    expect(compileValueMask({ type: 'string', minLength: 2, maxLength: 1 }, vocabulary)).toEqual({ ok: false, error: { code: 'mask/nothing-accepted' } });
    expect(compileValueMask({ unevaluatedProperties: false }, vocabulary)).toMatchObject({ ok: false, error: { code: 'mask/unsupported-keyword', keyword: 'unevaluatedProperties' } });
  });
});
