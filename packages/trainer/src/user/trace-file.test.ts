import { err, loadContract, ok, repairCall, type Contract, type FrozenRepair, type Proposer } from '@contractrl/core';
import { appendRepair, formatRow, GENESIS, hideContents } from '@contractrl/core/ledger';
import { readRepairRequest } from '@contractrl/core/records';
import { expect, test } from 'vitest';
import { readTraces, type TraceFileIssue, type UserTraces } from './trace-file.ts';

const TOOL = { name: 'reserve_slot', parameters: { type: 'object', properties: { potter: { type: 'string' }, shelf: { type: 'integer' } }, required: ['potter', 'shelf'], additionalProperties: false } };
const CONTRACTS = new Map<string, Contract>([[TOOL.name, load(TOOL)]]);

function load(tool: unknown): Contract {
  const loaded = loadContract({ tool });
  if (!loaded.ok) throw new Error(loaded.error.code);
  return loaded.value;
}

async function read(text: string): Promise<UserTraces | TraceFileIssue> {
  const traces = await readTraces('calls.jsonl', text, CONTRACTS);
  return traces.ok ? traces.value : traces.error;
}

const lines = (...rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const ROW = { request: 'Shelf 3 for Mira', tool: 'reserve_slot', arguments: { potter: 'Mira', shelf: 3 } };

test('rows are calls: arguments as object or text, requests as text or messages', async () => {
  const request = [{ role: 'user', content: 'Shelf 3 for Mira' }];
  const traces = await read(lines(ROW, { ...ROW, request, arguments: JSON.stringify(ROW.arguments) }));
  expect(traces).toMatchObject({ rowCount: 2, leftOut: {}, calls: [{ request: ROW.request, arguments: ROW.arguments, source: 'traces' }, { request, arguments: ROW.arguments }] });
});

test('a row that is no right call is left out, and counted by its code', async () => {
  const traces = await read(lines(ROW, { ...ROW, tool: 'other' }, { ...ROW, arguments: { potter: 'Mira' } }, { ...ROW, arguments: {} }, { ...ROW, request: ' ' }));
  expect(traces).toMatchObject({ rowCount: 5, leftOut: { 'train/unknown-tool': 1, missing_required: 1, 'trainer/no-arguments': 1, 'trainer/no-request': 1 } });
});

test.each([
  ['is not JSON', '{', 'json/'], ['has no request', JSON.stringify({ ...ROW, request: 3 }), 'request'], ['has no tool', JSON.stringify({ ...ROW, tool: null }), 'tool'], ['has no arguments', JSON.stringify({ ...ROW, arguments: '[' }), 'arguments'],
])('a file with a line that %s is refused at that line', async (_, line, issue) => {
  expect(await read(`${lines(ROW)}\n${line}\n`)).toMatchObject({ code: 'train/trace-unreadable', file: 'calls.jsonl', line: 3, issue: expect.stringContaining(issue) as string });
});

/** Gives the texts one after the other. */
function scripted(...texts: readonly string[]): Proposer {
  const left = [...texts];
  const cost = { promptTokenCount: 1, generatedTokenCount: 1, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };
  return { identity: {}, propose: () => {
    const text = left.shift();
    return Promise.resolve(text === undefined ? err({ code: 'engine/none', message: '' }) : ok({ kind: 'text' as const, text, confidence: undefined, cost, maskDigest: undefined }));
  } };
}

async function repair(args: string, ...texts: readonly string[]): Promise<FrozenRepair> {
  const request = readRepairRequest({ id: args, request: ROW.request, tool: TOOL, call: { name: TOOL.name, arguments: args } });
  if (!request.ok) throw new Error(request.error.code);
  return (await repairCall(request.value, scripted(...texts))).frozen;
}

function ledger(repairs: readonly FrozenRepair[]): string {
  let at = GENESIS;
  return repairs.map((each) => {
    const appended = appendRepair(at, each);
    at = appended.head;
    return appended.rows.map(formatRow).join('');
  }).join('');
}

test('of a ledger the calls that were accepted are taken, as they were dispatched', async () => {
  const repairs = [
    await repair('{"potter":"Mira","shelf":3}'), await repair('{"potter":"Mira"}', '[{"op":"add","path":"/shelf","value":"x"}]', '[{"op":"add","path":"/shelf","value":3}]'),
    await repair('{"potter":"Mira","shelf":"4"}'), await repair('{"potter":"Mira"}', '{"abstain":"not-in-state"}'),
  ];
  const traces = await read(ledger(repairs));
  expect(traces).toMatchObject({ rowCount: 4, leftOut: { 'train/not-accepted': 1 } });
  expect((traces as UserTraces).calls.map(({ arguments: args }) => args)).toEqual([{ potter: 'Mira', shelf: 3 }, { potter: 'Mira', shelf: 3 }, { potter: 'Mira', shelf: 4 }]);
});

test('hidden contents give no call', async () => {
  const hidden = hideContents(await repair('{"potter":"Mira","shelf":3}'), new Uint8Array(32).fill(7));
  expect(await read(ledger([hidden]))).toMatchObject({ calls: [], leftOut: { 'train/contents-not-recorded': 1 } });
});

test('a ledger whose chain is broken teaches nothing', async () => {
  const text = ledger([await repair('{"potter":"Mira","shelf":3}')]);
  expect(await read(text.replace('"Mira', '"Mora'))).toMatchObject({ code: 'train/ledger-broken', file: 'calls.jsonl' });
});
