import { expect, test } from 'vitest';
import { loadContract, type Contract } from '../contract/contract.ts';
import type { JsonValue } from '../json/value.ts';
import { actionMask } from './action-mask.ts';

function contractOf(fields: Readonly<Record<string, unknown>> = {}): Contract {
  const contract = loadContract({
    tool: {
      name: 'mask',
      parameters: {
        properties: {
          to: { type: 'string' },
          tags: { type: 'array', items: { type: 'string' } },
          shape: { oneOf: [{ properties: { kind: { const: 'a' }, x: {} }, additionalProperties: false }, { properties: { kind: { const: 'b' }, y: {} }, additionalProperties: false }] },
          rows: { items: { properties: { 'a/b': {}, constructor: {} } } },
        },
        additionalProperties: false,
      },
    },
    ...fields,
  });
  if (!contract.ok) throw new TypeError(contract.error.code);
  return contract.value;
}

const adds = (document: JsonValue, fields: Readonly<Record<string, unknown>> = {}): readonly string[] => actionMask(contractOf(fields), document, 1).add;

test.each<[string, JsonValue, readonly string[]]>([
  ['absent declared names', { to: 'x' }, ['/tags', '/shape', '/rows']],
  ['each element, and the end of an array', { tags: ['a', 'b'], to: '', shape: 1, rows: 1 }, ['/tags/0', '/tags/1', '/tags/-']],
  ['names inside elements, in both escape layers, and never a prototype name', { rows: [{}], to: '', shape: 1, tags: 1 }, ['/rows/0', '/rows/-', '/rows/0/a~1b']],
  ['names of every branch of a union', { shape: {}, to: '', rows: 1, tags: 1 }, ['/shape/kind', '/shape/x', '/shape/y']],
  ['only of the branch that the discriminator leaves', { shape: { kind: 'b' }, to: '', rows: 1, tags: 1 }, ['/shape/y']],
])('add offers %s', (_, document, expected) => {
  expect(adds(document)).toEqual(expected);
});

// checklist: B4
test('the root and a locked place are never offered', () => {
  const mask = actionMask(contractOf({ immutablePaths: ['/tags/1'] }), { tags: ['a', 'b', 'c'] }, 1);
  expect(mask.replace).toEqual(['/tags/0', '/tags/2']);
  expect(mask.remove).toEqual(['/tags/2']);
  expect(mask.add).toEqual(['/tags/2', '/to', '/shape', '/rows', '/tags/-']);
  expect(mask.copy.map(({ from }) => from)).toContain('/tags/1');
  expect(mask.move.map(({ from }) => from)).toEqual(['/tags/2']);
});

// checklist: B4
test('the targets of a move are places of the document without its source', () => {
  const { move } = actionMask(contractOf(), { tags: ['a', 'b'] }, 1);
  expect(move.find(({ from }) => from === '/tags/0')?.paths()).toEqual(['/tags', '/to', '/shape', '/rows', '/tags/-']);
  expect(move.find(({ from }) => from === '/tags')?.paths()).toEqual(['/to', '/shape', '/rows']);
});

test('a wrongly named member can be moved to the declared name, and written nowhere else', () => {
  const mask = actionMask(contractOf(), { recipient: 'x', tags: 1, shape: 1, rows: 1 }, 1);
  expect(mask.move.find(({ from }) => from === '/recipient')?.paths()).toEqual(['/tags', '/shape', '/rows', '/to']);
  expect(mask.remove).toContain('/recipient');
  expect(mask.replace).not.toContain('/recipient');
});
