import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../json/value.ts';
import { checkCrossField, readCrossFieldChecks, type CheckFunction } from './cross-field.ts';

/** The pointers of the checks that fail, or the code of a refusal. */
function failures(check: JsonValue, document: JsonObject): readonly string[] | string {
  const checks = readCrossFieldChecks([check]);
  return checks.ok ? checkCrossField(checks.value, document).map((violation) => violation.pointer) : checks.error.code;
}

describe('comparisons', () => {
  test.each<[string, JsonValue, JsonValue, boolean]>([
    ['lt', 1, 2, true], ['lt', 2, 2, false], ['lte', 2, 2, true], ['gt', 2, 1, true], ['gte', 1, 2, false],
    ['eq', 1, 1, true], ['eq', { x: [1] }, { x: [1] }, true], ['eq', 1, '1', false], ['ne', 1, 1, false], ['ne', 'a', 'b', true],
    ['lt', '2024-02-29', '2024-03-01', true],
    ['lt', '2023-02-29', '2023-03-01', false],
    ['lt', '2024-01-01T23:00:00-02:00', '2024-01-02T00:30:00Z', false],
    ['eq', '2024-01-01T02:00:00+02:00', '2024-01-01T00:00:00Z', true],
    ['ne', '2024-01-01T02:00:00+02:00', '2024-01-01T00:00:00Z', false],
    ['lt', '2024-01-01T00:00:00.09Z', '2024-01-01T00:00:00.1Z', true],
    ['lte', '2024-01-01', '2024-01-01T00:00:00Z', false],
    ['lte', 'apple', 'pear', false],
    ['gt', true, false, false],
  ])('%s of %j and %j', (kind, a, b, holds) => {
    expect(failures({ kind, a: '/a', b: '/b' }, { a, b })).toEqual(holds ? [] : ['/a']);
  });

  test('an absent side is not compared', () => {
    expect(failures({ kind: 'lt', a: '/a', b: '/b' }, { a: 1 })).toEqual([]);
  });
});

describe('presence', () => {
  test.each<[JsonValue, JsonObject, readonly string[]]>([
    [{ kind: 'requires', pointer: '/a', required: ['/b', '/c'] }, { a: 1, b: 1 }, ['/c']],
    [{ kind: 'requires', pointer: '/a', required: ['/b'] }, {}, []],
    [{ kind: 'excludes', pointer: '/a', excluded: ['/b'] }, { a: null, b: null }, ['/b']],
    [{ kind: 'excludes', pointer: '/a', excluded: ['/b'] }, { b: 1 }, []],
    [{ kind: 'exactly_one_of', pointers: ['/a', '/b'] }, { a: 1, b: 1 }, ['']],
    [{ kind: 'exactly_one_of', pointers: ['/a', '/b'] }, { b: null }, []],
    [{ kind: 'at_least_one_of', pointers: ['/a', '/b'] }, {}, ['']],
    [{ kind: 'at_least_one_of', pointers: ['/a', '/b'] }, { a: 1, b: 1 }, []],
  ])('%j on %j', (check, document, expected) => {
    expect(failures(check, document)).toEqual(expected);
  });
});

describe('sums are exact in decimal', () => {
  test.each<[JsonObject, readonly string[]]>([
    [{ a: 0.1, b: 0.2, t: 0.3 }, []],
    [{ a: 0.1, b: 0.2, t: 0.30000000000000004 }, ['/t']],
    [{ a: 1e21, b: 1, t: 1e21 }, ['/t']],
    [{ a: 5, t: 5 }, []],
    [{ a: '5', t: 5 }, ['/t']],
    [{ a: 5 }, []],
  ])('%j', (document, expected) => {
    expect(failures({ kind: 'sum', pointers: ['/a', '/b'], total: '/t' }, document)).toEqual(expected);
  });
});

