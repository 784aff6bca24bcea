/** Family: a schema, a contract or a state that is not the one any more that somebody had in mind. */
// checklist: H5
import fc from 'fast-check';
import { expect } from 'vitest';
import { judgeArguments, loadContract, repairCall, type Contract, type JsonObject } from '../../src/index.ts';
import { createExecutor } from '../../src/execute/index.ts';
import { replayTrace } from '../../src/ledger/index.ts';
import { BOUND, requestOf } from '../support.ts';
import { attack, family, saying } from './support.ts';

const TYPES: readonly JsonObject[] = [{ type: 'string' }, { type: 'integer' }, { type: 'boolean' }, { enum: ['a', 'b'] }, { type: 'array', items: { type: 'string' } }, { type: 'string', maxLength: 1 }];
const schema = fc.record({
  fields: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'A', 'b_id'), fc.constantFrom(...TYPES)), { minLength: 1, maxLength: 4 }),
  required: fc.subarray(['a', 'b', 'c']), isClosed: fc.boolean(),
}).map(({ fields, required, isClosed }): JsonObject => ({ type: 'object', properties: Object.fromEntries(fields), required, ...(isClosed ? { additionalProperties: false } : {}) }));
const value = fc.constantFrom<string | number | boolean | string[]>('a', 'ab', '', 1, 2.5, true, ['a'], []);
const args = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'A', 'b_id'), value, { maxKeys: 4 });

/** A patch that turns one object into another, as a policy would that knows another schema. */
function patchBetween(from: JsonObject, to: JsonObject): string {
  const removed = Object.keys(from).filter((name) => !(name in to)).map((name) => ({ op: 'remove', path: `/${name}` }));
  return JSON.stringify([...removed, ...Object.entries(to).map(([name, member]) => ({ op: 'add', path: `/${name}`, value: member }))]);
}

family('a patch made for an older schema is judged by the one of now', fc.tuple(schema, args, args), { runs: 300, sees: ['failed', 'repaired', 'valid'] }, ([parameters, given, wanted]) =>
  attack(requestOf({ tool: { name: 'put', parameters }, call: { name: 'put', arguments: given }, contract: { operationBudget: 9 } }), saying(patchBetween(given, wanted))));

function load(parameters: JsonObject, more: object = {}): Contract {
  const contract = loadContract({ tool: { name: 'put', description: '', parameters }, ...more });
  if (!contract.ok) throw new Error(contract.error.code);
  return contract.value;
}

family('a trace does not replay under another contract', fc.tuple(schema, fc.option(schema), args), { sees: ['replay/contract-mismatch', 'same'] }, async ([before, drawn, given]) => {
  const after = drawn ?? before;
  const request = requestOf({ tool: { name: 'put', parameters: before }, call: { name: 'put', arguments: given } });
  const { frozen } = await repairCall(request, saying('[]'));
  const [was, is] = [load(before, request.contract), load(after, { ...request.contract, tool: { ...request.contract.tool, parameters: after } })];
  const replayed = await replayTrace(frozen, is);
  expect(replayed.ok).toBe(was.digest === is.digest);
  return replayed.ok ? 'same' : replayed.error.code;
});

const names = fc.subarray(['x', 'y', 'z']);

family('a state that changed since the acceptance decides, not the one of then', fc.tuple(names, names, fc.constantFrom('x', 'y', 'z')), { runs: 200, sees: ['executed', 'refused', 'not accepted'] }, async ([then, now, id]) => {
  const contract = load({ type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }, { gates: [{ kind: 'reference_exists', pointer: '/id', in: 'ids' }] });
  const judged = judgeArguments(contract, JSON.stringify({ id }), { ids: then });
  expect(judged.kind).toBe(then.includes(id) ? 'accepted' : 'rejected');
  if (judged.kind !== 'accepted') return 'not accepted';
  const sent: unknown[] = [];
  const executor = createExecutor({ tools: [{ name: 'put', call: (dispatch) => sent.push(dispatch) }], state: () => ({ ids: now }), bound: BOUND });
  const done = await executor.execute('case', judged.call);
  expect([done.kind, sent.length]).toEqual(now.includes(id) ? ['executed', 1] : ['refused', 0]);
  return done.kind;
});
