import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { setAnnotationsApart } from './annotations.ts';
import { loadContract, type Contract } from './contract.ts';
import { schemaAt } from './schema-at.ts';
import type { JsonPointer } from '../pointer.ts';

function load(parameters: JsonValue, unknownKeywords?: string): ReturnType<typeof loadContract> {
  return loadContract({ tool: { name: 'tool', parameters }, ...(unknownKeywords === undefined ? {} : { unknownKeywords }) });
}

function annotated(parameters: JsonValue): Contract {
  const contract = load(parameters, 'annotate');
  if (!contract.ok) throw new Error(`${contract.error.code} ${contract.error.pointer}`);
  return contract.value;
}

describe('unknown keywords', () => {
  const schema: JsonObject = {
    type: 'object', additonalProperties: false, title: 'kept',
    properties: { additonalProperties: { type: 'string', format: 'datetime', 'x-order': 1 }, b: { items: { enum: [{ color: 'red' }], color: 'red' } } },
  };

  test('are refused unless the contract says otherwise, and saying so changes nothing', () => {
    for (const policy of [undefined, 'refuse']) expect(load(schema, policy)).toMatchObject({ ok: false, error: { code: 'contract/unknown-keyword', pointer: '/tool/parameters/additonalProperties' } });
    const [plain, refusing, annotating] = [undefined, 'refuse', 'annotate'].map((policy) => load({ type: 'object' }, policy));
    expect(plain?.ok === true && refusing?.ok === true && annotating?.ok === true && [refusing.value.digest === plain.value.digest, annotating.value.digest === plain.value.digest, refusing.value.document]).toEqual([true, false, plain?.ok === true && plain.value.document]);
  });

  test('bind nothing where they are annotations, and each is listed with what it resembles', () => {
    const contract = annotated(schema);
    expect(contract.annotations).toEqual([
      { kind: 'keyword', name: 'additonalProperties', keywordLocation: '/additonalProperties', resembles: 'additionalProperties' },
      { kind: 'keyword', name: 'x-order', keywordLocation: '/properties/additonalProperties/x-order' },
      { kind: 'format', name: 'datetime', keywordLocation: '/properties/additonalProperties/format', resembles: 'date-time' },
      { kind: 'keyword', name: 'color', keywordLocation: '/properties/b/items/color' },
    ]);
    expect(contract.schema).toEqual({ type: 'object', title: 'kept', properties: { additonalProperties: { type: 'string' }, b: { items: { enum: [{ color: 'red' }] } } } });
    expect(contract.document.tool.parameters).toEqual(schema);
    expect(contract.judge.judge({ additonalProperties: 'no date', c: 1 })).toEqual([]);
    expect(contract.judge.judge({ additonalProperties: 1 })).toMatchObject([{ code: 'wrong_type' }]);
    expect(schemaAt(contract, { additonalProperties: '' }, '/additonalProperties' as JsonPointer)).toMatchObject([{ schema: { type: 'string' } }]);
  });

  test('a document that was loaded loads again with the same digest', () => {
    const contract = annotated(schema);
    const again = loadContract(contract.document);
    expect(again.ok && again.value.digest).toBe(contract.digest);
  });

  test('a known schema is not copied', () => {
    const plain: JsonObject = { type: 'object', properties: { unknown: {} } };
    expect(setAnnotationsApart(plain, '2020-12')).toEqual({ schema: plain, annotations: [] });
    expect(setAnnotationsApart(plain, '2020-12').schema).toBe(plain);
  });
});

describe('as annotations are still refused', () => {
  test.each<[string, JsonValue, string]>([
    ['a policy nobody knows', {}, 'contract/unknown-policy /unknownKeywords'],
    ['a dynamic reference', { $dynamicRef: '#a' }, 'contract/unsupported-keyword /tool/parameters/$dynamicRef'],
    ['a recursive reference', { $recursiveRef: '#' }, 'contract/unsupported-keyword /tool/parameters/$recursiveRef'],
    ['unevaluated items', { unevaluatedItems: false }, 'contract/unsupported-keyword /tool/parameters/unevaluatedItems'],
    ['a boolean exclusiveMinimum', { minimum: 1, exclusiveMinimum: true }, 'contract/schema-invalid /tool/parameters/exclusiveMinimum'],
    ['a keyword of a later draft', { $schema: 'http://json-schema.org/draft-07/schema#', dependentRequired: { a: ['b'] } }, 'contract/unknown-keyword /tool/parameters/dependentRequired'],
    ['a keyword of an earlier draft', { divisibleBy: 2 }, 'contract/unknown-keyword /tool/parameters/divisibleBy'],
    ['a base that moves references', { properties: { a: { id: 'other', $ref: '#/$defs/a' } }, $defs: { a: {} } }, 'contract/unknown-keyword /tool/parameters/properties/a/id'],
    ['a reference into one', { shared: { a: { type: 'string' } }, $ref: '#/shared/a' }, 'contract/unresolved-reference /tool/parameters/$ref'],
    ['a wrong value of a known keyword', { type: 'text' }, 'contract/schema-invalid /tool/parameters/type'],
    ['an unsafe pattern', { pattern: '(?=a)' }, 'contract/unsafe-pattern /tool/parameters/pattern'],
  ])('%s', (what, parameters, expected) => {
    const contract = load(parameters, what === 'a policy nobody knows' ? 'ignore' : 'annotate');
    expect(contract.ok ? 'loaded' : `${contract.error.code} ${contract.error.pointer}`).toBe(expected);
  });
});

test('an identifier of draft-04 is an annotation at the root and where no reference stands below it', () => {
  expect(annotated({ id: 'https://example.org/a', properties: { a: { id: '/a', type: 'string' }, b: { $ref: '#/$defs/b' } }, $defs: { b: {} } }).annotations.map(({ keywordLocation }) => keywordLocation)).toEqual(['/id', '/properties/a/id']);
});

test('nullable is known: the judge adds null to the type', () => {
  const contract = load({ properties: { a: { type: 'string', nullable: true } } });
  expect(contract.ok && [null, 'text', 1].map((a) => contract.value.judge.judge({ a }).length)).toEqual([0, 0, 1]);
});
