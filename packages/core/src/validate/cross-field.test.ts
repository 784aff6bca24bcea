import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../json/value.ts';
import { checkCrossField, readCrossFieldChecks } from './cross-field.ts';

/** The pointers of the checks that fail, or the code of a refusal. */
function failures(check: JsonValue, document: JsonValue): readonly string[] | string {
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
  test.each<[JsonValue, JsonValue, readonly string[]]>([
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
  test.each<[JsonValue, readonly string[]]>([
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

test.each<[JsonValue, string]>([
  ['x', 'contract/cross-field-not-object'],
  [{ kind: 'toString', a: '/a', b: '/b' }, 'contract/cross-field-kind'],
  [{ a: '/a' }, 'contract/cross-field-kind'],
  [{ kind: 'lt', a: '/a' }, 'contract/cross-field-member'],
  [{ kind: 'lt', a: '/a', b: '/b', code: 'a<b' }, 'contract/cross-field-member'],
  [{ kind: 'lt', a: 'a', b: '/b' }, 'contract/cross-field-pointer'],
  [{ kind: 'exactly_one_of', pointers: [] }, 'contract/cross-field-member'],
  [{ kind: 'sum', pointers: ['/a', 1], total: '/t' }, 'contract/cross-field-pointer'],
])('a check that cannot be read is refused: %j', (check, code) => {
  expect(failures(check, {})).toBe(code);
});

test('a list of checks must be a list', () => {
  expect(readCrossFieldChecks({})).toMatchObject({ ok: false, error: { code: 'contract/cross-field-not-array' } });
});
