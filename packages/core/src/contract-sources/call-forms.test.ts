import { describe, expect, test } from 'vitest';
import { callFromAnthropic, callFromMcp, callFromOpenAi, toAnthropic, toMcp, toOpenAi } from './call-forms.ts';

const CHAT = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"n": "5"}' }, index: 0 };
const RESPONSES = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"n": "5"', status: 'completed' };
const TOOL_USE = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { n: '5' } };
const PARAMS = { name: 'f', arguments: { n: '5' }, _meta: { progressToken: 1 } };
const REQUEST = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: PARAMS };
const REPAIRED = { name: 'f', argumentsText: '{"n":5}' };

describe('a failed call is read to the letter, and written back with everything else as it was', () => {
  test.each([
    ['chat completions', CHAT, callFromOpenAi, toOpenAi, 'call_1', '{"n": "5"}', { ...CHAT, function: { name: 'f', arguments: '{"n":5}' } }],
    ['responses, cut text too', RESPONSES, callFromOpenAi, toOpenAi, 'call_1', '{"n": "5"', { ...RESPONSES, arguments: '{"n":5}' }],
    ['Anthropic', TOOL_USE, callFromAnthropic, toAnthropic, 'toolu_1', '{"n":"5"}', { ...TOOL_USE, input: { n: 5 } }],
    ['MCP parameters', PARAMS, callFromMcp, toMcp, undefined, '{"n":"5"}', { ...PARAMS, arguments: { n: 5 } }],
    ['an MCP request', REQUEST, callFromMcp, toMcp, 7, '{"n":"5"}', { ...REQUEST, params: { ...PARAMS, arguments: { n: 5 } } }],
  ])('%s', (_, input, read, write, id, argumentsText, expected) => {
    const wire = read(input);
    if (!wire.ok) throw new Error(wire.error.code);
    expect(wire.value).toMatchObject({ id, call: { name: 'f', argumentsText } });
    expect(write(wire.value, REPAIRED)).toEqual(expected);
    expect(wire.value.original).toEqual(input);
  });

  test('a call without arguments has none', () => {
    expect(callFromMcp({ name: 'f' })).toMatchObject({ ok: true, value: { call: { argumentsText: '{}' } } });
  });
});

describe('what is no call is refused', () => {
  test.each([
    ['a text block', callFromAnthropic({ type: 'text', text: '' }), 'source/not-a-call /type'],
    ['a custom tool call', callFromOpenAi({ id: 'a', type: 'custom', custom: {} }), 'source/not-a-call /type'],
    ['arguments as an object', callFromOpenAi({ ...CHAT, function: { name: 'f', arguments: {} } }), 'source/wrong-type /function/arguments'],
    ['no identifier', callFromOpenAi({ type: 'function_call', name: 'f', arguments: '' }), 'source/missing-field /call_id'],
    ['input as text', callFromAnthropic({ ...TOOL_USE, input: '{}' }), 'source/wrong-type /input'],
    ['another method', callFromMcp({ ...REQUEST, method: 'tools/list' }), 'source/not-a-call /method'],
    ['a request without parameters', callFromMcp({ method: 'tools/call', id: 1 }), 'source/missing-field /params'],
    ['an identifier that is an object', callFromMcp({ ...REQUEST, id: {} }), 'source/wrong-type /id'],
  ])('%s', (_, read, expected) => {
    expect(read.ok ? 'read' : `${read.error.code} ${read.error.pointer}`).toBe(expected);
  });
});

test('writing a call in another form, or arguments that are no object, is a bug of the caller', () => {
  const wire = callFromAnthropic(TOOL_USE);
  if (!wire.ok) throw new Error(wire.error.code);
  expect(() => toOpenAi(wire.value, REPAIRED)).toThrow(RangeError);
  expect(() => toMcp(wire.value, REPAIRED)).toThrow(RangeError);
  expect(() => toAnthropic(wire.value, { name: 'f', argumentsText: '[]' })).toThrow(RangeError);
});
