import type { JsonObject, JsonValue } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { counterCase } from '../../tests/scripted-arm.ts';
import { classesOf, type ErrorClassName } from './error-class.ts';
import type { ScoredRow } from './score-rows.ts';

interface Given {
  readonly field: JsonObject;
  readonly request: string;
  readonly right: JsonValue;
  readonly written: JsonValue;
  readonly failed?: JsonValue;
  readonly others?: JsonObject;
}

function scored({ field, request, right, written, failed, others = {} }: Given): ScoredRow {
  const base = counterCase('a', JSON.stringify({ ...others, ...(failed === undefined ? {} : { x: failed }) })).request;
  const tool = { ...base.contract.tool, parameters: { type: 'object', properties: { x: field } } };
  return {
    row: {
      id: 'a', status: 'repaired', reason: null, arguments: { ...others, x: written }, patch: null, reported: [], attempts: 1, tokens: { prompt: 1, generated: 1, forced: 0 }, totalMs: 1, confidence: null,
    },
    request: { ...base, request: [{ role: 'user', content: request }], contract: { ...base.contract, tool } },
    gold: { kind: 'answers', answers: { x: [right] }, original: { ...others, x: right }, corrupted: 'x', patches: [] },
    score: { verdict: 'silently-wrong', unsafe: null, collateralOp: 0, collateralPtr: 0, collateralGold: 0 },
  };
}

const text = (description = ''): JsonObject => ({ type: 'string', description });

describe('an error', () => {
  test.each<{ readonly as: ErrorClassName | undefined; readonly what: string; readonly given: Given }>([
    { as: 'candidate', what: 'a value in a list that was not taken out', given: { field: text(), request: 'a used guitar', failed: ['Fender'], right: 'Fender', written: 'guitar' } },
    { as: 'candidate', what: 'a number as text', given: { field: { type: 'integer' }, request: 'five of 7', failed: '5', right: 5, written: 7 } },
    { as: 'enum', what: 'another literal', given: { field: { enum: ['low', 'high'] }, request: 'lowest', right: 'low', written: 'high' } },
    { as: 'list', what: 'one element of two', given: { field: { type: 'array' }, request: 'ham and eggs', right: ['ham', 'eggs'], written: ['ham'] } },
    { as: 'example', what: 'the example of the description', given: { field: text('The city, e.g. Berkeley'), request: 'weather in Rome', right: 'Rome', written: 'Berkeley' } },
    { as: 'format', what: 'a town without its state', given: { field: text('in the format City, State'), request: 'weather in Berkeley', right: 'Berkeley, CA', written: 'Berkeley' } },
    { as: 'neighbour', what: 'the number of another argument', given: { field: { type: 'integer' }, request: 'a = 3, b = -11', right: -11, written: 3, others: { a: 3 } } },
    { as: 'neighbour', what: 'another name of the request', given: { field: text(), request: 'Send it from Mike to Jake', right: 'Jake', written: 'Mike' } },
    { as: undefined, what: 'something from nowhere', given: { field: text(), request: 'Send it', right: 'Jake', written: 'Bob' } },
  ])('$what counts as $as', ({ as, given }) => {
    expect(classesOf(scored(given))?.error).toBe(as);
  });

  test('is none where the answer is right', () => {
    const one = scored({ field: { enum: ['low'] }, request: 'low', right: 'low', written: 'low' });
    expect(classesOf({ ...one, score: { ...one.score, verdict: 'right-call' } })).toEqual({ cases: new Set(['enum']), error: undefined });
  });
});

test('a case is of every class that it belongs to', () => {
  const given = { field: { type: 'array', items: { enum: ['a', 'b'] }, description: 'such as "a", in the format of a list' }, request: 'a', right: ['a'], written: ['b'], failed: 'unknown' } as const;
  expect([...classesOf(scored(given))!.cases]).toEqual(['enum', 'list', 'example', 'format']);
});

test('a case of several fields, or to be declined, has no such class', () => {
  const one = scored({ field: text(), request: '', right: 'a', written: 'b' });
  expect(classesOf({ ...one, gold: { kind: 'abstain' } })).toBeUndefined();
});
