import { loadContract, tokensOf, validateArguments, type Contract, type JsonObject } from '@contractrl/core';
import { expect, test } from 'vitest';
import { drawCalls } from './drawn-calls.ts';

function contractOf(properties: JsonObject, required: readonly string[] = Object.keys(properties)): Contract {
  const loaded = loadContract({ tool: { name: 'reserve_kiln_slot', parameters: { type: 'object', properties, required, additionalProperties: false } } });
  if (!loaded.ok) throw new Error(loaded.error.code);
  return loaded.value;
}

const WIDE = contractOf({
  potter: { type: 'string', minLength: 3, maxLength: 12 }, day: { type: 'string', format: 'date' }, starts_at: { type: 'string', format: 'date-time' }, code: { type: 'string', pattern: '^FR-\\d{4}[A-C]$' },
  shelf: { type: 'integer', minimum: 1, maximum: 40, multipleOf: 3 }, heat: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 2 }, glaze: { enum: ['celadon', 'tenmoku'] }, raku: { type: 'boolean' },
  pieces: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, count: { type: 'integer', minimum: 2 } }, required: ['name'] }, minItems: 2, maxItems: 3 },
  limit: { anyOf: [{ type: 'integer', minimum: 5 }, { type: 'null' }] }, url: { type: 'string', format: 'uri' }, address: { type: 'string', format: 'ipv6' },
}, ['potter', 'day', 'code', 'shelf', 'pieces']);

test('drawn calls are valid, no two alike, and the same for the same seed', () => {
  const drawn = drawCalls(WIDE, 40, 13);
  if (!drawn.ok) throw new Error(drawn.error.code);
  expect(drawn.value.length).toBe(40);
  for (const { arguments: args } of drawn.value) expect(validateArguments(WIDE, JSON.stringify(args)).report.kind).toBe('valid');
  expect(new Set(drawn.value.map(({ arguments: args }) => JSON.stringify(args))).size).toBe(40);
  expect(new Set(drawn.value.flatMap(({ arguments: args }) => Object.keys(args))).size).toBe(12);
  const texts = (seed: number): unknown => { const again = drawCalls(WIDE, 3, seed); return again.ok && again.value.map(({ request, arguments: args }) => [request, args]); };
  expect(texts(13)).toEqual(drawn.value.slice(0, 3).map(({ request, arguments: args }) => [request, args]));
  expect(texts(14)).not.toEqual(texts(13));
});

test('the request says every scalar, and the mentions are its words', () => {
  const drawn = drawCalls(WIDE, 20, 13);
  if (!drawn.ok) throw new Error(drawn.error.code);
  for (const { request, mentions, arguments: args } of drawn.value) {
    for (const words of mentions!.values()) expect(request).toContain(words);
    const said = new Set([...mentions!.keys()].map((pointer) => tokensOf(pointer)[0]));
    for (const [name, value] of Object.entries(args)) if (typeof value !== 'boolean' && value !== null) expect(said, `${name} of ${JSON.stringify(args)}`).toContain(name);
  }
});

test('members that a topic knows are sometimes said in its words', () => {
  const drawn = drawCalls(contractOf({ date: { type: 'string', format: 'date' }, guests: { type: 'integer' } }), 40, 13);
  if (!drawn.ok) throw new Error(drawn.error.code);
  const inWords = drawn.value.filter(({ request, arguments: args }) => !String(request).includes(String(args['date'])));
  expect(inWords.length).toBeGreaterThan(5);
  expect(inWords.length).toBeLessThan(40);
});

test('a schema with few calls gives those', () => {
  const drawn = drawCalls(contractOf({ raku: { type: 'boolean' }, glaze: { enum: ['celadon', 'tenmoku'] } }), 40, 13);
  expect(drawn.ok && drawn.value.length).toBe(4);
});

test.each([
  ['takes no arguments', contractOf({}), { code: 'train/nothing-drawn' }],
  ['cannot be met', contractOf({ shelf: { type: 'integer', minimum: 5, maximum: 4 } }), { code: 'train/nothing-drawn' }],
])('of a tool that %s nothing is drawn', (_, contract, error) => {
  expect(drawCalls(contract, 10, 13)).toMatchObject({ ok: false, error });
});