describe('lengths, membership, repetition and conditions', () => {
  test.each<[string, JsonValue, JsonObject, readonly string[]]>([
    ['a list as long as the number says', { kind: 'list_length', pointer: '/l', compare: 'eq', to: '/n' }, { l: [1, 2], n: 2 }, []],
    ['a list that is shorter', { kind: 'list_length', pointer: '/l', compare: 'eq', to: '/n' }, { l: [1], n: 2 }, ['/l']],
    ['at most as long', { kind: 'list_length', pointer: '/l', compare: 'lte', to: '/n' }, { l: [1, 2, 3], n: 2 }, ['/l']],
    ['at least as long', { kind: 'list_length', pointer: '/l', compare: 'gte', to: '/n' }, { l: [1, 2, 3], n: 2 }, []],
    ['a length and a text', { kind: 'list_length', pointer: '/l', compare: 'eq', to: '/n' }, { l: [1, 2], n: '2' }, ['/l']],
    ['no list', { kind: 'list_length', pointer: '/l', compare: 'eq', to: '/n' }, { l: 'ab', n: 2 }, ['/l']],
    ['an absent number', { kind: 'list_length', pointer: '/l', compare: 'eq', to: '/n' }, { l: [1] }, []],
    ['an element of a list', { kind: 'member_of', pointer: '/m', in: '/l' }, { m: { a: 1 }, l: [{ a: 1.0 }] }, []],
    ['a stranger to a list', { kind: 'member_of', pointer: '/m', in: '/l' }, { m: 1, l: ['1'] }, ['/m']],
    ['a name of an object', { kind: 'member_of', pointer: '/m', in: '/o' }, { m: 'k', o: { k: 0 } }, []],
    ['an inherited name', { kind: 'member_of', pointer: '/m', in: '/o' }, { m: 'toString', o: {} }, ['/m']],
    ['each element of a list', { kind: 'member_of', pointer: '/m', in: '/l' }, { m: [1, 3], l: [1, 2] }, ['/m/1']],
    ['membership in what is absent', { kind: 'member_of', pointer: '/m', in: '/l' }, { m: 1 }, ['/m']],
    ['an absent member', { kind: 'member_of', pointer: '/m', in: '/l' }, {}, []],
    ['different elements', { kind: 'unique_by', pointer: '/l', by: '/id' }, { l: [{ id: 1 }, { id: '1' }, {}, {}] }, []],
    ['elements of one key', { kind: 'unique_by', pointer: '/l', by: '/id' }, { l: [{ id: 1 }, { id: 2 }, { id: 1.0 }] }, ['/l/2/id']],
    ['equal elements', { kind: 'unique_by', pointer: '/l', by: '' }, { l: [{ a: 1, b: 2 }, { b: 2, a: 1 }] }, ['/l/1']],
    ['elements of no list', { kind: 'unique_by', pointer: '/l', by: '' }, { l: {} }, ['/l']],
    ['a condition that is met', { kind: 'requires', pointer: '/a', required: ['/b'], when: { pointer: '/a', equals: 'x' } }, { a: 'x' }, ['/b']],
    ['a condition that is not', { kind: 'requires', pointer: '/a', required: ['/b'], when: { pointer: '/a', equals: 'x' } }, { a: 'y' }, []],
    ['a condition on what is absent', { kind: 'at_least_one_of', pointers: ['/b'], when: { pointer: '/a', equals: null } }, {}, []],
    ['a condition on null', { kind: 'at_least_one_of', pointers: ['/b'], when: { pointer: '/a', equals: null } }, { a: null }, ['']],
  ])('%s', (_, check, document, expected) => {
    expect(failures(check, document)).toEqual(expected);
  });
});

