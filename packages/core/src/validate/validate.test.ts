import { describe, expect, test } from 'vitest';
import { loadContract, type Contract } from '../contract/contract.ts';
import { validateArguments } from './validate.ts';

function contractOf(parameters: unknown, fields: Readonly<Record<string, unknown>> = {}): Contract {
  const contract = loadContract({ tool: { name: 'validate', parameters }, ...fields });
  if (!contract.ok) throw new TypeError(`${contract.error.code} ${contract.error.pointer}`);
  return contract.value;
}

/** The report as `code@pointer`. */
function report(parameters: unknown, text: string, fields: Readonly<Record<string, unknown>> = {}): readonly string[] {
  const { report: found } = validateArguments(contractOf(parameters, fields), text);
  return found.kind === 'valid' ? [] : found.violations.map(({ code, pointer }) => `${code}@${pointer}`);
}

describe('text that cannot be read', () => {
  test.each<[string, string, readonly string[]]>([
    ['nothing', '', ['json_empty@']],
    ['only white space', ' \n', ['json_empty@']],
    ['not JSON', '{a:1}', ['json_syntax@']],
    ['NaN', '{"a":NaN}', ['json_syntax@']],
    ['a cut text', '{"a":12', ['json_truncated@']],
    ['two objects', '{"a":1}{"a":1}', ['json_trailing@']],
    ['a duplicate name', '{"o":{"a":1,"a":2}}', ['duplicate_key@/o/a']],
    ['a duplicate name spelled with an escape', '{"a":1,"\\u0061":2}', ['duplicate_key@/a']],
    ['10,000 levels of nesting', '['.repeat(10_000), ['json_too_deep@']],
    ['20 MB', `{"a":"${'x'.repeat(20_000_000)}"}`, ['json_too_large@']],
    ['half a surrogate pair', '{"a":"\\ud83d"}', ['json_syntax@']],
    ['a text instead of an object', '"{}"', ['wrong_type@']],
    ['null', 'null', ['wrong_type@']],
    ['an array', '[]', ['wrong_type@']],
  ])('%s', (_, text, expected) => {
    expect(report({}, text)).toEqual(expected);
  });

  test('a 19-digit identifier is a loss of precision, and the schema still speaks', () => {
    expect(report({ properties: { id: { type: 'string' } } }, '{"id":2512292042121000417}')).toEqual(['precision_loss@/id', 'wrong_type@/id']);
    expect(report({}, '{"a":1e400,"b":1e-400,"c":0.1,"d":9007199254740993}')).toEqual(['precision_loss@/a', 'precision_loss@/b', 'precision_loss@/d']);
  });

  test.each(['__proto__', 'constructor', 'prototype'])('a member named %s anywhere is forbidden', (name) => {
    expect(report({}, `{"list":[{"${name}":{"x":1}}]}`)).toEqual([`forbidden_name@/list/0/${name}`]);
  });

  test('an inherited member satisfies nothing', () => {
    expect(report({ required: ['toString'] }, '{}')).toEqual(['missing_required@/toString']);
  });
});

/** Two branches, told apart by `kind`, one of them behind a reference. */
const TAGGED = {
  $defs: { p: { properties: { kind: { const: 'p' }, x: { type: 'number' } }, required: ['kind'] } },
  properties: { a: { oneOf: [{ $ref: '#/$defs/p' }, { properties: { kind: { enum: ['q', 'r'] } }, required: ['kind', 'y'] }] } },
};

