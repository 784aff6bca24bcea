import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../json/value.ts';
import type { Patch } from '../patch/operation.ts';
import type { JsonPointer } from '../pointer.ts';
import { changedLeaves, countCollateral } from './collateral.ts';

describe('changed leaves', () => {
  test.each<[string, JsonValue, JsonValue, string[]]>([
    ['nothing changed', { a: 1, b: [1] }, { b: [1], a: 1 }, []],
    ['one leaf', { a: 1, b: 2 }, { a: 1, b: 3 }, ['/b']],
    ['a member renamed', { loc: 'x' }, { location: 'x' }, ['/loc', '/location']],
    ['a member of an empty object', { a: {} }, { a: { b: 1 } }, ['/a/b']],
    ['a leaf that became an object', { a: null }, { a: { b: 1, c: 2 } }, ['/a', '/a/b', '/a/c']],
    ['a whole subtree removed', { a: { b: 1, c: [1, 2] } }, {}, ['/a/b', '/a/c/0', '/a/c/1']],
    ['an element removed at the head', [1, 2, 3], [2, 3], ['/0']],
    ['an element inserted in the middle', [1, 2], [1, 9, 2], ['/1']],
    ['an element replaced', [1, 2, 3], [1, 9, 3], ['/1']],
    ['several elements replaced by fewer', [1, 2, 3, 4, 9], [1, 7, 9], ['/1', '/2', '/3']],
    ['several elements replaced by more', [1, 7, 9], [1, 2, 3, 4, 9], ['/1', '/2', '/3']],
    ['equal elements around one that goes', [5, 5, 5], [5, 5], ['/2']],
    ['an element changed inside', [{ a: 1, b: 2 }, 3], [{ a: 1, b: 4 }, 3], ['/0/b']],
    ['an element put before one that is an object', [0, { x: 1 }], [0, 5, { x: 1 }], ['/1']],
    ['an object put before one like it', [{ x: 1 }], [{ y: 1 }, { x: 1 }], ['/0/y']],
    ['an element taken from before one that is an object', [0, 5, { x: 1 }], [0, { x: 1 }], ['/1']],
    ['a number in front of objects that became two', [7, { x: 1 }], [8, 9, { x: 1 }], ['/0', '/1']],
    ['two in front of objects that became one', [8, 9, { x: 1 }], [7, { x: 1 }], ['/0', '/1']],
    ['a list emptied', { l: [1, 2] }, { l: [] }, ['/l/0', '/l/1']],
    ['a list that became a number', [1], 7, ['/0', '']],
    ['an empty list that became an empty object', { a: [] }, { a: {} }, ['/a']],
    ['a name that needs escapes', { 'a/b': 1 }, { 'a/b': 2 }, ['/a~1b']],
  ])('%s', (_, before, after, pointers) => {
    expect(changedLeaves(before, after)).toEqual(pointers);
  });

  test('equal values have none, and swapping the sides keeps the set', () => {
    fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(changedLeaves(a as JsonValue, a as JsonValue)).toEqual([]);
      expect(new Set(changedLeaves(a as JsonValue, b as JsonValue))).toEqual(new Set(changedLeaves(b as JsonValue, a as JsonValue)));
    }));
  });
});

// checklist: D5
describe('collateral', () => {
  const at = (text: string): JsonPointer => text as JsonPointer;
  const patch = (operations: readonly { op: string; path: string; from?: string; value?: JsonValue }[]): Patch => operations as unknown as Patch;

  test('a change at the reported pointer is none by either definition', () => {
    expect(countCollateral({ a: '1' }, { a: 1 }, patch([{ op: 'replace', path: '/a', value: 1 }]), [at('/a')])).toEqual({ collateralOp: 0, collateralPtr: 0 });
  });

  test('a change elsewhere counts against the pointer, never against its own operation', () => {
    const edit = patch([{ op: 'replace', path: '/b', value: 3 }, { op: 'replace', path: '/a', value: 1 }]);
    expect(countCollateral({ a: '1', b: 2 }, { a: 1, b: 3 }, edit, [at('/a')])).toEqual({ collateralOp: 0, collateralPtr: 1 });
  });

  test('an array operation answers for the elements it shifts', () => {
    expect(countCollateral([1, 1, 2], [1, 2], patch([{ op: 'remove', path: '/0' }]), [at('')])).toEqual({ collateralOp: 0, collateralPtr: 0 });
    expect(countCollateral({ l: [1] }, { l: [1, 2] }, patch([{ op: 'add', path: '/l/-', value: 2 }]), [at('/l')])).toEqual({ collateralOp: 0, collateralPtr: 0 });
  });

  test('a move answers for where it takes from and for where it puts', () => {
    const move = patch([{ op: 'move', from: '/a', path: '/b' }]);
    expect(countCollateral({ a: 1, c: 1 }, { b: 1, c: 2 }, move, [at('/a')])).toEqual({ collateralOp: 1, collateralPtr: 2 });
    const between = patch([{ op: 'move', from: '/l/0', path: '/k' }]);
    expect(countCollateral({ l: [1, 2, 3] }, { l: [9, 8], k: 1 }, between, [at('/l')])).toEqual({ collateralOp: 0, collateralPtr: 1 });
  });

  test('a member whose name is a number answers for itself alone', () => {
    expect(countCollateral({ o: { 0: 1, 1: 1 } }, { o: { 0: 2, 1: 2 } }, patch([{ op: 'replace', path: '/o/0', value: 2 }]), [at('/o')])).toEqual({ collateralOp: 1, collateralPtr: 0 });
    expect(countCollateral({ l: [1], m: 1 }, { l: [2], m: 2 }, patch([{ op: 'replace', path: '/m', value: 2 }]), [])).toEqual({ collateralOp: 1, collateralPtr: 2 });
  });

  test('an element answers for its list whether the list was there before or came', () => {
    const first = patch([{ op: 'add', path: '/l/0', value: 1 }]);
    expect(countCollateral({}, { l: [1, 2] }, first, []).collateralOp).toBe(0);
    expect(countCollateral({ l: [1, 2] }, {}, first, []).collateralOp).toBe(0);
  });

  test('the root answers for everything', () => {
    expect(countCollateral({ a: 1 }, { a: 2 }, patch([{ op: 'replace', path: '', value: { a: 2 } }]), [])).toEqual({ collateralOp: 0, collateralPtr: 1 });
  });

  test('a leaf that no operation names counts against the operations', () => {
    expect(countCollateral({ a: 1, b: 1 }, { a: 2, b: 2 }, patch([{ op: 'replace', path: '/a', value: 2 }]), [at('/a')])).toEqual({ collateralOp: 1, collateralPtr: 1 });
  });
});
