/** Family: immutable members reached through their parents, by moves and copies, and in steps. */
// checklist: H5
import fc from 'fast-check';
import type { JsonValue } from '../../src/index.ts';
import { requestOf } from '../support.ts';
import { attack, family, ORDER, OP, saying } from './support.ts';

const PLACES = ['/account', '/account/id', '/account/owner', '/quantity', '/lines', '/lines/0', '/lines/0/0', '/lines/0/0/sku', '/lines/0/0/n', '/lines/1', '/lines/-', '/note', '/extra', '/extra/id', ''];
const place = fc.constantFrom(...PLACES);
const value = fc.constantFrom<JsonValue>(1, 'A-2', { id: 'A-2' }, { id: 'A-1' }, [], [[{ sku: 'b', n: 2 }]], null);
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: OP, path: place, from: place, value }) },
  { weight: 1, arbitrary: fc.constant<object>({ op: 'replace', path: '/quantity', value: 3 }) },
);
const patch = fc.array(operation, { minLength: 1, maxLength: 4 }).map((operations) => JSON.stringify(operations));
const locks = fc.subarray(['/account', '/account/id', '/account/owner', '/lines/0', '/lines/0/0/sku', '/lines/1', '/note', '/quantity'], { minLength: 1 });
const extra = fc.record({ note: fc.constantFrom<JsonValue>('n', 5), extra: fc.constantFrom<JsonValue>({ id: 'A-9' }, 'x') }, { requiredKeys: [] });

family('no sequence of admitted operations changes a locked value, moves it, or puts another in its place', fc.tuple(locks, fc.array(patch, { minLength: 1, maxLength: 3 }), extra),
  { runs: 300, sees: ['repaired', 'failed'] },
  ([immutablePaths, texts, more]) => attack(
    requestOf({
      tool: { name: 'order', parameters: ORDER },
      call: { name: 'order', arguments: { account: { id: 'A-1', owner: 'o' }, quantity: '3', lines: [[{ sku: 'a', n: 1 }], []], ...more } },
      contract: { immutablePaths, operationBudget: 6, attemptBudget: 4 },
    }),
    saying(...texts, '[{"op":"replace","path":"/quantity","value":3}]'),
  ));
