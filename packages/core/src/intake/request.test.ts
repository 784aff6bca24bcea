import { describe, expect, test } from 'vitest';
import { OPERATION_KINDS } from '../patch/operation.ts';
import { readRepairRequest, readRequestText } from './request.ts';

const TOOL = { name: 'ping', description: 'Ping a host', parameters: { type: 'object' } };
const RECORD = { id: 'a', request: 'ping it', tool: TOOL, call: { name: 'ping', arguments: { host: 'x' } } };

// checklist: A1
describe('a whole record', () => {
  test('without options gets the defaults: every operation, two operations, two attempts, nothing locked', () => {
    expect(readRepairRequest(RECORD)).toEqual({
      ok: true,
      value: {
        id: 'a', request: [{ role: 'user', content: 'ping it' }], toolNames: ['ping'], call: { name: 'ping', argumentsText: '{"host":"x"}' },
        finishReason: undefined, context: {},
        contract: { tool: TOOL, allowedOperations: OPERATION_KINDS, operationBudget: 2, attemptBudget: 2, immutablePaths: [], crossField: [], gates: [] },
      },
    });
  });

  test('takes messages, tool names and definitions, a finish reason, context and a contract', () => {
    const contract = {
      allowedOperations: ['add'], operationBudget: 3, attemptBudget: 1, immutablePaths: ['/host'],
      crossField: [{ kind: 'lte', a: '/a', b: '/b' }], gates: [{ kind: 'reference_exists', pointer: '/host', in: 'hosts' }],
      unknownKeywords: 'annotate', toolNames: 'closest',
    };
    const read = readRepairRequest({
      ...RECORD, request: [{ role: 'system', content: 's' }, { role: 'user', content: 'u' }], tools: ['ping', { name: 'pong', description: '', parameters: {} }],
      finishReason: 'length', context: { now: '2026-04-14' }, contract,
    });
    expect(read).toMatchObject({
      ok: true,
      value: {
        request: [{ role: 'system', content: 's' }, { role: 'user', content: 'u' }], toolNames: ['ping', 'pong'], finishReason: 'length',
        context: { now: '2026-04-14' }, contract: { ...contract, tool: TOOL },
      },
    });
  });

  test.each(['', '{"a":1', '{"a": 1}{"a": 2}', 'NaN', '\ud800'])('keeps the raw argument text %j as it is', (text) => {
    const read = readRequestText(JSON.stringify({ ...RECORD, call: { name: 'ping', arguments: text } }));
    if (text === '\ud800') expect(read).toMatchObject({ ok: false, error: { code: 'request/not-json', params: { issue: 'json/lone-surrogate' } } });
    else expect(read).toMatchObject({ ok: true, value: { call: { argumentsText: text } } });
  });

  test('does not share memory with the caller’s objects', () => {
    const context = { list: ['a'] };
    const read = readRepairRequest({ ...RECORD, context });
    context.list.push('b');
    expect(read).toMatchObject({ ok: true, value: { context: { list: ['a'] } } });
  });

  test('a tool without description has an empty one', () => {
    expect(readRepairRequest({ ...RECORD, tool: { name: 'ping', parameters: {} } })).toMatchObject({ ok: true, value: { contract: { tool: { description: '' } } } });
  });
});

describe('a record that is refused, with the place', () => {
  test.each<[string, unknown, string, string]>([
    ['no object', [], 'request/wrong-type', ''],
    ['no id', { ...RECORD, id: undefined }, 'request/not-json', '/id'],
    ['a missing id', { request: '', tool: TOOL, call: RECORD.call }, 'request/missing-field', '/id'],
    ['an id that is a number', { ...RECORD, id: 7 }, 'request/wrong-type', '/id'],
    ['an unknown field', { ...RECORD, contrct: {} }, 'request/unknown-field', '/contrct'],
    ['gold beside the input', { ...RECORD, acceptable: [] }, 'request/unknown-field', '/acceptable'],
    ['`__proto__` as a field', JSON.parse('{"__proto__":{},"id":"a"}'), 'request/unknown-field', '/__proto__'],
    ['a request that is neither text nor messages', { ...RECORD, request: {} }, 'request/wrong-type', '/request'],
    ['a message without content', { ...RECORD, request: [{ role: 'user' }] }, 'request/missing-field', '/request/0/content'],
    ['a message with parts', { ...RECORD, request: [{ role: 'user', content: [] }] }, 'request/wrong-type', '/request/0/content'],
    ['a tool without parameters', { ...RECORD, tool: { name: 'ping' } }, 'request/missing-field', '/tool/parameters'],
    ['parameters that are no schema object', { ...RECORD, tool: { ...TOOL, parameters: true } }, 'request/wrong-type', '/tool/parameters'],
    ['a tool name that is a number', { ...RECORD, tools: ['ping', 1] }, 'request/wrong-type', '/tools/1'],
    ['tools that are no list', { ...RECORD, tools: { ping: {} } }, 'request/wrong-type', '/tools'],
    ['a call without arguments', { ...RECORD, call: { name: 'ping' } }, 'request/missing-field', '/call/arguments'],
    ['arguments that are an array', { ...RECORD, call: { name: 'ping', arguments: [] } }, 'request/wrong-type', '/call/arguments'],
    ['arguments that are null', { ...RECORD, call: { name: 'ping', arguments: null } }, 'request/wrong-type', '/call/arguments'],
    ['arguments with NaN', { ...RECORD, call: { name: 'ping', arguments: { a: Number.NaN } } }, 'request/not-json', '/call/arguments/a'],
    ['arguments with a date', { ...RECORD, call: { name: 'ping', arguments: { at: new Date(0) } } }, 'request/not-json', '/call/arguments/at'],
    ['context that is a list', { ...RECORD, context: [] }, 'request/wrong-type', '/context'],
    ['a budget that is text', { ...RECORD, contract: { attemptBudget: '2' } }, 'request/wrong-type', '/contract/attemptBudget'],
    ['an unknown restriction', { ...RECORD, contract: { immutable_paths: [] } }, 'request/unknown-field', '/contract/immutable_paths'],
    ['immutable paths that are one text', { ...RECORD, contract: { immutablePaths: '/host' } }, 'request/wrong-type', '/contract/immutablePaths'],
  ])('%s', (_, record, code, pointer) => {
    expect(readRepairRequest(record)).toMatchObject({ ok: false, error: { code, pointer } });
  });

  test.each([
    ['not JSON', 'hello', 'json/syntax'],
    ['empty', '', 'json/empty'],
    ['truncated', '{"id":"a"', 'json/truncated'],
    ['two objects in one text', '{}{}', 'json/trailing'],
    ['a field named twice', '{"id":"a","id":"b"}', 'json/duplicate-name'],
    ['an argument named twice', '{"id":"a","call":{"arguments":{"x":1,"x":2}}}', 'json/duplicate-name'],
    ['NaN', '{"id":NaN}', 'json/syntax'],
    ['a 19-digit identifier as a number', '{"id":2512292042121000417}', 'json/precision-loss'],
    ['10,000 levels of nesting', '['.repeat(10_000) + ']'.repeat(10_000), 'json/too-deep'],
  ])('a text that is %s', (_, text, issue) => {
    expect(readRequestText(text)).toMatchObject({ ok: false, error: { code: 'request/not-json', params: { issue } } });
  });

  test('a host value that contains itself', () => {
    const loop: Record<string, unknown> = { ...RECORD };
    loop['context'] = { loop };
    expect(readRepairRequest(loop)).toMatchObject({ ok: false, error: { code: 'request/not-json', params: { issue: 'json/too-deep' } } });
  });
});
