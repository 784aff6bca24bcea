/** The walk over the whole tree, with its short cuts, against asking every token of the real vocabulary alone. */
import { expect, test } from 'vitest';
import { bitmaskLength, compileMask, isAllowed, type CompileOptions } from '../src/index.ts';
import { ALL_OPERATIONS, contractOf, stateOf, WEATHER } from './support/contracts.ts';
import { smollm2Vocabulary } from './support/vocabulary.ts';

const vocabulary = smollm2Vocabulary();
const contract = contractOf(WEATHER, { allowedOperations: ALL_OPERATIONS, operationBudget: 3 });
const DOCUMENT = { city: 'Sao Paulo', unit: 'C', days: 3, tags: ['x', 'y'], place: { lat: 1.5, lon: 2 } };
const byteToken = new Map(vocabulary.tokens.flatMap((token, id) => (token?.length === 1 ? [[token[0] as number, id] as const] : [])));

const IN_STRING = '[{"op":"replace","path":"/city","value":"Sao Paulo and';
const ALONG_PRESENT = '[{"op":"replace","path":"/city","value":"Sao Paulo"';
const NUMBER = '[{"op":"replace","path":"/place","value":{"lat":1.50,"lon":2}';
const LIST = '[{"op":"replace","path":"/tags","value":["x","y"';
const SECOND = '[{"op":"remove","path":"/tags/0"},{"op":"replace","path":"/tags/0","value":"yes"}]';

test.each<[string, string, CompileOptions, number | undefined]>([
  ['inside a free string', IN_STRING, {}, undefined],
  ['along a value that stands there already', ALONG_PRESENT, { excludeNoOps: true }, undefined],
  ['along a number that stands there already', NUMBER, { excludeNoOps: true }, undefined],
  ['along a list that stands there already', LIST, { excludeNoOps: true }, undefined],
  ['with a goal', SECOND, { excludeNoOps: true, goal: true }, undefined],
  ['near the end of a token budget', IN_STRING, {}, 57],
  ['at the end of a token budget, along a value that stands there already', ALONG_PRESENT, { excludeNoOps: true }, 57],
  ['at the end of a token budget, in the second operation', SECOND, {}, 83],
])('23: %s the mask holds the tokens that are allowed one by one', (_, output, options, tokenBudget) => {
  const compiled = compileMask(contract, vocabulary, options);
  const bound = compiled.ok ? compiled.value.bind(stateOf(DOCUMENT, 3), tokenBudget === undefined ? {} : { tokenBudget }) : compiled;
  if (!bound.ok) throw new Error(JSON.stringify(bound.error));
  const matcher = bound.value;
  const bitmask = new Int32Array(bitmaskLength(vocabulary.logitWidth));
  const listed = new Int32Array(vocabulary.logitWidth);
  let stateCount = 0;
  for (const byte of Buffer.from(output, 'utf8')) {
    const count = matcher.fillBitmask(bitmask);
    const wrong: string[] = [];
    let single = 0;
    for (let id = 0; id < vocabulary.logitWidth; id += 1) {
      const isSingle = matcher.isAllowed(id);
      single += Number(isSingle);
      if (isAllowed(bitmask, id) !== isSingle) wrong.push(`${isSingle ? 'missing' : 'extra'} ${Buffer.from(vocabulary.tokens[id] ?? []).toString('latin1')}`);
    }
    expect({ text: matcher.text(), wrong: wrong.slice(0, 5), count }).toEqual({ text: matcher.text(), wrong: [], count: single });
    expect(matcher.allowedIds(listed)).toBe(count);
    expect(listed.subarray(0, count).every((id, index) => isAllowed(bitmask, id) && (index === 0 || id > (listed[index - 1] as number)))).toBe(true);
    stateCount += 1;
    if (!matcher.acceptToken(byteToken.get(byte) as number).ok) break;
  }
  expect(stateCount).toBeGreaterThan(40);
}, 120_000);
