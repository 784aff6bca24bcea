import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue, Patch, RepairRequest } from '@contractrl/core';
import { doubtsOf, type PatchDoubts } from './doubts.ts';
import { observationOf } from '../../tests/support/repair-prompts.ts';

const TEXT = { type: 'string' };
const PARAMETERS = {
  type: 'object', required: ['author', 'width', 'place'], additionalProperties: false,
  properties: {
    author: TEXT, width: { type: 'number' }, height: { type: 'number' }, place: TEXT, venue: TEXT, notes: { type: 'array', items: TEXT }, user_name: TEXT,
    box: { type: 'object', additionalProperties: false, properties: { depth: { type: 'number' }, isOpen: { type: 'boolean' } } },
  },
};

/** The doubts about a patch of the call; two operations at most. */
function doubts(call: JsonObject, patch: readonly JsonObject[], ...said: readonly string[]): PatchDoubts | undefined {
  const request: RepairRequest = {
    id: 'r', request: said.map((content) => ({ role: 'user', content })),
    contract: {
      tool: { name: 'describe', description: '', parameters: PARAMETERS },
      allowedOperations: ['add', 'remove', 'replace', 'move', 'copy'], operationBudget: 2, attemptBudget: 2, immutablePaths: [], crossField: [], gates: [],
    },
    toolNames: ['describe'], call: { name: 'describe', argumentsText: JSON.stringify(call) }, finishReason: undefined, context: {},
  };
  return doubtsOf(observationOf(request), patch as unknown as Patch);
}
const add = (path: string, value: JsonValue): JsonObject => ({ op: 'add', path, value });
const remove = (path: string): JsonObject => ({ op: 'remove', path });

describe('a value that is written again', () => {
  test.each<{ readonly what: string; readonly call: JsonObject; readonly patch: readonly JsonObject[]; readonly said: readonly string[]; readonly repeated: number }>([
    { what: 'is a doubt', call: { height: 50.2 }, patch: [add('/width', 50.2)], said: ['30.5 wide and 50.2 high'], repeated: 1 },
    { what: 'is none where the request says it as often', call: { height: 5 }, patch: [add('/width', 5)], said: ['5 wide and 5 high'], repeated: 0 },
    { what: 'is none over two messages either', call: { height: 5 }, patch: [add('/width', 5)], said: ['5 wide', 'And 5 high!'], repeated: 0 },
    { what: 'is said by whole words alone', call: { height: 5 }, patch: [add('/width', 5)], said: ['5 wide, shelf a5, 15 kg'], repeated: 1 },
    { what: 'is the same as a text and in other letters', call: { author: '25', place: 'OSLO' }, patch: [add('/width', 25), add('/venue', 'oslo')], said: ['25 in Oslo'], repeated: 2 },
    { what: 'counts inside what is written at once', call: {}, patch: [add('/notes', ['wet', 'wet', 'wet'])], said: ['wet'], repeated: 1 },
    { what: 'is no other value that holds it', call: { place: 'New York' }, patch: [add('/venue', 'York')], said: ['New York'], repeated: 0 },
    { what: 'is none where it takes the place of the other', call: { height: 50.2 }, patch: [remove('/height'), add('/width', 50.2)], said: ['50.2 wide'], repeated: 0 },
    { what: 'is none where it is copied', call: { place: 'Oslo' }, patch: [{ op: 'copy', from: '/place', path: '/venue' }], said: ['Oslo'], repeated: 0 },
    { what: 'is none where it is a truth value, null or empty', call: { author: '' }, patch: [add('/place', ''), add('/box', { isOpen: true, depth: null })], said: ['open'], repeated: 0 },
  ])('$what', ({ call, patch, said, repeated }) => {
    expect(doubts(call, patch, ...said)).toEqual({ repeated, unmoved: 0 });
  });
});

describe('a member that is thrown away', () => {
  test.each<{ readonly what: string; readonly call: JsonObject; readonly patch: readonly JsonObject[]; readonly unmoved: number }>([
    { what: 'is a doubt where the schema has one of a like name', call: { autho: 'Rilke' }, patch: [remove('/autho')], unmoved: 1 },
    { what: 'is one by a word of its name', call: { input_venue: 'Rilke' }, patch: [remove('/input_venue')], unmoved: 1 },
    { what: 'is one by its letters', call: { userName: 'Rilke' }, patch: [remove('/userName')], unmoved: 1 },
    { what: 'is one inside the call too', call: { box: { depths: 'Rilke' } }, patch: [remove('/box/depths')], unmoved: 1 },
    { what: 'is one by what is inside it', call: { authors: { first: 'Rilke' } }, patch: [remove('/authors')], unmoved: 1 },
    { what: 'counts each time', call: { autho: 'Rilke', places: 'Rilke' }, patch: [remove('/autho'), remove('/places')], unmoved: 2 },
    { what: 'is none where that one is there', call: { autho: 'Rilke', author: 'Rilke' }, patch: [remove('/autho')], unmoved: 0 },
    { what: 'is none where that one is written beside it', call: { autho: 'Rilke' }, patch: [add('/author', 'Rilke'), remove('/autho')], unmoved: 0 },
    { what: 'is none where it is moved', call: { autho: 'Rilke' }, patch: [{ op: 'move', from: '/autho', path: '/author' }], unmoved: 0 },
    { what: 'is none of no like name', call: { confidence: 'Rilke' }, patch: [remove('/confidence')], unmoved: 0 },
    { what: 'is none where the request says nothing of it', call: { tool_name: 'describe' }, patch: [remove('/tool_name')], unmoved: 0 },
    { what: 'is none where the schema declares it', call: { user_name: 'Rilke' }, patch: [remove('/user_name')], unmoved: 0 },
    { what: 'is none of a list', call: { notes: ['Rilke', 'x'] }, patch: [remove('/notes/0')], unmoved: 0 },
  ])('$what', ({ call, patch, unmoved }) => {
    expect(doubts(call, patch, 'Something by Rilke')).toEqual({ repeated: 0, unmoved });
  });
});

test('a patch that the gate refuses has none', () => {
  expect(doubts({}, [{ op: 'replace', path: '/none', value: 1 }], '')).toBeUndefined();
  expect(doubts({ width: 1 }, [remove('')], '')).toBeUndefined();
});

test('one value that the call lacks is never a doubt, whatever the request says', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true })), fc.array(fc.string(), { minLength: 1, maxLength: 3 }), (value, said) => {
    expect(doubts({ height: 'as before' }, [add('/author', value === 'as before' ? '' : value)], ...said)).toEqual({ repeated: 0, unmoved: 0 });
  }));
});
