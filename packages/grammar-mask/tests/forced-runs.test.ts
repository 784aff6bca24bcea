/** Forced runs on the real vocabulary: never a token that the canonical spelling of some admissible output would not contain at that place. */
import { describe, expect, test } from 'vitest';
import type { TokenId } from '../src/index.ts';
import { ALL_OPERATIONS, allowed, contractOf, feed, matcherOf, ODD_NAMES, randomFrom, WEATHER } from './support/contracts.ts';
import { byteVocabulary, smollm2Vocabulary, SMOLLM2_STOP, vocabularyOf } from './support/vocabulary.ts';

const LIMITS = { maxStringLength: 6, maxItems: 2 };
const vocabulary = smollm2Vocabulary();
const weather = contractOf(WEATHER, { allowedOperations: ALL_OPERATIONS });
const DOCUMENT = { city: 7, unit: 'C', tags: ['x', 'y'], extra: true };
const textOf = (ids: readonly TokenId[]): string => ids.map((id) => (id === SMOLLM2_STOP ? '' : Buffer.from(vocabulary.tokens[id] ?? []).toString('utf8'))).join('');

/** Admissible outputs by random walks over single bytes, so that they are not shaped by tokens. */
function randomOutputs(count: number, contract: typeof weather, document: typeof DOCUMENT | object, seed: number): readonly string[] {
  const bytes = vocabularyOf(vocabulary.tokens.map((token) => (token?.length === 1 ? token : undefined)), [SMOLLM2_STOP]);
  const matcher = matcherOf(contract, document as never, bytes, 2, LIMITS);
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => {
    matcher.reset();
    while (!matcher.isTerminated()) {
      const ids = allowed(matcher);
      matcher.acceptToken(ids[Math.floor(random() * ids.length)] as number);
    }
    return matcher.text();
  });
}

describe('forced tokens', () => {
  test.each([
    ['weather', weather, DOCUMENT, 3],
    ['odd names', contractOf(ODD_NAMES, { allowedOperations: ALL_OPERATIONS }), { 'a"b/c~d': 'x', 'cafe\u0301': 1 }, 4],
  ] as const)('along the canonical spelling of random outputs they are that spelling (%s)', (_, contract, document, seed) => {
    let forcedCount = 0;
    let tokenCount = 0;
    const matcher = matcherOf(contract, document as never, vocabulary, 2, LIMITS);
    for (const output of randomOutputs(150, contract, document, seed)) {
      const canonical = [...vocabulary.encode(output), SMOLLM2_STOP];
      matcher.reset();
      for (let index = 0; index < canonical.length;) {
        const forced = matcher.forcedTokens();
        expect(forced, output.slice(0, 200)).toEqual(canonical.slice(index, index + forced.length));
        forcedCount += forced.length;
        tokenCount += Math.max(1, forced.length);
        const taken = forced.length > 0 ? forced : canonical.slice(index, index + 1);
        expect(feed(matcher, taken), output).toBe(true);
        index += taken.length;
      }
      expect(matcher.isTerminated()).toBe(true);
      expect(matcher.text()).toBe(output);
    }
    expect(forcedCount / tokenCount).toBeGreaterThan(0.3);
    console.log(`forced ${forcedCount} of ${tokenCount} canonical tokens`);
  }, 60_000);

  test('a policy that picks by text gives the same output with and without them', () => {
    const matcher = matcherOf(weather, DOCUMENT, vocabulary, 2, LIMITS);
    // picks the highest score among the allowed tokens that are canonical at this place, as a trained model nearly always does
    const decode = (target: string, isForcing: boolean): readonly TokenId[] => {
      matcher.reset();
      const canonical = [...vocabulary.encode(target), SMOLLM2_STOP];
      const ids: TokenId[] = [];
      while (!matcher.isTerminated()) {
        const forced = isForcing ? matcher.forcedTokens() : [];
        const taken = forced.length > 0 ? forced : [canonical[ids.length] as TokenId];
        expect(feed(matcher, taken)).toBe(true);
        ids.push(...taken);
      }
      return ids;
    };
    for (const output of randomOutputs(40, weather, DOCUMENT, 11)) expect(decode(output, true)).toEqual(decode(output, false));
  }, 60_000);

  test('the bytes of a run are the longest that every continuation shares', () => {
    const matcher = matcherOf(weather, DOCUMENT, vocabulary, 1);
    expect(matcher.forcedBytes()).toHaveLength(0);
    feed(matcher, vocabulary.encode('['));
    expect(Buffer.from(matcher.forcedBytes()).toString()).toBe('{"op":"');
    feed(matcher, vocabulary.encode('{"op":"add","path":"/days","value":1'));
    expect(matcher.forcedBytes()).toHaveLength(0);
    feed(matcher, vocabulary.encode('6'));
    expect(Buffer.from(matcher.forcedBytes()).toString()).toBe('}]');
    expect(textOf(matcher.forcedTokens())).toBe('}]');
    expect(matcher.forcedTokens().at(-1)).toBe(SMOLLM2_STOP);
  });

  test('15: no final token is forced that a longer legal token could absorb', () => {
    const contract = contractOf({ type: 'object', properties: { order: { type: 'null' }, orderName: { type: 'null' } }, additionalProperties: false }, { allowedOperations: ['add'] });
    const words = byteVocabulary(['order', 'orderName', 'Name', '{"op":"add","path":"/', '","value":null}]']);
    const [order, orderName] = [256, 257];
    const matcher = matcherOf(contract, {}, words, 1);
    feed(matcher, [0x5b, 259]);
    expect(Buffer.from(matcher.forcedBytes()).toString()).toBe('order');
    // both `order` and `orderName` are legal here, and only one of them is the spelling of what the policy means
    expect(matcher.forcedTokens()).toEqual([]);
    expect(allowed(matcher)).toEqual(expect.arrayContaining([order, orderName]));
  });

  test('behind a spelling that no tokenizer would choose, the rest is still forced', () => {
    const matcher = matcherOf(contractOf(WEATHER, { allowedOperations: ['add'] }), { city: 'Rome', unit: 'celsius' }, vocabulary, 1);
    for (const character of '[{"op":"add","path":"/d') {
      feed(matcher, [vocabulary.tokens.findIndex((bytes) => bytes?.length === 1 && bytes[0] === character.charCodeAt(0))]);
    }
    expect(Buffer.from(matcher.forcedBytes()).toString()).toBe('ays","value":1'.slice(0, -1));
    expect(textOf(matcher.forcedTokens())).toBe('ays","value":');
  });
});
