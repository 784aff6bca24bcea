import { describe, expect, test } from 'vitest';
import { retailShop, sandboxEpisodes } from './episodes.ts';
import { openWorld, type SentCall, type World } from './world.ts';

const shop = retailShop();
const { calls, step } = sandboxEpisodes().find((episode) => episode.step > 3)!;
const open = (): World => openWorld(shop.tables, shop.contracts);
const [anyOrder] = Object.values(shop.tables.orders).filter(({ status }) => status === 'pending');
const { order_id } = anyOrder!;
const cancel = { name: 'cancel_pending_order', argumentsText: JSON.stringify({ order_id, reason: 'no longer needed' }) };
const look = { name: 'get_order_details', argumentsText: JSON.stringify({ order_id }) };

async function sendAll(world: World, ...all: readonly Parameters<World['send']>[1][]): Promise<readonly SentCall[]> {
  const sent: SentCall[] = [];
  for (const call of all) sent.push(await world.send(`case/${String(sent.length)}`, call));
  return sent;
}

// checklist: I3
test('what was read, what was changed and what a tool said is on record', async () => {
  const world = open();
  const [read, changed, again] = await sendAll(world, look, cancel, look);
  expect(read).toMatchObject({ outcome: 'executed', arguments: { order_id }, toolError: null, changes: [] });
  expect(changed!.changes).toContainEqual({ pointer: `/orders/${order_id}/status`, before: 'pending', after: 'cancelled' });
  expect(changed!.changes).toContainEqual({ pointer: `/orders/${order_id}/cancel_reason`, before: null, after: 'no longer needed' });
  expect(world.tables.orders[order_id]!.status).toBe('cancelled');
  expect(again!.resultDigest).not.toBe(read!.resultDigest);
  expect(world.results.map(({ name }) => name)).toEqual(['get_order_details', 'cancel_pending_order', 'get_order_details']);
  expect(await world.send('case/2', look)).toMatchObject({ outcome: 'refused', reason: 'execute/already-executed', arguments: null });
  expect(shop.tables.orders[order_id]!.status).toBe('pending');
});

test('gates see what the agent has read, and nothing of the rest', async () => {
  const world = open();
  expect(world.context).toEqual({ reads: [], orders: {} });
  await sendAll(world, look, cancel);
  expect(world.context).toEqual({ reads: [{ tool: 'get_order_details', arguments: { order_id } }], orders: { [order_id]: { status: 'cancelled' } } });
});

// checklist: I4, O1, O3, O4
describe('nothing reaches a tool that the validator and the gates did not accept', () => {
  test.each([
    { what: 'a record that was not read', before: [], call: cancel, reason: 'gate/not-read' },
    { what: 'an order that was cancelled already', before: [look, cancel], call: { ...cancel, argumentsText: JSON.stringify({ order_id, reason: 'ordered by mistake' }) }, reason: 'gate/not-member' },
    { what: 'a call that is not valid', before: [look], call: { ...cancel, argumentsText: JSON.stringify({ order_id, reason: 'bored' }) }, reason: 'enum_mismatch' },
    { what: 'text that is no JSON', before: [look], call: { ...cancel, argumentsText: '{"order_id":' }, reason: 'json_truncated' },
    { what: 'a tool that the shop has not', before: [], call: { name: 'toString', argumentsText: '{}' }, reason: 'tool_unknown' },
  ])('$what', async ({ before, call, reason }) => {
    const world = open();
    await sendAll(world, ...before);
    const { tables, results } = world;
    const count = results.length;
    expect(await world.send('last', call)).toMatchObject({ outcome: 'not-accepted', reason, arguments: null, resultDigest: null, changes: [] });
    expect([world.tables, world.results.length]).toEqual([tables, count]);
  });
});

test('a tool that says no was executed, and changed nothing', async () => {
  const world = open();
  const [sent] = await sendAll(world, { name: 'get_order_details', argumentsText: '{"order_id":"#0"}' });
  expect(sent).toMatchObject({ outcome: 'executed', toolError: 'retail/order-unknown', changes: [] });
  expect(world.context).toEqual({ reads: [], orders: {} });
});

// checklist: I2
test('the same calls give the same bytes', async () => {
  const legal = calls.slice(0, step);
  const [one, other] = [open(), open()];
  const [first, second] = [await sendAll(one, ...legal), await sendAll(other, ...legal)];
  expect(JSON.stringify([first, one.tables, one.results])).toBe(JSON.stringify([second, other.tables, other.results]));
});
