/** Laws over random contracts and documents, on a vocabulary of bytes and of tokens that cross the ends of lexemes. */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  admitOperation, applyPatch, createJudge, loadContract, parsePatch, readAbstention, ROOT_POINTER,
  type Contract, type JsonObject, type JsonValue, type Operation,
} from '@contractrl/core';
import { readSchemaNode, schemaPlacesIn, type SchemaPlace } from '@contractrl/core/schema';
import { compileMask, compileValueMask, type MaskMatcher } from '../src/index.ts';
import { allowed, randomFrom, stateOf } from './support/contracts.ts';
import { createNaiveRecognizer, createNaiveValues } from './support/naive-recognizer.ts';
import { randomCase, schema, type RandomCase } from './support/random-contracts.ts';
import { randomWalk } from './support/random-walk.ts';
import { byteVocabulary } from './support/vocabulary.ts';

const LIMITS = { maxStringLength: 3, maxItems: 2 };
const vocabulary = byteVocabulary([
  '[{"op":"', '{"', '"},{"op":"', '"}]', '"},', '},{', '}]', '"}', '","', '":', '":"', '","value":', '"path":"/', '/a', '10', '0.5', 'true', '[]', '{}', '[[', '"a"', '\\"', '\\u00', 'é', '😀', '😀"', '\n',
]);
const stopId = vocabulary.stopIds[0] as number;
const texts = new Map(vocabulary.tokens.flatMap((bytes, id) => (bytes === undefined ? [] : [[id, Buffer.from(bytes).toString('latin1')] as const])));
/** On a busy machine; alone each test takes a few seconds. */
const TIMEOUT_MS = 120_000;

let pairCount = 0;
let stateCount = 0;
let contractCount = 0;
let outputCount = 0;

function open({ parameters, document, overrides, operationsLeft }: RandomCase): { contract: Contract; matcher: MaskMatcher } | undefined {
  const contract = loadContract({ tool: { name: 'tool', description: '', parameters }, ...overrides });
  if (!contract.ok) return undefined;
  const compiled = compileMask(contract.value, vocabulary, LIMITS);
  if (!compiled.ok) return undefined;
  const bound = compiled.value.bind(stateOf(document, operationsLeft));
  if (!bound.ok) throw new Error(JSON.stringify(bound.error));
  return { contract: contract.value, matcher: bound.value };
}

/** Nothing misses a goal here; one in ten walks may abstain. */
function walk(matcher: MaskMatcher, random: () => number, visit: (output: string) => void = () => undefined): string {
  return randomWalk(matcher, vocabulary, random, { patchShare: 0.9, visit })!;
}

