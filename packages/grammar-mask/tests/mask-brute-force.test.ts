/** Soundness and completeness on the real vocabulary: the mask against a naive recogniser, over every token id. */
import { afterAll, describe, expect, test } from 'vitest';
import type { JsonValue } from '@contractrl/core';
import { bitmaskLength, isAllowed, type Vocabulary } from '../src/index.ts';
import { ALL_OPERATIONS, allowed, contractOf, matcherOf, ODD_NAMES, randomFrom, WEATHER } from './support/contracts.ts';
import { createNaiveRecognizer, type NaiveRecognizer } from './support/naive-recognizer.ts';
import { sortedTokens, viableIds } from './support/viable-ids.ts';
import { smollm2Vocabulary, SMOLLM2_STOP } from './support/vocabulary.ts';

const LIMITS = { maxStringLength: 10, maxItems: 3 };
const vocabulary = smollm2Vocabulary();
const sorted = sortedTokens(vocabulary);

/** On a busy machine; alone each test takes a few seconds. */
const TIMEOUT_MS = 120_000;

let pairCount = 0;
let stateCount = 0;

interface Case {
  readonly name: string;
  readonly contract: ReturnType<typeof contractOf>;
  readonly document: JsonValue;
  readonly operationsLeft: number;
  /** Outputs in front of which, as they stand, every token is tried. */
  readonly outputs: readonly string[];
}

const weather = contractOf(WEATHER, { allowedOperations: ALL_OPERATIONS, operationBudget: 3 });
const locked = contractOf(WEATHER, { allowedOperations: ALL_OPERATIONS, operationBudget: 3, immutablePaths: ['/tags/1', '/city'] });
const DOCUMENT = { city: 7, unit: 'C', tags: ['x', 'y', 'z'], place: { lat: '1', lon: 2 }, extra: true };

const CASES: readonly Case[] = [
  {
    name: 'one operation of each kind over a call with many faults', contract: weather, document: DOCUMENT, operationsLeft: 3,
    outputs: [
      '', '[', '[{"op":"', '[{"op":"re', '[{"op":"replace","path":"/', '[{"op":"add","path":"/tags/', '[{"op":"move","from":"/extra","path":"/',
      '[{"op":"replace","path":"/city","value":"', '[{"op":"replace","path":"/city","value":"Sao Paulo ', '[{"op":"replace","path":"/city","value":"caf\xc3',
      '[{"op":"replace","path":"/city","value":"a\\', '[{"op":"replace","path":"/city","value":"a\\u', '[{"op":"replace","path":"/city","value":"a\\ud8c0',
      '[{"op":"add","path":"/days","value":', '[{"op":"add","path":"/days","value":1', '[{"op":"add","path":"/ratio","value":0.', '[{"op":"add","path":"/ratio","value":',
      '[{"op":"add","path":"/alerts","value":', '[{"op":"replace","path":"/place","value":{"lat":-8', '[{"op":"replace","path":"/place","value":{"lat":1,"lon":-0.5',
      '[{"op":"replace","path":"/tags","value":["a', '[{"op":"replace","path":"/tags","value":["a","b"', '[{"op":"add","path":"/when","value":',
      '[{"op":"add","path":"/when","value":"now', '[{"op":"replace","path":"/unit","value":"', '{"abstain":"un', '{"abstain":"locked"}',
    ],
  },
  {
    name: 'later operations see the earlier ones', contract: weather, document: DOCUMENT, operationsLeft: 3,
    outputs: [
      '[{"op":"remove","path":"/tags/0"},{"op":"replace","path":"/tags/', '[{"op":"remove","path":"/tags/0"}', '[{"op":"remove","path":"/place"},{"op":"add","path":"/',
      '[{"op":"move","from":"/place/lon","path":"/days"},{"op":"copy","from":"/', '[{"op":"add","path":"/days","value":3},{"op":"replace","path":"/city","value":"Rome"',
      '[{"op":"add","path":"/days","value":3},{"op":"replace","path":"/city","value":"Rome"},{"op":"remove","path":"/extra"}',
      '[{"op":"add","path":"/days","value":3},{"op":"replace","path":"/city","value":"Rome"},{"op":"remove","path":"/extra"}]',
    ],
  },
  {
    name: 'locked places and array shifts', contract: locked, document: DOCUMENT, operationsLeft: 2,
    outputs: ['[{"op":"replace","path":"/', '[{"op":"remove","path":"/tags/', '[{"op":"add","path":"/tags/', '[{"op":"copy","from":"/city","path":"/', '[{"op":"move","from":"/'],
  },
  {
    name: 'names in both escape layers', contract: contractOf(ODD_NAMES, { allowedOperations: ALL_OPERATIONS }), document: { 'a"b/c~d': 'x', 'cafe\u0301': 1 }, operationsLeft: 1,
    outputs: ['[{"op":"add","path":"/', '[{"op":"add","path":"/caf', '[{"op":"add","path":"/\\', '[{"op":"replace","path":"/a\\"b~', '[{"op":"add","path":"/\\ud8c0\\udc00","value":"'],
  },
  {
    name: 'strings with a content', document: {}, operationsLeft: 1,
    contract: contractOf({
      type: 'object',
      properties: {
        words: { type: 'string', pattern: '^(?:ab?)*$', maxLength: 3 }, odd: { type: 'string', pattern: '^\\W+$', maxLength: 3 }, other: { type: 'string', pattern: '[^a"]b|^é', minLength: 2, maxLength: 3 },
        escaped: { type: 'string', pattern: '^[\\u{40000}-\\u{403ff}\\n]+$', maxLength: 2 }, pointer: { type: 'string', format: 'json-pointer', maxLength: 3 }, period: { type: 'string', format: 'duration', maxLength: 3 },
      },
    }, { allowedOperations: ['add'] }),
    outputs: Object.entries({
      words: ['', 'a', 'ab', 'aba'], odd: ['', '\\"', '\xc3', '\xf0\x9f', '\\', '  '], other: ['', '\xc3', '\xc3\xa9', 'z', 'zb'],
      escaped: ['', '\\', '\\ud8c0', '\\ud8c0\\udc', '\\n'], pointer: ['', '/', '/~', '/\xc3'], period: ['', 'P', 'P1'],
    }).flatMap(([name, contents]) => contents.map((content) => `[{"op":"add","path":"/${name}","value":"${content}`)),
  },
  { name: 'no operation left', contract: weather, document: DOCUMENT, operationsLeft: 0, outputs: ['', '{"', '{"abstain":"'] },
];

