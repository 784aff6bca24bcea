import { describe, expect, test } from 'vitest';
import { loadContract, type Contract } from '../contract/contract.ts';
import { parseJsonWithLosses } from '../json/parse.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { lossyNumbers } from '../repair/accepted-call.ts';
import { validateArguments } from '../validate/validate.ts';
import { deterministicPatch, type DeterministicPatch } from './deterministic-patch.ts';

function contractOf(properties: JsonObject, more: JsonObject = {}, schema: JsonObject = {}): Contract {
  const contract = loadContract({ tool: { name: 'tool', parameters: { type: 'object', properties, additionalProperties: false, ...schema } }, ...more });
  if (!contract.ok) throw new Error(contract.error.code);
  return contract.value;
}

/** Through the text, so that numbers lose what a call's would. */
function patchFor(contract: Contract, text: string): DeterministicPatch | undefined {
  const { report, value } = validateArguments(contract, text);
  if (report.kind === 'valid' || value === undefined) throw new Error('nothing to repair');
  return deterministicPatch(contract, value, report.violations, lossyNumbers(report, value));
}

/** The one member `a` of this schema, with this JSON text. */
function one(schema: JsonObject, text: string): DeterministicPatch | undefined {
  return patchFor(contractOf({ a: schema }), `{"a":${text}}`);
}

const replaced = (value: JsonValue, rule: string): unknown => ({ patch: [{ op: 'replace', path: '/a', value }], rules: [rule] });

describe('one reading: the value is written as the schema wants it', () => {
  test.each<[string, JsonObject, string, JsonValue, string]>([
    ['an integer in a string', { type: 'integer' }, '"5"', 5, 'text-to-json'],
    ['a negative fraction in a string', { type: 'number' }, '"-42.5"', -42.5, 'text-to-json'],
    ['true in a string', { type: 'boolean' }, '"true"', true, 'text-to-json'],
    ['a list in a string', { type: 'array', items: { type: 'integer' } }, '"[1, 2]"', [1, 2], 'text-to-json'],
    ['an object in a string', { type: 'object', properties: { b: { type: 'null' } } }, '"{\\"b\\":null}"', { b: null }, 'text-to-json'],
    ['null in a string, where null may stand', { type: ['integer', 'null'] }, '"null"', null, 'text-to-json'],
    ['an integer where only digits are a text', { type: 'string', pattern: '^[0-9]+$' }, '5', '5', 'integer-to-text'],
    ['an integer that a double cannot hold', { type: 'string', pattern: '^[0-9]{1,20}$' }, '2512292042121000417', '2512292042121000417', 'integer-to-text'],
    ['an integer of an enumeration of texts', { enum: ['1', '2'] }, '1', '1', 'integer-to-text'],
    ['a flag of an enumeration of texts', { type: 'string', enum: ['true', 'false'] }, 'true', 'true', 'boolean-to-text'],
    ['an enumeration in another case', { enum: ['open', 'closed'] }, '"Open"', 'open', 'enum-case'],
    ['an enumeration with blanks', { enum: ['open', 'closed'] }, '" closed "', 'closed', 'enum-case'],
    ['a constant in another case', { const: 'open' }, '"OPEN"', 'open', 'enum-case'],
    ['a number where a list is wanted', { type: 'array', items: { type: 'integer' } }, '5', [5], 'list-of-one'],
    ['a word where a list is wanted', { type: 'array', items: { type: 'string' } }, '"ops"', ['ops'], 'list-of-one'],
    ['a list of one number where a number is wanted', { type: 'integer' }, '[5]', 5, 'only-element'],
    ['a list of one text where a text is wanted', { type: 'string' }, '["a b"]', 'a b', 'only-element'],
    ['a list of one object where an object is wanted', { type: 'object' }, '[{"b":1}]', { b: 1 }, 'only-element'],
    ['a list or null, in a string', { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] }, '"[\\"x\\"]"', ['x'], 'text-to-json'],
  ])('%s', (_, schema, text, value, rule) => expect(one(schema, text)).toEqual(replaced(value, rule)));

  test('null for all that is not given is left out, one by one', () => {
    const patch = patchFor(contractOf({ a: { type: 'string' }, b: { type: 'integer', default: null }, c: {} }, { operationBudget: 4 }), '{"a":null,"b":null,"c":1}');
    expect(patch).toEqual({ patch: [{ op: 'remove', path: '/a' }, { op: 'remove', path: '/b' }], rules: ['drop-null', 'drop-null'] });
  });

  test.each([['null', { type: 'string' }], ['"null"', { enum: ['x'] }]])('%s for what may be left out is left out', (text, schema) => {
    expect(one(schema, text)).toEqual({ patch: [{ op: 'remove', path: '/a' }], rules: ['drop-null'] });
  });

  test.each([
    ['fooBar', 'foo_bar'], ['FooBar', '_foo_bar'], ['foo-bar', 'fooBar'], ['foo.bar', 'foo_bar'], ['FOO_BAR', 'foo_bar'],
  ])('a member %s where %s is declared is moved there', (given, declared) => {
    expect(patchFor(contractOf({ [declared]: {} }, {}, { required: [declared] }), JSON.stringify({ [given]: 1 })))
      .toEqual({ patch: [{ op: 'move', from: `/${given}`, path: `/${declared}` }], rules: ['rename-member'] });
  });

  test('a misnamed member of the wrong kind is moved and rewritten', () => {
    expect(patchFor(contractOf({ max_lines: { type: 'integer' } }), '{"maxLines":"20"}')).toEqual({
      patch: [{ op: 'move', from: '/maxLines', path: '/max_lines' }, { op: 'replace', path: '/max_lines', value: 20 }], rules: ['rename-member', 'text-to-json'],
    });
  });

  test('an element deep in a list', () => {
    expect(one({ type: 'array', items: { type: 'object', properties: { b: { type: 'integer' } } } }, '[{"b":1},{"b":"2"}]'))
      .toEqual({ patch: [{ op: 'replace', path: '/a/1/b', value: 2 }], rules: ['text-to-json'] });
  });
});

