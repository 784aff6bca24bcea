/** Gold stays off the online path: who may import what opens it is checked on the sources themselves. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = new URL('../src/', import.meta.url).pathname;
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));

function filesNaming(...names: readonly string[]): readonly string[] {
  return files.filter((name) => names.some((one) => new RegExp(`\\b${one}\\b`, 'u').test(readFileSync(join(SOURCE, name), 'utf8')))).sort();
}

test('only scoring opens gold; the data sets define it', () => {
  expect(filesNaming('bugCaseGold', 'bfclGold')).toEqual(['datasets/bfcl-corruptions.ts', 'datasets/bugcases.ts', 'score.ts']);
});

test('no arm and no part of the online run reaches scoring or its gold, through any chain of imports', () => {
  const importsOf = (name: string): readonly string[] =>
    [...readFileSync(join(SOURCE, name), 'utf8').matchAll(/from '(\.[^']+)'/gu)].map((match) => relative(SOURCE, join(SOURCE, name, '..', match[1]!)));
  const reached = new Set<string>(['run.ts', ...files.filter((name) => name.startsWith('arms/'))]);
  for (const name of reached) for (const next of importsOf(name)) reached.add(next);
  expect(reached.size).toBeGreaterThan(5);
  expect([...reached].filter((name) => /^(score|results|report|summary)\.ts$|^scoring\/|^datasets\/(bugcases|bfcl-corruptions)\.ts$/u.test(name))).toEqual([]);
});