describe('over all 49,152 ids of SmolLM2 the mask is exactly the set of tokens that keep an admissible output in reach', () => {
  for (const { name, contract, document, operationsLeft, outputs } of CASES) {
    test(name, () => {
      const recognizer = createNaiveRecognizer(contract, document, operationsLeft, LIMITS, true);
      const matcher = matcherOf(contract, document, vocabulary, operationsLeft, LIMITS);
      for (const output of outputs) checkState(vocabulary, recognizer, matcher, output);
    }, TIMEOUT_MS);
  }

  test('states met on random walks', () => {
    const random = randomFrom(7);
    for (const { contract, document, operationsLeft } of CASES.slice(0, 3)) {
      const recognizer = createNaiveRecognizer(contract, document, operationsLeft, LIMITS, true);
      const matcher = matcherOf(contract, document, vocabulary, operationsLeft, LIMITS);
      for (let walk = 0; walk < 3; walk += 1) {
        matcher.reset();
        let output = '';
        for (let step = 0; step < 60 && !matcher.isTerminated(); step += 1) {
          if (random() < 0.1) checkState(vocabulary, recognizer, matcher, output);
          const ids = allowed(matcher);
          // the patch branch, and short strings, so that walks get far
          const id = ids[Math.floor(random() * ids.length)] as number;
          if (id === SMOLLM2_STOP) break;
          expect(matcher.acceptToken(id)).toEqual({ ok: true, value: undefined });
          output += Buffer.from(vocabulary.tokens[id] as Uint8Array).toString('latin1');
        }
      }
    }
  }, TIMEOUT_MS);

  afterAll(() => {
    console.log(`mask = brute force on ${pairCount.toLocaleString('en')} (state, token) pairs in ${stateCount} states of the real vocabulary`);
    expect(pairCount).toBeGreaterThanOrEqual(1_000_000);
  });
});

function checkState(vocabulary: Vocabulary, recognizer: NaiveRecognizer, matcher: ReturnType<typeof matcherOf>, output: string): void {
  if (Buffer.from(matcher.text(), 'utf8').toString('latin1') !== output) {
    matcher.reset();
    for (const character of output) {
      const id = vocabulary.tokens.findIndex((bytes) => bytes?.length === 1 && bytes[0] === character.charCodeAt(0));
      if (!matcher.acceptToken(id).ok) throw new Error(`${output}: refused at ${character}`);
    }
  }
  const bitmask = new Int32Array(bitmaskLength(vocabulary.logitWidth));
  const count = matcher.fillBitmask(bitmask);
  const viable = viableIds(sorted, recognizer, output);
  if (recognizer.isComplete(output)) for (const id of vocabulary.stopIds) viable.add(id);
  const unsound: string[] = [];
  const incomplete: string[] = [];
  for (let id = 0; id < vocabulary.logitWidth; id += 1) {
    if (isAllowed(bitmask, id) === viable.has(id)) continue;
    (viable.has(id) ? incomplete : unsound).push(`${id} ${Buffer.from(vocabulary.tokens[id] ?? []).toString('latin1')}`);
  }
  expect({ output, unsound: unsound.slice(0, 5), incomplete: incomplete.slice(0, 5), count }).toEqual({ output, unsound: [], incomplete: [], count: viable.size });
  expect(count).toBeGreaterThan(0);
  pairCount += vocabulary.logitWidth;
  stateCount += 1;
}
