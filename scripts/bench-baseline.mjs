/** `npm run bench:baseline`: prepares the checkout, builds, fetches the model, and measures the baseline. Words after `--` go to it. */
import { join } from 'node:path';
import { build, contractrl, inOrder, ROOT, run } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

await prepare({ python: true });
await inOrder(
  () => build('@contractrl/benchmarks', '@contractrl/cli'),
  () => contractrl(['model', 'fetch']),
  () => run(process.execPath, [join(ROOT, 'benchmarks', 'dist', 'baseline.js'), ...process.argv.slice(2)]),
);