describe('the markup of a call in a text', () => {
  const NOTE = { content: { type: 'string' }, tags: { type: 'array', items: { type: 'string' }, minItems: 1 }, days: { type: 'integer' } };
  const note = (content: string, more: JsonObject = { required: ['content', 'tags'] }, contract: JsonObject = {}): DeterministicPatch | undefined => (
    patchFor(contractOf(NOTE, contract, more), JSON.stringify({ content }))
  );
  const split = { patch: [{ op: 'replace', path: '/content', value: 'Done.' }, { op: 'add', path: '/tags', value: ['ops'] }], rules: ['leaked-markup', 'leaked-markup'] };

  test.each([
    ['ended by its own name, the next one open', 'Done.</content>\n<parameter name="tags">["ops"]'],
    ['ended by the element', 'Done.</parameter>\n<parameter name="tags">["ops"]</parameter>\n</invoke>'],
    ['with a namespace', 'Done.</x:parameter>\n<x:parameter name="tags">["ops"]</x:parameter>\n</x:invoke>\n</x:function_calls>'],
    ['with the name behind an equals sign', '\nDone.\n</parameter>\n<parameter=tags>\n["ops"]\n</parameter>\n</function>\n</tool_call>'],
    ['with the name as element', 'Done.</content>\n<tags>["ops"]</tags>\n'],
    ['with keys and values', 'Done.</arg_value>\n<arg_key>tags</arg_key>\n<arg_value>["ops"]</arg_value></tool_call>'],
  ])('an argument that swallowed the next one is split: %s', (_, content) => expect(note(content)).toEqual(split));

  test('the end of the argument alone is taken off where the schema refuses the whole, and what is left is read as the schema wants it', () => {
    const rules = ['leaked-markup'];
    expect(one({ enum: ['open', 'closed'] }, '"open</parameter>"')).toEqual({ patch: [{ op: 'replace', path: '/a', value: 'open' }], rules });
    expect(one({ type: 'integer' }, '"5</a>\\n</invoke>"')).toEqual({ patch: [{ op: 'replace', path: '/a', value: 5 }], rules });
  });

  test('two that were swallowed are both given back, within the budget', () => {
    const content = 'Done.</parameter><parameter name="days">3</parameter><parameter name="tags">["ops"]</parameter>';
    expect(note(content, { required: ['tags'] }, { operationBudget: 3 })?.patch).toEqual([
      { op: 'replace', path: '/content', value: 'Done.' }, { op: 'add', path: '/days', value: 3 }, { op: 'add', path: '/tags', value: ['ops'] },
    ]);
    expect(note(content, { required: ['tags'] }, { operationBudget: 2 })).toBeUndefined();
  });

  test.each([
    ['its own value is lost', '</parameter>\n<parameter name="tags">["ops"]'],
    ['the swallowed value is lost', 'Done.</parameter>\n<parameter name="tags"></parameter>'],
    ['the text is about markup', 'Write <parameter name="a">b</parameter>\n<parameter name="tags">["ops"]'],
    ['the next begins before one has ended', 'Done.</parameter>\n<parameter name="tags">["ops"]<parameter name="days">3</parameter>'],
    ['words follow', 'Done.</parameter> and then <parameter name="tags">["ops"]</parameter>'],
    ['another call follows', 'Done.</parameter></invoke><parameter name="tags">["ops"]</parameter>'],
    ['the name is given twice', 'Done.</parameter><parameter name="tags">["ops"]</parameter><parameter name="tags">["b"]</parameter>'],
    ['the name is not declared', 'Done.</parameter><parameter name="tags">["ops"]</parameter><parameter name="labels">["b"]</parameter>'],
    ['the name is one of a prototype', 'Done.</parameter><parameter name="tags">["ops"]</parameter><parameter name="__proto__">{}</parameter>'],
    ['the value does not fit', 'Done.</parameter><parameter name="tags">[]</parameter>'],
    ['the key has no value', 'Done.</arg_value><arg_key>tags</arg_key>["ops"]'],
  ])('left to the policy where %s', (_, content) => expect(note(content)).toBeUndefined());

  test('two texts that hold what is missing leave open which of them swallowed it', () => {
    const contract = contractOf({ a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } }, {}, { required: ['c'] });
    const text = 'x</parameter><parameter name="c">y';
    expect(patchFor(contract, JSON.stringify({ a: text, b: 'x' }))?.rules).toEqual(['leaked-markup', 'leaked-markup']);
    expect(patchFor(contract, JSON.stringify({ a: text, b: text }))).toBeUndefined();
  });

  test('a text that may be a number or not has two readings', () => {
    expect(patchFor(contractOf({ a: { type: 'string' }, c: { type: ['string', 'integer'] } }, {}, { required: ['c'] }), JSON.stringify({ a: 'x</a><c>5</c>' }))).toBeUndefined();
  });

  test('neither an immutable text nor one whose operations are not allowed is split', () => {
    const content = 'Done.</content>\n<parameter name="tags">["ops"]';
    expect(note(content, { required: ['tags'] }, { immutablePaths: ['/content'] })).toBeUndefined();
    expect(note(content, { required: ['tags'] }, { allowedOperations: ['replace'] })).toBeUndefined();
  });
});

