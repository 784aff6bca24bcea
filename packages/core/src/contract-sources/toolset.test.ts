import { describe, expect, test } from 'vitest';
import { loadContract } from '../contract/contract.ts';
import { inheritContract, loadContracts } from './toolset.ts';

const tool = (name: string, ...names: readonly string[]): object => ({
  name, parameters: { type: 'object', properties: Object.fromEntries(names.map((each) => [each, { type: 'string' }])), additionalProperties: false },
});
const DEFAULTS = { operationBudget: 1, attemptBudget: 3, allowedOperations: ['replace', 'add'], immutablePaths: ['/account', '/region'] };

test('what a tool gives replaces the default, lists whole; locks add up', () => {
  const joined = inheritContract(DEFAULTS, { tool: tool('pay', 'account', 'region', 'amount'), operationBudget: 2, allowedOperations: ['remove'], immutablePaths: ['/amount', '/account'] });
  expect(joined).toEqual({ ok: true, value: {
    document: { operationBudget: 2, attemptBudget: 3, allowedOperations: ['remove'], immutablePaths: ['/account', '/region', '/amount'], tool: tool('pay', 'account', 'region', 'amount') },
    notes: [],
  } });
  expect(joined.ok && loadContract(joined.value.document).ok).toBe(true);
});

test('a default lock goes only where it is named, or has no place', () => {
  const joined = inheritContract(DEFAULTS, { tool: tool('list', 'account'), unlock: ['/account'] });
  expect(joined).toMatchObject({ ok: true, value: { document: { immutablePaths: [] }, notes: [{ code: 'source/lock-without-place', params: { pointer: '/region' } }] } });
  expect(inheritContract(DEFAULTS, { tool: tool('list', 'account'), unlock: ['/accounts'] })).toMatchObject({ ok: false, error: { code: 'source/not-locked', pointer: '/unlock/0' } });
});

test('a default place for values with an origin goes where the tool has none, or names its own', () => {
  const defaults = { provenance: { require: ['/account', '/region'] } };
  expect(inheritContract(defaults, { tool: tool('list', 'account') })).toMatchObject({
    ok: true, value: { document: { provenance: { require: ['/account'] } }, notes: [{ code: 'source/origin-without-place', pointer: '/provenance/require', params: { pointer: '/region' } }] },
  });
  expect(inheritContract(defaults, { tool: tool('list', 'account'), provenance: { require: [] } })).toMatchObject({ ok: true, value: { document: { provenance: { require: [] } }, notes: [] } });
  const loaded = loadContracts({ defaults: { provenance: 'require' }, tools: [{ tool: tool('a', 'x') }] });
  expect(loaded.ok && loaded.value.contracts.get('a')?.originPaths).toEqual(['']);
  expect(loadContracts({ defaults: { provenance: { require: ['x'] } }, tools: [{ tool: tool('a', 'x') }] })).toMatchObject({ ok: false, error: [{ code: 'contract/bad-pointer' }] });
});

test('a tool\'s own lock without a place is refused, and so is one that no pointer is', () => {
  expect(loadContracts({ defaults: DEFAULTS, tools: [{ tool: tool('a', 'account'), immutablePaths: ['/acount'] }] }))
    .toMatchObject({ ok: false, error: [{ code: 'contract/impossible-path', pointer: '/tools/0/immutablePaths/1' }] });
  expect(loadContracts({ defaults: { immutablePaths: ['account'] }, tools: [{ tool: tool('a', 'account') }] })).toMatchObject({ ok: false, error: [{ code: 'contract/bad-pointer' }] });
});

describe('a toolset', () => {
  test('loads every contract by the name of its tool', () => {
    const loaded = loadContracts({ defaults: DEFAULTS, tools: [{ tool: tool('a', 'account', 'region') }, { tool: tool('b', 'x') }] });
    expect(loaded.ok && [...loaded.value.contracts.keys()]).toEqual(['a', 'b']);
    expect(loaded.ok && loaded.value.contracts.get('a')?.immutablePaths).toEqual(['/account', '/region']);
    expect(loaded.ok && loaded.value.notes.map(({ pointer }) => pointer)).toEqual(['/tools/1/immutablePaths', '/tools/1/immutablePaths']);
  });

  test('gives all issues, each with its tool', () => {
    const loaded = loadContracts({ tools: [{ tool: tool('a') }, 5, { tool: tool('a') }, { tool: tool('c'), budget: 1 }] });
    expect(loaded.ok ? [] : loaded.error.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'source/wrong-type /tools/1', 'source/duplicate-tool /tools/2/tool/name', 'contract/unknown-field /tools/3/budget',
    ]);
  });

  test('defaults that name a tool, or whose locks are no list, are refused', () => {
    expect(inheritContract({ tool: tool('a') }, {})).toMatchObject({ ok: false, error: { code: 'source/unknown-field' } });
    expect(inheritContract({ immutablePaths: '/a' }, {})).toMatchObject({ ok: false, error: { code: 'source/wrong-type', pointer: '/immutablePaths' } });
  });
});
