import { expect, test } from 'vitest';
import { patchText, requestOf, scripted } from '../../tests/support.ts';
import type { JsonObject } from '../json/value.ts';
import { parsePatch } from '../patch/operation.ts';
import type { Observation, Proposer } from '../repair/proposer.ts';
import { repairCall } from '../repair/repair.ts';
import { originsOfPatch, type WrittenValue } from './written.ts';

const CALL = { name: 'transfer', arguments: { to: 'ACC-2041', amount_cents: 'much', memo: 'rent' } };
const amount = (value: number): JsonObject => ({ op: 'replace', path: '/amount_cents', value });

/** What a first attempt sees and its patch, with what the loop records of it. */
async function attempt(...operations: readonly JsonObject[]): Promise<{ readonly beforehand: ReturnType<typeof originsOfPatch>; readonly recorded: readonly WrittenValue[] | undefined }> {
  const text = patchText(...operations);
  const answering = scripted(text, text);
  const seen: Observation[] = [];
  const proposer: Proposer = {
    ...answering,
    propose(observation, signal) {
      seen.push(observation);
      return answering.propose(observation, signal);
    },
  };
  const outcome = await repairCall(requestOf({ call: CALL }), proposer);
  const patch = parsePatch(text);
  if (!patch.ok) throw new Error(patch.error.code);
  return { beforehand: originsOfPatch(seen[0]!, patch.value), recorded: 'written' in outcome ? outcome.written : undefined };
}

test.each<{ readonly what: string; readonly operations: readonly JsonObject[]; readonly values: readonly unknown[] }>([
  { what: 'a number of the request', operations: [amount(150)], values: [150] },
  { what: 'a number from nowhere', operations: [amount(7)], values: [7] },
  { what: 'several values', operations: [amount(150), { op: 'add', path: '/tags', value: ['ACC-2041', 'x'] }], values: [150, 'ACC-2041', 'x'] },
  { what: 'a value written over, and what is moved', operations: [{ op: 'copy', from: '/to', path: '/memo' }, amount(9)], values: [9, 'ACC-2041'] },
])('the origins of $what are known before the patch is proposed, as the loop will record them', async ({ operations, values }) => {
  const { beforehand, recorded } = await attempt(...operations);
  expect(recorded).not.toBeUndefined();
  expect(beforehand!.map(({ pointer, origin }) => ({ pointer, origin }))).toEqual(recorded);
  expect(new Set(beforehand!.map(({ value }) => value))).toEqual(new Set(values));
});

test('a patch that is not admissible has none', async () => {
  expect((await attempt({ op: 'replace', path: '/none', value: 1 })).beforehand).toBeUndefined();
  expect((await attempt(amount(1), { op: 'remove', path: '/memo' }, { op: 'remove', path: '/memo' })).beforehand).toBeUndefined();
});
