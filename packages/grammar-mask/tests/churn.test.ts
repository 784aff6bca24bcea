/** Which patches of a small document undo, repeat or change nothing: the engine against the naive rules, over operations that meet often. */
import { expect, test } from 'vitest';
import type { JsonObject } from '@contractrl/core';
import { ALL_OPERATIONS, contractOf, feed, matcherOf, randomFrom } from './support/contracts.ts';
import { createNaiveRecognizer } from './support/naive-recognizer.ts';
import { byteVocabulary } from './support/vocabulary.ts';

const vocabulary = byteVocabulary([]);
const stopId = vocabulary.stopIds[0]!;
const RULES = { excludeNoOps: true, goal: false, nearer: false };
const PATCH_COUNT = 120;
const LIMITS = { maxStringLength: 2, maxItems: 4 };

const list: JsonObject = { type: 'array', items: { enum: [1, 2] } };
const box: JsonObject = { type: 'object', properties: { x: { enum: [1, 2] }, y: { enum: [1, 2] } } };

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['a list', { list, a: { enum: [1, 2] } }, { list: [1, 1, 2], a: 1 }, ['/list/0', '/list/1', '/list/2', '/list/-', '/a']],
  ['two lists', { one: list, two: list }, { one: [1, 1], two: [3, 4] }, ['/one', '/two', '/one/0', '/one/1', '/one/-', '/two/0']],
  ['equal members', { box, a: { enum: [1, 2] }, b: { enum: [1, 2] } }, { box: { x: 1, y: 1 }, a: 1 }, ['/box', '/box/x', '/box/y', '/a', '/b']],
  ['members', { box, other: box, a: { enum: [1, 2] } }, { box: { x: 3, y: 4 }, a: 5 }, ['/box', '/other', '/box/x', '/box/y', '/other/x', '/a']],
])('%s: what is spelled is what the rules leave', (_, properties, document, paths) => {
  const contract = contractOf({ type: 'object', properties }, { allowedOperations: ALL_OPERATIONS, operationBudget: 3 });
  const matcher = matcherOf(contract, document, vocabulary, 3, { ...LIMITS, excludeNoOps: true });
  const random = randomFrom(11);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const operation = (): string => {
    const op = pick(ALL_OPERATIONS);
    const path = pick(paths);
    if (op === 'remove') return JSON.stringify({ op, path });
    return JSON.stringify(op === 'move' || op === 'copy' ? { op, from: pick(paths), path } : { op, path, value: pick([1, 2, { x: 1, y: 1 }]) });
  };
  const seen = { spelled: 0, refused: 0 };
  for (let count = 0; count < PATCH_COUNT; count += 1) {
    // a patch grows as long as it is spelled, so that most reach a third operation
    let operations: readonly string[] = [];
    for (let tries = 0; tries < 6 && operations.length < 3; tries += 1) {
      const longer = [...operations, operation()];
      const output = `[${longer.join(',')}]`;
      matcher.reset();
      const isSpelled = feed(matcher, [...Buffer.from(output, 'utf8'), stopId]);
      expect({ output, isSpelled }).toEqual({ output, isSpelled: createNaiveRecognizer(contract, document, 3, LIMITS, false, RULES).isComplete(output) });
      seen[isSpelled ? 'spelled' : 'refused'] += 1;
      if (isSpelled) operations = longer;
    }
  }
  expect(Math.min(seen.spelled, seen.refused)).toBeGreaterThan(PATCH_COUNT / 4);
}, 120_000);
