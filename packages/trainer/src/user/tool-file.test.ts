import { expect, test } from 'vitest';
import { readTools } from './tool-file.ts';

const SCHEMA = { type: 'object', properties: { shelf: { type: 'integer' } }, required: ['shelf'] };
const names = (value: unknown): unknown => {
  const read = readTools(JSON.stringify(value));
  return read.ok ? [[...read.value.contracts.keys()], read.value.refused.map(({ name, code }) => `${name} ${code}`)] : read.error;
};

test.each([
  ['tools of OpenAI chat', [{ type: 'function', function: { name: 'reserve', parameters: SCHEMA } }]],
  ['tools of OpenAI responses, inside a request', { model: 'x', tools: [{ type: 'function', name: 'reserve', parameters: SCHEMA }] }],
  ['functions of old', { functions: [{ name: 'reserve', parameters: SCHEMA }] }],
  ['a tool of Anthropic', { name: 'reserve', input_schema: SCHEMA }],
  ['the answer of tools/list', { jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'reserve', inputSchema: SCHEMA }] } }],
  ['a name and a schema', [{ name: 'reserve', schema: SCHEMA }]],
  ['a contract', { tool: { name: 'reserve', parameters: SCHEMA }, immutablePaths: ['/shelf'] }],
])('%s: read', (_, value) => {
  expect(names(value)).toEqual([['reserve'], []]);
});

test('what no contract can honour is named, and the rest is read', () => {
  expect(names([{ name: 'reserve', parameters: SCHEMA }, { name: 'other', parameters: { type: 'object', properties: { x: { type: 'strin' } } } }, 7])).toEqual([['reserve'], ['other contract/schema-invalid', ' source/wrong-type']]);
});

test.each([
  ['that is not JSON', '{', { code: 'train/tools-unreadable' }], ['without tools', '[]', { code: 'train/no-tools', refused: [] }],
  ['with two tools of one name', JSON.stringify([{ name: 'a', parameters: SCHEMA }, { name: 'a', input_schema: SCHEMA }]), { code: 'train/duplicate-tool', name: 'a' }],
])('a file %s is refused', (_, text, error) => {
  expect(readTools(text)).toMatchObject({ ok: false, error });
});
