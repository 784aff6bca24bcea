import { describe, expect, test } from 'vitest';
import { readSchemaNode } from '../contract/schema.ts';
import type { SchemaNode } from '../contract/schema-node.ts';
import { contentAutomaton } from '../contract/schema-text.ts';
import type { JsonObject } from '../json/value.ts';
import { ROOT_POINTER } from '../pointer.ts';
import { MAX_TEXT_STATES, type TextAutomaton } from '../validate/text-automaton.ts';
import { closedValues, nodeCloser } from './closed-values.ts';
import type { ProvenanceSources } from './sources.ts';

function closed(sources: Partial<ProvenanceSources>): ReturnType<typeof closedValues> {
  return closedValues({ texts: [], candidate: null, ...sources });
}

function closedNode(schema: JsonObject, sources: Partial<ProvenanceSources>): SchemaNode {
  const node = readSchemaNode(schema, schema, ROOT_POINTER);
  const values = closed(sources);
  if (!node.ok || !values.ok) throw new Error('cannot be closed');
  return nodeCloser(values.value, 100)(node.value);
}

/** All texts of an automaton; it must have few. */
function textsOf(automaton: TextAutomaton): readonly string[] {
  const { symbolCount, next, isAccepting, intervalStarts, intervalSymbols } = automaton;
  const pointOf = new Map([...intervalSymbols].map((symbol, index) => [symbol, intervalStarts[index] as number]));
  const from = (state: number): readonly string[] => [
    ...(isAccepting[state] === 1 ? [''] : []),
    ...Array.from({ length: symbolCount }, (_, symbol) => symbol).flatMap((symbol) => {
      const target = next[state * symbolCount + symbol] as number;
      return target < 0 ? [] : from(target).map((rest) => String.fromCodePoint(pointOf.get(symbol) as number) + rest);
    }),
  ];
  return from(0).toSorted();
}

function stringsOf(schema: JsonObject, sources: Partial<ProvenanceSources>): readonly string[] {
  const node = closedNode(schema, sources);
  if (node.kind !== 'string') throw new Error(node.kind);
  const automaton = node.content === undefined ? undefined : contentAutomaton(node.content, node.minLength);
  return automaton === undefined ? [] : textsOf(automaton);
}

describe('the closed texts', () => {
  test.each([
    ['one word, in its cases', 'yes', ['YES', 'Yes', 'yes']],
    ['words and the space between them, never space at an end', ' 1 2\t', ['1', '1 2', '2']],
    ['signs one by one', '1-2', ['-', '-2', '1', '1-', '1-2', '2']],
    ['an empty request', '', []],
    ['a request of space', ' \n', []],
    ['quotes and backslashes as they are', '"\\', ['"', '"\\', '\\']],
    ['text that looks like JSON', '{"1":2}', undefined],
    ['an emoji with what belongs to it as one', '👩🏽\u200d💻', ['👩🏽\u200d💻']],
    ['a letter and its combining mark as one, not the composed letter', 'e\u0301', ['E\u0301', 'e\u0301']],
    ['a flag as one', '🇮🇹', ['🇮🇹']],
    ['characters of a script without spaces one by one', '東京', ['京', '東', '東京']],
    ['letters without a single capital as they are', 'ß', ['ß']],
  ])('of %s', (_name, text, expected) => {
    const values = closed({ texts: [text] });
    if (!values.ok) throw new Error(values.error.code);
    const texts = textsOf(values.value.automaton);
    if (expected !== undefined) expect(texts).toEqual(expected.toSorted());
    else expect(texts).toContain(text);
  });

  test('hold a text that another begins with, and go on from it', () => {
    const values = closed({ texts: ['San Francisco or San Jose'] });
    if (!values.ok) throw new Error(values.error.code);
    expect(textsOf(values.value.automaton)).toEqual(expect.arrayContaining(['San', 'San Francisco', 'San Francisco or', 'San Jose', 'SAN JOSE', 'San jose'.toLowerCase()]));
    expect(textsOf(values.value.automaton)).not.toContain('San Fran');
  });

  test('hold the leaves of the candidate, whole and in spans, but no names of members', () => {
    expect(stringsOf({ type: 'string' }, { candidate: { name: [true, null, 7, ' x'] } })).toEqual([' x', '7', 'X', 'true', 'x'].toSorted());
  });

  test('need about one state a code point and case', () => {
    const words = 'please move the meeting with the design team to the large room on the second floor and tell everybody who has not answered yet about it';
    const values = closed({ texts: [words] });
    expect(values.ok && values.value.automaton.stateCount).toBeLessThan(5 * words.length);
  });
});

