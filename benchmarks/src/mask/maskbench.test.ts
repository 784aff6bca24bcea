import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '@contractrl/core';
import { compileValueMask } from '@contractrl/grammar-mask';
import { readBaseline, SAMPLE_SIZE } from './maskbench-baseline.ts';
import { dataFolder, runMaskBench } from './maskbench.ts';
import { byteVocabulary } from './peers/contractrl.ts';
import { spellInstance } from './spell-instance.ts';

const data = dataFolder();

describe.skipIf(data === undefined)('MaskBench (its data may not be redistributed: set CONTRACTRL_DATA to run)', () => {
  test('no suite falls behind its baseline, and no invalid instance is spelled', () => {
    const { sample } = readBaseline();
    const { suites } = runMaskBench(data!, SAMPLE_SIZE, undefined);
    expect(Object.keys(suites).sort()).toEqual(Object.keys(sample).sort());
    const behind = Object.entries(suites).flatMap(([suite, { compiled, validAccepted, validRefused, invalidAccepted }]) => {
      const before = sample[suite]!;
      return compiled < before.compiled || validAccepted < before.validAccepted || validRefused > before.validRefused || invalidAccepted > before.invalidAccepted
        ? [{ suite, before, after: { compiled, validAccepted, validRefused, invalidAccepted } }] : [];
    });
    expect(behind).toEqual([]);
  });
});

describe('spelling an instance', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { b: { type: 'integer' }, a: { type: 'string' }, c: { type: 'array', items: { type: 'object', properties: { y: { type: 'boolean' }, x: { type: 'null' } }, required: ['x'] } } },
    required: ['c', 'a'],
  };
  const compiled = compileValueMask(schema, byteVocabulary());
  if (!compiled.ok) throw new Error(compiled.error.code);

  test.each<[string, JsonValue, string | undefined]>([
    ['finds the order of the schema, required members first', { b: 1, c: [{ y: true, x: null }], a: 'é' }, '{"a":"é","c":[{"x":null,"y":true}],"b":1}'],
    ['leaves optional members out', { a: '', c: [] }, '{"a":"","c":[]}'],
    ['refuses a wrong value', { a: 1, c: [] }, undefined],
    ['refuses a missing member', { a: '' }, undefined],
    ['refuses a member nobody declared', { a: '', c: [], d: 1 }, undefined],
  ])('%s', (_, value, text) => {
    expect(spellInstance(compiled.value.createMatcher(), value)).toBe(text);
  });
});
