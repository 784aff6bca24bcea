/**
 * `npm run bench:core [-- PART…]`: prepares the checkout, builds, measures the core, and writes the report.
 * Parts are conformance, traps, agreement, bugcases, validation, ledger and sizes (all, where none is named); `report` only renders what was measured.
 */
import { join } from 'node:path';
import { build, inOrder, ROOT, run } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

const MAIN = join(ROOT, 'benchmarks', 'dist', 'core', 'main.js');
const ALL_PARTS = ['conformance', 'traps', 'agreement', 'bugcases', 'validation', 'ledger', 'sizes'];

const named = process.argv.slice(2);
const parts = named.length === 0 ? ALL_PARTS : named.filter((name) => name !== 'report');

await prepare({});
await inOrder(
  () => build('@contractrl/benchmarks'),
  ...(parts.length > 0 ? [() => run(process.execPath, [MAIN, 'measure', ...parts])] : []),
  () => run(process.execPath, [MAIN, 'report']),
);
