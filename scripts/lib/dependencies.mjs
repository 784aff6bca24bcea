/** The locked dependencies: installed once, and again when the lock has changed since. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, ROOT } from './run.mjs';

/** Written by us after a whole installation, so a half-finished one is never taken for done; `npm ci` deletes it with the folder. */
const STAMP = join(ROOT, 'node_modules', '.contractrl-lock');

/** What an installation depends on: the lock's bytes and the platform its optional packages were chosen for. */
function wantedStamp() {
  // Line endings are normalised: a checkout that rewrites them has the same lock.
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8').replaceAll('\r\n', '\n');
  return `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}\n`;
}

/** Resolves to an exit code; 0 at once where the installation is up to date. */
export async function installDependencies() {
  const stamp = wantedStamp();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return 0;
  console.error('Installing the locked dependencies (npm ci) …');
  const code = await npm(['ci', '--no-audit', '--no-fund', '--loglevel=warn'], { env: { ADBLOCK: '1', DISABLE_OPENCOLLECTIVE: '1' } });
  if (code === 0) writeFileSync(STAMP, stamp);
  else console.error('The dependencies could not be installed. Check the network and the disk space, then run the command again.');
  return code;
}
