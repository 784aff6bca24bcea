/** llguidance from Python, installed once into the cache folder. Where Python, pip or the package cannot be had there is no checker. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = 'llguidance==1.9.1';
const DRIVER = fileURLToPath(new URL('llguidance-check.py', import.meta.url));

export interface LarkCase {
  readonly grammar: string;
  readonly texts: readonly string[];
}
export type LarkAnswer = { readonly error: string } | { readonly accepted: readonly boolean[] };
export type LarkChecker = (cases: readonly LarkCase[]) => readonly LarkAnswer[];

export function openLlguidance(): LarkChecker | undefined {
  const python = ['python3', 'python'].find((command) => spawnSync(command, ['-m', 'pip', '--version']).status === 0);
  const folder = python === undefined ? undefined : install(python);
  if (python === undefined || folder === undefined) return undefined;
  return (cases) => {
    const run = spawnSync(python, [DRIVER], { input: JSON.stringify({ cases }), encoding: 'utf8', env: { ...process.env, PYTHONPATH: folder, PYTHONUTF8: '1' }, maxBuffer: 1 << 26 });
    if (run.status !== 0) throw new Error(run.stderr);
    return JSON.parse(run.stdout) as readonly LarkAnswer[];
  };
}

/** The folder of the installed package. It is made aside and moved into place whole, since tests of two processes may ask at once. */
function install(python: string): string | undefined {
  const folder = join(process.env['CONTRACTRL_CACHE'] ?? tmpdir(), `contractrl-${PACKAGE.replace('==', '-')}`);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const aside = mkdtempSync(`${folder}-`);
  const isInstalled = spawnSync(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--only-binary', ':all:', '--target', aside, PACKAGE], { timeout: 120_000 }).status === 0;
  try {
    if (isInstalled) renameSync(aside, folder);
  } catch {
    // another process was first; its folder is as good
  }
  rmSync(aside, { recursive: true, force: true });
  return existsSync(folder) ? folder : undefined;
}
