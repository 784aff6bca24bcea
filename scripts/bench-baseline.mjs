/**
 * `npm run bench:baseline [-- PART… [OPTIONS]]`: prepares the checkout, builds, fetches the model, and measures. Parts are `baseline`, failed calls by every
 * arm, and `sandbox`, spoilt calls repaired and executed; both, where nothing is said. Options are of the part that is named, else of `baseline`.
 */
import { join } from 'node:path';
import { build, contractrl, inOrder, ROOT, run } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

const DIST = join(ROOT, 'benchmarks', 'dist');
const MAIN = { baseline: join(DIST, 'baseline.js'), sandbox: join(DIST, 'sandbox', 'main.js') };

const args = process.argv.slice(2);
const named = args.filter((arg) => Object.hasOwn(MAIN, arg));
const options = args.filter((arg) => !Object.hasOwn(MAIN, arg));
const parts = named.length > 0 ? named : options.length > 0 ? ['baseline'] : Object.keys(MAIN);
const needsModel = !options.includes('--report') && !options.includes('--without-model');

await prepare({ python: needsModel });
await inOrder(
  () => build('@contractrl/benchmarks', '@contractrl/cli'),
  ...(needsModel ? [() => contractrl(['model', 'fetch'])] : []),
  ...parts.map((part) => () => run(process.execPath, [MAIN[part], ...options])),
);
