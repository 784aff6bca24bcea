/**
 * `npm run bench:mask [-- PART…]`: prepares the checkout, builds, measures the contract mask beside its peers, and writes the report.
 * Parts are speed, own, counts, maskbench, keywords, answers and sizes (all, where none is named); `report` only renders what was measured.
 * Mutation testing is a run of its own: `npm run mutate`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, inOrder, ROOT, run, runPackage } from './lib/run.mjs';
import { findLlguidance } from './lib/llguidance.mjs';
import { prepare } from './prepare.mjs';

const MAIN = join(ROOT, 'benchmarks', 'dist', 'mask', 'main.js');
const ALL_PARTS = ['sizes', 'answers', 'keywords', 'maskbench', 'counts', 'own', 'speed'];

const named = process.argv.slice(2);
const parts = named.length === 0 ? ALL_PARTS : named.filter((name) => name !== 'report');

await prepare({ python: parts.includes('speed') });
const folder = mkdtempSync(join(tmpdir(), 'contractrl-counts-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const main = (...args) => run(process.execPath, [MAIN, ...args], { env: parts.includes('speed') ? llguidance() : {} });

/** The reference outside the process is left out where Python or the network is missing. */
function llguidance() {
  const python = findLlguidance();
  return python === undefined ? {} : { CONTRACTRL_LLGUIDANCE_PYTHON: python };
}

/** The long comparisons live beside the recogniser they need, in grammar-mask, and hand their counts over as JSON. */
const countSteps = [
  () => main('vocabularies', folder),
  () => runPackage('vitest', 'vitest', ['run', '--config', 'count.vitest.config.ts'], { cwd: join(ROOT, 'packages', 'grammar-mask'), env: { CONTRACTRL_MASK_COUNTS: folder } }),
];

await inOrder(
  () => build('@contractrl/benchmarks'),
  ...(parts.includes('counts') ? countSteps : []),
  ...(parts.length > 0 ? [() => main('measure', ...parts, '--counts', folder)] : []),
  () => main('report'),
);
