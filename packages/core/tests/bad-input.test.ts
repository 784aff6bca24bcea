/** Every kind of bad input ends in a typed outcome, quickly, with the original call and the ledger whole. */
import { describe, expect, test } from 'vitest';
import { repairCall, type RepairOutcome, type RepairRequest } from '../src/index.ts';
import { appendRepair, formatRow, GENESIS, readLedgerText, verifyRows } from '../src/ledger/index.ts';
import { readRequestText } from '../src/records.ts';
import { GOOD, patchText, requestOf, scripted, TRANSFER } from './support.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** Repairs, and checks what holds for every outcome: the request is unchanged, the ledger chain sound after a round trip through its file. */
async function repair(request: RepairRequest, ...answers: string[]): Promise<RepairOutcome> {
  const before = JSON.stringify(request);
  const outcome = await repairCall(request, scripted(...answers));
  expect(JSON.stringify(request)).toBe(before);
  const { rows, head } = appendRepair(GENESIS, outcome.frozen);
  const read = readLedgerText(rows.map(formatRow).join(''));
  expect(read.ok && verifyRows(read.value)).toEqual({ ok: true, value: head });
  return outcome;
}

function outcomeOf(overrides: Readonly<Record<string, unknown>>, ...answers: string[]): Promise<RepairOutcome> {
  return repair(requestOf(overrides), ...answers);
}

// checklist: C3
describe('argument text that cannot be read as one JSON value is abstained from, and never completed by guessing', () => {
  test.each<[string, string, string]>([
    ['empty text', '', 'json_empty'],
    ['not JSON', 'amount is 150', 'json_syntax'],
    ['truncated text', '{"to":"ACC-2041","amount_cents":150', 'json_truncated'],
    ['two objects in one text', '{"to":"ACC-2041"}{"amount_cents":15000}', 'json_trailing'],
    ['a list behind the object', '{"to":"ACC-2041"}[1]', 'json_trailing'],
    ['duplicate names', '{"to":"ACC-2041","amount_cents":1,"amount_cents":15000}', 'duplicate_key'],
    ['NaN', '{"to":"ACC-2041","amount_cents":NaN}', 'json_syntax'],
    ['Infinity', '{"to":"ACC-2041","amount_cents":-Infinity}', 'json_syntax'],
    ['single quotes', '{\'to\':\'ACC-2041\'}', 'json_syntax'],
    ['a code fence that is cut', '```json\n{"to":"ACC-2041"', 'json_syntax'],
    ['half a surrogate pair', '{"to":"\ud800"}', 'json_syntax'],
    ['10,000 levels of nesting', nested(10_000), 'json_too_deep'],
    ['a million levels that never close', '['.repeat(1_000_000), 'json_too_deep'],
  ])('%s', async (_, text, code) => {
    // past the reader, which already refuses text that is no valid Unicode
    const outcome = await repair({ ...requestOf(), call: { name: 'transfer', argumentsText: text } });
    expect(outcome).toMatchObject({ status: 'abstained', reason: 'abstain/unreadable-arguments', attempts: 0, reports: [{ code }] });
    expect(outcome).not.toHaveProperty('arguments');
  });

  test.each(['12', '"ACC-2041"', '[]', '[{},{}]', 'null'])('%s is one JSON value and holds no single object: reported, and never unwrapped', async (text) => {
    const outcome = await outcomeOf({ call: { name: 'transfer', arguments: text } }, 'no', 'no');
    expect(outcome).toMatchObject({ status: 'failed', reason: 'repair/attempts-exhausted', reports: [{ code: 'wrong_type', pointer: '' }] });
  });

  test('a 20 MB argument text, from the record on: reported as too large, and the ledger keeps its digest alone', async () => {
    const text = `{"to":"${'x'.repeat(20 * 1024 * 1024)}"}`;
    const read = readRequestText(JSON.stringify({ id: 'big', request: '', tool: TRANSFER, call: { name: 'transfer', arguments: text } }));
    if (!read.ok) throw new Error(read.error.code);
    const outcome = await outcomeOf({ call: { name: 'transfer', arguments: text } });
    expect(outcome).toMatchObject({ status: 'abstained', reason: 'abstain/unreadable-arguments', reports: [{ code: 'json_too_large' }] });
    expect(outcome.frozen.opened.call.arguments).toMatchObject({ text: null, length: text.length });
  });

  test('a text that the provider cut for length is also reported as truncated, whatever the reader says', async () => {
    const outcome = await outcomeOf({ call: { name: 'transfer', arguments: 'amount is 150' }, finishReason: 'length' });
    expect(outcome.reports.map(({ code }) => code)).toEqual(['json_syntax', 'json_truncated']);
    const cut = await outcomeOf({ call: { name: 'transfer', arguments: '{"to":' }, finishReason: 'length' });
    expect(cut.reports.map(({ code }) => code)).toEqual(['json_truncated']);
  });
});

