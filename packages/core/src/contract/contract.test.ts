import { describe, expect, test } from 'vitest';
import { formatIssue } from '../issue.ts';
import { validateValue } from '../validate/validate.ts';
import { loadContract } from './contract.ts';

const TOOL = { name: 'tool', parameters: { type: 'object' } };
const CLOSED = { name: 'tool', parameters: { properties: { a: { type: 'string' } }, additionalProperties: false } };

function issue(input: unknown): string {
  const contract = loadContract(input);
  if (contract.ok) return 'loaded';
  expect(formatIssue(contract.error)).not.toMatch(/\{[a-z]+\}/);
  return `${contract.error.code} ${contract.error.pointer}`;
}

function schemaIssue(parameters: unknown): string {
  return issue({ tool: { name: 'tool', parameters } }).replace('/tool/parameters', '');
}

test('defaults stand in for all that need not be given', () => {
  const contract = loadContract({ tool: TOOL });
  expect(contract.ok && contract.value).toMatchObject({
    dialect: '2020-12',
    immutablePaths: [],
    document: {
      tool: { ...TOOL, description: '' }, allowedOperations: ['add', 'remove', 'replace', 'move', 'copy'],
      operationBudget: 2, attemptBudget: 2, immutablePaths: [], crossField: [], gates: [],
    },
  });
});

test('the contract is frozen throughout and shares nothing with its input', () => {
  const input = { tool: { name: 'tool', parameters: { properties: { a: { type: 'string' } } } } };
  const contract = loadContract(input);
  input.tool.parameters.properties.a.type = 'number';
  expect(contract.ok && contract.value.judge.judge({ a: 'text' })).toEqual([]);
  expect(contract.ok && Object.isFrozen(contract.value.document.tool.parameters['properties'])).toBe(true);
});

// checklist: C1
test('contracts that mean the same have the same digest, others another one', () => {
  const digest = (input: unknown): string => {
    const contract = loadContract(input);
    return contract.ok ? contract.value.digest : contract.error.code;
  };
  const base = digest({ tool: TOOL });
  expect(base).toMatch(/^[0-9a-f]{64}$/);
  expect(digest({ operationBudget: 2, tool: { parameters: { type: 'object' }, name: 'tool' }, gates: [] })).toBe(base);
  expect(digest({ tool: TOOL, allowedOperations: ['copy', 'move', 'replace', 'remove', 'add', 'add'] })).toBe(base);
  expect(digest({ version: 1, tool: TOOL })).toBe(base);
  expect(digest({ tool: TOOL, toolNames: 'exact' })).toBe(base);
  expect(digest({ tool: TOOL, toolNames: 'closest' })).not.toBe(base);
  expect(digest({ tool: TOOL, operationBudget: 3 })).not.toBe(base);
  expect(digest({ tool: TOOL, immutablePaths: ['/a'] })).not.toBe(base);
  expect(digest({ tool: TOOL, provenance: { require: [] } })).toBe(base);
  expect(digest({ tool: TOOL, provenance: { require: ['/a'] } })).not.toBe(base);
  expect(digest({ tool: TOOL, provenance: 'require' })).toBe(digest({ tool: TOOL, provenance: { require: [''] } }));
});

test('functions are found by name and version, both of which the digest covers, and judge the arguments', () => {
  const load = (version: string): ReturnType<typeof loadContract> => loadContract(
    { tool: TOOL, crossField: [{ kind: 'function', name: 'even', version, parameters: { at: '/n' } }] },
    { functions: ['1', '2'].map((each) => ({ name: 'even', version: each, check: ({ n }, { at }) => (n as number) % Number(each) === 0 || at })) },
  );
  const [first, second] = [load('1'), load('2')];
  if (!first.ok || !second.ok) throw new Error('expected both to load');
  expect(second.value.digest).not.toBe(first.value.digest);
  expect(validateValue(first.value, { n: 3 })).toEqual({ kind: 'valid' });
  expect(validateValue(second.value, { n: 3 })).toMatchObject({ kind: 'invalid', violations: [{ code: 'cross_field', pointer: '/n', params: { name: 'even', version: '2', outcome: 'failed' } }] });
});