describe('what the schema says', () => {
  test.each<[string, unknown, string, readonly string[]]>([
    ['a missing member is reported where it should be', { properties: { o: { required: ['a/b'] } } }, '{"o":{}}', ['missing_required@/o/a~1b']],
    ['a name another name requires', { dependentRequired: { a: ['b'] } }, '{"a":1}', ['missing_required@/b']],
    ['an extra member is reported where it stands', { additionalProperties: false }, '{"x":1}', ['additional_property@/x']],
    ['an unevaluated one too', { unevaluatedProperties: false }, '{"x":1}', ['additional_property@/x']],
    ['missing comes before extra, and both before members', { properties: { a: { type: 'string' } }, required: ['b'], additionalProperties: false }, '{"a":1,"c":1}', ['missing_required@/b', 'additional_property@/c', 'wrong_type@/a']],
    ['multiples as decimals, not as doubles', { properties: { a: { multipleOf: 0.01 }, b: { multipleOf: 0.01 }, c: { multipleOf: 1e-8 } } }, '{"a":19.99,"b":19.995,"c":12391239123}', ['range_violation@/b']],
    ['bounds', { properties: { a: { minimum: 2 }, b: { multipleOf: 2 } } }, '{"a":1,"b":3}', ['range_violation@/a', 'range_violation@/b']],
    ['lengths count code points', { properties: { a: { maxLength: 1 }, b: { minLength: 2 } } }, '{"a":"😀","b":"😀"}', ['length_violation@/b']],
    ['items', { properties: { a: { maxItems: 1 }, b: { uniqueItems: true }, c: { contains: { type: 'string' } } } }, '{"a":[1,2],"b":[{"x":1,"y":2},{"y":2,"x":1.0}],"c":[1]}', ['items_violation@/a', 'items_violation@/b', 'items_violation@/c']],
    ['a name the schema forbids', { propertyNames: { pattern: '^a' } }, '{"b":1}', ['schema_violation@/b']],
    ['a value whose schema is false', { properties: { a: false } }, '{"a":1}', ['schema_violation@/a']],
    ['not', { properties: { a: { not: { type: 'string' } } } }, '{"a":"s"}', ['schema_violation@/a']],
    ['a condition reports what failed, not itself', { if: { required: ['a'] }, then: { required: ['b'] }, else: {} }, '{"a":1}', ['missing_required@/b']],
    ['two branches at once', { properties: { a: { oneOf: [{ type: 'number' }, { type: 'integer' }] } } }, '{"a":1}', ['union_ambiguous@/a']],
    ['the closest branch of a union comes first', { properties: { a: { anyOf: [{ type: 'string' }, { type: 'object', required: ['x'] }] } } }, '{"a":{}}', ['missing_required@/a/x', 'union_no_match@/a']],
    ['a large union reports its closest branch alone', { properties: { a: { anyOf: ['p', 'q', 'r', 's', 't'].map((name) => ({ properties: { kind: { const: name }, n: { type: 'number' } }, required: ['kind'] })) } } }, '{"a":{"kind":"r","n":"1"}}', ['wrong_type@/a/n', 'union_no_match@/a']],
    ['a union behind a reference', { $defs: { u: { anyOf: [{ $ref: '#/$defs/s' }, { type: 'null' }] }, s: { type: 'object', required: ['x'] } }, properties: { a: { items: { $ref: '#/$defs/u' } } } }, '{"a":[{}]}', ['missing_required@/a/0/x', 'union_no_match@/a/0']],
    ['a union without a branch of the value\'s type says so once', { properties: { a: { anyOf: [{ type: 'string' }, { type: 'object', required: ['x'] }] } } }, '{"a":1}', ['wrong_type@/a', 'union_no_match@/a']],
    ['the branch whose tag the value bears stands alone', TAGGED, '{"a":{"kind":"p","x":"1"}}', ['wrong_type@/a/x', 'union_no_match@/a']],
    ['without a tag every branch is heard, the closest first', TAGGED, '{"a":{"z":1,"x":"1"}}', ['missing_required@/a/kind', 'wrong_type@/a/x', 'missing_required@/a/y', 'union_no_match@/a']],
    ['of equally close branches the one that fails deeper inside comes first', { properties: { a: { anyOf: [{ properties: { o: { type: 'string' } } }, { properties: { o: { properties: { i: { type: 'string' } } } } }] } } }, '{"a":{"o":{"i":1}}}', ['wrong_type@/a/o/i', 'wrong_type@/a/o', 'union_no_match@/a']],
  ])('%s', (_, parameters, text, expected) => {
    expect(report(parameters, text)).toEqual(expected);
  });

  // checklist: C5
  test('a violation carries its keyword, its place in the schema and its parameters, also behind a reference', () => {
    const parameters = { $defs: { level: { enum: ['low', 'high'] }, node: { properties: { level: { $ref: '#/$defs/level' }, next: { $ref: '#/$defs/node' } } } }, $ref: '#/$defs/node' };
    expect(validateArguments(contractOf(parameters), '{"next":{"next":{"level":"mid"}}}').report).toEqual({
      kind: 'invalid',
      violations: [{ code: 'enum_mismatch', pointer: '/next/next/level', keyword: 'enum', keywordLocation: '/$defs/level/enum', params: { allowedValues: ['low', 'high'] } }],
    });
  });

  test.each(['https://example.org/s', 'urn:example:s'])('a union is explained in a schema with the base %s, and behind names that need escapes', ($id) => {
    const parameters = { $id, $defs: { 'x y%/~': { anyOf: [{ type: 'object', required: ['k'] }, { type: 'null' }] } }, properties: { 'a b%25/~ü': { allOf: [{ $ref: '#/$defs/x%20y%25~1~0' }] } } };
    expect(report(parameters, '{"a b%25/~ü":{}}')).toEqual(['missing_required@/a b%25~1~0ü/k', 'union_no_match@/a b%25~1~0ü']);
  });

  test('a report is never longer than a hundred violations', () => {
    expect(report({ properties: { a: { items: { type: 'string' } } } }, JSON.stringify({ a: Array.from({ length: 100_000 }, () => 1) }))).toHaveLength(100);
  });

  test('the value and the report are frozen, and the value is given also where it is invalid', () => {
    const { value, report: found } = validateArguments(contractOf({ required: ['b'] }), '{"a":{"b":1}}');
    expect(value).toEqual({ a: { b: 1 } });
    expect([Object.isFrozen(value), Object.isFrozen(found)]).toEqual([true, true]);
  });

  // checklist: C3
  test('a judge that cannot decide counts as invalid', () => {
    const text = JSON.stringify({ a: 'a'.repeat(400_000) });
    expect(report({ properties: { a: { pattern: 'a{0,200}b' } } }, text)).toEqual(['undecided@']);
  });
});

