/**
 * `npm run train -- --rank R [--seed S] [--examples N] [--epochs E] [--minutes M] [--out FOLDER] [--resume] [--data FOLDER] [--model FILE]`: prepares the checkout,
 * builds, and trains an adapter on data made and audited on the spot. The data folder (or CONTRACTRL_DATA) holds the public sets, without it
 * they are those of the package; the model is the base model from the cache, fetched where it is not there. `--method grpo --from FOLDER` goes on from a trained adapter with its own attempts.
 */
import { join } from 'node:path';
import { build, inOrder, ROOT, run } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

await prepare({});
await inOrder(
  () => build('@contractrl/trainer'),
  () => run(process.execPath, [join(ROOT, 'packages', 'trainer', 'dist', 'train-main.js'), ...process.argv.slice(2)]),
);
