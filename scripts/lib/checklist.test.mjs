import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findTests, marksIn, readRows, renderChecklist } from './checklist.mjs';
import { ROOT } from './run.mjs';

const rows = readRows();

test('docs/checklist.md is what npm run checklist writes', () => {
  assert.equal(readFileSync(join(ROOT, 'docs', 'checklist.md'), 'utf8'), renderChecklist(rows, findTests(ROOT, rows)));
});

test('a mark belongs to the test or group right behind it, or to the file', () => {
  const text = [
    '/** What the file is about. And more. */', 'import { test } from "vitest";', '// checklist: A1', 'const x = 1;',
    'describe("group", () => {', '  // checklist: B1, B2', '  test.each([1])("one of %s", () => {});', '  test("none", () => {});', '});',
    '// why it is skipped', '// checklist: C1', 'describe.skipIf(false)(`group ${x}`, () => {});',
  ].join('\n');
  assert.deepEqual(marksIn(text), [
    { ids: ['A1'], title: 'What the file is about' }, { ids: ['B1', 'B2'], title: 'group: one of %s' }, { ids: ['C1'], title: 'group' },
  ]);
});

test('a row without a test is open and counted', () => {
  const text = renderChecklist({ 'A. Some': { A1: 'shown', A2: 'not shown' } }, new Map([['A1', [{ title: 'a | b', file: 'x.test.ts' }]], ['A2', []]]));
  assert.match(text, /2 rows, 1 shown by tests, 1 open: A2\./u);
  assert.match(text, /\| A1 \| shown \| a \\\| b \(`x\.test\.ts`\) \| {2}\|/u);
  assert.match(text, /\| A2 \| not shown \| {2}\| open \|/u);
});
