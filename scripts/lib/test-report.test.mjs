import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isSupportedNode } from './node-version.mjs';
import { formatCounts, readTestReport, summarise } from './test-report.mjs';

const folder = mkdtempSync(join(tmpdir(), 'contractrl-report-'));
test.after(() => rmSync(folder, { recursive: true }));

/** Writes a report as vitest does and reads it back. `files` maps a file name to its tests' statuses, or to a load error. */
function reportOf(files) {
  const testResults = Object.entries(files).map(([name, statuses]) => typeof statuses === 'string'
    ? { name: join(folder, name), status: 'failed', message: statuses, assertionResults: [] }
    : { name: join(folder, name), status: statuses.some(([, status]) => status === 'failed') ? 'failed' : 'passed', assertionResults: statuses.map(([fullName, status]) => ({ fullName, status })) });
  const path = join(folder, 'vitest.json');
  writeFileSync(path, JSON.stringify({ testResults }));
  return readTestReport(path, folder);
}

const line = (reports, steps = [], isCi = false) => formatCounts(summarise(reports, steps, isCi));

test('counts of several packages are summed', () => {
  const report = reportOf({ 'a.test.ts': [['one', 'passed'], ['two', 'passed']], 'b.test.ts': [['three', 'failed']] });
  assert.equal(line([report, report]), '4 passed, 2 failed');
});

test('skipped tests are counted and named', () => {
  const report = reportOf({ 'a.test.ts': [['one', 'passed'], ['two (no browser)', 'skipped']] });
  assert.equal(line([report]), '1 passed, 0 failed, 1 skipped');
  assert.deepEqual(summarise([report], [], false).skipped.map(({ name }) => name), ['two (no browser)']);
});

test('in CI a skip for lack of a browser or the model is a failure, one for data that may not be distributed is not', () => {
  const report = reportOf({ 'a.test.ts': [['one', 'passed'], ['two (no model)', 'skipped'], ['three (CONTRACTRL_DATA is not set)', 'skipped']] });
  assert.equal(line([report], [], true), '1 passed, 1 failed, 1 skipped');
});

test('a step that fails counts as one failure', () => {
  assert.equal(line([reportOf({ 'a.test.ts': [['one', 'passed']] })], ['lint']), '1 passed, 1 failed');
});

test('a file that cannot be loaded is a failure', () => {
  assert.equal(line([reportOf({ 'a.test.ts': [['one', 'passed']], 'b.test.ts': 'SyntaxError' })]), '1 passed, 1 failed');
});

test('a missing report, an empty report and no report at all are failures, never success', () => {
  assert.equal(line([readTestReport(join(folder, 'missing.json'), folder)]), '0 passed, 1 failed');
  assert.equal(line([reportOf({})]), '0 passed, 1 failed');
  assert.equal(line([]), '0 passed, 1 failed');
});

test('Node from 20.19 on is supported', () => {
  assert.deepEqual(['18.20.0', '20.18.3', '20.19.0', '22.0.0', '26.1.0'].map(isSupportedNode), [false, false, true, true, true]);
});
