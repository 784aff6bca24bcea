import { describe, expect, test } from 'vitest';
import { BOUND } from '../../tests/support.ts';
import { deepFreeze, type JsonObject, type JsonValue } from '../json/value.ts';
import type { JsonPointer } from '../pointer.ts';
import { askGateFunctions, evaluateGates, gatePointers, hasFunctions, readGates, type GateDecision, type GateDocument, type GateFunction, type GateHost, type GateRule } from './gate.ts';

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

// checklist: O1, O4
describe('gates over arguments and state', () => {
  const STATE: JsonObject = {
    now: '2026-03-02T12:00:00Z', limit: 500, tools: ['refund'], banned: ['B'],
    reads: [{ tool: 'get_order', arguments: { id: 'O-1' } }, { tool: 'get_user', arguments: { id: 'O-2' } }, 'noise', { tool: 'get_order' }],
    orders: {
      'O-1': { status: 'open', placed: '2026-03-02T00:00:00Z', items: ['a', 'b'], legs: ['planned'] },
      'O-2': { status: 'shipped', placed: '2026-02-01T00:00:00Z', items: [], legs: ['planned', 'flown'] },
      __proto__: null,
    },
  };
  const order = (then: string) => ({ state: '/orders', by: '/id', then });
  const open: GateRule = { kind: 'eq', a: order('/status'), b: { value: 'open' } };
  const fresh: GateRule = { kind: 'within', a: order('/placed'), b: { state: '/now' }, seconds: 86_400 };
  const wasRead: GateRule = { kind: 'read_before_write', pointer: '/id', log: 'reads', tool: 'get_order', argument: '/id' };

  test.each<[string, GateRule, JsonObject, string]>([
    ['an amount at its limit', { kind: 'lte', a: { argument: '/amount' }, b: { state: '/limit' } }, { amount: 500 }, 'allow'],
    ['an amount above its limit', { kind: 'lte', a: { argument: '/amount' }, b: { state: '/limit' } }, { amount: 501 }, 'gate/comparison'],
    ['an amount that is a text', { kind: 'lte', a: { argument: '/amount' }, b: { state: '/limit' } }, { amount: '1' }, 'gate/comparison'],
    ['no amount', { kind: 'lte', a: { argument: '/amount' }, b: { state: '/limit' } }, {}, 'gate/argument-missing'],
    ['no limit', { kind: 'lte', a: { argument: '/amount' }, b: { state: '/limits' } }, { amount: 1 }, 'gate/context-missing'],
    ['no amount, where it is optional', { kind: 'any', gates: [{ kind: 'absent', pointer: '/amount' }, { kind: 'lt', a: { argument: '/amount' }, b: { state: '/limit' } }] }, {}, 'allow'],
    ['an argument that must not be there', { kind: 'absent', pointer: '/force' }, { force: false }, 'gate/present'],
    ['an order that is open', open, { id: 'O-1' }, 'allow'],
    ['an order that is shipped', open, { id: 'O-2' }, 'gate/comparison'],
    ['an order that nobody knows', open, { id: 'O-9' }, 'gate/context-missing'],
    ['an order with an inherited name', open, { id: 'toString' }, 'gate/context-missing'],
    ['an order with the name of a prototype', open, { id: '__proto__' }, 'gate/context-missing'],
    ['an order named by no text', open, { id: 1 }, 'gate/context-missing'],
    ['as many items as before', { kind: 'eq', a: { argument: '/items', count: true }, b: { ...order('/items'), count: true } }, { id: 'O-1', items: ['x', 'y'] }, 'allow'],
    ['one item more', { kind: 'eq', a: { argument: '/items', count: true }, b: { ...order('/items'), count: true } }, { id: 'O-1', items: ['x', 'y', 'z'] }, 'gate/comparison'],
    ['a count of what is no list', { kind: 'eq', a: { argument: '/items', count: true }, b: { value: 2 } }, { items: 'xy' }, 'gate/argument-missing'],
    ['a member', { kind: 'in', a: { argument: '/tool' }, b: { state: '/tools' } }, { tool: 'refund' }, 'allow'],
    ['a stranger among members', { kind: 'in', a: { argument: '/tool' }, b: { state: '/tools' } }, { tool: ['refund', 'x'] }, 'gate/not-member'],
    ['a list that is none', { kind: 'in', a: { argument: '/tool' }, b: { state: '/limit' } }, { tool: 'refund' }, 'gate/context-missing'],
    ['none of the excluded', { kind: 'not_in', a: { argument: '/ids' }, b: { state: '/banned' } }, { ids: ['A', 'C'] }, 'allow'],
    ['one of the excluded', { kind: 'not_in', a: { argument: '/ids' }, b: { state: '/banned' } }, { ids: ['A', 'B'] }, 'gate/excluded-member'],
    ['no leg that was flown', { kind: 'not_in', a: { value: 'flown' }, b: order('/legs') }, { id: 'O-1' }, 'allow'],
    ['a leg that was flown', { kind: 'not_in', a: { value: 'flown' }, b: order('/legs') }, { id: 'O-2' }, 'gate/excluded-member'],
    ['inside the window', fresh, { id: 'O-1' }, 'allow'],
    ['at the very beginning of the window', { kind: 'within', a: { state: '/now' }, b: { argument: '/at' }, seconds: 60 }, { at: '2026-03-02T12:00:00Z' }, 'allow'],
    ['after the window', fresh, { id: 'O-2' }, 'gate/outside-window'],
    ['before the window', { kind: 'within', a: { state: '/now' }, b: { argument: '/at' }, seconds: 60 }, { at: '2026-03-02T11:59:59.9Z' }, 'gate/outside-window'],
    ['at the end of the window, in another zone', { kind: 'within', a: { state: '/now' }, b: { argument: '/at' }, seconds: 60 }, { at: '2026-03-02T13:01:00+01:00' }, 'allow'],
    ['a fraction behind the window', { kind: 'within', a: { state: '/now' }, b: { argument: '/at' }, seconds: 60 }, { at: '2026-03-02T12:01:00.1Z' }, 'gate/outside-window'],
    ['a day against a moment', { kind: 'within', a: { state: '/now' }, b: { argument: '/at' }, seconds: 1e9 }, { at: '2026-03-03' }, 'gate/outside-window'],
    ['a text that is no moment', { kind: 'within', a: { state: '/now' }, b: { argument: '/at' }, seconds: 60 }, { at: 'soon' }, 'gate/outside-window'],
    ['a record that was read', wasRead, { id: 'O-1' }, 'allow'],
    ['a record that another tool read', wasRead, { id: 'O-2' }, 'gate/not-read'],
    ['records of which one was not read', wasRead, { id: ['O-1', 'O-3'] }, 'gate/not-read'],
    ['a write of nothing in particular', wasRead, {}, 'gate/argument-missing'],
    ['all of two', { kind: 'all', gates: [open, fresh] }, { id: 'O-1' }, 'allow'],
    ['one of two that must both hold', { kind: 'all', gates: [{ kind: 'ne', a: { argument: '/id' }, b: { value: '' } }, open] }, { id: 'O-2' }, 'gate/comparison'],
    ['one of two that may', { kind: 'any', gates: [open, { kind: 'eq', a: { argument: '/why' }, b: { value: 'fraud' } }] }, { id: 'O-2', why: 'fraud' }, 'allow'],
    ['none of two', { kind: 'any', gates: [open, fresh] }, { id: 'O-2' }, 'gate/none-of'],
    ['a function that nobody asked', { kind: 'function', name: 'f', version: '1' }, {}, 'gate/function-missing'],
  ])('%s', (_, rule, args, expected) => {
    expect(readGates([rule])).toEqual({ ok: true, value: [rule] });
    const decision = evaluateGates([rule], 'tool', args, STATE);
    expect(decision.kind === 'allow' ? 'allow' : decision.reason).toBe(expected);
  });

  test('a log of reads that is missing has not allowed', () => {
    expect(evaluateGates([wasRead], 'tool', { id: 'O-1' }, {})).toMatchObject({ reason: 'gate/context-missing' });
  });

  // checklist: O2
  test('a refusal says where, why and whether the policy may know; a rule inside another says why too', () => {
    const limit: GateDocument = { kind: 'lte', a: { argument: '/amount' }, b: { state: '/limit' }, mayShow: true };
    expect(evaluateGates([limit], 'tool', { amount: 501 }, STATE))
      .toEqual({ kind: 'reject', reason: 'gate/comparison', params: { gate: 'lte', a: 501, b: 500 }, pointer: '/amount', mayShow: true });
    expect(evaluateGates([{ kind: 'any', gates: [open, fresh] }], 'tool', { id: 'O-2' }, STATE))
      .toMatchObject({ pointer: '/id', mayShow: false, params: { reasons: [{ reason: 'gate/comparison' }, { reason: 'gate/outside-window' }] } });
  });

  test.each<[GateRule, JsonObject, object]>([
    [{ kind: 'reference_exists', pointer: '/ids', in: 'known' }, {}, { reason: 'gate/context-missing', params: { in: 'known' }, pointer: '' }],
    [{ kind: 'reference_exists', pointer: '/ids', in: 'banned' }, { ids: 'A' }, { reason: 'gate/reference-unknown', params: { pointer: '/ids', in: 'banned', value: 'A' }, pointer: '/ids' }],
    [{ ...wasRead, log: 'log' }, { id: 'O-1' }, { reason: 'gate/context-missing', params: { in: 'log' }, pointer: '' }],
    [wasRead, {}, { reason: 'gate/argument-missing', params: { pointer: '/id' }, pointer: '/id' }],
    [wasRead, { id: 'O-2' }, { reason: 'gate/not-read', params: { pointer: '/id', tool: 'get_order', value: 'O-2' }, pointer: '/id' }],
    [{ kind: 'absent', pointer: '/force' }, { force: 0 }, { reason: 'gate/present', params: { pointer: '/force' }, pointer: '/force' }],
    [{ kind: 'function', name: 'f', version: '1' }, {}, { reason: 'gate/function-missing', params: { name: 'f', version: '1' }, pointer: '' }],
    [open, { id: 'O-9' }, { reason: 'gate/context-missing', params: { state: '/orders', by: '/id', then: '/status' }, pointer: '/id' }],
    [{ kind: 'eq', a: { value: 1 }, b: { argument: '/n' } }, {}, { reason: 'gate/argument-missing', params: { argument: '/n' }, pointer: '/n' }],
    [{ kind: 'eq', a: { argument: '/n' }, b: { state: '/limit' } }, { n: 1 }, { reason: 'gate/comparison', params: { gate: 'eq', a: 1, b: 500 }, pointer: '/n' }],
    [{ kind: 'in', a: { argument: '/n' }, b: { state: '/limit' } }, { n: 1 }, { reason: 'gate/context-missing', params: { state: '/limit' }, pointer: '/n' }],
    [{ kind: 'in', a: { argument: '/n' }, b: { state: '/tools' } }, { n: 1 }, { reason: 'gate/not-member', params: { gate: 'in', value: 1 }, pointer: '/n' }],
    [{ kind: 'not_in', a: { argument: '/n' }, b: { state: '/banned' } }, { n: 'B' }, { reason: 'gate/excluded-member', params: { gate: 'not_in', value: 'B' }, pointer: '/n' }],
    [{ kind: 'within', a: { state: '/now' }, b: { argument: '/at' }, seconds: 60 }, { at: 7 }, { reason: 'gate/outside-window', params: { gate: 'within', a: STATE['now'], b: 7, seconds: 60 }, pointer: '/at' }],
    [{ kind: 'within', a: { value: 7 }, b: { argument: '/at' }, seconds: 60 }, { at: '2026-03-02T12:00:00Z' }, { reason: 'gate/outside-window', params: { gate: 'within', a: 7, b: '2026-03-02T12:00:00Z', seconds: 60 }, pointer: '/at' }],
  ])('%j on %j says exactly why', (rule, args, expected) => {
    expect(evaluateGates([rule], 'tool', args, STATE)).toEqual({ kind: 'reject', mayShow: false, ...expected });
  });

  test.each<[GateRule, JsonObject]>([
    [{ kind: 'lt', a: { argument: '/n' }, b: { value: 3 } }, { n: 2 }],
    [{ kind: 'lte', a: { argument: '/n' }, b: { value: 3 } }, { n: 3 }],
    [{ kind: 'gt', a: { argument: '/n' }, b: { value: 3 } }, { n: 4 }],
    [{ kind: 'gte', a: { argument: '/n' }, b: { value: 3 } }, { n: 3 }],
    [{ kind: 'ne', a: { argument: '/n' }, b: { value: 3 } }, { n: 4 }],
    [{ kind: 'eq', a: order(''), b: { value: null } }, { id: 'none' }],
    [{ kind: 'eq', a: { state: '/orders', by: '/id' }, b: { value: null } }, { id: 'none' }],
  ])('%j allows %j', (rule, args) => {
    expect(evaluateGates([rule], 'tool', args, { orders: { none: null } })).toEqual({ kind: 'allow' });
  });

  test.each<[JsonValue, JsonValue]>([[1, { 1: 'open' }], ['0', ['open']], ['length', ['open']], ['0', 'open']])('the name %j finds nothing in %j', (id, orders) => {
    expect(evaluateGates([{ kind: 'ne', a: { state: '/orders', by: '/id' }, b: { value: 'x' } }], 'tool', { id }, { orders })).toMatchObject({ reason: 'gate/context-missing' });
  });

  test('a gate that cannot decide names its tool and its kind', () => {
    expect(evaluateGates([{ ...GATE, pointer: 'ids' }], 'pay', {}, { known: [] })).toEqual({ kind: 'reject', reason: 'gate/undecided', params: { tool: 'pay', gate: 'reference_exists' }, pointer: '', mayShow: false });
  });

  test('every pointer into the arguments is known with its place in the gate; those into the state are not among them', () => {
    const gate: GateRule = { kind: 'all', gates: [GATE, { kind: 'any', gates: [open, { kind: 'lt', a: { argument: '/n' }, b: { state: '/limit' } }] }, wasRead, { kind: 'function', name: 'f', version: '1' }] };
    expect(gatePointers(gate, '/gates/0' as JsonPointer)).toEqual([
      { at: '/gates/0/gates/0/pointer', pointer: '/ids' }, { at: '/gates/0/gates/1/gates/0/a/by', pointer: '/id' },
      { at: '/gates/0/gates/1/gates/1/a/argument', pointer: '/n' }, { at: '/gates/0/gates/2/pointer', pointer: '/id' },
    ]);
    expect([hasFunctions([gate]), hasFunctions([open, GATE]), hasFunctions([])]).toEqual([true, false, false]);
  });

  test.each<[unknown, JsonObject]>([
    [{ kind: 'not' }, { code: 'request/bad-value', pointer: '/0/kind', params: { found: 'not', known: ['reference_exists', 'read_before_write', 'lt', 'lte', 'gt', 'gte', 'eq', 'ne', 'in', 'not_in', 'within', 'absent', 'all', 'any', 'function'] } }],
    [{ kind: 7 }, { code: 'request/bad-value', pointer: '/0/kind' }],
    [{}, { code: 'request/missing-field', pointer: '/0/kind' }],
    ['absent', { code: 'request/wrong-type', pointer: '/0' }],
    [{ ...open, mayShow: false }, { code: 'request/bad-value', pointer: '/0/mayShow', params: { known: [true] } }],
    [{ kind: 'all', gates: [] }, { code: 'request/bad-value', pointer: '/0/gates', params: { minItems: 1 } }],
    [{ ...fresh, seconds: 0.5 }, { code: 'request/bad-value', pointer: '/0/seconds', params: { minimum: 0 } }],
    [{ kind: 'eq', a: {}, b: { value: 1 } }, { code: 'request/bad-value', pointer: '/0/a', params: { oneOf: ['argument', 'state', 'value'] } }],
    [{ kind: 'eq', a: 7, b: { value: 1 } }, { code: 'request/wrong-type', pointer: '/0/a' }],
    [{ kind: 'eq', a: { argument: 7 }, b: { value: 1 } }, { code: 'request/wrong-type', pointer: '/0/a/argument' }],
    [{ kind: 'absent', pointer: 'x' }, { code: 'request/bad-value', pointer: '/0/pointer', params: { issue: 'pointer/no-leading-slash' } }],
  ])('reading %j says exactly what is wrong', (gate, expected) => {
    expect(readGates([gate])).toMatchObject({ ok: false, error: expected });
  });

  test.each<[string, unknown, string]>([
    ['an empty list of rules', { kind: 'all', gates: [] }, '/0/gates'],
    ['a rule inside that is unknown', { kind: 'any', gates: [open, { kind: 'not', gates: [open] }] }, '/0/gates/1/kind'],
    ['a rule inside with a say of its own', { kind: 'any', gates: [{ ...open, mayShow: true }] }, '/0/gates/0/mayShow'],
    ['a mayShow that is not true', { ...open, mayShow: false }, '/0/mayShow'],
    ['an operand of two sources', { kind: 'eq', a: { argument: '/a', value: 1 }, b: { value: 1 } }, '/0/a'],
    ['an operand of none', { kind: 'eq', a: { value: 1 }, b: {} }, '/0/b'],
    ['a name without its object', { kind: 'eq', a: { argument: '/a', by: '/b' }, b: { value: 1 } }, '/0/a'],
    ['a place below no member', { kind: 'eq', a: { state: '/a', then: '/b' }, b: { value: 1 } }, '/0/a'],
    ['a count that is not true', { kind: 'eq', a: { state: '/a', count: 1 }, b: { value: 1 } }, '/0/a'],
    ['a bad pointer in an operand', { kind: 'eq', a: { state: 'a' }, b: { value: 1 } }, '/0/a/state'],
    ['a window that ends before it begins', { kind: 'within', a: { state: '/a' }, b: { value: 1 }, seconds: -1 }, '/0/seconds'],
    ['a bad pointer into the log', { ...wasRead, argument: 'id' }, '/0/argument'],
  ])('%s is refused', (_, gate, pointer) => {
    expect(readGates([gate])).toMatchObject({ ok: false, error: { pointer } });
  });
});

