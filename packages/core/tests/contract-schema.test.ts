/** The published schema is the one made from the reader's tables, and says of any document's shape what `loadContract` says. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadContract } from '../src/index.ts';
import { CHECK_MEMBERS } from '../src/validate/cross-field.ts';
import { CONTRACT_SCHEMA } from './contract-schema.ts';

const isContract = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(CONTRACT_SCHEMA);

/** What only `loadContract` can say: these come after the whole shape was read. */
const BEYOND_SHAPE: ReadonlySet<string> = new Set(['contract/unknown-dialect', 'contract/impossible-path', 'contract/unknown-function']);

function hasShape(document: unknown): boolean {
  const loaded = loadContract(document);
  return loaded.ok || BEYOND_SHAPE.has(loaded.error.code) || loaded.error.pointer.startsWith('/tool/parameters/');
}

/** Mostly what belongs there, now and then something else. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> => fc.oneof({ weight: 40, arbitrary: right as fc.Arbitrary<unknown> }, {
  weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, 0, -1, 1.5, '', 'a', '/a~2', [], [1], [[]], {}, { a: 1 }, { kind: 'eq' }),
});
/** An object of these members, of which any may be missing where `required` does not name it, and now and then one too many. */
const members = (model: Readonly<Record<string, fc.Arbitrary<unknown>>>, required: readonly string[]): fc.Arbitrary<unknown> => fc.tuple(
  fc.record(Object.fromEntries(Object.entries(model).map(([name, value]) => [name, mostly(value)])), { requiredKeys: [...required] }),
  fc.option(fc.constantFrom(...Object.keys(model), 'extra', 'when', 'mayShow', 'toString'), { freq: 25, nil: undefined }),
  fc.boolean(),
).map(([object, name, drop]) => {
  const copy: Record<string, unknown> = { ...object };
  if (name === undefined) return copy;
  if (drop && required.includes(name)) delete copy[name];
  else if (!Object.hasOwn(copy, name)) copy[name] = '/a';
  return copy;
});

const often = <T>(right: readonly T[], ...rare: readonly T[]): fc.Arbitrary<T> => fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });

const pointer = often(['', '/a', '/b/0', '/a~0b', '/c/~1', '/constructors', '/a b\n'], '/__proto__', '/x/constructor', '/prototype');
const pointers = fc.array(mostly(pointer), { maxLength: 3 });
const somePointers = fc.array(mostly(pointer), { minLength: 1, maxLength: 3 });
const text = often(['f', '1'], '');
const check = fc.constantFrom(...CHECK_MEMBERS).chain(([kind, shapes]) => members({
  kind: fc.constant(kind),
  ...Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, {
    pointer, list: fc.oneof({ weight: 20, arbitrary: somePointers }, { weight: 1, arbitrary: pointers }), compare: often(['eq', 'lte', 'gte'], 'lt'), text, '?object': fc.constant({ most: 1 }),
  }[shape]])),
  when: members({ pointer, equals: fc.constantFrom<unknown>(null, 1, { a: 1 }) }, ['pointer', 'equals']),
}, ['kind', ...Object.keys(shapes).filter((name) => shapes[name] !== '?object')]));

const count = fc.constant(true);
const operand = fc.oneof(
  members({ argument: pointer, count }, ['argument']),
  members({ state: pointer, by: pointer, then: pointer, count }, ['state']),
  members({ value: fc.constantFrom<unknown>(null, 1, 'x'), count }, ['value']),
  members({ argument: pointer, value: text, state: pointer }, []),
);
const { rule } = fc.letrec((tie) => ({
  rule: fc.oneof({ maxDepth: 2 },
    members({ kind: fc.constant('reference_exists'), pointer, in: text, mayShow: fc.constant(true) }, ['kind', 'pointer', 'in']),
    members({ kind: fc.constant('read_before_write'), pointer, log: text, tool: text, argument: pointer }, ['kind', 'pointer', 'log', 'tool', 'argument']),
    members({ kind: fc.constantFrom('lt', 'lte', 'gt', 'gte', 'eq', 'ne', 'in', 'not_in'), a: operand, b: operand, mayShow: often([true], false) }, ['kind', 'a', 'b']),
    members({ kind: fc.constant('within'), a: operand, b: operand, seconds: often([0, 60], 2 ** 53, 0.5) }, ['kind', 'a', 'b', 'seconds']),
    members({ kind: fc.constant('absent'), pointer }, ['kind', 'pointer']),
    members({ kind: fc.constant('function'), name: text, version: text, mayShow: fc.constant(true) }, ['kind', 'name', 'version']),
    members({ kind: fc.constantFrom('all', 'any'), gates: fc.array(tie('rule'), { maxLength: 2 }) }, ['kind', 'gates'])),
}));

const document = members({
  version: often<unknown>([1], 2, '1'),
  tool: members({ name: often(['t'], ''), description: fc.constant('what it does'), parameters: often<object>([{}, { type: 'object' }], { $schema: 'x' }, { minimun: 1 }) }, ['name', 'parameters']),
  allowedOperations: fc.oneof({ weight: 10, arbitrary: fc.subarray(['add', 'remove', 'replace', 'move', 'copy'], { minLength: 1 }) }, { weight: 1, arbitrary: fc.subarray(['add', 'test']) }),
  operationBudget: often([0, 2, 64], 65, -1),
  attemptBudget: often([0, 1, 16], 17, 0.5),
  immutablePaths: pointers,
  provenance: often<unknown>(['require', { require: ['', '/a'] }, { require: [] }], 'prefer', {}, { require: ['a'] }, { require: ['/__proto__'] }, { require: [], prefer: [] }),
  crossField: fc.array(check, { maxLength: 1 }),
  gates: fc.array(rule, { maxLength: 1 }),
  unknownKeywords: often(['refuse', 'annotate'], 'ignore'),
  toolNames: often(['exact', 'closest'], 'any'),
}, ['tool']);

// checklist: C1
test('the published file is the schema made from the tables', async () => {
  await expect(`${JSON.stringify(CONTRACT_SCHEMA, null, 2)}\n`).toMatchFileSnapshot('../schema/contract.schema.json');
});

describe('schema and reader agree', () => {
  test.each<[string, fc.Arbitrary<unknown>, number]>([
    ['on whole documents', document, 2_000],
    ['on checks across fields', check.map((one) => ({ tool: { name: 't', parameters: {} }, crossField: [one] })), 3_000],
    ['on gates', rule.map((one) => ({ tool: { name: 't', parameters: {} }, gates: [one] })), 3_000],
  ])('%s', (_, documents, numRuns) => {
    let [accepted, refused] = [0, 0];
    fc.assert(fc.property(documents, (value) => {
      const verdict = isContract(value);
      if (verdict) accepted += 1; else refused += 1;
      expect({ value, verdict: hasShape(value) }).toEqual({ value, verdict });
    }), { numRuns });
    // a generator that only ever gives one kind shows nothing
    expect(Math.min(accepted, refused)).toBeGreaterThan(numRuns / 50);
  });
});