describe('random contracts', () => {
  test('the mask equals brute force over every token at states of random walks', () => {
    fc.assert(fc.property(randomCase, (random) => {
      const opened = open(random);
      if (opened === undefined) return;
      contractCount += 1;
      const { contract, matcher } = opened;
      const recognizer = createNaiveRecognizer(contract, random.document, random.operationsLeft, LIMITS, false);
      const next = randomFrom(random.seed);
      walk(matcher, next, (output) => {
        if (next() < 0.6) return;
        const ids = new Set(allowed(matcher));
        const wrong: string[] = [];
        vocabulary.tokens.forEach((bytes, id) => {
          const expected = bytes === undefined ? id === stopId && recognizer.isComplete(output) : recognizer.isViable(output + Buffer.from(bytes).toString('latin1'));
          if (ids.has(id) !== expected) wrong.push(`${expected ? 'incomplete' : 'unsound'} ${bytes === undefined ? id : Buffer.from(bytes).toString('latin1')}`);
        });
        expect({ output, wrong }).toEqual({ output, wrong: [] });
        pairCount += vocabulary.tokens.length;
        stateCount += 1;
      });
    }), { numRuns: 150 });
  }, TIMEOUT_MS);

  test('for bare values of random schemas too', () => {
    const { value, isSatisfiable } = createNaiveValues(LIMITS, false);
    fc.assert(fc.property(schema, fc.nat(), (random, seed) => {
      const node = readSchemaNode(random, random, ROOT_POINTER);
      const compiled = compileValueMask(random, vocabulary, LIMITS);
      if (!node.ok || !compiled.ok) {
        expect(compiled.ok).toBe(node.ok && isSatisfiable(node.value));
        return;
      }
      const next = randomFrom(seed);
      const matcher = compiled.value.createMatcher();
      walk(matcher, next, (output) => {
        if (next() < 0.5) return;
        const ids = new Set(allowed(matcher));
        const wrong = vocabulary.tokens.flatMap((bytes, id) => {
          const text = output + Buffer.from(bytes ?? []).toString('latin1');
          const found = value(text, 0, node.value);
          // a number in front of the end of the text is open; with a byte behind it that no number holds it must have ended
          const isComplete = value(`${text} `, 0, node.value).ends.includes(text.length);
          const expected = bytes === undefined ? id === stopId && isComplete : found.open || isComplete;
          return ids.has(id) === expected ? [] : [`${expected ? 'incomplete' : 'unsound'} ${text}`];
        });
        expect({ output, wrong }).toEqual({ output, wrong: [] });
        pairCount += vocabulary.tokens.length;
        stateCount += 1;
      });
    }), { numRuns: 150 });
  }, TIMEOUT_MS);

  test('25: every walk ends, in an abstention or in a patch that core admits operation by operation, with values Ajv accepts for their places', () => {
    fc.assert(fc.property(randomCase, (random) => {
      const opened = open(random);
      if (opened === undefined) return;
      const { contract, matcher } = opened;
      const next = randomFrom(random.seed);
      for (let count = 0; count < 3; count += 1) {
        matcher.reset();
        const output = Buffer.from(walk(matcher, next), 'latin1').toString('utf8');
        outputCount += 1;
        expect(matcher.text()).toBe(output);
        if (output.startsWith('{')) {
          expect(readAbstention(output)).toBeDefined();
          continue;
        }
        const patch = parsePatch(output);
        if (!patch.ok) throw new Error(`${output}: ${patch.error.code}`);
        expect(patch.value.length).toBeLessThanOrEqual(random.operationsLeft);
        let document = random.document;
        for (const [index, operation] of patch.value.entries()) {
          const left = random.operationsLeft - index;
          expect(admitOperation(contract, document, operation, left), output).toEqual({ ok: true, value: undefined });
          if ('value' in operation) expect(isAccepted(contract, document, operation), `${output} at ${operation.path}`).toBe(true);
          const applied = applyPatch(contract, document, [operation], left);
          if (!applied.ok) throw new Error(applied.error.code);
          document = applied.value;
        }
      }
    }), { numRuns: 150 });
  }, TIMEOUT_MS);

  test('whatever a walk spells, any other tokenisation of the same bytes spells too', () => {
    fc.assert(fc.property(randomCase, (random) => {
      const opened = open(random);
      if (opened === undefined) return;
      const { matcher } = opened;
      const next = randomFrom(random.seed);
      const output = walk(matcher, next);
      for (let count = 0; count < 3; count += 1) {
        matcher.reset();
        for (let offset = 0; offset < output.length;) {
          const fitting = [...texts].filter(([, text]) => output.startsWith(text, offset));
          const [id, text] = fitting[Math.floor(next() * fitting.length)] as [number, string];
          expect(matcher.acceptToken(id), `${output.slice(0, offset)} then ${text}`).toEqual({ ok: true, value: undefined });
          offset += text.length;
        }
        expect(matcher.isCompleted()).toBe(true);
        expect(matcher.acceptToken(stopId).ok).toBe(true);
      }
    }), { numRuns: 150 });
  }, TIMEOUT_MS);

  test('23: rollback, reset and fork give the same masks again, and a fork leaves the original where it was', () => {
    fc.assert(fc.property(randomCase, fc.integer({ min: 0, max: 20 }), (random, back) => {
      const opened = open(random);
      if (opened === undefined) return;
      const { matcher } = opened;
      const next = randomFrom(random.seed);
      const masks: string[] = [];
      const ids: number[] = [];
      while (!matcher.isTerminated() && ids.length < 30) {
        const mask = allowed(matcher);
        masks.push(mask.join());
        const id = mask[Math.floor(next() * mask.length)] as number;
        ids.push(id);
        matcher.acceptToken(id);
      }
      const text = matcher.text();
      const steps = Math.min(back, ids.length);
      const fork = matcher.fork();
      fork.rollback(steps);
      for (let index = ids.length - steps; index < ids.length; index += 1) {
        expect(allowed(fork).join()).toBe(masks[index]);
        expect(fork.acceptToken(ids[index] as number).ok).toBe(true);
      }
      expect(fork.text()).toBe(text);
      expect(fork.maskDigest()).toBe(matcher.maskDigest());
      expect(matcher.text()).toBe(text);
      matcher.reset();
      expect(allowed(matcher).join()).toBe(masks[0]);
    }), { numRuns: 100 });
  }, TIMEOUT_MS);

  afterAll(() => {
    console.log(`${contractCount} random contracts: mask = brute force on ${pairCount.toLocaleString('en')} (state, token) pairs in ${stateCount} states; ${outputCount} outputs admitted`);
  });
});

/** Some alternative of the place accepts the value: Ajv on the conjunction of its sub-schemas, inside the whole schema for its references. */
function isAccepted(contract: Contract, document: JsonValue, operation: Extract<Operation, { value: JsonValue }>): boolean {
  const root = contract.document.tool.parameters;
  const place = schemaPlacesIn(root, document)(operation.path);
  if (!place.ok) throw new Error(place.error.keyword);
  return accepts(root, place.value, operation.value);
}

function accepts(root: JsonObject, place: SchemaPlace, value: JsonValue): boolean {
  return place.alternatives.some((conjuncts) => {
    const judge = createJudge({ $defs: { root }, ...(conjuncts.length === 0 ? {} : { allOf: conjuncts.map(({ schema }) => schema) }) }, '2020-12');
    if (!judge.ok) throw new Error(judge.error.code);
    return judge.value.judge(value).length === 0;
  });
}