describe('a 19-digit identifier', () => {
  const tool = { name: 'get_order', parameters: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'], additionalProperties: false } };
  const call = { name: 'get_order', arguments: '{"order_id":2512292042121000417}' };

  test('given as a number is reported as lost precision and may only be replaced', async () => {
    const outcome = await outcomeOf({ tool, call }, patchText({ op: 'replace', path: '/order_id', value: '2512292042121000417' }));
    expect(outcome.reports[0]).toMatchObject({ code: 'precision_loss', pointer: '/order_id' });
    expect(outcome).toMatchObject({ status: 'repaired', arguments: { order_id: '2512292042121000417' } });
  });

  // checklist: C3
  test('is never dispatched rounded', async () => {
    const anyTool = { name: 'get_order', parameters: { type: 'object', properties: { order_id: { type: 'number' }, note: { type: 'string' } } } };
    const outcome = await outcomeOf({ tool: anyTool, call }, patchText({ op: 'add', path: '/note', value: 'x' }), '{"abstain":"ambiguous"}');
    expect(outcome).toMatchObject({ status: 'abstained', reports: [{ code: 'precision_loss' }] });
  });
});

describe('`__proto__` is data nowhere', () => {
  test('as a key of the arguments it is reported, and the call is not valid', async () => {
    const outcome = await outcomeOf({ call: { name: 'transfer', arguments: '{"to":"ACC-2041","amount_cents":1,"__proto__":{"admin":true}}' } }, 'no', 'no');
    expect(outcome.status).toBe('failed');
    expect(outcome.reports[0]).toMatchObject({ code: 'forbidden_name', pointer: '/__proto__' });
  });

  test.each([
    ['a path', patchText({ op: 'add', path: '/__proto__', value: {} }), 'patch/forbidden-token'],
    ['a source', patchText({ op: 'copy', from: '/__proto__', path: '/memo' }), 'patch/forbidden-token'],
    ['a value', '[{"op":"add","path":"/memo","value":{"__proto__":{"admin":true}}}]', 'patch/forbidden-name'],
  ])('in %s of a patch it is refused', async (_, patch, verdict) => {
    const outcome = await outcomeOf({}, patch, GOOD);
    expect(outcome).toMatchObject({ status: 'repaired', history: [{ verdict }, { verdict: 'accepted' }] });
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});

test('an unknown tool is abstained from with the tools on offer in the report', async () => {
  const outcome = await outcomeOf({ call: { name: 'transfr', arguments: {} }, tools: ['transfer', 'refund'] });
  expect(outcome).toMatchObject({ status: 'abstained', reason: 'abstain/unknown-tool' });
  expect(outcome.reports).toMatchObject([{ code: 'tool_unknown', params: { name: 'transfr', offered: ['transfer', 'refund'] } }]);
});

test('a schema that refers to itself is honoured', async () => {
  const parameters = { type: 'object', properties: { name: { type: 'string' }, child: { $ref: '#' } }, required: ['name'] };
  const call = { name: 'tree', arguments: '{"name":"a","child":{"name":1}}' };
  const outcome = await outcomeOf({ tool: { name: 'tree', parameters }, call }, patchText({ op: 'replace', path: '/child/name', value: 'b' }));
  expect(outcome).toMatchObject({ status: 'repaired', arguments: { name: 'a', child: { name: 'b' } } });
});

test('a pattern that backtracks for ever does not: the repair ends at once', async () => {
  const parameters = { type: 'object', properties: { code: { type: 'string', pattern: '^(a+)+$' } }, required: ['code'] };
  const started = performance.now();
  const call = { name: 'put', arguments: JSON.stringify({ code: `${'a'.repeat(60)}!` }) };
  const outcome = await outcomeOf({ tool: { name: 'put', parameters }, call }, '{"abstain":"ambiguous"}');
  expect(['abstained', 'failed']).toContain(outcome.status);
  expect(performance.now() - started).toBeLessThan(2_000);
});

describe('a contract that cannot be honoured fails with its code and a sentence', () => {
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['a negative budget', { contract: { operationBudget: -1 } }, 'contract/bad-budget'],
    ['an endless budget', { contract: { attemptBudget: 1e9 } }, 'contract/bad-budget'],
    ['an unknown schema keyword', { tool: { ...TRANSFER, parameters: { type: 'object', frobnicate: 1 } } }, 'contract/unknown-keyword'],
    ['an unknown dialect', { tool: { ...TRANSFER, parameters: { $schema: 'http://json-schema.org/draft-04/schema#' } } }, 'contract/unknown-dialect'],
    ['a schema that refers to a URL', { tool: { ...TRANSFER, parameters: { $ref: 'https://example.org/schema.json' } } }, 'contract/remote-reference'],
  ])('%s', async (_, overrides, code) => {
    const outcome = await outcomeOf(overrides, GOOD);
    expect(outcome).toMatchObject({ status: 'failed', reason: code });
    expect(outcome.status === 'failed' && outcome.message).toMatch(/\.$/);
  });
});
