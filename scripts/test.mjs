/**
 * `npm test`: prepares the checkout, then build, type check, lint, boundaries, the model, all tests, and last the counts:
 * `N passed, N failed` or `N passed, N failed, N skipped`. A step that fails counts as one failure, and the later steps still run.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contractrl, npm, ROOT, run, runPackage, turbo } from './lib/run.mjs';
import { formatCounts, readTestReport, summarise } from './lib/test-report.mjs';
import { prepare } from './prepare.mjs';

const isCi = process.env.CI === 'true' || process.env.CI === '1';

/** What users would install: the entries each package declares lead somewhere, for every way of resolving ESM. */
async function checkPackages() {
  let worst = 0;
  for (const name of readdirSync(join(ROOT, 'packages'))) {
    const cwd = join(ROOT, 'packages', name);
    if (!existsSync(join(cwd, 'package.json'))) continue;
    worst = Math.max(worst, await runPackage('publint', 'publint', ['--strict'], { cwd }));
    worst = Math.max(worst, await runPackage('@arethetypeswrong/cli', 'attw', ['--pack', '.', '--profile', 'esm-only', '--quiet'], { cwd }));
  }
  return worst;
}

/** Folders of the workspaces that have tests. */
function testedFolders() {
  const groups = ['packages', 'apps'].flatMap((group) => readdirSync(join(ROOT, group)).map((name) => join(ROOT, group, name)));
  const isTested = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).scripts?.test !== undefined;
  return [...groups, join(ROOT, 'benchmarks')].filter((folder) => existsSync(join(folder, 'package.json')) && isTested(folder));
}

const { browser } = await prepare({ browser: true, python: true });
if (browser !== undefined) process.env.CONTRACTRL_CHROMIUM = browser;

const steps = [
  ['build', () => turbo('build')],
  ['type check', () => turbo('typecheck', ['--continue'])],
  ['lint', () => npm(['run', '--silent', 'lint'])],
  ['scripts', () => run(process.execPath, ['--test', '--test-reporter=dot', ...['checklist', 'test-report'].map((name) => join(ROOT, 'scripts', 'lib', `${name}.test.mjs`))])],
  ['boundaries', () => npm(['run', '--silent', 'boundaries'])],
  ['package entries', checkPackages],
  ['model fetch', () => contractrl(['model', 'fetch'])],
];
const failedSteps = [];
for (const [name, step] of steps) {
  console.log(`\n── ${name}`);
  if ((await step()) !== 0) failedSteps.push(name);
}

console.log('\n── tests');
const reportPaths = testedFolders().map((folder) => join(folder, '.reports', 'vitest.json'));
for (const path of reportPaths) rmSync(path, { force: true });
// One package at a time: each test run with the model holds several hundred megabytes. The build is done, so `--only` the tests.
const testCode = await turbo('test', ['--only', '--concurrency=1', '--continue']);
const reports = reportPaths.map((path) => readTestReport(path, ROOT));
if (testCode !== 0 && reports.every((report) => report.failed === 0)) failedSteps.push('tests');

const summary = summarise(reports, failedSteps, isCi);
for (const test of summary.skipped) console.log(`skipped: ${test.file}: ${test.name}`);
for (const failure of summary.failures) console.log(`failed: ${failure}`);
console.log(`\n${formatCounts(summary)}`);
process.exitCode = summary.failures.length === 0 ? 0 : 1;
