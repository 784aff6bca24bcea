/** Readers on the fixtures; on the whole data where CONTRACTRL_DATA names it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FIXTURES } from '../../tests/calls.ts';
import { readPublicSources } from './public-sources.ts';
import { sentenceOf } from './sentence.ts';
import { openSource, type DataSource } from './source.ts';

const whole = process.env['CONTRACTRL_DATA'] ?? '';

describe('public sources', () => {
  const sources = readPublicSources(FIXTURES);

  test('have a licence and an attribution each', () => {
    expect(sources.map(({ name, licence }) => `${name} ${licence}`)).toEqual(['seal-tools Apache-2.0', 'toolalpaca Apache-2.0', 'glaive-demo Apache-2.0', 'acebench MIT', 'glaive-maskbench Apache-2.0']);
    for (const { attribution } of sources) expect(attribution).toMatch(/github\.com/u);
  });

  test('give legal calls, and say why a row is none', () => {
    for (const source of sources) {
      const { calls, leftOut } = openSource(source);
      expect(calls.length, source.name).toBeGreaterThan(0);
      expect(calls.length + Object.values(leftOut).reduce((sum, count) => sum + count, 0)).toBe(source.rows.length);
    }
  });

  test('of a folder without data are none', () => {
    expect(readPublicSources('/nowhere')).toEqual([]);
  });

  test.skipIf(!existsSync(join(whole, 'training')))('of the whole data: nearly every row is a legal call (needs CONTRACTRL_DATA)', () => {
    const shares = readPublicSources(whole).map((source) => [source.name, openSource(source).calls.length / source.rows.length] as const);
    for (const [name, share] of shares) expect(share, name).toBeGreaterThan(0.85);
    expect(shares.length).toBe(5);
  });
});

test('a call without a request is said in a sentence', () => {
  expect(sentenceOf('plan_picnic', { guests: 6, dishes: ['flan', 'quiche'], place: { park: 'Elm Row', covered: true } })).toEqual({
    request: 'Plan picnic: guests 6, dishes flan and quiche, place (park Elm Row, with covered).', description: 'Plan picnic.',
  });
});

describe('a row is left out', () => {
  const row = { id: '1', request: 'Add basil', tool: { name: 'add_plant', parameters: { type: 'object', properties: { name: { type: 'string' } } } }, arguments: { name: 'basil' } };
  const leftOut = (changes: Partial<typeof row>): unknown => openSource({ name: 'x', licence: 'MIT', attribution: 'x', rows: [{ ...row, ...changes }] } as DataSource).leftOut;

  test.each([
    ['for arguments that its schema refuses', { arguments: { name: 1 } }, { wrong_type: 1 }],
    ['for having no arguments', { arguments: {} }, { 'trainer/no-arguments': 1 }],
    ['for having no request', { request: ' ' }, { 'trainer/no-request': 1 }],
    ['for a schema that no contract can honour', { tool: { name: 'add_plant', parameters: { type: 'object', properties: { name: { type: 'strin' } } } } }, { 'contract/schema-invalid': 1 }],
  ])('%s', (_, changes, expected) => {
    expect(leftOut(changes as unknown as Partial<typeof row>)).toEqual(expected);
  });

  test('for nothing, when it is right', () => {
    expect(leftOut({})).toEqual({});
  });
});
