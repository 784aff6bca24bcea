/** The example of README.md is code that compiles and does what the text beside it says. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { JsonObject, RepairRequest } from '../../src/index.ts';
import { patchText, requestOf, scripted } from '../support.ts';
import { gates, repairAndRun, type Shop } from './refund-example.ts';

test('README.md shows the example as it is', () => {
  const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
  const example = read('refund-example.ts').split('\n').slice(1).join('\n');
  expect(read('../../../../README.md')).toContain(`\`\`\`ts\n${example}\`\`\``);
});

const tool = {
  name: 'refund',
  parameters: { type: 'object', properties: { order_id: { type: 'string' }, amount: { type: 'integer', minimum: 1 } }, required: ['order_id', 'amount'], additionalProperties: false },
};
const STATE = { reads: [{ tool: 'get_order', arguments: { order_id: 'O-1' } }], orders: { 'O-1': { status: 'open', paid: 40 }, 'O-2': { status: 'open', paid: 40 } } };

function requestFor(args: JsonObject): RepairRequest {
  return requestOf({ tool, call: { name: 'refund', arguments: args }, context: STATE, contract: { gates } });
}

function shop(state: JsonObject = STATE): Shop & { readonly refunds: JsonObject[] } {
  const refunds: JsonObject[] = [];
  return { refunds, state: () => state, refund: (args, idempotencyKey) => { refunds.push(args); return Promise.resolve({ idempotencyKey }); } };
}

const lower = patchText({ op: 'replace', path: '/amount', value: 40 });

test('an amount above what was paid goes back to the policy, and what it lowers is run once', async () => {
  const open = shop();
  expect(await repairAndRun(open, requestFor({ order_id: 'O-1', amount: 90 }), scripted(lower))).toMatchObject({ kind: 'executed' });
  expect(open.refunds).toEqual([{ order_id: 'O-1', amount: 40 }]);
});

test('an order that nobody read is refused without a question, and one that was closed since is refused before the tool', async () => {
  expect(await repairAndRun(shop(), requestFor({ order_id: 'O-2', amount: 9 }), scripted())).toBe('gate/not-read');
  const closed = shop({ ...STATE, orders: { 'O-1': { status: 'refunded', paid: 40 } } });
  expect(await repairAndRun(closed, requestFor({ order_id: 'O-1', amount: 9 }), scripted())).toMatchObject({ kind: 'refused', code: 'execute/gate', reason: 'gate/comparison' });
  expect(closed.refunds).toEqual([]);
});
