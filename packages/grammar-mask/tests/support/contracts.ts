/** Contracts, documents and random walks for the tests of whole masks. */
import { loadContract, type Contract, type JsonObject, type JsonPointer, type JsonValue, type OperationKind, type RepairState } from '@contractrl/core';
import { allowedIdsOf, bitmaskLength, compileMask, type CompileOptions, type MaskMatcher, type TokenId, type Vocabulary } from '../../src/index.ts';

export const ALL_OPERATIONS: readonly OperationKind[] = ['add', 'remove', 'replace', 'move', 'copy'];

export function contractOf(parameters: JsonObject, overrides: Readonly<Record<string, unknown>> = {}): Contract {
  const loaded = loadContract({ tool: { name: 'tool', description: '', parameters }, ...overrides });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.error));
  return loaded.value;
}

export function stateOf(candidate: JsonValue, operationsLeft = 2, attemptsLeft = 2): RepairState {
  return { candidate, code: 'wrong_type', pointer: '' as JsonPointer, history: [], attemptsLeft, operationsLeft };
}

export function matcherOf(contract: Contract, candidate: JsonValue, vocabulary: Vocabulary, operationsLeft = 2, options: CompileOptions = {}): MaskMatcher {
  const compiled = compileMask(contract, vocabulary, options);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error));
  const bound = compiled.value.bind(stateOf(candidate, operationsLeft));
  if (!bound.ok) throw new Error(JSON.stringify(bound.error));
  return bound.value;
}

/** Accepts the tokens of `text`, one byte token each or as the vocabulary spells it. */
export function feed(matcher: MaskMatcher, ids: readonly TokenId[]): boolean {
  return ids.every((id) => matcher.acceptToken(id).ok);
}

export function allowed(matcher: MaskMatcher): readonly TokenId[] {
  const bitmask = new Int32Array(bitmaskLength(matcher.logitWidth));
  matcher.fillBitmask(bitmask);
  return allowedIdsOf(bitmask);
}

/** Linear congruential generator of Numerical Recipes: a number in [0, 1) per call. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export const WEATHER: JsonObject = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2, maxLength: 12 },
    unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    days: { type: 'integer', minimum: 1, maximum: 16 },
    ratio: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    alerts: { type: ['boolean', 'null'] },
    tags: { type: 'array', items: { type: 'string', maxLength: 6 }, minItems: 1, maxItems: 3 },
    place: {
      type: 'object',
      properties: { lat: { type: 'number', minimum: -90, maximum: 90 }, lon: { type: 'number' }, label: { type: 'string', maxLength: 4 } },
      required: ['lat', 'lon'],
      additionalProperties: false,
    },
    when: { anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string', maxLength: 8 }, { const: 'now or later' }] },
  },
  required: ['city', 'days'],
  additionalProperties: false,
};

/** Declared names that need both escape layers, and that differ only by Unicode normalisation. */
export const ODD_NAMES: JsonObject = {
  type: 'object',
  properties: {
    'a"b/c~d': { type: 'integer' },
    'back\\slash': { type: 'string', maxLength: 3 },
    '': { type: 'boolean' },
    'café': { const: 'é' },
    'cafe\u0301': { const: 'e\u0301' },
    'tab\tnew\n': { type: 'null' },
    '\u{40000}': { enum: ['\u{40001}', '\u0004'] },
    '~1': { type: 'integer', minimum: 0, maximum: 9 },
  },
};
