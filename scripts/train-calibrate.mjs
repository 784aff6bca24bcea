/**
 * `npm run train:calibrate -- --adapter NAME|FOLDER [--count N] [--seed S] [--alpha A] [--out FOLDER] [--data FOLDER] [--model FILE]`: prepares the checkout, builds, and
 * fits the confidence of an adapter's patches on the validation side of its data: `calibration.json` beside the adapter, which the openers then take.
 */
import { join } from 'node:path';
import { build, inOrder, ROOT, run } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

await prepare({});
await inOrder(
  () => build('@contractrl/trainer'),
  () => run(process.execPath, [join(ROOT, 'packages', 'trainer', 'dist', 'calibrate', 'calibrate-main.js'), ...process.argv.slice(2)]),
);
