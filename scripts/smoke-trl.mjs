/**
 * `npm run smoke:trl`: prepares the checkout and a Python with TRL (several gigabytes, once), and shows the way through another trainer and back: rows are
 * exported, GRPOTrainer takes two steps on a small random model with our rewards, and our engine runs the adapter. Some minutes.
 */
import { join } from 'node:path';
import { contractrl, inOrder, ROOT, runPackage, build } from './lib/run.mjs';
import { findTrl } from './lib/trl.mjs';
import { prepare } from './prepare.mjs';

await prepare({ python: true });
const { python, reason } = await findTrl();
if (python === undefined) {
  console.error(`TRL cannot be had: ${reason}.`);
  process.exit(1);
}
await inOrder(
  () => build('@contractrl/cli'),
  () => contractrl(['model', 'fetch']),
  () => runPackage('vitest', 'vitest', ['run', 'tests/trl.test.ts'], { cwd: join(ROOT, 'packages', 'trainer'), env: { CONTRACTRL_TRL_PYTHON: python } }),
);
