/** Family: nested arrays and objects of any shape, and several members missing at once. */
// checklist: H5
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/index.ts';
import { requestOf } from '../support.ts';
import { attack, family, ORDER, patchOf, saying } from './support.ts';

const path = fc.array(fc.constantFrom('0', '1', '2', '-', 'sku', 'n', 'lines'), { maxLength: 5 }).map((tokens) => ['/lines', ...tokens].join('/'));
const leaf = fc.constantFrom<JsonValue>('a', 1, '1', null, {}, [], { sku: 'a', n: 1 }, [{ sku: 'a', n: 1 }], [[{ sku: 'a', n: 1 }]]);
const line = fc.oneof(fc.constant<JsonValue>({ sku: 'a', n: 1 }), leaf);
const lines = fc.array(fc.oneof(fc.array(line, { maxLength: 3 }), leaf), { maxLength: 3 }) as fc.Arbitrary<JsonValue>;

family('lists in lists are repaired element by element or not at all', fc.tuple(lines, fc.array(patchOf(path, leaf), { minLength: 1, maxLength: 3 })), { runs: 250, sees: ['repaired', 'failed', 'valid'] },
  ([drawn, texts]) => attack(
    requestOf({ tool: { name: 'order', parameters: ORDER }, call: { name: 'order', arguments: { account: { id: 'A-1' }, quantity: 1, lines: drawn } }, contract: { operationBudget: 9, attemptBudget: 4 } }),
    saying(...texts),
  ));

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const parameters: JsonObject = { type: 'object', properties: Object.fromEntries(NAMES.map((name) => [name, { type: 'integer' }])), required: NAMES, additionalProperties: false };

family('of several missing members, all are written within the budgets or nothing is sent', fc.tuple(fc.subarray(NAMES), fc.subarray(NAMES), fc.subarray(NAMES), fc.integer({ min: 0, max: 6 })),
  { runs: 250, sees: ['repaired', 'failed', 'valid', 'abstained'] },
  ([given, first, second, operationBudget]) => {
    const adding = (names: readonly string[]): string => JSON.stringify(names.map((name) => ({ op: 'add', path: `/${name}`, value: 1 })));
    const args = Object.fromEntries(given.map((name) => [name, 1]));
    return attack(requestOf({ tool: { name: 'put', parameters }, call: { name: 'put', arguments: args }, contract: { operationBudget } }), saying(adding(first), adding(second)));
  });
