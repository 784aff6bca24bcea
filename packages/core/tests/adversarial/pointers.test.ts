/** Family: pointers that are wrong, ambiguous or missing. */
// checklist: H5
import fc from 'fast-check';
import type { JsonValue } from '../../src/index.ts';
import { requestOf } from '../support.ts';
import { attack, family, ORDER, patchOf, saying } from './support.ts';

const token = fc.oneof(
  fc.constantFrom('account', 'id', 'quantity', 'lines', '0', '1', 'sku', 'n', 'note', '-', '-1', '01', '1e0', '+1', ' 0', '00', '4294967296', '9007199254740993', '', ' ', 'length', '*', '..', '~0', '~1', '~2', '~', '%2F', 'Quantity', 'quantit\u0443'),
  fc.string({ maxLength: 3 }),
);
const wild = fc.array(token, { maxLength: 5 }).map((tokens) => tokens.map((each) => `/${each}`).join(''));
const pointer = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('/quantity', '/lines/0/0/n', '/account/id', '/lines/-', '/note') },
  { weight: 3, arbitrary: wild },
  { weight: 1, arbitrary: wild.map((text) => text.slice(1)) },
  { weight: 1, arbitrary: wild.map((text) => `#${text}`) },
);
const value = fc.constantFrom<JsonValue>(1, 'x', null, [], {}, [[{ sku: 'a', n: 1 }]], { id: 'A-1' });
const call = { name: 'order', arguments: { account: { id: 'A-1' }, quantity: 'many', lines: [[{ sku: 'a', n: 'x' }], []] } };

family('a patch lands where its pointers say by the letter, or nowhere', patchOf(pointer, value).chain((first) => patchOf(pointer, value).map((second) => [first, second])), { sees: ['failed'] }, (texts) =>
  attack(requestOf({ tool: { name: 'order', parameters: ORDER }, call, contract: { operationBudget: 6 } }), saying(...texts)));

const member = fc.constantFrom('path', 'from', 'value', 'op');
const GOOD = { op: 'replace', path: '/quantity', from: '/quantity', value: 2 };
const odd = fc.constantFrom<JsonValue | undefined>(undefined, null, 0, true, [], {}, ['/quantity'], { pointer: '/quantity' }, '/quantity ', '/quantity\u0000');

family('an operation with a member left out or of another type is no operation', fc.tuple(member, odd, fc.boolean()), { runs: 80, sees: ['failed', 'repaired'] }, ([name, replacement, isTwice]) => {
  const text = JSON.stringify([{ ...GOOD, [name]: replacement }]);
  const twice = text.replace('{', '{"path":"/account/id",');
  const fixed = { ...call, arguments: { account: { id: 'A-1' }, quantity: 'many' } };
  return attack(requestOf({ tool: { name: 'order', parameters: ORDER }, call: fixed, contract: { immutablePaths: ['/account'] } }), saying(isTwice ? twice : text));
});
