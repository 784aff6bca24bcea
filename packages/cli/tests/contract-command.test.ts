import { describe, expect, test } from 'vitest';
import { EXIT } from '../src/index.ts';
import { createTestIo, runWith, scriptedServices } from './harness.ts';

const contract = (input: unknown, ...words: readonly string[]): ReturnType<typeof runWith> => (
  runWith(['contract', '-', ...words], createTestIo({ stdin: typeof input === 'string' ? input : JSON.stringify(input) }), scriptedServices([]))
);
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false };

describe('contractrl contract', () => {
  test.each([
    ['a contract', { tool: { name: 'f', description: 'F', parameters: SCHEMA } }],
    ['a definition of OpenAI', { type: 'function', function: { name: 'f', description: 'F', parameters: SCHEMA } }],
    ['of Anthropic', { name: 'f', description: 'F', input_schema: SCHEMA }],
    ['of MCP', { name: 'f', description: 'F', inputSchema: SCHEMA }],
  ])('%s loads, and is one contract in every form', async (_, definition) => {
    const result = await contract(definition, '--json');
    expect(result).toMatchObject({ code: EXIT.ok, errors: '' });
    expect(JSON.parse(result.output)).toEqual({
      ok: true, name: 'f', digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string, dialect: '2020-12', annotations: [], notes: [],
    });
    const [first] = (await contract({ tool: { name: 'f', description: 'F', parameters: SCHEMA } })).output.split('\n');
    expect((await contract(definition)).output).toBe(`${first}\n`);
  });

  test('a list prints each, with notes and refusals at their places, and the worst counts', async () => {
    const result = await contract([
      { name: 'math.f', parameters: { type: 'dict' } },
      { tool: { name: 'g', parameters: SCHEMA }, immutablePaths: ['/b'] },
    ], '--python-types');
    expect(result.code).toBe(EXIT.notRepaired);
    const lines = result.output.split('\n');
    expect(lines[0]).toMatch(/^loads {4}math\.f {2}[0-9a-f]{64}$/);
    expect(lines.slice(1, 3)).toEqual([
      '  note: At "/parameters/type": The type "dict" was read as object.',
      '  note: At "/name": The name "math.f" is refused by openai, which wants ^[a-zA-Z0-9_-]{1,64}$.',
    ]);
    expect(lines[3]).toBe('refused  At "/immutablePaths/0": No arguments that the schema accepts have a place "/b". Correct the pointer or the schema. [contract/impossible-path]');
  });

  test('a refusal for scripts has code and pointer', async () => {
    const result = await contract({ name: 'f', inputSchema: { type: 'dict' } }, '--json');
    expect(result.code).toBe(EXIT.notRepaired);
    expect(JSON.parse(result.output)).toMatchObject({ ok: false, code: 'contract/schema-invalid', pointer: '/tool/parameters/type' });
  });

  test.each([
    ['text that is no JSON', 'hello', EXIT.notRepaired, '[input/not-json]'],
    ['nothing', '', EXIT.usage, '[input/empty]'],
  ])('%s: %#', async (_, input, code, says) => {
    const result = await contract(input);
    expect(result).toMatchObject({ code, output: '' });
    expect(result.errors).toContain(says);
  });
});
