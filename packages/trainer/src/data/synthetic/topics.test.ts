import type { JsonObject, JsonValue } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { openRandom } from '../../random.ts';
import type { Said, Topic, TopicKind } from './field.ts';
import { FORMAT_TOPICS } from './format-topics.ts';
import { IDENTIFIER_TOPICS } from './identifier-topics.ts';
import { LIST_TOPICS } from './list-topics.ts';
import { NUMBER_TOPICS } from './number-topics.ts';
import { TOPICS } from './topics.ts';

interface Drawn { readonly topic: Topic; readonly said: Said }
/** A few tools of each kind, and a few calls of each tool. */
const drawn = (kinds: readonly TopicKind[]): readonly Drawn[] => kinds.flatMap((kind, index) => Array.from({ length: 40 }, (_, seed): Drawn => {
  const random = openRandom(seed, `topic:${String(index)}`);
  const topic = kind(random);
  return { topic, said: topic.say(random) };
}));
const textOf = (schema: JsonObject): string => String(schema['description'] ?? '');
const pairs = (kinds: readonly TopicKind[]): readonly (readonly [string, JsonValue, Said])[] => (
  drawn(kinds).flatMap(({ topic, said }) => topic.fields.flatMap(({ name, schema }) => (said.values[name] === undefined ? [] : [[textOf(schema), said.values[name], said] as const])))
);

describe('every topic', () => {
  test('says values of its own fields, each that is not optional', () => {
    for (const { topic, said } of drawn(TOPICS)) {
      const names = topic.fields.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(Object.keys(said.values)));
      expect(Object.keys(said.values)).toEqual(expect.arrayContaining(topic.fields.filter(({ isOptional }) => isOptional !== true).map(({ name }) => name)));
    }
  });

  test('has the words that carry a value in its clause', () => {
    for (const { said: { clause, mentions = {}, values } } of drawn(TOPICS)) {
      for (const [name, words] of Object.entries(mentions)) {
        expect(Object.keys(values)).toContain(name);
        expect(clause).toContain(words);
      }
    }
  });
});

test('the description of an identifier shows an example, which is never the value', () => {
  const shown = pairs(IDENTIFIER_TOPICS).filter(([, value]) => typeof value === 'string');
  for (const [description, value] of shown) expect(description).not.toContain(value);
  expect(shown.filter(([description]) => /such as|e\.g\.|for example|Example|like|form/u.test(description)).length).toBe(shown.length);
});

test('most values of a told format are written otherwise in the request', () => {
  const told = pairs(FORMAT_TOPICS).filter(([, value]) => typeof value === 'string');
  expect(told.filter(([, value, { clause }]) => !clause.includes(value as string)).length / told.length).toBeGreaterThan(0.7);
});

test('lists have one to five elements, most of them more than one, and all of them said', () => {
  const lists = pairs(LIST_TOPICS).map(([, value, said]) => [value as readonly JsonValue[], said] as const);
  expect(new Set(lists.map(([list]) => list.length))).toEqual(new Set([1, 2, 3, 4, 5]));
  expect(lists.filter(([list]) => list.length > 1).length / lists.length).toBeGreaterThan(0.7);
  for (const [list, { clause }] of lists) for (const item of list) if (typeof item !== 'object') expect(clause).toContain(String(item));
  expect(new Set(lists.map(([[first]]) => (Array.isArray(first) ? 'list' : typeof first)))).toEqual(new Set(['string', 'number', 'object', 'list']));
});

test('numbers are below zero, large, parts and in words, and truth is said without yes and no', () => {
  const all = pairs(NUMBER_TOPICS);
  const numbers = all.filter(([, value]) => typeof value === 'number') as readonly (readonly [string, number, Said])[];
  expect(numbers.some(([, value]) => value < 0)).toBe(true);
  expect(numbers.some(([, value]) => value >= 1_000_000)).toBe(true);
  expect(numbers.some(([, value]) => value > 0 && value < 1)).toBe(true);
  expect(numbers.filter(([, value, { clause }]) => !clause.replaceAll(',', '').includes(String(Math.abs(value)))).length).toBeGreaterThan(numbers.length / 8);
  for (const [, value, { clause }] of all) if (typeof value === 'boolean') expect(clause).not.toMatch(/\b(?:yes|true|false)\b/u);
});
