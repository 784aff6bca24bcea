/** Token budgets: nothing is begun that cannot be finished in time, and whatever can be is allowed. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadContract } from '@contractrl/core';
import { compileMask, type CompileOptions, type MaskMatcher, type TokenId, type Vocabulary } from '../src/index.ts';
import { ALL_OPERATIONS, allowed, contractOf, feed, randomFrom, stateOf, WEATHER } from './support/contracts.ts';
import { randomCase } from './support/random-contracts.ts';
import { byteVocabulary, smollm2Vocabulary } from './support/vocabulary.ts';

const bytes = byteVocabulary([]);
const merged = byteVocabulary(['[{"op":"', 'add', 'replace', 'remove', '","path":"/', '","value":', '"}]', '"},{"op":"', '"}', '}]', 'true', 'false', '{"abstain":"', 'locked', 'aa', 'aaa', 'é', '00', '":', '","']);
const SWITCH = contractOf({ type: 'object', properties: { on: { type: 'boolean' }, level: { enum: [1, 12, 100] } }, additionalProperties: false }, { allowedOperations: ALL_OPERATIONS, operationBudget: 2 });
const utf8 = (text: string): number[] => [...Buffer.from(text, 'utf8')];
const TIMEOUT_MS = 120_000;

function open(contract: typeof SWITCH, document: object, vocabulary: Vocabulary, operationsLeft: number, tokenBudget: number, options: CompileOptions = {}): MaskMatcher {
  const compiled = compileMask(contract, vocabulary, options);
  const bound = compiled.ok ? compiled.value.bind(stateOf(document as never, operationsLeft), { tokenBudget }) : compiled;
  if (!bound.ok) throw new Error(JSON.stringify(bound.error));
  return bound.value;
}

/** All token paths of at most `budget` tokens to a stop token, by trying everything. */
function pathsOf(matcher: MaskMatcher, budget: number): Set<string> {
  const found = new Set<string>();
  const ids: TokenId[] = [];
  const visit = (): void => {
    if (matcher.isTerminated()) found.add(ids.join(' '));
    else if (ids.length < budget) {
      for (const id of allowed(matcher)) {
        matcher.acceptToken(id);
        ids.push(id);
        visit();
        ids.pop();
        matcher.rollback(1);
      }
    }
  };
  visit();
  return found;
}

describe('a budget of tokens', () => {
  test.each([40, 41, 42, 43, 44, 60, 80])('where a token is a byte, exactly the outputs of at most %i tokens are reached', (budget) => {
    const free = pathsOf(open(SWITCH, { on: true }, bytes, 2, 1000), budget);
    expect(free.size).toBeGreaterThan(7);
    expect(pathsOf(open(SWITCH, { on: true }, bytes, 2, budget), budget)).toEqual(free);
  });

  test('where tokens are longer, nothing beyond the budget is reached, and every state on the way can be finished', () => {
    for (const budget of [9, 10, 12, 14]) {
      const matcher = open(contractOf({ type: 'object', properties: { on: { type: 'boolean' } }, additionalProperties: false }, { allowedOperations: ['add', 'remove'] }), {}, merged, 1, budget);
      const visit = (used: number): number => {
        if (matcher.isTerminated()) return 1;
        expect(used).toBeLessThan(budget);
        expect(matcher.shortestCompletion()).toBeLessThanOrEqual(budget - used);
        let endCount = 0;
        const ids = allowed(matcher);
        expect(ids.length).toBeGreaterThan(0);
        for (const id of ids) {
          expect(matcher.acceptToken(id).ok).toBe(true);
          endCount += visit(used + 1);
          matcher.rollback(1);
        }
        return endCount;
      };
      expect(visit(0)).toBeGreaterThan(0);
    }
  });

  test('the mask and what is accepted agree on every token', () => {
    const matcher = open(SWITCH, { on: true }, merged, 2, 9);
    const random = randomFrom(5);
    for (let step = 0; step < 8 && !matcher.isTerminated(); step += 1) {
      const ids = new Set(allowed(matcher));
      for (let id = 0; id < merged.logitWidth; id += 1) expect(matcher.fork().acceptToken(id).ok, `${matcher.text()} then ${id}`).toBe(ids.has(id));
      matcher.acceptToken([...ids][Math.floor(random() * ids.size)] as TokenId);
    }
  });

  test('random walks of random contracts end in time, with no-op exclusion too', () => {
    let walkCount = 0;
    let roundCount = 0;
    fc.assert(fc.property(randomCase, fc.nat({ max: 40 }), fc.boolean(), ({ parameters, document, overrides, operationsLeft, seed }, slack, excludeNoOps) => {
      roundCount += 1;
      const contract = loadContract({ tool: { name: 'tool', description: '', parameters }, ...overrides });
      const compiled = contract.ok ? compileMask(contract.value, merged, { maxStringLength: 6, maxItems: 2, excludeNoOps }) : contract;
      if (!compiled.ok) return;
      const unbounded = compiled.value.bind(stateOf(document, operationsLeft));
      if (!unbounded.ok) throw new Error(JSON.stringify(unbounded.error));
      const budget = unbounded.value.shortestCompletion() + slack;
      const bound = compiled.value.bind(stateOf(document, operationsLeft), { tokenBudget: budget });
      if (!bound.ok) throw new Error(JSON.stringify(bound.error));
      const random = randomFrom(seed);
      const matcher = bound.value;
      for (let used = 0; !matcher.isTerminated(); used += 1) {
        expect(used, matcher.text()).toBeLessThan(budget);
        const ids = allowed(matcher);
        expect(ids.length, `stuck behind ${matcher.text()}`).toBeGreaterThan(0);
        const patch = ids.filter((id) => merged.tokens[id]?.[0] !== 0x7b);
        const choices = used === 0 && patch.length > 0 ? patch : ids;
        expect(matcher.acceptToken(choices[Math.floor(random() * choices.length)] as TokenId).ok).toBe(true);
      }
      walkCount += 1;
    }), { numRuns: 120 });
    expect(walkCount).toBeGreaterThan(roundCount / 2);
  }, TIMEOUT_MS);

  test('on the real vocabulary walks into long strings end in time, forced runs included', () => {
    const vocabulary = smollm2Vocabulary();
    const contract = contractOf({ ...WEATHER, properties: { ...(WEATHER['properties'] as object), note: { type: 'string', minLength: 20, maxLength: 500 } } } as never, { allowedOperations: ALL_OPERATIONS });
    const random = randomFrom(9);
    for (const budget of [24, 30, 48]) {
      const matcher = open(contract, { city: 7, tags: ['x'] }, vocabulary, 3, budget);
      for (let walk = 0; walk < 12; walk += 1) {
        matcher.reset();
        feed(matcher, vocabulary.encode('['));
        let used = 1;
        while (!matcher.isTerminated()) {
          const forced = random() < 0.7 ? matcher.forcedTokens() : [];
          const ids = allowed(matcher);
          expect(ids.length, `stuck behind ${matcher.text()}`).toBeGreaterThan(0);
          const taken = forced.length > 0 ? forced : [ids[Math.floor(random() * ids.length)] as TokenId];
          expect(feed(matcher, taken), `${matcher.text()} then ${taken.join()}`).toBe(true);
          used += taken.length;
          expect(used).toBeLessThanOrEqual(budget);
        }
      }
    }
  }, TIMEOUT_MS);

  test('without room for an abstention binding fails, with a count that then suffices', () => {
    const compiled = compileMask(SWITCH, smollm2Vocabulary());
    if (!compiled.ok) throw new Error(compiled.error.code);
    const refused = compiled.value.bind(stateOf({}, 2), { tokenBudget: 3 });
    expect(refused).toMatchObject({ ok: false, error: { code: 'mask/token-budget', tokenBudget: 3 } });
    const needed = refused.ok ? 0 : (refused.error as { needed: number }).needed;
    expect(compiled.value.bind(stateOf({}, 2), { tokenBudget: needed }).ok).toBe(true);
    expect(compiled.value.bind(stateOf({}, 2), { tokenBudget: -1 })).toMatchObject({ ok: false, error: { code: 'mask/bad-budget', budget: 'tokenBudget' } });
  });

  test('the budget is part of the mask digest', () => {
    expect(open(SWITCH, {}, bytes, 1, 100).maskDigest()).not.toBe(open(SWITCH, {}, bytes, 1, 101).maskDigest());
  });
});

