/** What a fresh clone trains on: the files that came from elsewhere, to the byte, and what the readers make of them. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FIXTURES } from '../tests/calls.ts';
import { PACKED_KEYS, readEvaluationSets } from './audit/evaluation-sets.ts';
import { readPublicSources } from './data/public-sources.ts';
import { validationSide } from './evaluate/validation-side.ts';
import { PACKAGED_DATA } from './packaged-data.ts';
import { trainData } from './train-data.ts';

test.each([
  [join('training', 'uniform_train.jsonl.gz'), 'a2b9088f428d3123ef4c472a7d4bf73b60247390c37d779dfdad860eeeeca663'],
  [join('acebench', 'acebench_normal_uniform.jsonl.gz'), 'eae2450396ac7fc894a5617baf56cac782f2369fad8bc3f51c348192c2b5e9b3'],
])('%s is the file that its README names', (file, sha256) => {
  expect(createHash('sha256').update(readFileSync(join(PACKAGED_DATA, file))).digest('hex')).toBe(sha256);
  expect(readFileSync(join(PACKAGED_DATA, 'README.md'), 'utf8')).toContain(sha256);
});

test('its sources are those that may be passed on', () => {
  expect(readPublicSources(PACKAGED_DATA).map(({ name, rows }) => [name, rows.length > 100])).toEqual([['seal-tools', true], ['toolalpaca', true], ['glaive-demo', true], ['acebench', true]]);
});

let folder = '';
const told: string[] = [];
const output = { print: () => undefined, tell: (line: string) => { told.push(line); } };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contractrl-keys-'));
  told.length = 0;
});
afterEach(() => { rmSync(folder, { recursive: true, force: true }); });

test('keys are packed from a folder of evaluation sets, and audit like it', () => {
  expect(trainData(['--pack-keys', join(folder, PACKED_KEYS), '--data', FIXTURES], '', output)).toBe(0);
  expect(readEvaluationSets(folder)).toMatchObject({ missing: [], sets: readEvaluationSets(FIXTURES).sets });
});

test.each([['a folder of keys alone, which stands in where none is named', [], 'audit/no-evaluation-sets'], ['a folder without them', ['--data', FIXTURES.slice(0, -'fixtures/'.length)], 'audit/evaluation-set-missing']])('none are packed from %s', (_, words, code) => {
  expect(trainData(['--pack-keys', join(folder, 'keys.gz'), ...words], '', output)).toBe(1);
  expect(told[0]).toContain(code);
});

test('the validation side has examples of every source, or none of synthetic calls, as is asked', () => {
  const synthetic = (origin: 'any' | 'public'): readonly boolean[] => {
    const side = validationSide({ seed: 13, count: 12, dataFolder: '', origin }, output.tell);
    return (side ?? []).map(({ split, source }) => split === 'validation' && source === 'synthetic');
  };
  const [any, fromPublic] = [synthetic('any'), synthetic('public')];
  expect([any.length, fromPublic.length]).toEqual([12, 12]);
  expect([any.some(Boolean), fromPublic.some(Boolean)]).toEqual([true, false]);
});
