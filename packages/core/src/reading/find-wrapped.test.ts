import { describe, expect, test } from 'vitest';
import { requestOf, scripted, TRANSFER } from '../../tests/support.ts';
import { loadContract, type Contract } from '../contract/contract.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonObject } from '../json/value.ts';
import { replayTrace } from '../ledger/replay.ts';
import { NO_POLICY } from '../repair/no-policy.ts';
import type { RepairOutcome } from '../repair/outcome.ts';
import { repairCall } from '../repair/repair.ts';
import { findWrapped } from './find-wrapped.ts';

const ARGS = '{"to": "ACC-2041", "amount_cents": 15000}';

function repaired(text: string, parameters: JsonObject = TRANSFER.parameters as unknown as JsonObject): Promise<RepairOutcome> {
  return repairCall(requestOf({ tool: { ...TRANSFER, parameters }, call: { name: 'transfer', arguments: text } }), NO_POLICY);
}

function contractOf(parameters: JsonObject): Contract {
  const contract = loadContract({ tool: { ...TRANSFER, parameters } });
  if (!contract.ok) throw new Error(contract.error.code);
  return contract.value;
}

describe('arguments wrapped once more are found', () => {
  test.each<[string, string, readonly string[]]>([
    ['input', `{"input":${ARGS}}`, ['wrapper']],
    ['the fields of a provider', `{"name": "transfer", "arguments": ${ARGS}}`, ['wrapper']],
    ['the same the other way round, spaced', ` {"parameters" : ${ARGS} ,"name":"transfer"}\n`, ['wrapper']],
    ['the placeholder of a template', `{"$PARAMETER_NAME":${ARGS}}`, ['wrapper']],
    ['in a fence', `\`\`\`json\n{"args":${ARGS}}\n\`\`\``, ['code-fence', 'wrapper']],
    ['in a JSON string', JSON.stringify(`{"input":${ARGS}}`), ['json-in-text', 'wrapper']],
  ])('%s', async (_, text, kinds) => {
    const outcome = await repaired(text);
    expect(outcome).toMatchObject({ status: 'repaired', argumentsText: ARGS, patch: [], operations: 0, attempts: 0 });
    expect(outcome.reading?.steps?.map(({ kind }) => kind)).toEqual(kinds);
    expect(outcome.frozen.closed.validatorCalls).toBe(kinds.length === 1 ? 2 : 3);
    expect(await replayTrace(outcome.frozen, contractOf(TRANSFER.parameters as unknown as JsonObject))).toMatchObject({ ok: true });
  });

  test('in a schema that leaves names open, too', async () => {
    expect(await repaired(`{"input":${ARGS}}`, { ...TRANSFER.parameters, additionalProperties: {} } as unknown as JsonObject)).toMatchObject({ status: 'repaired', argumentsText: ARGS });
  });
});

describe('a wrapper stays', () => {
  const { properties, ...rest } = TRANSFER.parameters;
  const knows = (name: string): JsonObject => ({ ...rest, properties: { ...properties, [name]: { type: 'string' } } });

  test.each<[string, string, JsonObject?]>([
    ['with another member beside it', `{"input":${ARGS},"memo":"x"}`],
    ['with a second wrapper beside it', `{"input":${ARGS},"args":${ARGS}}`],
    ['of another tool', `{"name":"refund","arguments":${ARGS}}`],
    ['of a name that is no text', `{"name":1,"arguments":${ARGS}}`],
    ['by a name that says something', `{"undo":${ARGS}}`],
    ['by a name in another case', `{"Input":${ARGS}}`],
    ['whose content is not valid', '{"input":{"to":"ACC-2041","amount_cents":"15000"}}'],
    ['whose content holds a rounded number', '{"input":{"to":"ACC-2041","amount_cents":9007199254740993}}'],
    ['whose content is a text', JSON.stringify({ input: ARGS })],
    ['whose content is a list', `{"input":[${ARGS}]}`],
    ['in a wrapper', `{"input":{"input":${ARGS}}}`],
    ['in a list of two', `[{"input":${ARGS}},{"input":${ARGS}}]`],
    ['that the schema declares', `{"input":${ARGS}}`, knows('input')],
    ['whose name the schema declares', `{"name":"transfer","input":${ARGS}}`, knows('name')],
    ['that a pattern declares', `{"input":${ARGS}}`, { ...TRANSFER.parameters, patternProperties: { '^in': { type: 'string' } } } as unknown as JsonObject],
    ['that a branch declares', `{"input":${ARGS}}`, { ...TRANSFER.parameters, anyOf: [{}, { properties: { input: {} } }] } as unknown as JsonObject],
  ])('%s', async (_, text, schema) => {
    const outcome = await repaired(text, schema);
    expect(outcome.status).toBe('abstained');
    expect(outcome.reading?.steps?.some(({ kind }) => kind === 'wrapper') ?? false).toBe(false);
  });

  test('that is valid itself is dispatched as it is', async () => {
    const text = '{"input":{}}';
    expect(await repaired(text, { type: 'object' })).toMatchObject({ status: 'valid', argumentsText: text });
  });

  test('where the text was cut, or the step is off', async () => {
    const request = requestOf({ call: { name: 'transfer', arguments: `{"input":${ARGS}}` }, finishReason: 'length' });
    expect(await repairCall(request, NO_POLICY)).toMatchObject({ status: 'abstained' });
    expect(await repairCall({ ...request, finishReason: undefined }, scripted('{"abstain":"ambiguous"}'), { deterministic: false })).toMatchObject({ status: 'abstained' });
  });
});

test('a span is of the text, whatever the names hold', () => {
  const text = '{"name":"t}r{","input":{"a":"}"}}';
  const value = parseJson(text);
  const contract = loadContract({ tool: { name: 't}r{', parameters: { type: 'object', required: ['a'], properties: { a: {} } } } });
  if (!contract.ok || !value.ok) throw new Error('not read');
  expect(findWrapped(contract.value, text, value.value)).toBeUndefined();
  expect(findWrapped(contract.value, '{"input":{"a":"}"}}', { input: { a: '}' } })).toEqual({ argumentsText: '{"a":"}"}', steps: [{ kind: 'wrapper', start: 9, end: 18 }] });
});
