/** `npm run demo`: prepares the checkout, builds, fetches the model, and serves the demo page. Words after `--` go to vite. */
import { join } from 'node:path';
import { build, contractrl, inOrder, ROOT, runPackage } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

await prepare({ python: true });
await inOrder(
  () => build('@contractrl/cli'),
  () => contractrl(['model', 'fetch']),
  () => runPackage('vite', 'vite', process.argv.slice(2), { cwd: join(ROOT, 'apps', 'demo') }),
);
