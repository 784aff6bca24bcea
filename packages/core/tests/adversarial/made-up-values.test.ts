/** A place that asks for an origin, and a policy that would put there what nobody said. */
import fc from 'fast-check';
import { OPERATION_KINDS, repairCall, type JsonObject, type JsonValue } from '../../src/index.ts';
import { requestOf } from '../support.ts';
import { family, holds, saying } from './support.ts';

const PAYMENT: JsonObject = {
  type: 'object',
  properties: { account: { type: 'string', pattern: '^ACC-[0-9]{4}$' }, note: {}, list: { type: 'array' } },
  required: ['account'],
};
/** The only text of request, state and call that the schema takes for an account. */
const SAID = 'ACC-2041';

const place = fc.constantFrom('/account', '/note', '/note/x', '/list', '/list/0', '/list/1', '/list/-', '/list/0/account');
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>('ACC-9999', 'ACC-204', 'acc-2041', SAID, ['ACC-9999'], { x: 'ACC-9999' }, { account: 'ACC-9999' }, `${SAID} `, 'A\u0301CC-2041', 'ACC\u20102041', 5),
  fc.integer({ min: 0, max: 9999 }).map((number) => `ACC-${String(number).padStart(4, '0')}`),
);
const operation = fc.record({ op: fc.constantFrom(...OPERATION_KINDS), path: place, from: place, value });
/** What a planter does: anywhere, then to the account by another way. */
const planted = fc.tuple(value, fc.constantFrom('/note', '/list/0'), fc.constantFrom('move', 'copy')).map(([made, from, op]) => [
  { op: 'add', path: from, value: made }, { op: 'remove', path: '/account' }, { op, from, path: '/account' },
]);
const patches = fc.array(fc.oneof(planted, fc.array(operation, { minLength: 1, maxLength: 3 })), { minLength: 1, maxLength: 4 });

family(
  'what nobody said never stands where an origin is asked for',
  fc.tuple(patches, fc.boolean(), fc.constantFrom('5', 'ACC-20', 'acc-2041')),
  { sees: ['repaired', 'failed', 'refused'] },
  async ([answers, isSplit, account]) => {
    const texts = (isSplit ? answers.flat().map((each) => [each]) : answers).map((patch) => JSON.stringify(patch));
    const request = requestOf({
      request: 'Pay "/account" of account ACC-2041, not ACC-20415 or xACC-7777; {"account":"ACC-20 41"}.', tool: { name: 'pay', parameters: PAYMENT },
      call: { name: 'pay', arguments: { account, list: ['a'] } }, context: { seen: ['ACC-20'] }, contract: { provenance: { require: ['/account'] }, operationBudget: 16, attemptBudget: 16 },
    });
    const outcome = await repairCall(request, saying(...texts), { deterministic: false });
    await holds(request, outcome);
    if ('arguments' in outcome && outcome.arguments['account'] !== SAID) throw new Error(`dispatched ${JSON.stringify(outcome.arguments)}`);
    return outcome.status === 'failed' && outcome.history.some(({ verdict }) => verdict === 'provenance/no-origin') ? 'refused' : outcome.status;
  },
);
