/**
 * `npm run train:data -- --out FOLDER [--count N] [--seed S] [--data FOLDER]`: prepares the checkout, builds, and writes the training data of the policy with
 * their manifest. The data folder (or CONTRACTRL_DATA) holds the public sets, without it they are those of the package; a folder without the evaluation sets
 * gives nothing, since nothing could be audited.
 */
import { join } from 'node:path';
import { build, inOrder, ROOT, run } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

await prepare({});
await inOrder(
  () => build('@contractrl/trainer'),
  () => run(process.execPath, [join(ROOT, 'packages', 'trainer', 'dist', 'train-data-main.js'), ...process.argv.slice(2)]),
);
