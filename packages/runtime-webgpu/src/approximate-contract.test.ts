import { expect, test } from 'vitest';
import { applyPatch, loadContract, openRepair, validateValue, type Contract, type JsonObject } from '@contractrl/core';
import { compileMask } from '@contractrl/grammar-mask';
import { BYTE_VOCABULARY, STOP } from '../tests/support/byte-policy.ts';
import { approximateContract } from './approximate-contract.ts';

function contractOf(properties: JsonObject): Contract {
  const loaded = loadContract({ tool: { name: 't', description: '', parameters: { type: 'object', properties, additionalProperties: false } } });
  if (!loaded.ok) throw new Error(`${loaded.error.code} at ${loaded.error.pointer}`);
  return loaded.value;
}

/** A keyword that the mask has no automaton for, beside one that it has. */
const CLOSED = { type: 'object', properties: { a: { type: 'integer' } }, unevaluatedProperties: false };

function admits(contract: Contract, candidate: JsonObject, text: string): boolean {
  const report = validateValue(contract, candidate);
  if (report.kind === 'valid') throw new Error('the candidate is valid');
  const mask = compileMask(contract, BYTE_VOCABULARY);
  const matcher = mask.ok ? mask.value.bind(openRepair(contract, report, candidate)) : mask;
  if (!matcher.ok) throw new Error(matcher.error.code);
  return [...BYTE_VOCABULARY.encode(text), STOP].every((id) => matcher.value.acceptToken(id).ok);
}

test('a contract that the mask can read whole stays the same', () => {
  const contract = contractOf({ a: { type: 'string' } });
  expect(approximateContract(contract)).toEqual({ contract, approximated: [] });
});

test('a place that the mask cannot constrain is written as far as the rest of its schema goes, and the judge stays the whole one', () => {
  const contract = contractOf({ box: CLOSED });
  const { contract: approximate, approximated } = approximateContract(contract);
  expect(approximated).toMatchObject([{ keyword: 'unevaluatedProperties', keywordLocation: '/properties/box/unevaluatedProperties', instanceLocation: '/box' }]);
  const candidate = { box: 7 };
  const [right, wrong] = ['[{"op":"replace","path":"/box","value":{"a":1}}]', '[{"op":"replace","path":"/box","value":{"a":"x"}}]'];
  expect([admits(contract, candidate, right), admits(approximate, candidate, right), admits(approximate, candidate, wrong)]).toEqual([false, true, false]);
  // what the judge refuses stays refused
  expect(validateValue(approximate, { box: { a: 1, b: 2 } }).kind).toBe('invalid');
  expect(applyPatch(approximate, candidate, [{ op: 'replace', path: '/box' as never, value: { a: 1 } }], 1).ok).toBe(true);
  expect(contract.schema['properties']).toEqual({ box: CLOSED });
});

test('what comes to light when one keyword is out is taken out too', () => {
  // without the look of the branches' own keyword they overlap, and `oneOf` cannot be read any more
  const branch = (limit: number): JsonObject => ({ type: 'object', properties: { a: { type: 'integer', maximum: limit } }, unevaluatedProperties: false });
  const { contract, approximated } = approximateContract(contractOf({ box: { oneOf: [branch(3), branch(5)] } }));
  expect(approximated.map(({ keyword }) => keyword)).toContain('oneOf');
  expect(admits(contract, { box: 7 }, '[{"op":"replace","path":"/box","value":{}}]')).toBe(true);
});