describe('a function of the host', () => {
  const failure = (check: CheckFunction['check'], args: JsonObject = { a: 1 }): unknown => {
    const checks = readCrossFieldChecks([{ kind: 'function', name: 'f', version: '1', parameters: { most: 2 } }]);
    if (!checks.ok) return checks.error.code;
    const [violation] = checkCrossField(checks.value, args, [{ name: 'f', version: '1', check }]);
    return violation === undefined ? 'holds' : [violation.pointer, violation.params['outcome']];
  };

  test.each<[string, CheckFunction['check'], unknown]>([
    ['true', (args, { most }) => (args['a'] as number) < (most as number), 'holds'],
    ['false', () => false, ['', 'failed']],
    ['a pointer', () => '/a', ['/a', 'failed']],
    ['text that is no pointer', () => 'a is too large', ['', 'bad-answer']],
    ['a pointer that no ledger can hold', () => '/\ud800', ['', 'bad-answer']],
    ['nothing', () => undefined, ['', 'bad-answer']],
    ['a truthy value', () => 1, ['', 'bad-answer']],
    ['a promise of true', () => Promise.resolve(true), ['', 'bad-answer']],
    ['a promise that is rejected', () => Promise.reject(new Error('late')), ['', 'bad-answer']],
    ['an exception', () => { throw new Error('broken'); }, ['', 'threw']],
    ['an attempt to change the arguments', (args) => { (args as Record<string, unknown>)['a'] = 0; return true; }, ['', 'threw']],
  ])('that gives %s', (_, check, expected) => {
    expect(failure(check)).toEqual(expected);
  });

  test('cannot reach the arguments that are judged', () => {
    const args = { a: { b: 1 } };
    let given: JsonObject | undefined;
    failure((copy) => { given = copy; return true; }, args);
    expect(given).toEqual(args);
    expect(given?.['a']).not.toBe(args.a);
  });

  test('that is not given, or only in another version, fails', () => {
    const checks = readCrossFieldChecks([{ kind: 'function', name: 'f', version: '1' }]);
    const others = [{ name: 'f', version: '2', check: () => true }, { name: 'g', version: '1', check: () => true }];
    expect(checks.ok && checkCrossField(checks.value, {}, others)).toMatchObject([{ code: 'cross_field', pointer: '', params: { outcome: 'missing' } }]);
  });
});

test.each<[JsonValue, string]>([
  ['x', 'contract/cross-field-not-object'],
  [{ kind: 'toString', a: '/a', b: '/b' }, 'contract/cross-field-kind'],
  [{ a: '/a' }, 'contract/cross-field-kind'],
  [{ kind: 'lt', a: '/a' }, 'contract/cross-field-member'],
  [{ kind: 'lt', a: '/a', b: '/b', code: 'a<b' }, 'contract/cross-field-member'],
  [{ kind: 'lt', a: 'a', b: '/b' }, 'contract/cross-field-pointer'],
  [{ kind: 'exactly_one_of', pointers: [] }, 'contract/cross-field-member'],
  [{ kind: 'sum', pointers: ['/a', 1], total: '/t' }, 'contract/cross-field-pointer'],
  [{ kind: 'eq', a: ['/a'], b: '/b' }, 'contract/cross-field-pointer'],
  [{ kind: 'eq', a: [], b: '/b' }, 'contract/cross-field-pointer'],
  [{ kind: 'list_length', pointer: '/l', compare: 'lt', to: '/n' }, 'contract/cross-field-member'],
  [{ kind: 'unique_by', pointer: '/l' }, 'contract/cross-field-member'],
  [{ kind: 'function', name: 'f' }, 'contract/cross-field-member'],
  [{ kind: 'function', name: '', version: '1' }, 'contract/cross-field-member'],
  [{ kind: 'function', name: 'f', version: '1', parameters: [] }, 'contract/cross-field-member'],
  [{ kind: 'eq', a: '/a', b: '/b', when: '/c' }, 'contract/cross-field-member'],
  [{ kind: 'eq', a: '/a', b: '/b', when: { pointer: '/c' } }, 'contract/cross-field-member'],
  [{ kind: 'eq', a: '/a', b: '/b', when: { pointer: 'c', equals: 1 } }, 'contract/cross-field-pointer'],
  [{ kind: 'eq', a: '/a', b: '/b', when: { pointer: '/c', equals: 1, not: true } }, 'contract/cross-field-member'],
])('a check that cannot be read is refused: %j', (check, code) => {
  expect(failures(check, {})).toBe(code);
});

test('a list of checks must be a list', () => {
  expect(readCrossFieldChecks({})).toMatchObject({ ok: false, error: { code: 'contract/cross-field-not-array' } });
});
