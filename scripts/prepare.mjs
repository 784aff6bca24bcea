/**
 * Prepares a fresh checkout: checks Node, installs the locked dependencies, and on request finds a browser and pip.
 *   node scripts/prepare.mjs [--browser] [--python]
 * Uses nothing but Node, because nothing else is there yet. With --browser the path of the browser is printed on standard output.
 */
import { pathToFileURL } from 'node:url';
import { requireNode } from './lib/node-version.mjs';
import { findBrowser } from './lib/browser.mjs';
import { installDependencies } from './lib/dependencies.mjs';
import { findPip } from './lib/python.mjs';

/** Resolves to `{ browser }`; ends the process where the dependencies cannot be installed. */
export async function prepare({ browser = false, python = false } = {}) {
  requireNode();
  const code = await installDependencies();
  if (code !== 0) process.exit(code);
  if (python && !(await findPip())) {
    console.error('Python 3 with pip was not found. It is one source of the base model; install it if no other source has the model.');
  }
  const found = browser ? await findBrowser() : undefined;
  if (browser && found === undefined) console.error('No browser was found and none could be installed: the browser tests will be skipped.');
  return { browser: found };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { browser } = await prepare({ browser: process.argv.includes('--browser'), python: process.argv.includes('--python') });
  if (browser !== undefined) console.log(browser);
}