const cycle: Record<string, unknown> = { tool: TOOL };
cycle['gates'] = cycle;

describe('a contract document that cannot be honoured is refused at its place', () => {
  test.each<[string, unknown, string]>([
    ['no object', 5, 'contract/field-type '],
    ['undefined', undefined, 'json/not-json '],
    ['a class instance', { tool: new Map() }, 'json/not-json /tool'],
    ['a function', { tool: TOOL, gates: () => [] }, 'json/not-json /gates'],
    ['an infinite budget', { tool: TOOL, operationBudget: Infinity }, 'json/not-json /operationBudget'],
    ['no tool', {}, 'contract/field-missing /tool'],
    ['no name', { tool: { parameters: {} } }, 'contract/field-missing /tool/name'],
    ['no parameters', { tool: { name: 'a' } }, 'contract/field-missing /tool/parameters'],
    ['an unknown field', { tool: TOOL, budget: 2 }, 'contract/unknown-field /budget'],
    ['an unknown tool field', { tool: { ...TOOL, strict: true } }, 'contract/unknown-field /tool/strict'],
    ['an unknown way with tool names', { tool: TOOL, toolNames: 'any' }, 'contract/unknown-policy /toolNames'],
    ['a negative budget', { tool: TOOL, operationBudget: -1 }, 'contract/bad-budget /operationBudget'],
    ['a fractional budget', { tool: TOOL, attemptBudget: 1.5 }, 'contract/bad-budget /attemptBudget'],
    ['an absurd budget', { tool: TOOL, operationBudget: 1e9 }, 'contract/bad-budget /operationBudget'],
    ['a budget as text', { tool: TOOL, operationBudget: '2' }, 'contract/bad-budget /operationBudget'],
    ['an unknown operation', { tool: TOOL, allowedOperations: ['add', 'test'] }, 'contract/unknown-operation /allowedOperations/1'],
    ['an immutable path that is no pointer', { tool: TOOL, immutablePaths: ['/a', 'b'] }, 'contract/bad-pointer /immutablePaths/1'],
    ['an immutable path with a prototype name', { tool: TOOL, immutablePaths: ['/__proto__'] }, 'contract/forbidden-name /immutablePaths/0'],
    ['another way with origins', { tool: TOOL, provenance: 'prefer' }, 'contract/field-type /provenance'],
    ['origins of nothing', { tool: TOOL, provenance: {} }, 'contract/field-missing /provenance/require'],
    ['origins and more', { tool: TOOL, provenance: { require: [], prefer: [] } }, 'contract/unknown-field /provenance/prefer'],
    ['an origin for what is no pointer', { tool: TOOL, provenance: { require: ['a'] } }, 'contract/bad-pointer /provenance/require/0'],
    ['an origin for what cannot be', { tool: CLOSED, provenance: { require: ['', '/b'] } }, 'contract/impossible-path /provenance/require/1'],
    ['a check that is code', { tool: TOOL, crossField: [{ kind: 'lte', a: '/a', b: '/b' }, 'a < b'] }, 'contract/cross-field-not-object /crossField/1'],
    ['a version from the future', { version: 2, tool: TOOL }, 'contract/unknown-version /version'],
    ['a null version', { version: null, tool: TOOL }, 'contract/unknown-version /version'],
    ['a null budget', { tool: TOOL, attemptBudget: null }, 'contract/bad-budget /attemptBudget'],
    ['null checks', { tool: TOOL, crossField: null }, 'contract/cross-field-not-array /crossField'],
    ['no operation', { tool: TOOL, allowedOperations: [] }, 'contract/no-operations /allowedOperations'],
    ['a lock on what cannot be', { tool: CLOSED, immutablePaths: ['/a', '/b'] }, 'contract/impossible-path /immutablePaths/1'],
    ['a check of what cannot be', { tool: CLOSED, crossField: [{ kind: 'requires', pointer: '/a', required: ['/a', '/a/x'] }] }, 'contract/impossible-path /crossField/0/required/1'],
    ['a condition on what cannot be', { tool: CLOSED, crossField: [{ kind: 'eq', a: '/a', b: '/a', when: { pointer: '/b', equals: 1 } }] }, 'contract/impossible-path /crossField/0/when/pointer'],
    ['a gate on what cannot be', { tool: CLOSED, gates: [{ kind: 'reference_exists', pointer: '/b', in: 'all' }] }, 'contract/impossible-path /gates/0/pointer'],
    ['a gate inside another', { tool: CLOSED, gates: [{ kind: 'any', gates: [{ kind: 'absent', pointer: '/a' }, { kind: 'eq', a: { argument: '/b' }, b: { value: 1 } }] }] }, 'contract/impossible-path /gates/0/gates/1/a/argument'],
    ['a function that is not there', { tool: CLOSED, crossField: [{ kind: 'function', name: 'f', version: '1' }] }, 'contract/unknown-function /crossField/0'],
    ['an unknown gate', { tool: TOOL, gates: [{ kind: 'shell' }] }, 'contract/gate-invalid /gates/0/kind'],
  ])('%s', (_, input, expected) => {
    expect(issue(input)).toBe(expected);
  });

  test('a value that contains itself is refused as too deep', () => {
    expect(issue(cycle)).toMatch(/^json\/too-deep /);
  });
});