describe('two readings, or none: left to the policy', () => {
  test.each<[string, JsonObject, string]>([
    ['a number that is not written as numbers are', { type: 'integer' }, '"05"'],
    ['a number with blanks', { type: 'integer' }, '" 5"'],
    ['a number with zeros behind the point', { type: 'number' }, '"5.00"'],
    ['a number with an exponent', { type: 'number' }, '"1e3"'],
    ['minus zero', { type: 'number' }, '"-0"'],
    ['a number that a double cannot hold', { type: 'integer' }, '"2512292042121000417"'],
    ['a fraction where an integer is wanted', { type: 'integer' }, '"5.5"'],
    ['a number out of range', { type: 'integer', maximum: 4 }, '"5"'],
    ['a word for true', { type: 'boolean' }, '"yes"'],
    ['true in capitals', { type: 'boolean' }, '"True"'],
    ['a flag as a number', { type: 'integer' }, 'true'],
    ['a number as a flag', { type: 'boolean' }, '1'],
    ['an integer where any text may stand', { type: 'string' }, '7'],
    ['an integer where any text of that length may stand', { type: 'string', minLength: 1, maxLength: 3 }, '7'],
    ['a fraction, which may have been written with more zeros', { type: 'string', pattern: '^[0-9.]+$' }, '1.1'],
    ['JSON with duplicate names', { type: 'object' }, '"{\\"b\\":1,\\"b\\":1}"'],
    ['JSON that is cut', { type: 'array' }, '"[1,2"'],
    ['JSON that does not fit', { type: 'array', items: { type: 'integer' } }, '"[1,null]"'],
    ['Python', { type: 'array' }, '"[\'a\']"'],
    ['two members in that case', { enum: ['open', 'OPEN'] }, '"Open"'],
    ['an enumeration that is only alike', { enum: ['customer', 'former_customer'] }, '"customers"'],
    ['a number or a list of texts', { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'string' } }] }, '"5"'],
    ['words where a list is wanted', { type: 'array', items: { type: 'string' } }, '"red blue"'],
    ['words with a comma where a list is wanted', { type: 'array', items: { type: 'string' } }, '"red,blue"'],
    ['a word for all of them', { type: 'array', items: { type: 'string' } }, '"all"'],
    ['an object where a list is wanted', { type: 'array', items: { type: 'object' } }, '{"b":1}'],
    ['a list of two where one is wanted', { type: 'integer' }, '[5,5]'],
    ['a list of null where a text or null is wanted', { type: ['string', 'null'] }, '[null]'],
    ['a list in a list', { type: 'integer' }, '[[5]]'],
    ['null in a list', { type: 'array', items: { type: 'string' } }, '[null]'],
    ['null where there is a default', { type: 'boolean', default: true }, 'null'],
    ['a prototype in a string', { type: 'object' }, '"{\\"__proto__\\":{}}"'],
    ['a text out of a pattern', { type: 'string', pattern: '^a$' }, '"A"'],
  ])('%s', (_, schema, text) => expect(one(schema, text)).toBeUndefined());

  test.each<[string, Contract, string]>([
    ['null for what is required', contractOf({ a: { type: 'string' } }, {}, { required: ['a'] }), '{"a":null}'],
    ['two declared names', contractOf({ foo_bar: {}, fooBar_: {} }), '{"fooBar":1}'],
    ['two members of that name', contractOf({ foo_bar: {} }), '{"fooBar":1,"FooBar":2}'],
    ['the declared name is taken', contractOf({ foo_bar: {} }), '{"fooBar":1,"foo_bar":2}'],
    ['another name', contractOf({ path: {} }), '{"filePath":"x"}'],
    ['null by a caller who leaves another out', contractOf({ a: { type: 'string' }, b: { type: 'string' } }), '{"a":null}'],
    ['null under a name that nobody declares', contractOf({}, {}, { additionalProperties: { type: 'string' } }), '{"a":null}'],
    ['null under a name of a pattern', contractOf({}, {}, { patternProperties: { '^a': { type: 'string' } } }), '{"a":null}'],
    ['null in an object that leaves another out', contractOf({ a: { properties: { b: { type: 'integer' }, c: {} } } }), '{"a":{"b":null}}'],
    ['a locked place', contractOf({ a: { type: 'integer' } }, { immutablePaths: ['/a'] }), '{"a":"5"}'],
    ['an operation that is not allowed', contractOf({ a: { type: 'string' } }, { allowedOperations: ['replace'] }), '{"a":null}'],
    ['no operation left', contractOf({ a: { type: 'integer' } }, { operationBudget: 0 }), '{"a":"5"}'],
    ['more at fault than the budget', contractOf({ a: { type: 'integer' }, b: { type: 'integer' } }, { operationBudget: 1 }), '{"a":"5","b":"6"}'],
    ['the budget spent and still at fault', contractOf({ a: { type: 'integer' }, b: { type: 'integer' } }, { operationBudget: 1 }), '{"a":"5","b":"x"}'],
    ['a check across fields', contractOf({ a: {}, b: {} }, { crossField: [{ kind: 'excludes', pointer: '/a', excluded: ['/b'] }] }), '{"a":null,"b":1}'],
  ])('%s', (_, contract, text) => expect(patchFor(contract, text)).toBeUndefined());
});

