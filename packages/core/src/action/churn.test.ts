import { expect, test } from 'vitest';
import type { JsonValue } from '../json/value.ts';
import { applyAdmitted } from '../patch/apply.ts';
import { OPERATION_KINDS, type Operation } from '../patch/operation.ts';
import type { JsonPointer } from '../pointer.ts';
import { historyAfter, isChurn, NO_HISTORY, restoringValues } from './churn.ts';

const at = (text: string): JsonPointer => text as JsonPointer;

/** The history and the document behind `done`. */
function after(document: JsonValue, done: readonly Operation[]) {
  let [history, live] = [NO_HISTORY, document];
  for (const operation of done) {
    const next = applyAdmitted(live, operation);
    history = historyAfter(history, live, operation, next);
    live = next;
  }
  return { history, live };
}

test.each<[string, JsonValue, readonly Operation[], Exclude<Operation, { value: JsonValue }>, boolean]>([
  ['excludes a move back between containers that hold equal values', { list: [1, 1, 2], a: 1 }, [{ op: 'copy', from: at('/a'), path: at('/list/0') }], { op: 'move', from: at('/list/1'), path: at('/a') }, true],
  ['leaves a move that only looks like one', { list: [1, 1, 2], a: 3 }, [{ op: 'copy', from: at('/list/0'), path: at('/list/0') }], { op: 'move', from: at('/list/1'), path: at('/a') }, false],
  ['excludes a removal beside an equal element that was copied in', { list: [1, 1] }, [{ op: 'copy', from: at('/list/0'), path: at('/list/0') }], { op: 'remove', path: at('/list/1') }, true],
  ['excludes a copy that puts back what was moved onto its equal', { a: 1, b: 1 }, [{ op: 'move', from: at('/a'), path: at('/b') }], { op: 'copy', from: at('/b'), path: at('/a') }, true],
  ['leaves a second copy of the same into a list', { a: 1, b: [] }, [{ op: 'copy', from: at('/a'), path: at('/b/0') }], { op: 'copy', from: at('/a'), path: at('/b/0') }, false],
])('%s', (_, document, done, operation, isExcluded) => {
  const { history, live } = after(document, done);
  expect(isChurn(history, live, operation, OPERATION_KINDS)).toBe(isExcluded);
});

test('a value that leads back to an earlier document is known, at that place alone', () => {
  const { history, live } = after({ box: { x: 1, y: 2 }, a: 1 }, [{ op: 'remove', path: at('/box/x') }]);
  expect(restoringValues(history, live, 'replace', at('/box'))).toEqual([{ x: 1, y: 2 }]);
  expect(restoringValues(history, live, 'add', at('/box/x'))).toEqual([1]);
  expect(restoringValues(history, live, 'replace', at('/a'))).toEqual([]);
});
