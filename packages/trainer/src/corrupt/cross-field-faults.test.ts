import { checkCrossField, jsonEqual, type CrossFieldCheck, type JsonObject } from '@contractrl/core';
import { expect, test } from 'vitest';
import { crossFieldFaults } from './cross-field-faults.ts';

const ARGUMENTS: JsonObject = {
  low: 3, high: 9, same: 3, from: '2026-05-03', to: '2026-05-09', at: '2026-05-03T10:00:00Z', until: '2026-05-04T10:00:00Z', part: 4, rest: 5, all: 9,
  list: ['a', 'b'], count: 2, pick: 'a', card: '1', holder: 'Ines', lines: [{ name: 'cup' }, { name: 'jug' }, { name: 'pan' }],
};

test.each<[string, CrossFieldCheck, string]>([
  ['numbers in the wrong order', { kind: 'lte', a: '/low', b: '/high' }, '/low'],
  ['numbers in the wrong order, the other way', { kind: 'gt', a: '/high', b: '/low' }, '/high'],
  ['dates in the wrong order', { kind: 'lt', a: '/from', b: '/to' }, '/from'],
  ['moments in the wrong order', { kind: 'lt', a: '/at', b: '/until' }, '/at'],
  ['values that must be equal', { kind: 'eq', a: '/low', b: '/same' }, '/low'],
  ['values that must differ', { kind: 'ne', a: '/low', b: '/high' }, '/low'],
  ['a sum', { kind: 'sum', pointers: ['/part', '/rest'], total: '/all' }, '/all'],
  ['a member that another requires', { kind: 'requires', pointer: '/card', required: ['/holder'] }, '/holder'],
  ['the length of a list', { kind: 'list_length', pointer: '/list', compare: 'eq', to: '/count' }, '/list'],
  ['a member that another excludes', { kind: 'excludes', pointer: '/card', excluded: ['/cash'] }, '/cash'],
  ['a member that would exclude another', { kind: 'excludes', pointer: '/cash', excluded: ['/cheque', '/card'] }, '/card'],
  ['one of two, both or none', { kind: 'exactly_one_of', pointers: ['/card', '/cash'] }, ''],
  ['the only one of several that is there', { kind: 'at_least_one_of', pointers: ['/cash', '/card'] }, ''],
  ['a choice out of a list', { kind: 'member_of', pointer: '/pick', in: '/list' }, '/pick'],
])('%s: each fault breaks the check at its pointer', (_, check, pointer) => {
  expect(checkCrossField([check], ARGUMENTS)).toEqual([]);
  const faults = crossFieldFaults(check, ARGUMENTS, () => []);
  expect(faults.length).toBeGreaterThan(0);
  for (const fault of faults) {
    const spoilt = fault.spoil(ARGUMENTS);
    expect(jsonEqual(spoilt, ARGUMENTS)).toBe(false);
    expect(checkCrossField([check], spoilt as JsonObject).map((violation) => violation.pointer)).toEqual([pointer]);
    expect(fault.pointer).toBe(pointer);
  }
});

test.each<[string, CrossFieldCheck]>([
  ['what may not stand together, neither being there', { kind: 'excludes', pointer: '/cash', excluded: ['/cheque'] }],
  ['one of several that may all be there', { kind: 'at_least_one_of', pointers: ['/low', '/high'] }],
  ['texts without an order', { kind: 'lt', a: '/holder', b: '/pick' }],
  ['a function of the host', { kind: 'function', name: 'isOpen', version: '1' }],
])('%s: no fault, since it would need a value that nobody gave', (_, check) => {
  expect(crossFieldFaults(check, ARGUMENTS, () => [])).toEqual([]);
});

test('one of two is spoilt both ways: left out, and written beside the other with any value that its schema names', () => {
  const faults = crossFieldFaults({ kind: 'exactly_one_of', pointers: ['/card', '/cash'] }, ARGUMENTS, () => [true]);
  expect(faults.map(({ form, patch }) => [form, ...patch])).toEqual([
    ['exactly_one_of', { op: 'add', path: '/card', value: '1' }], ['exactly_one_of-both', { op: 'remove', path: '/cash' }], ['exactly_one_of-both', { op: 'remove', path: '/cash' }],
  ]);
  expect(faults.map(({ spoil }) => (spoil(ARGUMENTS) as JsonObject)['cash'])).toEqual([undefined, '1', true]);
});

test('elements that must differ are made alike at the later one', () => {
  const check: CrossFieldCheck = { kind: 'unique_by', pointer: '/lines', by: '/name' };
  const faults = crossFieldFaults(check, ARGUMENTS, () => []);
  expect(faults.map(({ pointer }) => pointer)).toEqual(['/lines/1/name', '/lines/2/name']);
  for (const { spoil, pointer } of faults) expect(checkCrossField([check], spoil(ARGUMENTS) as JsonObject).map((violation) => violation.pointer)).toEqual([pointer]);
});