test('what is certain is done, the rest stays', () => {
  expect(patchFor(contractOf({ a: { type: 'integer' }, b: { type: 'integer' } }), '{"a":"5","b":"many"}')).toEqual(replaced(5, 'text-to-json'));
});

test('a fault that a check across fields sees afterwards does not make the notation wrong', () => {
  const contract = contractOf({ a: { type: 'integer' }, b: { type: 'integer' } }, { crossField: [{ kind: 'lte', a: '/a', b: '/b' }] });
  expect(patchFor(contract, '{"a":"5","b":4}')).toEqual(replaced(5, 'text-to-json'));
});

test('the same number, rounded, in two places is written out only where its digits are known', () => {
  const digits = { type: 'string', pattern: '^[0-9]+$' };
  const text = '{"a":9007199254740993,"b":9007199254740993}';
  expect(parseJsonWithLosses(text)).toMatchObject({ ok: true, value: { losses: [{}, {}] } });
  expect(patchFor(contractOf({ a: digits, b: digits }), text)?.patch.map((operation) => 'value' in operation && operation.value))
    .toEqual(['9007199254740993', '9007199254740993']);
});

test.each([[32, 0, 32], [33, 0, undefined], [1, 65_600, undefined]])('%i places at fault beside %i characters: %s operations', (count, length, expected) => {
  const contract = contractOf({ note: { type: 'string' } }, { operationBudget: 64 }, { additionalProperties: { type: 'integer' } });
  const args = { note: 'x'.repeat(length), ...Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '7'])) };
  expect(patchFor(contract, JSON.stringify(args))?.patch.length).toBe(expected);
});
