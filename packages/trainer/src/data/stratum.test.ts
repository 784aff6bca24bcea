import { loadContract, validateArguments, type JsonObject, type JsonPointer, type Patch } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { CALLS } from '../../tests/calls.ts';
import { corrupt, type Corruption } from '../corrupt/corrupt.ts';
import { openRandom } from '../random.ts';
import { difficultyOf, structureOf } from './stratum.ts';

const loaded = loadContract({ tool: { name: 'book_room', parameters: {
  type: 'object', additionalProperties: false, required: ['guests', 'bed', 'arrival'],
  properties: {
    guests: { type: 'integer' }, bed: { enum: ['single', 'double'] }, arrival: { type: 'string', description: 'YYYY-MM-DD' }, note: { type: 'string' },
    contact: { type: 'object', properties: { mail: { type: 'string' }, place: { type: 'object', properties: { city: { type: 'string' } } } } },
    extras: { type: 'array', items: { type: 'string' } }, limit: { anyOf: [{ type: 'integer' }, { const: 'auto' }] },
  },
} } });
if (!loaded.ok) throw new TypeError(loaded.error.code);
const contract = loaded.value;
const TARGET: JsonObject = { guests: 2, bed: 'double', arrival: '2026-05-03', note: 'quiet', contact: { mail: 'a@b.org', place: { city: 'Hilo' } }, extras: ['cot'], limit: 4 };

function spoilt(change: JsonObject, patch: Patch, family: Corruption['family'] = 'wrong_type_lossy', pointer: string = patch[0]?.path ?? ''): Corruption {
  const argumentsText = JSON.stringify({ ...TARGET, ...change });
  const { report, value } = validateArguments(contract, argumentsText);
  if (report.kind === 'valid' || value === undefined) throw new TypeError('valid');
  const request = 'A big bed for 2, from the third of May, and keep it quiet.';
  const { code } = report.violations[0];
  return { family, form: '', position: pointer.includes('extras') ? 'array' : 'top', contract, request, argumentsText, candidate: value, report, code, pointer: pointer as JsonPointer, answer: { kind: 'patch', patch } };
}
const replacing = (path: string, value: string | number): Patch => [{ op: 'replace', path: path as JsonPointer, value }];

describe('difficulty', () => {
  test.each<[string, ReturnType<typeof difficultyOf>, Corruption]>([
    ['what the step before the policy does', 'certain', spoilt({ guests: '2' }, replacing('/guests', 2), 'wrong_type_lossless')],
    ['a move', 'moved', spoilt({ remark: 'quiet' }, [{ op: 'remove', path: '/remark' as JsonPointer }], 'additional_property')],
    ['a value that stands in the request', 'quoted', spoilt({ guests: null }, replacing('/guests', 2))],
    ['a literal of the schema', 'listed', spoilt({ bed: 'large' }, replacing('/bed', 'double'), 'enum')],
    ['a value said in other words', 'inferred', spoilt({ arrival: null }, replacing('/arrival', '2026-05-03'))],
  ])('of %s is %s', (_, difficulty, corruption) => {
    expect(difficultyOf(corruption, TARGET)).toBe(difficulty);
  });

  test('of declining is abstain', () => {
    expect(difficultyOf({ ...spoilt({ guests: null }, replacing('/guests', 2)), answer: { kind: 'abstain', code: 'not-in-state' } }, TARGET)).toBe('abstain');
  });
});

describe('structure', () => {
  test.each<[string, Corruption]>([
    ['flat', spoilt({ guests: null }, replacing('/guests', 2))],
    ['nested', spoilt({ contact: { mail: null, place: { city: 'Hilo' } } }, replacing('/contact/mail', 'a@b.org'))],
    ['long-pointer', spoilt({ contact: { mail: 'a@b.org', place: { city: null } } }, replacing('/contact/place/city', 'Hilo'))],
    ['array', spoilt({ extras: [1] }, replacing('/extras/0', 'cot'))],
    ['union', spoilt({ limit: [] }, replacing('/limit', 4), 'union')],
    ['multi-field', spoilt({ guests: null }, replacing('/guests', 2), 'several_fields')],
  ])('is %s', (structure, corruption) => {
    expect(structureOf(corruption)).toBe(structure);
  });

  test('of what the engine makes comes in more than one kind', () => {
    const made = CALLS.flatMap((call, seed) => corrupt(call, 'wrong_type_lossy', openRandom(seed, 'stratum')) ?? []);
    expect(new Set(made.map(structureOf)).size).toBeGreaterThan(3);
  });
});