describe('the shortest completion', () => {
  test('25: is the true count at every state of a small contract, where a token is a byte', () => {
    const matcher = open(SWITCH, { on: true }, bytes, 1, 1000);
    const visit = (): number => {
      if (matcher.isTerminated()) return 0;
      let shortest = Infinity;
      const claimed = matcher.shortestCompletion();
      for (const id of allowed(matcher)) {
        matcher.acceptToken(id);
        shortest = Math.min(shortest, 1 + visit());
        matcher.rollback(1);
      }
      expect(claimed, matcher.text()).toBe(shortest);
      return shortest;
    };
    visit();
  });

  test.each<[string, string, number]>([
    ['in front of a required string', '[{"op":"replace","path":"/city","value":"', 2 + 3 + 1],
    ['inside a character', '[{"op":"replace","path":"/city","value":"ab\u00c3', 3 + 1 + 1],
    ['in front of a number', '[{"op":"add","path":"/days","value":', 1 + 2 + 1],
    ['inside a number that may end', '[{"op":"add","path":"/days","value":1', 2 + 1],
    ['behind a decimal point', '[{"op":"add","path":"/ratio","value":0.', 1 + 2 + 1],
    ['in front of an object with two required numbers', '[{"op":"replace","path":"/place","value":', '{"lat":0,"lon":0}'.length + 2 + 1],
    ['in front of a list that needs one string', '[{"op":"replace","path":"/tags","value":', '[""]'.length + 2 + 1],
    ['behind an operation', '[{"op":"remove","path":"/city"}', 2],
    ['behind the patch', '[{"op":"remove","path":"/city"}]', 1],
    ['in front of a literal', '[{"op":"replace","path":"/unit","value":"c', 'elsius"}]'.length + 1],
  ])('%s', (_, output, expected) => {
    const contract = contractOf(WEATHER, { allowedOperations: ALL_OPERATIONS });
    const matcher = open(contract, { city: 7, unit: 'C', tags: ['x'], place: {} }, bytes, 2, 1000);
    // the half character is one byte of two
    const ids = output.endsWith('\u00c3') ? [...utf8(output.slice(0, -1)), 0xc3] : utf8(output);
    expect(feed(matcher, ids)).toBe(true);
    expect(matcher.shortestCompletion()).toBe(expected);
  });

  test('is spelled with the fewest tokens, and is none once the output has ended', () => {
    const matcher = open(SWITCH, {}, merged, 0, 100);
    // {"abstain":" locked "} is three tokens of four and the stop token; `"}` is one
    expect(matcher.shortestCompletion()).toBe(4);
    feed(matcher, utf8('{"abstain":"locked"}'));
    expect(matcher.shortestCompletion()).toBe(1);
    matcher.acceptToken(merged.stopIds[0] as TokenId);
    expect(matcher.shortestCompletion()).toBe(0);
  });
});
