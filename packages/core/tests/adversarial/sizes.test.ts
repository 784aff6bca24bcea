/** Family: huge numbers, depths, widths and documents. */
// checklist: H5
import fc from 'fast-check';
import { expect } from 'vitest';
import { readJsonValue } from '../../src/index.ts';
import { requestOf } from '../support.ts';
import { attack, family, rawRequest, saying } from './support.ts';

const FREE = { name: 'put', parameters: { type: 'object', properties: { n: { type: 'number' }, id: { type: 'integer' }, list: { type: 'array' } } } };

const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 40 }).map((list) => list.join('').replace(/^0+(?=.)/, ''));
const literal = fc.oneof(
  digits, digits.map((text) => `-${text}`), fc.tuple(digits, digits).map(([whole, part]) => `${whole}.${part}`),
  fc.tuple(digits, fc.integer({ min: -400, max: 400 })).map(([whole, exponent]) => `${whole}e${exponent}`),
  fc.constantFrom('9007199254740993', '-9007199254740993', '1e309', '-1e309', '5e-325', '0.1', '-0', '1E400', '123456789012345678901234567890', '1e-7', '01', '+1', '0x10', '1_000', '.5', '5.'),
);

family('a number is the one that was written, or the call is not sent', fc.tuple(literal, literal), { runs: 400, sees: ['valid', 'abstained', 'failed'] }, async ([number, integer]) => {
  const text = `{"n":${number},"id":${integer}}`;
  const request = rawRequest({ ...requestOf({ tool: FREE, call: { name: 'put', arguments: {} } }), call: { name: 'put', argumentsText: text } });
  const status = await attack(request, saying('[{"op":"add","path":"/list","value":[]}]', `[{"op":"add","path":"/list","value":[${number}]}]`));
  // an identifier that a double rounds is another identifier
  if (status === 'valid' && /^-?\d+$/.test(integer)) expect(BigInt(integer)).toBe(BigInt(Number(integer)));
  return status;
});

const shape = fc.record({ depth: fc.oneof(fc.integer({ min: 1, max: 140 }), fc.constantFrom(1_000, 100_000)), width: fc.constantFrom(1, 50, 2_000), isObject: fc.boolean(), isPatch: fc.boolean() });

family('depth and width beyond the limits have codes', shape, { runs: 60, sees: ['valid', 'abstained', 'failed', 'repaired'] }, ({ depth, width, isObject, isPatch }) => {
  const [open, close] = isObject ? ['{"a":', '}'] : ['[', ']'];
  const nest = `${open.repeat(depth)}[${Array.from({ length: width }, (_, index) => index).join()}]${close.repeat(depth)}`;
  const text = isPatch ? '{"id":"x","list":[]}' : `{"list":[${nest}]}`;
  return attack(rawRequest({ ...requestOf({ tool: FREE, call: { name: 'put', arguments: {} } }), call: { name: 'put', argumentsText: text } }),
    saying(`[{"op":"replace","path":"/list","value":[${nest}]},{"op":"replace","path":"/id","value":1}]`));
});

family('long texts, names and patches have codes too', fc.record({ length: fc.constantFrom(10, 100_000, 1_048_576, 1_200_000), place: fc.constantFrom('value', 'name', 'patch', 'path', 'operations') }), { runs: 40, sees: ['valid', 'failed', 'abstained'] },
  ({ length, place }) => {
    const long = 'x'.repeat(length);
    const text = place === 'value' ? JSON.stringify({ n: 1, s: long }) : place === 'name' ? JSON.stringify({ [long]: 1 }) : '{"id":"x"}';
    const patch = place === 'path' ? [{ op: 'add', path: `/${long}`, value: 1 }]
      : place === 'operations' ? Array.from({ length: Math.min(length, 20_000) }, () => ({ op: 'add', path: '/n', value: 1 })) : [{ op: 'replace', path: '/id', value: long }];
    return attack(rawRequest({ ...requestOf({ tool: FREE, call: { name: 'put', arguments: {} } }), call: { name: 'put', argumentsText: text } }), saying(JSON.stringify(patch)));
  });

family('a host value that shares or contains itself is refused, not followed', fc.record({ levels: fc.constantFrom(1, 5, 12, 30, 60), isCycle: fc.boolean() }), { runs: 16, sees: ['json/too-large', 'json/too-deep', 'read'] }, ({ levels, isCycle }) => {
  let value: unknown[] = [1];
  if (isCycle) value.push(value);
  // each level doubles what the one below holds
  else for (let level = 0; level < levels; level += 1) value = [value, value];
  const read = readJsonValue(value);
  return read.ok ? 'read' : read.error.code;
});
