/**
 * `npm run bench:training -- evaluate --name NAME [--adapter NAME|FOLDER] [--set …] [--arm …] [--seeds 1..5]`, or `-- report`: prepares the checkout, builds, and measures an
 * adapter on data that none was trained on, or writes the training report from what was measured and logged.
 */
import { join } from 'node:path';
import { build, contractrl, inOrder, ROOT, run } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

const MAIN = join(ROOT, 'benchmarks', 'dist', 'training', 'main.js');
const args = process.argv.slice(2);
const needsModel = args[0] === 'evaluate' && !args.includes('--model');

await prepare({ python: needsModel });
await inOrder(
  () => build('@contractrl/benchmarks', ...(needsModel ? ['@contractrl/cli'] : [])),
  ...(needsModel ? [() => contractrl(['model', 'fetch'])] : []),
  () => run(process.execPath, [MAIN, ...args]),
);