describe('a schema that cannot be honoured is refused at its place', () => {
  test.each<[string, unknown, string]>([
    ['an unknown dialect', { $schema: 'http://json-schema.org/draft-04/schema#' }, 'contract/unknown-dialect /$schema'],
    ['a dialect that is no text', { $schema: 7 }, 'contract/unknown-dialect /$schema'],
    ['a wrong keyword value', { properties: { a: { type: 'text' } } }, 'contract/schema-invalid /properties/a/type'],
    ['an unknown keyword', { properties: { a: { minimun: 1 } } }, 'contract/unknown-keyword /properties/a/minimun'],
    ['an unknown keyword in a definition nobody uses', { $defs: { a: { min: 1 } } }, 'contract/unknown-keyword /$defs/a/min'],
    ['an unknown format', { items: { format: 'colour' } }, 'contract/unknown-format /items/format'],
    ['a remote reference', { $ref: 'https://example.org/schema.json' }, 'contract/remote-reference /$ref'],
    ['a relative reference', { properties: { a: { $ref: 'other.json#/a' } } }, 'contract/remote-reference /properties/a/$ref'],
    ['a reference that leads nowhere', { allOf: [{ $ref: '#/$defs/none' }] }, 'contract/unresolved-reference /allOf/0/$ref'],
    ['a reference to itself', { $ref: '#' }, 'contract/reference-cycle '],
    ['references in a round', { $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } }, 'contract/reference-cycle /$defs/a'],
    ['a reference into a value', { default: { pattern: '(a)\\1' }, properties: { a: { $ref: '#/default' } } }, 'contract/unresolved-reference /properties/a/$ref'],
    ['a chain of references too long to follow', { $defs: { ...Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }])), d20000: {} } }, 'contract/reference-cycle /$defs/d256'],
    ['a dynamic reference', { $dynamicRef: '#a' }, 'contract/unsupported-keyword /$dynamicRef'],
    ['a nested base', { properties: { a: { $id: 'https://example.org/a' } } }, 'contract/unsupported-keyword /properties/a/$id'],
    ['unevaluated items', { unevaluatedItems: false }, 'contract/unsupported-keyword /unevaluatedItems'],
    ['a pattern that is none', { pattern: '(' }, 'contract/invalid-pattern /pattern'],
    ['a pattern with look-around', { properties: { a: { pattern: '^(?=.*[A-Z])' } } }, 'contract/unsafe-pattern /properties/a/pattern'],
    ['a pattern for names with a back-reference', { patternProperties: { '(a)\\1': {} } }, 'contract/unsafe-pattern /patternProperties/(a)\\1'],
    ['a pattern that unfolds too far', { pattern: '(?:a{1000}){1000}' }, 'contract/unsafe-pattern /pattern'],
    ['a property named __proto__', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), 'contract/forbidden-name /properties'],
    ['a required constructor', { required: ['constructor'] }, 'contract/forbidden-name /required'],
  ])('%s', (_, parameters, expected) => {
    expect(schemaIssue(parameters)).toBe(expected);
  });

  test.each<[string, unknown]>([
    ['annotations', { title: '', description: '', default: 1, examples: [], $comment: '', deprecated: true, readOnly: true, writeOnly: true }],
    ['a schema that refers to itself below a member', { $defs: { n: { properties: { next: { $ref: '#/$defs/n' } } } }, $ref: '#/$defs/n' }],
    ['a schema that refers to its root below an item', { properties: { all: { items: { $ref: '#' } } } }],
    ['an anchor', { $defs: { a: { $anchor: 'here', type: 'string' } }, properties: { a: { $ref: '#here' } } }],
    ['its own base', { $id: 'https://example.org/s', $defs: { a: {} }, properties: { a: { $ref: 'https://example.org/s#/$defs/a' } } }],
    ['draft-07 with and without the fragment', { $schema: 'http://json-schema.org/draft-07/schema', items: [{}], additionalItems: false, dependencies: { a: ['b'], c: {} } }],
    ['a property named like a keyword', { properties: { $ref: { type: 'string' }, pattern: { type: 'string' } } }],
    ['unknown words inside values', { default: { anything: 1 }, enum: [{ whatever: 1 }], const: { whatever: 1 } }],
    ['a type list and a pattern that backtracks elsewhere', { type: ['string', 'null'], pattern: '^(a+)+$' }],
  ])('but %s is fine', (_, parameters) => {
    expect(schemaIssue(parameters)).toBe('loaded');
  });
});

