/**
 * Names that the schema leaves open (`openNames`): the mask spells exactly the objects that the judge accepts and that have no name twice, none
 * beyond 64 code points and none of a prototype, and no beginning of one is a dead end.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createJudge, FORBIDDEN_TOKENS, ROOT_POINTER, type JsonObject, type JsonValue } from '@contractrl/core';
import { readSchemaNode } from '@contractrl/core/schema';
import { bitmaskLength, compileValueMask, isAllowed, type CompiledValueMask, type MaskMatcher } from '../src/index.ts';
import { feed } from './support/contracts.ts';
import { byteVocabulary } from './support/vocabulary.ts';

const bytes = byteVocabulary([]);
/** Tokens that end a name, write a value and begin or hold the next name. */
const PIECES = ['":', '":1', '":1,', '":1,"', 'a":1,"', 'b":1,"a":1,"ab":1,', 'a":1,"a', 'a":1,"a":', 'b":1,"', '{"a":1,"b":1}', ',"a":', '"a":1,"b"', 'ab', '1}'];
const pieces = byteVocabulary(PIECES);
const textOf = (id: number): string => (id < 256 ? String.fromCharCode(id) : PIECES[id - 256] ?? '');

function maskOf(schema: JsonObject, vocabulary = bytes): CompiledValueMask {
  const compiled = compileValueMask(schema, vocabulary, { openNames: true });
  if (!compiled.ok) throw new Error(compiled.error.code);
  return compiled.value;
}

function accepts(mask: CompiledValueMask, text: string): boolean {
  const matcher = mask.createMatcher();
  return feed(matcher, [...Buffer.from(text, 'utf8')]) && matcher.isAccepting();
}

describe('a name that nobody declares', () => {
  test.each<[string, JsonObject, readonly string[], readonly string[]]>([
    ['is spelled where any is allowed, behind the declared ones', { type: 'object', properties: { a: { const: 1 } } }, ['{}', '{"a":1,"b":[]}', '{"b":{"c":null},"d":1}', '{"":1}'], ['{"b":1,"a":1}', '{"b":1,"b":2}', '{"a":2}', '{"b":1,}']],
    ['has the value that additionalProperties asks for', { type: 'object', additionalProperties: { type: 'boolean' } }, ['{"x":true,"y":false}'], ['{"x":1}', '{"x":true,"x":true}']],
    ['is none where additionalProperties is false', { type: 'object', properties: { a: {} }, additionalProperties: false }, ['{"a":1}'], ['{"b":1}']],
    ['is one of patternProperties', { type: 'object', patternProperties: { '^x': { const: 1 }, 'z$': { type: 'integer' } }, additionalProperties: false }, ['{"x":1,"az":7,"xz":1}'], ['{"xz":2}', '{"a":1}', '{"x":2}']],
    ['is none of patternProperties where it has another value', { type: 'object', patternProperties: { '^x': { const: 1 } } }, ['{"a":2,"x":1}', '{"ax":2}'], ['{"x":2}']],
    ['is one that propertyNames accepts', { type: 'object', propertyNames: { enum: ['a', 'b'] }, additionalProperties: { const: 1 } }, ['{"b":1,"a":1}'], ['{"c":1}', '{"a":1,"b":1,']],
    ['is never a prototype name', { type: 'object' }, ['{"__proto":1}', '{"constructors":1}'], ['{"__proto__":1}', '{"constructor":1}', '{"prototype":1}']],
    ['ends at 64 code points', { type: 'object', additionalProperties: { const: 1 } }, [`{"${'😀'.repeat(64)}":1}`], [`{"${'😀'.repeat(65)}":1}`]],
    ['counts as a member', { type: 'object', minProperties: 2, maxProperties: 2, properties: { a: { const: 1 } }, additionalProperties: { const: 2 } }, ['{"a":1,"b":2}', '{"b":2,"c":2}'], ['{"b":2}', '{"a":1,"b":2,"c":2}']],
    ['is compared with its escapes', { type: 'object', additionalProperties: { const: 1 } }, ['{"\\n":1,"n":1}'], ['{"\\n":1,"\\n":1}']],
  ])('%s', (_, schema, spelled, refused) => {
    const mask = maskOf(schema);
    expect(spelled.filter((text) => !accepts(mask, text))).toEqual([]);
    expect(refused.filter((text) => accepts(mask, text))).toEqual([]);
  });

  test('stays out without the option', () => {
    const compiled = compileValueMask({ type: 'object' }, bytes);
    expect(compiled.ok && accepts(compiled.value, '{"a":1}')).toBe(false);
  });

  test('what cannot be read of it refuses nothing else', () => {
    expect(accepts(maskOf({ type: 'object', properties: { a: { const: 1 } }, additionalProperties: { format: 'regex' } }), '{"a":1}')).toBe(true);
  });
});

