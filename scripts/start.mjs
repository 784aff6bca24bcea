/**
 * `npm start`: prepares the checkout, builds once, and repairs a real failed call with the real model.
 * Words after `--` go to `contractrl repair`; a file among them replaces the example: `npm start -- my-call.json`.
 */
import { join } from 'node:path';
import { build, contractrl, inOrder, ROOT } from './lib/run.mjs';
import { prepare } from './prepare.mjs';

const EXAMPLE = join(ROOT, 'packages', 'cli', 'examples', 'renamed-field.json');

await prepare({ python: true });
const words = process.argv.slice(2);
/** Options whose next word is their value. */
const isValue = (index) => /^--(model|adapter|seed|temperature|max-tokens|threads|ledger|errors|changes)$/.test(words[index - 1] ?? '');
const namesFile = words.some((word, index) => word === '-' || (!word.startsWith('-') && !isValue(index)));
const namesForm = words.some((word) => /^--(json|jsonl|human|changes)\b/.test(word));
await inOrder(
  () => build('@contractrl/cli'),
  () => contractrl(['repair', ...(namesForm ? [] : ['--human']), ...(namesFile ? [] : [EXAMPLE]), ...words], { cwd: process.env.INIT_CWD ?? process.cwd() }),
);