test('a schema that refers to itself judges nested data, and data nested beyond the depth limit never reaches it', () => {
  const contract = loadContract({ tool: { name: 't', parameters: { $defs: { n: { properties: { next: { $ref: '#/$defs/n' }, v: { type: 'string' } } } }, $ref: '#/$defs/n' } } });
  expect(contract.ok && contract.value.judge.judge({ next: { next: { v: 1 } } })).toMatchObject([{ code: 'wrong_type', pointer: '/next/next/v' }]);
});

test('a large list is checked for repeated items in well under a second', () => {
  const contract = loadContract({ tool: { name: 't', parameters: { properties: { a: { uniqueItems: true } } } } });
  const items = Array.from({ length: 100_000 }, (_, index) => ({ index }));
  expect(contract.ok && contract.value.judge.judge({ a: items })).toEqual([]);
  expect(contract.ok && contract.value.judge.judge({ a: [...items, { index: 0 }] })).toMatchObject([{ code: 'items_violation' }]);
});

test('a long text is checked against the url format in well under a second', () => {
  const contract = loadContract({ tool: { name: 't', parameters: { properties: { a: { format: 'url' } } } } });
  expect(contract.ok && contract.value.judge.judge({ a: `http://${':'.repeat(500_000)}` })).toMatchObject([{ code: 'format_mismatch' }]);
  expect(contract.ok && contract.value.judge.judge({ a: 'https://example.org/a?b=c' })).toEqual([]);
});

test('the document of a contract loads as that contract, unless the host has a say in it', () => {
  const contract = loadContract({ tool: { name: 'tool', parameters: { type: 'object' } } });
  const again = contract.ok && loadContract(contract.value.document);
  expect(contract.ok && again && again.ok && again.value === contract.value).toBe(true);
  expect(contract.ok && loadContract({ ...contract.value.document, operationBudget: 1 })).toMatchObject({ ok: true, value: { document: { operationBudget: 1 } } });

  const named = { name: 'f', version: '1' };
  const functions = [{ ...named, check: () => true }];
  const bound = loadContract({ tool: { name: 'tool', parameters: { type: 'object' } }, crossField: [{ kind: 'function', ...named }] }, { functions });
  expect(bound.ok && loadContract(bound.value.document)).toMatchObject({ ok: false, error: { code: 'contract/unknown-function' } });
  expect(bound.ok && loadContract(bound.value.document, { functions })).toMatchObject({ ok: true, value: { digest: bound.ok && bound.value.digest } });
});