describe('open names of few texts', () => {
  const schema: JsonObject = { type: 'object', propertyNames: { pattern: '^(a|ab|b)$' }, additionalProperties: { const: 1 }, properties: { b: { const: 1 } } };

  test.each([['bytes', bytes], ['tokens of several bytes', pieces]] as const)('no walk of %s meets a dead end, and what it ends with has no name twice', (_, vocabulary) => {
    const mask = maskOf(schema, vocabulary);
    const outputs = new Set<string>();
    fc.assert(fc.property(fc.array(fc.nat(), { minLength: 60, maxLength: 60 }), (picks) => {
      const matcher = mask.createMatcher();
      const ids: number[] = [];
      for (const pick of picks) {
        const allowed = allowedIds(matcher, vocabulary.logitWidth);
        expect(allowed.length).toBeGreaterThan(0);
        const id = allowed[pick % allowed.length] as number;
        expect(matcher.acceptToken(id).ok).toBe(true);
        if (matcher.isTerminated()) break;
        ids.push(id);
      }
      const text = ids.map(textOf).join('');
      if (!matcher.isTerminated()) return;
      outputs.add(text);
      expect(text.match(/"[ab]+"/g)?.length ?? 0).toBe(Object.keys(JSON.parse(text) as object).length);
    }), { numRuns: 300 });
    expect(outputs.size).toBeGreaterThan(5);
  });

  test.each<[string, JsonObject]>([
    ['few', schema], ['any', { type: 'object', additionalProperties: { const: 1 } }], ['many', { type: 'object', propertyNames: { pattern: '^[ab]{1,3}$' }, additionalProperties: { const: 1 }, maxProperties: 3 }],
  ])('of %s names the mask allows exactly the tokens that are accepted', (_, namedSchema) => {
    const mask = maskOf(namedSchema, pieces);
    let passedCount = 0;
    fc.assert(fc.property(fc.array(fc.nat(), { maxLength: 20 }), (picks) => {
      const matcher = mask.createMatcher();
      for (const pick of picks) {
        const allowed = new Set(allowedIds(matcher, pieces.logitWidth));
        for (let id = 0; id < pieces.logitWidth; id += 1) {
          expect({ text: matcher.text(), token: textOf(id), isAllowed: allowed.has(id) }).toEqual({ text: matcher.text(), token: textOf(id), isAllowed: matcher.fork().acceptToken(id).ok });
          if (allowed.has(id) && /":.*,"/.test(textOf(id))) passedCount += 1;
        }
        const list = [...allowed];
        // half of the steps take a token of several bytes where there is one
        const long = list.filter((id) => id >= 256 && id < 256 + PIECES.length);
        const choice = pick % 2 === 0 && long.length > 0 ? long : list;
        matcher.acceptToken(choice[(pick >> 1) % choice.length] as number);
        if (matcher.isTerminated()) return;
      }
    }), { numRuns: 60 });
    expect(passedCount).toBeGreaterThan(20);
  });
});

test('random maps: the mask spells what the judge accepts', () => {
  const names = fc.constantFrom('a', 'b', 'ab', 'xa', 'é', '');
  const scalar = fc.constantFrom<JsonValue>(1, 2, 'a', true);
  const sub = fc.constantFrom<JsonValue>(true, false, { type: 'integer' }, { const: 1 }, { type: ['string', 'boolean'] });
  const schemas = fc.record({
    properties: fc.dictionary(names, sub, { maxKeys: 2 }), additionalProperties: sub, patternProperties: fc.dictionary(fc.constantFrom('^x', 'a', '^.?$'), sub, { maxKeys: 2 }),
    propertyNames: fc.constantFrom<JsonValue>({ maxLength: 1 }, { not: { pattern: 'b' } }, { enum: ['a', 'é'] }), required: fc.subarray(['a', 'b'], { maxLength: 1 }), minProperties: fc.nat(2), maxProperties: fc.nat(3),
  }, { requiredKeys: [] });
  let comparedCount = 0;
  fc.assert(fc.property(schemas, schemas, fc.dictionary(names, scalar, { maxKeys: 4 }), (left, right, object) => {
    const schema = { type: 'object', ...left, allOf: [right] } as JsonObject;
    const judge = createJudge(schema, '2020-12');
    const compiled = compileValueMask(schema, bytes, { openNames: true });
    const node = readSchemaNode(schema, schema, ROOT_POINTER, { openNames: true });
    if (!judge.ok || !node.ok || (!compiled.ok && compiled.error.code !== 'mask/nothing-accepted')) return;
    const isValid = judge.value.judge(object).length === 0 && Object.keys(object).every((name) => !FORBIDDEN_TOKENS.has(name));
    const order = node.value.kind === 'object' ? node.value.members.map(({ name }) => name) : [];
    const placed = [...order.filter((name) => Object.hasOwn(object, name)), ...Object.keys(object).filter((name) => !order.includes(name))];
    const text = `{${placed.map((name) => `${JSON.stringify(name)}:${JSON.stringify(object[name])}`).join()}}`;
    expect({ schema, text, isSpelled: compiled.ok && accepts(compiled.value, text) }).toEqual({ schema, text, isSpelled: isValid });
    comparedCount += 1;
  }), { numRuns: 400 });
  expect(comparedCount).toBeGreaterThan(250);
}, 60_000);

function allowedIds(matcher: MaskMatcher, width: number): readonly number[] {
  const bitmask = new Int32Array(bitmaskLength(width));
  matcher.fillBitmask(bitmask);
  return Array.from({ length: width }, (_, id) => id).filter((id) => isAllowed(bitmask, id));
}