// checklist: O1
describe('functions of the host', () => {
  const RULE: GateRule = { kind: 'function', name: 'daily-limit', version: '2' };
  const input = { tool: 'pay', arguments: { amount: 7 }, state: { spent: 1 } };
  const host = (decide: GateFunction['decide']): GateHost => ({ functions: [{ name: 'daily-limit', version: '1', decide: () => ({ kind: 'allow' }) }, { name: 'daily-limit', version: '2', decide }], bound: BOUND });
  const decide = async (using: GateHost | undefined, rule: GateRule = RULE): Promise<GateDecision> =>
    evaluateGates([rule], 'pay', input.arguments, input.state, await askGateFunctions([rule], using, input));

  test.each<[string, GateFunction['decide'], string]>([
    ['allows at once', () => ({ kind: 'allow' }), 'allow'],
    ['allows later', () => Promise.resolve({ kind: 'allow' }), 'allow'],
    ['refuses', () => ({ kind: 'reject', params: { left: 3 } }), 'gate/refused'],
    ['throws', () => { throw new Error('down'); }, 'gate/threw'],
    ['throws what has no text', () => { throw Object.create(null); }, 'gate/threw'],
    ['rejects', () => Promise.reject(new Error('down')), 'gate/threw'],
    ['never answers', () => new Promise(() => undefined), 'gate/timeout'],
    ['is a thenable that never answers', () => ({ then: () => undefined }), 'gate/timeout'],
    ['answers true', () => true, 'gate/bad-answer'],
    ['answers nothing', () => undefined, 'gate/bad-answer'],
    ['allows with a reason against it', () => ({ kind: 'allow', params: {} }), 'gate/bad-answer'],
    ['answers another kind', () => ({ kind: 'ALLOW' }), 'gate/bad-answer'],
    ['inherits its answer', () => Object.create({ kind: 'allow' }), 'gate/bad-answer'],
    ['answers by an accessor', () => ({ get kind() { return 'allow'; } }), 'gate/bad-answer'],
    ['answers by a proxy that throws', () => new Proxy({}, { ownKeys: () => { throw new Error('trap'); } }), 'gate/bad-answer'],
    ['changes the arguments', ({ arguments: args }) => { (args as { amount: number }).amount = 1; return { kind: 'allow' }; }, 'gate/threw'],
    ['changes the state', ({ state }) => { (state as { spent: number }).spent = 0; return { kind: 'allow' }; }, 'gate/threw'],
  ])('one that %s', async (_, answer, expected) => {
    const frozen = { ...input, arguments: deepFreeze({ ...input.arguments }) };
    const verdicts = await askGateFunctions([RULE], host(answer), frozen);
    const decision = evaluateGates([RULE], 'pay', frozen.arguments, frozen.state, verdicts);
    expect(decision.kind === 'allow' ? 'allow' : decision.reason).toBe(expected);
    expect(input.state).toEqual({ spent: 1 });
  });

  test('the reason of a refusal keeps the name and version that the contract gave', async () => {
    expect(await decide(host(() => ({ kind: 'reject', params: { left: 3, version: '9' } })))).toMatchObject({ params: { left: 3, name: 'daily-limit', version: '2' } });
  });

  test('what it threw is in the record, what it did not say is not', async () => {
    expect(await decide(host(() => { throw new Error('down'); }))).toMatchObject({ reason: 'gate/threw', params: { name: 'daily-limit', version: '2', cause: 'Error: down' } });
    expect(await decide(host(() => new Promise(() => undefined)))).toEqual({ kind: 'reject', reason: 'gate/timeout', params: { name: 'daily-limit', version: '2' }, pointer: '', mayShow: false });
  });

  test.each<[unknown, string]>([
    [{ kind: 'allow', extra: 1 }, 'gate/bad-answer'], [{ kind: 'reject', extra: 1 }, 'gate/bad-answer'], [{ kind: 'reject', params: [1] }, 'gate/bad-answer'],
    [{ kind: 'reject', params: 'no' }, 'gate/bad-answer'], [['allow'], 'gate/bad-answer'], ['allow', 'gate/bad-answer'], [{}, 'gate/bad-answer'], [{ kind: 'reject' }, 'gate/refused'],
  ])('the answer %j is %s', async (answer, reason) => {
    expect(await decide(host(() => answer))).toMatchObject({ kind: 'reject', reason });
  });

  test('a function is known by name and version alike, and two of them answer each for itself', async () => {
    const other: GateRule = { kind: 'function', name: 'other', version: '2' };
    const both: GateHost = { bound: BOUND, functions: [{ name: 'other', version: '2', decide: () => ({ kind: 'allow' }) }, { name: 'daily-limit', version: '2', decide: () => ({ kind: 'reject' }) }] };
    expect([await decide(both, other), await decide(both)]).toMatchObject([{ kind: 'allow' }, { reason: 'gate/refused' }]);
    const verdicts = await askGateFunctions([other, RULE], both, input);
    expect([...verdicts.values()].map(({ kind }) => kind)).toEqual(['allow', 'reject']);
  });

  test('a state that cannot be read as JSON is not decided on', async () => {
    const verdicts = await askGateFunctions([RULE], host(() => ({ kind: 'allow' })), { ...input, state: { f: () => 1 } as never });
    expect(evaluateGates([RULE], 'pay', input.arguments, input.state, verdicts)).toMatchObject({ reason: 'gate/undecided', params: { name: 'daily-limit', version: '2' } });
  });

  test('without the function, without a host, or with a clock that fails, nothing is allowed', async () => {
    expect(await decide(undefined)).toMatchObject({ reason: 'gate/function-missing' });
    expect(await decide(host(() => ({ kind: 'allow' })), { ...RULE, version: '3' })).toMatchObject({ reason: 'gate/function-missing' });
    const broken: GateHost = { ...host(() => new Promise(() => undefined)), bound: { limitMs: 1, start: () => { throw new Error('no clock'); } } };
    expect(await decide(broken)).toMatchObject({ reason: 'gate/timeout' });
  });

  test('functions inside all and any are asked too', async () => {
    const any: GateRule = { kind: 'any', gates: [{ kind: 'absent', pointer: '/amount' }, RULE] };
    expect(await decide(host(() => ({ kind: 'allow' })), any)).toEqual({ kind: 'allow' });
    expect(await decide(host(() => ({ kind: 'reject' })), any)).toMatchObject({ reason: 'gate/none-of' });
  });
});
