/** Sums the JSON reports of the packages' tests. A report that is missing or counts nothing is a failure, never a success. */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/**
 * Tests that need a file outside the repository, PEFT or TRL with its gigabytes of PyTorch, or a newer Node say so in their name; these may be skipped in CI too.
 * Every other skip there means that the browser or the model is lacking.
 */
const MAY_BE_SKIPPED = /CONTRACTRL_DATA|CONTRACTRL_PEFT_PYTHON|CONTRACTRL_TRL_PYTHON|needs node:sqlite|on Windows|on macOS/u;

/** Reads one report: `{ passed, failed, skipped: [{ file, name }], failures: [text] }`. */
export function readTestReport(path, root) {
  const none = { passed: 0, failed: 1, skipped: [] };
  if (!existsSync(path)) return { ...none, failures: [`${relative(root, path)}: no report was written`] };
  const report = JSON.parse(readFileSync(path, 'utf8'));
  const tests = report.testResults.flatMap((file) => file.assertionResults.map((test) => ({ file: relative(root, file.name), name: test.fullName, status: test.status })));
  const failed = tests.filter((test) => test.status === 'failed');
  // A file that cannot even be loaded fails without a failed test in it.
  const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'));
  const passed = tests.filter((test) => test.status === 'passed').length;
  const failures = [...failed.map((test) => `${test.file}: ${test.name}`), ...broken.map((file) => `${relative(root, file.name)}: ${file.message || 'could not be run'}`)];
  if (tests.length === 0 && failures.length === 0) return { ...none, failures: [`${relative(root, path)}: not one test was run`] };
  return { passed, failed: failures.length, failures, skipped: tests.filter((test) => test.status !== 'passed' && test.status !== 'failed') };
}

/** Joins reports and failed steps. In CI a skip for lack of a browser or the model counts as failed. */
export function summarise(reports, failedSteps, isCi) {
  const skipped = reports.flatMap((report) => report.skipped);
  const forbidden = isCi ? skipped.filter((test) => !MAY_BE_SKIPPED.test(test.name)) : [];
  const allowed = skipped.filter((test) => !forbidden.includes(test));
  const failures = [...failedSteps.map((step) => `step: ${step}`), ...reports.flatMap((report) => report.failures), ...forbidden.map((test) => `${test.file}: ${test.name} (skipped, which CI forbids)`)];
  const passed = reports.reduce((sum, report) => sum + report.passed, 0);
  if (passed === 0 && failures.length === 0) failures.push('not one test was run');
  return { passed, failures, skipped: allowed };
}

/** The last line of a test run. */
export function formatCounts({ passed, failures, skipped }) {
  return `${passed} passed, ${failures.length} failed${skipped.length === 0 ? '' : `, ${skipped.length} skipped`}`;
}
