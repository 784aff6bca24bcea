/**
 * Child processes without a shell: the same on Linux, macOS and Windows. Programs of the workspace are started through their
 * JavaScript entry with this very Node, so no `.cmd` wrapper and no PATH is involved.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Runs a program to its end with this terminal as its own; resolves to its exit code, 127 where it cannot be started. */
export function run(command, args, options = {}) {
  const { env, cwd = ROOT, shell = false } = options;
  return new Promise((done) => {
    const child = spawn(command, args, { cwd, shell, stdio: 'inherit', env: { ...process.env, ...env } });
    // A terminal sends Ctrl-C to the child as well: it ends in its own good order, and this process follows with its code.
    const wait = () => {};
    process.on('SIGINT', wait);
    child.on('error', (error) => {
      process.off('SIGINT', wait);
      console.error(`Cannot start ${command}: ${error.message}`);
      done(127);
    });
    child.on('exit', (code, signal) => {
      process.off('SIGINT', wait);
      done(code ?? (signal === 'SIGINT' ? 130 : 1));
    });
  });
}

/** Runs a program whose output is of interest only where it fails; shows `label` meanwhile. */
export function runQuietly(label, command, args, options = {}) {
  const { env, cwd = ROOT } = options;
  console.error(`${label} …`);
  return new Promise((done) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    const output = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
    child.on('close', (code) => {
      if (code !== 0) process.stderr.write(Buffer.concat(output));
      done(code ?? 1);
    });
  });
}

/** Runs a program quietly; its standard output, or undefined where it is missing or fails. */
export function capture(command, args) {
  const result = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 });
  return result.status === 0 ? result.stdout : undefined;
}

/** The JavaScript entry of an installed package, as its name in `bin` of its package.json says. A workspace's own version comes first. */
export function entryOf(packageName, binName, cwd = ROOT) {
  const folder = [cwd, ROOT].map((from) => join(from, 'node_modules', packageName)).find((path) => existsSync(path));
  if (folder === undefined) throw new Error(`${packageName} is not installed: run node scripts/prepare.mjs`);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[binName]);
}

/** Runs a program of an installed package. */
export function runPackage(packageName, binName, args, options = {}) {
  return run(process.execPath, [entryOf(packageName, binName, options.cwd), ...args], options);
}

/** Runs npm: through the one that started this script, else the one beside this Node, else the one on the PATH. */
export function npm(args, options) {
  const beside = [
    join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ];
  const started = process.env.npm_execpath;
  const entry = [started, ...beside].find((path) => path !== undefined && /npm-cli\.c?js$/.test(path) && existsSync(path));
  if (entry !== undefined) return run(process.execPath, [entry, ...args], options);
  // `npm.cmd` can only be started through a shell; the arguments are our own constants.
  return process.platform === 'win32' ? run('npm.cmd', args, { ...options, shell: true }) : run('npm', args, options);
}

const isCi = () => process.env.CI === 'true' || process.env.CI === '1';

const TURBO_ENV = { TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };

/** Runs a turbo task. In CI nothing is taken from the cache, so that every task really runs. */
export function turbo(task, args = []) {
  return runPackage('turbo', 'turbo', ['run', task, '--env-mode=loose', ...(isCi() ? ['--force'] : []), ...args], { env: TURBO_ENV });
}

/** Builds workspaces and what they depend on, from turbo's cache where nothing has changed. */
export function build(...workspaces) {
  const filters = workspaces.map((name) => `--filter=${name}...`);
  return runQuietly('Building', process.execPath, [entryOf('turbo', 'turbo'), 'run', 'build', '--env-mode=loose', ...filters], { env: TURBO_ENV });
}

/** Runs the built command line tool. */
export function contractrl(args, options) {
  return run(process.execPath, [join(ROOT, 'packages', 'cli', 'bin', 'contractrl.js'), ...args], options);
}

/** Runs steps in order and ends the process with the code of the first that fails. */
export async function inOrder(...steps) {
  for (const step of steps) {
    const code = await step();
    if (code !== 0) process.exit(code);
  }
}
