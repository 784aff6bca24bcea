import { describe, expect, test } from 'vitest';
import { loadContract } from '../contract/contract.ts';
import type { Result } from '../result.ts';
import { formatSource } from './format.ts';
import type { SourcedContract, SourceIssue } from './source.ts';
import { contractFromAnthropic, contractFromJsonSchema, contractFromMcp, contractFromOpenAi } from './tool-definitions.ts';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };

/** `code pointer` of each note, or of the issue; each must have a sentence. */
function told(read: Result<SourcedContract, SourceIssue>): readonly string[] {
  const found = read.ok ? read.value.notes : [read.error];
  return found.map((each) => {
    expect(formatSource(each)).not.toMatch(/\{[a-z]+\}/i);
    return `${each.code} ${each.pointer}`;
  });
}

describe('one tool in every form gives one contract', () => {
  test.each<[string, Result<SourcedContract, SourceIssue>]>([
    ['JSON Schema', contractFromJsonSchema({ name: 'weather', description: 'Weather of a city', schema: SCHEMA })],
    ['chat completions', contractFromOpenAi({ type: 'function', function: { name: 'weather', description: 'Weather of a city', parameters: SCHEMA, strict: true } })],
    ['responses', contractFromOpenAi({ type: 'function', name: 'weather', description: 'Weather of a city', parameters: SCHEMA, strict: null })],
    ['a bare function', contractFromOpenAi({ name: 'weather', description: 'Weather of a city', parameters: SCHEMA })],
    ['Anthropic', contractFromAnthropic({ type: 'custom', name: 'weather', description: 'Weather of a city', input_schema: SCHEMA })],
    ['MCP', contractFromMcp({ name: 'weather', description: 'Weather of a city', inputSchema: SCHEMA, outputSchema: undefined })],
  ])('%s', (_, read) => {
    expect(told(read)).toEqual([]);
    const contract = read.ok ? loadContract(read.value.document) : read;
    expect(contract).toMatchObject({ ok: true, value: { document: { tool: { name: 'weather', description: 'Weather of a city', parameters: SCHEMA } } } });
  });
});

describe('habits are noted at their place', () => {
  const schema = (parameters: object): unknown => ({ name: 'f', parameters });
  test.each<[string, Result<SourcedContract, SourceIssue>, readonly string[]]>([
    ['a name that OpenAI refuses', contractFromOpenAi({ name: 'math.factorial', parameters: SCHEMA }), ['source/name-refused /name']],
    ['a nested name', contractFromOpenAi({ type: 'function', function: { name: 'a b', parameters: SCHEMA } }), ['source/name-refused /function/name']],
    ['a dot is fine for MCP', contractFromMcp({ name: 'math.factorial', inputSchema: SCHEMA }), []],
    ['hints of an MCP server', contractFromMcp({ name: 'f', inputSchema: SCHEMA, annotations: { readOnlyHint: true }, title: 'F' }), ['source/field-not-carried /annotations', 'source/field-not-carried /title']],
    ['no parameters', contractFromOpenAi({ name: 'f', description: null }), ['source/no-parameters /parameters']],
    ['nullable', contractFromOpenAi(schema({ properties: { a: { type: 'string', nullable: true } } })), ['source/nullable /parameters/properties/a/nullable']],
    ['optional members of strict mode', contractFromOpenAi({
      name: 'f', strict: true,
      parameters: { type: 'object', properties: { a: { type: ['string', 'null'] }, b: { anyOf: [{ type: 'null' }, SCHEMA] }, c: SCHEMA }, required: ['a', 'b', 'c'], additionalProperties: false },
    }), ['source/nullable-optional /parameters/properties/a', 'source/nullable-optional /parameters/properties/b']],
    ['strict that is not', contractFromOpenAi({ name: 'f', strict: true, parameters: { type: 'object', properties: { a: {} } } }), ['source/not-strict /parameters']],
    ['a member named nullable', contractFromOpenAi(schema({ properties: { nullable: { const: true } } })), []],
    ['draft 4', contractFromMcp({ name: 'f', inputSchema: { $schema: 'http://json-schema.org/draft-04/schema#', properties: { a: { minimum: 0, exclusiveMinimum: true } } } }), ['source/dialect-converted /inputSchema/$schema']],
    ['python types', contractFromOpenAi(schema({ type: 'dict', properties: { a: { type: 'float' } } }), { pythonTypes: true }), ['source/type-mapped /parameters/properties/a/type', 'source/type-mapped /parameters/type']],
  ])('%s', (_, read, notes) => {
    expect(told(read)).toEqual(notes);
    expect(read.ok && loadContract(read.value.document).ok).toBe(true);
  });
});

describe('what is no definition of a function is refused', () => {
  test.each<[string, Result<SourcedContract, SourceIssue>, string]>([
    ['text', contractFromOpenAi('f'), 'source/wrong-type '],
    ['a list', contractFromMcp([]), 'source/wrong-type '],
    ['a function in it', contractFromMcp({ name: 'f', inputSchema: { x: () => 1 } }), 'source/not-json /inputSchema/x'],
    ['a symbol', contractFromMcp({ name: 'f', inputSchema: {}, [Symbol('x')]: 1 }), 'source/not-json '],
    ['an accessor', contractFromMcp({ name: 'f', get inputSchema() { return {}; } }), 'source/not-json /inputSchema'],
    ['no name', contractFromMcp({ inputSchema: {} }), 'source/missing-field /name'],
    ['no schema', contractFromMcp({ name: 'f' }), 'source/missing-field /inputSchema'],
    ['a schema that is a list', contractFromAnthropic({ name: 'f', input_schema: [] }), 'source/wrong-type /input_schema'],
    ['a tool that the provider runs', contractFromAnthropic({ type: 'bash_20250124', name: 'bash' }), 'source/not-a-function /type'],
    ['a custom tool', contractFromOpenAi({ type: 'custom', custom: { name: 'f' } }), 'source/not-a-function /type'],
    ['options that name a tool', contractFromMcp({ name: 'f', inputSchema: {} }, { contract: { tool: {} } }), 'source/unknown-field /tool'],
  ])('%s', (_, read, expected) => {
    expect(read.ok).toBe(false);
    expect(told(read)).toEqual([expected]);
  });
});

test('members of the contract come in with the definition, and without an opt-in python types are refused when it is loaded', () => {
  const read = contractFromOpenAi({ name: 'f', parameters: SCHEMA }, { contract: { operationBudget: 1, immutablePaths: ['/city'] } });
  expect(read.ok && loadContract(read.value.document)).toMatchObject({ ok: true, value: { immutablePaths: ['/city'], document: { operationBudget: 1 } } });
  const python = contractFromOpenAi({ name: 'f', parameters: { type: 'dict' } });
  expect(python.ok && loadContract(python.value.document)).toMatchObject({ ok: false, error: { code: 'contract/schema-invalid', pointer: '/tool/parameters/type' } });
});
