/**
 * `npm run bench:training-speed [-- --rounds N --threads N --rank R --model FILE --out FOLDER]`: prepares the checkout and a Python with PyTorch, builds, and
 * measures training steps beside it. Some three minutes on two free cores, and once several gigabytes of packages.
 */
import { join } from 'node:path';
import { build, contractrl, inOrder, ROOT, run } from './lib/run.mjs';
import { findTrl } from './lib/trl.mjs';
import { prepare } from './prepare.mjs';

const args = process.argv.slice(2);
await prepare({ python: true });
const { python, reason } = await findTrl();
if (python === undefined) {
  console.error(`PyTorch cannot be had: ${reason}.`);
  process.exit(1);
}
await inOrder(
  () => build('@contractrl/benchmarks', '@contractrl/cli'),
  ...(args.includes('--model') ? [] : [() => contractrl(['model', 'fetch'])]),
  () => run(process.execPath, [join(ROOT, 'benchmarks', 'dist', 'training-speed', 'main.js'), '--python', python, ...args]),
);