describe('near misses are named as data', () => {
  const NAMES = { properties: { calendar_id: {}, path: {}, body: {} }, required: ['calendar_id', 'path'], additionalProperties: false };
  const LEVELS = { properties: { level: { enum: ['low', 'high', 'very-high', 7] } } };
  test.each<[string, unknown, string, readonly unknown[]]>([
    ['a name in another style, from both sides', NAMES, '{"calendarId":"c","path":"p"}', [{ missingProperty: 'calendar_id', closestName: 'calendarId' }, { additionalProperty: 'calendarId', closestName: 'calendar_id' }]],
    ['a longer name with the same last word', NAMES, '{"calendar_id":"c","filePath":"p"}', [{ missingProperty: 'path', closestName: 'filePath' }, { additionalProperty: 'filePath', closestName: 'path' }]],
    ['two that fit equally are none', NAMES, '{"calendar_id":"c","filePath":"p","dirPath":"q"}', [{ missingProperty: 'path' }, { additionalProperty: 'filePath', closestName: 'path' }, { additionalProperty: 'dirPath', closestName: 'path' }]],
    ['a name that is like no other', NAMES, '{"calendar_id":"c","path":"p","zebra":1}', [{ additionalProperty: 'zebra' }]],
    ['a value by case', LEVELS, '{"level":"LOW"}', [{ allowedValues: ['low', 'high', 'very-high', 7], closestValue: 'low' }]],
    ['a value by separators', LEVELS, '{"level":"Very High"}', [{ allowedValues: ['low', 'high', 'very-high', 7], closestValue: 'very-high' }]],
    ['a slip of the keyboard', LEVELS, '{"level":"hihg"}', [{ allowedValues: ['low', 'high', 'very-high', 7] }]],
    ['one letter of eight', LEVELS, '{"level":"very-hiqh"}', [{ allowedValues: ['low', 'high', 'very-high', 7], closestValue: 'very-high' }]],
    ['a number in a string', LEVELS, '{"level":"7"}', [{ allowedValues: ['low', 'high', 'very-high', 7], closestValue: 7 }]],
  ])('%s', (_, parameters, text, expected) => {
    const { report: found, value } = validateArguments(contractOf(parameters), text);
    expect(found.kind === 'invalid' && found.violations.map(({ params }) => params)).toEqual(expected);
    expect(value).toEqual(JSON.parse(text));
  });

  test('looking for them costs little in an object of 20,000 wrong names', () => {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`n${index}`, 1])));
    const started = process.cpuUsage().user;
    expect(report(NAMES, text)).toHaveLength(100);
    expect(process.cpuUsage(undefined).user - started).toBeLessThan(5_000_000);
  });
});

describe('checks across fields', () => {
  // checklist: C2
  test('they speak only on arguments the schema accepts', () => {
    const fields = { crossField: [{ kind: 'lte', a: '/a', b: '/b' }] };
    const parameters = { properties: { a: { type: 'integer' }, b: { type: 'integer' } } };
    expect(report(parameters, '{"a":2,"b":1}', fields)).toEqual(['cross_field@/a']);
    expect(report(parameters, '{"a":2,"b":"1"}', fields)).toEqual(['wrong_type@/b']);
    expect(report(parameters, '{"a":1,"b":1}', fields)).toEqual([]);
  });
});
