import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue, Patch, RepairRequest } from '@contractrl/core';
import { combineDecisions, FORCED_DECISION, readPatchSignals, signalsOfPatch, VALUE_SOURCES, type DecisionSignals, type PatchSignals } from './signals.ts';
import { observationOf } from '../../tests/support/repair-prompts.ts';

const DECISIONS: DecisionSignals = { sequenceLogProbability: -0.25, margin: 1.5, openLogAllowed: -0.5, abstainShare: 0.125, takenBackCount: 3 };

/** Nothing of the call fits yet: `place` is missing. */
const request: RepairRequest = {
  id: 'r', request: [{ role: 'user', content: 'Find a table for 4 in san francisco, at seven' }],
  contract: {
    tool: {
      name: 'find_table', description: 'Finds a table.', parameters: {
        type: 'object', required: ['place'], additionalProperties: false,
        properties: {
          place: { type: 'string', description: 'City and state, e.g. Berkeley, CA' }, guests: { type: 'integer', description: 'How many, 2 by default' }, note: { type: 'string' },
          kind: { type: 'string', enum: ['inside', 'outside'] }, style: { type: 'string', examples: ['rustic'] }, isOpen: { type: 'boolean' },
        },
      },
    },
    allowedOperations: ['add', 'remove', 'replace', 'move', 'copy'], operationBudget: 2, attemptBudget: 2, immutablePaths: [], crossField: [], gates: [],
  },
  toolNames: ['find_table'], call: { name: 'find_table', argumentsText: '{"note":"by the window"}' }, finishReason: undefined, context: { home: 'Oakland' },
};
const observation = observationOf(request);
const measure = (...patch: readonly JsonObject[]): PatchSignals | undefined => signalsOfPatch(observation, patch as unknown as Patch, DECISIONS);
const add = (path: string, value: JsonValue): JsonObject => ({ op: 'add', path, value });
const only = (count: Partial<PatchSignals['sources']>): PatchSignals['sources'] => ({ ...(Object.fromEntries(VALUE_SOURCES.map((source) => [source, 0])) as PatchSignals['sources']), ...count });

describe('the sources of a patch', () => {
  test.each<{ readonly what: string; readonly operation: JsonObject; readonly sources: Partial<PatchSignals['sources']> }>([
    { what: 'a span of the request', operation: add('/place', 'san francisco'), sources: { request: 1 } },
    { what: 'a number of the request', operation: add('/guests', 4), sources: { request: 1 } },
    { what: 'a name in other letters', operation: add('/place', 'San Francisco'), sources: { derived: 1 } },
    { what: 'a leaf of the public state', operation: add('/place', 'Oakland'), sources: { context: 1 } },
    { what: 'a leaf of the call', operation: add('/place', 'by the window'), sources: { candidate: 1 } },
    { what: 'a literal of the schema', operation: add('/kind', 'inside'), sources: { literal: 1 } },
    { what: 'a boolean', operation: add('/isOpen', true), sources: { literal: 1 } },
    { what: 'one of the schema’s examples', operation: add('/style', 'rustic'), sources: { example: 1 } },
    { what: 'the example of a description', operation: add('/place', 'Berkeley, CA'), sources: { example: 1 } },
    { what: 'a number of a description', operation: add('/guests', 2), sources: { example: 1 } },
    { what: 'a number in words', operation: add('/guests', 7), sources: { spoken: 1 } },
    { what: 'a name with more than the request says of it', operation: add('/place', 'San Francisco, CA'), sources: { completed: 1 } },
    { what: 'nothing', operation: add('/place', 'Paris'), sources: { none: 1 } },
    { what: 'the place that a value is moved from', operation: { op: 'move', from: '/note', path: '/place' }, sources: { candidate: 1 } },
    { what: 'no value at all', operation: { op: 'remove', path: '/note' }, sources: {} },
  ])('$what', ({ operation, sources }) => {
    const { doubts, ...rest } = measure(operation)!;
    expect(rest).toEqual({ ...DECISIONS, sources: only(sources) });
    // what is said once too often is told of in doubts.ts
    expect(doubts).toEqual({ repeated: operation['value'] === 'by the window' ? 1 : 0, unmoved: 0 });
  });

  test('add up over its operations', () => {
    expect(measure(add('/place', 'san francisco'), add('/guests', 9))?.sources).toEqual(only({ request: 1, none: 1 }));
  });

  test('are none where the gate will refuse it', () => {
    expect(measure({ op: 'replace', path: '/none', value: 1 })).toBeUndefined();
    expect(measure(add('/place', 'a'), add('/guests', 1), add('/kind', 'inside'))).toBeUndefined();
  });
});

test('decisions add up, the smallest margin counts, forced tokens tell nothing', () => {
  const figures = [FORCED_DECISION, { logProbability: -0.5, margin: 3, logAllowed: -1 }, { logProbability: -0.25, margin: 0.5, logAllowed: 0 }, FORCED_DECISION];
  expect(combineDecisions(figures, 0.1, 2)).toEqual({ sequenceLogProbability: -0.75, margin: 0.5, openLogAllowed: -1, abstainShare: 0.1, takenBackCount: 2 });
  expect(combineDecisions([FORCED_DECISION], undefined, 0)).toEqual({ sequenceLogProbability: 0, margin: undefined, openLogAllowed: 0, abstainShare: undefined, takenBackCount: 0 });
});

describe('signals on record', () => {
  const { abstainShare, ...rest } = { ...DECISIONS, sources: only({ request: 1 }), doubts: { repeated: 1, unmoved: 0 } };

  test('are read back as they were', () => {
    expect(readPatchSignals({ abstainShare: abstainShare!, patch: rest as unknown as JsonObject })).toEqual({ ...DECISIONS, ...rest });
    expect(readPatchSignals({ patch: { ...rest, margin: null } as unknown as JsonObject })).toEqual({ ...rest, margin: undefined, abstainShare: undefined });
  });

  test.each<readonly [what: string, patch: unknown]>([
    ['nothing', undefined], ['null', null], ['those without all sources', { ...rest, sources: { request: 1 } }], ['a text for a figure', { ...rest, openLogAllowed: 'x' }],
    ['those of before there were doubts', { ...rest, doubts: undefined }], ['half of the doubts', { ...rest, doubts: { repeated: 1 } }],
  ])('%s: there are none', (_, patch) => {
    expect(readPatchSignals(JSON.parse(JSON.stringify({ abstainShare, patch })) as JsonObject)).toBeUndefined();
  });
});
