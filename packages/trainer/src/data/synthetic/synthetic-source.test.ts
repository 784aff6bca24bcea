import { expect, test } from 'vitest';
import { wholeText } from '../../request.ts';
import { openSource } from '../source.ts';
import { syntheticSource } from './synthetic-source.ts';

const source = syntheticSource(7, 60);
const { calls, leftOut } = openSource(source);

test('every synthetic call is legal under its contract', () => {
  expect(leftOut).toEqual({});
  expect(calls.length).toBe(240);
});

test('the same seed gives the same rows, another seed others', () => {
  const text = (seed: number): string => JSON.stringify(syntheticSource(seed, 10).rows);
  expect(text(7)).toBe(text(7));
  expect(text(7)).not.toBe(text(8));
});

test('rows do not depend on how many are made', () => {
  expect(syntheticSource(7, 5).rows).toEqual(source.rows.slice(0, 20));
});

test('requests say the values that are known to be mentioned', () => {
  for (const { request, mentions } of source.rows) for (const words of mentions!.values()) expect(wholeText(request)).toContain(words);
});

test('values are of every type, and some lie deep', () => {
  const types = new Set(calls.flatMap(({ arguments: args }) => Object.values(args).map((value) => (Array.isArray(value) ? 'array' : typeof value))));
  expect([...types].sort()).toEqual(['array', 'boolean', 'number', 'object', 'string']);
  expect(Math.max(...calls.map(({ arguments: args }) => depthOf(args)))).toBeGreaterThan(2);
});

test('names of tools rarely repeat', () => {
  expect(new Set(source.rows.map(({ tool }) => tool.name)).size).toBeGreaterThan(57);
});

function depthOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
}
