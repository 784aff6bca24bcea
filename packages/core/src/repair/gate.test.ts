import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { evaluateGates, readGates, type GateDocument } from './gate.ts';

const GATE: GateDocument = { kind: 'reference_exists', pointer: '/ids', in: 'known' };

describe('reference_exists', () => {
  test.each<[string, JsonObject, JsonObject, string]>([
    ['every element is known', { ids: ['a', 'b'] }, { known: ['a', 'b', 'c'] }, 'allow'],
    ['one value is known', { ids: 'a' }, { known: ['a'] }, 'allow'],
    ['values are compared as JSON values', { ids: [{ x: 1, y: 2 }] }, { known: [{ y: 2, x: 1 }] }, 'allow'],
    ['there is no value to refer', { other: 1 }, { known: [] }, 'allow'],
    ['the list is empty', { ids: [] }, { known: [] }, 'allow'],
    ['one element is a stranger', { ids: ['a', 'z'] }, { known: ['a'] }, 'gate/reference-unknown'],
    ['text is no number', { ids: ['1'] }, { known: [1] }, 'gate/reference-unknown'],
    ['the context list is missing', { ids: [] }, {}, 'gate/context-missing'],
    ['the context list is missing and nothing refers to it', {}, {}, 'gate/context-missing'],
    ['the context value is no list', { ids: ['a'] }, { known: { a: true } }, 'gate/context-missing'],
  ])('%s', (_, args, context, expected) => {
    const decision = evaluateGates([GATE], 'tool', args, context);
    expect(decision.kind === 'allow' ? 'allow' : decision.reason).toBe(expected);
  });

  test('an inherited member of the context is no list', () => {
    const context = Object.create({ known: ['a'] }) as JsonObject;
    expect(evaluateGates([GATE], 'tool', { ids: ['a'] }, context)).toMatchObject({ kind: 'reject', reason: 'gate/context-missing' });
  });
});

test('a gate that throws has not allowed', () => {
  const context = Object.defineProperty({}, 'known', { enumerable: true, get: () => { throw new Error('database is gone'); } }) as JsonObject;
  expect(evaluateGates([GATE], 'tool', { ids: ['a'] }, context)).toMatchObject({ kind: 'reject', reason: 'gate/undecided' });
});

test('a gate of an unknown kind or with a bad pointer has not allowed', () => {
  expect(evaluateGates([{ ...GATE, kind: 'always' } as never], 'tool', {}, { known: [] })).toMatchObject({ kind: 'reject', reason: 'gate/undecided' });
  expect(evaluateGates([{ ...GATE, pointer: 'ids' }], 'tool', {}, { known: [] })).toMatchObject({ kind: 'reject', reason: 'gate/undecided' });
});

test('the first gate that refuses decides; no gate allows', () => {
  const second: GateDocument = { ...GATE, in: 'other' };
  expect(evaluateGates([GATE, second], 'tool', { ids: ['a'] }, { known: ['a'], other: [] })).toMatchObject({ params: { in: 'other' } });
  expect(evaluateGates([], 'tool', {}, {})).toEqual({ kind: 'allow' });
});

describe('reading gates', () => {
  test('a list of known gates is read as it is', () => {
    expect(readGates([GATE])).toEqual({ ok: true, value: [GATE] });
  });

  test.each<[string, unknown, string, string]>([
    ['no list', GATE, 'request/wrong-type', ''],
    ['an unknown kind', [GATE, { ...GATE, kind: 'eval' }], 'request/bad-value', '/1/kind'],
    ['an inherited name as kind', [{ ...GATE, kind: 'toString' }], 'request/bad-value', '/0/kind'],
    ['an unknown field', [{ ...GATE, code: 'true' }], 'request/unknown-field', '/0/code'],
    ['a missing field', [{ kind: 'reference_exists', pointer: '' }], 'request/missing-field', '/0/in'],
    ['a pointer without its slash', [{ ...GATE, pointer: 'ids' }], 'request/bad-value', '/0/pointer'],
  ])('%s is refused', (_, value, code, pointer) => {
    expect(readGates(value)).toMatchObject({ ok: false, error: { code, pointer } });
  });
});