describe('texts that are too long', () => {
  /** Pseudo-random words: nothing repeats. */
  const words = (count: number): string => Array.from({ length: count }, (_, index) => (Math.imul(index + 1, 0x9e3779b1) >>> 0).toString(36)).join(' ');

  test('first lose the cases of letters but the first, and say so', () => {
    const [short, long] = [closed({ texts: [words(60)] }), closed({ texts: [words(300)] })];
    expect(short).toMatchObject({ ok: true, value: { folded: true } });
    expect(long).toMatchObject({ ok: true, value: { folded: false } });
    expect(long.ok && long.value.automaton.stateCount).toBeLessThanOrEqual(MAX_TEXT_STATES);
  });

  test('are then refused by name', () => {
    expect(closed({ texts: [words(1000)] })).toEqual({ ok: false, error: { code: 'provenance/too-long', limit: MAX_TEXT_STATES } });
    expect(closed({ candidate: { note: 'x'.repeat(1_000_000) } })).toEqual({ ok: false, error: { code: 'provenance/too-long', limit: MAX_TEXT_STATES } });
    expect(closed({ candidate: Array.from({ length: 9000 }, (_, index) => String(index)) })).toMatchObject({ ok: false, error: { code: 'provenance/too-long' } });
  });

  test('and half a character is refused with its place', () => {
    expect(closed({ texts: ['a', '\ud83d'] })).toEqual({ ok: false, error: { code: 'provenance/lone-surrogate', place: { kind: 'request', text: 1 } } });
  });
});

describe('the closed numbers', () => {
  test.each([
    ['1,200.50 and .5', [1, 200.5, 1200.5, 0.5]],
    ['from 3-5, or -7 or \u22128', [3, 5, -7, 7, -8, 8]],
    ['5km 10:30 #12 $9.99 第5章', [5, 10, 30, 12, 9.99]],
    ['A5 log10 v2', []],
    ['12.5 % of 3e2, 7 PERCENT', [12.5, 0.125, 300, 7, 0.07]],
    ['0.07%', [0.07, 0.0007]],
    ['1,2,3 and 1,000,000 and 12,34', [1, 2, 3, 0, 1_000_000, 12, 34]],
    ['-0', [0]],
    [`1e999 ${'9'.repeat(400)}`, []],
  ])('of %s', (text, expected) => {
    const values = closed({ texts: [text] });
    expect(new Set(values.ok ? values.value.numbers : [])).toEqual(new Set(expected));
  });
});

describe('a closed schema node', () => {
  const sources = { texts: ['Fly from Rome to Oslo on 2024-05-01 with 2 bags of 7.5 kg, 120 in all'], candidate: { seats: '3' } };

  test('keeps of the closed texts those that pattern, format and length accept', () => {
    expect(stringsOf({ type: 'string', format: 'date' }, sources)).toEqual(['2024-05-01']);
    expect(stringsOf({ type: 'string', pattern: '^[A-Z][a-z]{3}$', minLength: 1 }, sources)).toEqual(['Bags', 'From', 'Oslo', 'Rome', 'With']);
    expect(stringsOf({ type: 'string', pattern: '^[xyz]$' }, sources)).toEqual([]);
  });

  test.each<[string, JsonObject, readonly number[]]>([
    ['integers', { type: 'integer' }, [2024, 5, 1, 2, 120, 3]],
    ['bounds', { type: 'number', exclusiveMinimum: 2, maximum: 7.5 }, [5, 7.5, 3]],
    ['divisors', { type: 'number', multipleOf: 2.5 }, [5, 7.5, 120]],
    ['what is left out', { type: 'integer', maximum: 5, not: { enum: [2, 3] } }, [5, 1]],
  ])('keeps of the closed numbers those within %s', (_name, schema, expected) => {
    const node = closedNode(schema, sources);
    if (node.kind !== 'literals') throw new Error(node.kind);
    expect(new Set(node.values)).toEqual(new Set(expected));
  });

  test('has no numbers that the mask cannot spell', () => {
    expect(closedNode({ type: 'number' }, { candidate: [1e21, 9007199254740993, 1e-7, 1.234567890123456, 0.1] })).toMatchObject({ kind: 'literals', values: [0.1] });
  });

  test('adds what the schema names itself, where it fits', () => {
    expect(closedNode({ type: 'string', default: 'economy', examples: ['business', 5, 'x', 'y'.repeat(101)], minLength: 2 }, sources)).toMatchObject({ kind: 'union', branches: [{ kind: 'string' }, { kind: 'literals', values: ['economy', 'business'] }] });
    expect(closedNode({ type: 'integer', default: 9, maximum: 8 }, sources)).toMatchObject({ kind: 'literals' });
    expect(closedNode({ enum: ['a', 1] }, sources)).toEqual({ kind: 'literals', values: ['a', 1] });
  });

  test('closes the elements that were listed from a range, not those of an enum', () => {
    const range = closedNode({ type: 'array', uniqueItems: true, items: { type: 'integer', minimum: 1, maximum: 9 } }, sources);
    expect(range).toMatchObject({ kind: 'array', rest: { kind: 'literals' } });
    expect(range.kind === 'array' && range.rest.kind === 'literals' && range.rest.values.toSorted()).toEqual([1, 2, 3, 5]);
    expect(closedNode({ type: 'array', uniqueItems: true, items: { enum: [8, 9] } }, sources)).toMatchObject({ rest: { values: [8, 9] } });
  });

  test('is one node for strings of which the same is asked', () => {
    const node = closedNode({ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string', maxLength: 9 } } }, sources);
    if (node.kind !== 'object') throw new Error(node.kind);
    const [a, b, c] = node.members.map((member) => member.node);
    expect(a).toBe(b);
    expect(a).not.toBe(c);
  });
});
