/**
 * `npm run train:export -- --out FOLDER [--format trl|verl] [--turns chatml|llama3] [--count N] [--seed S] [--group G] [--data FOLDER]`: prepares the checkout, builds, and writes prompts,
 * labels and the way they are judged for trainers on other machines.
 */
import { join } from 'node:path';
import { build, inOrder, ROOT, run } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

await prepare({});
await inOrder(
  () => build('@contractrl/trainer'),
  () => run(process.execPath, [join(ROOT, 'packages', 'trainer', 'dist', 'contractrl-train-main.js'), 'export', ...process.argv.slice(2)]),
);
