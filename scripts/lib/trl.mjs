/** TRL, PEFT and PyTorch from PyPI, pinned, in a virtual environment of the user's cache: several gigabytes, for the smoke test of other trainers alone. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { capture, ROOT, run } from './run.mjs';

const REQUIREMENTS = join(ROOT, 'packages', 'trainer', 'python', 'requirements.txt');
const FOLDER = join(process.env.CONTRACTRL_CACHE ?? join(homedir(), '.cache', 'contractrl'), 'python', 'trl');
const PYTHON = process.platform === 'win32' ? join(FOLDER, 'Scripts', 'python.exe') : join(FOLDER, 'bin', 'python');
/** Written by us after a whole installation: the requirements that it has. */
const STAMP = join(FOLDER, 'requirements.txt');
/** The oldest that TRL takes is 3.11. */
const COMMANDS = process.platform === 'win32' ? [['py', '-3'], ['python']] : [['python3'], ['python']];
const NEW_ENOUGH = 'import sys; sys.exit(sys.version_info < (3, 11))';

/** Resolves to `{ python }`, the one named by `CONTRACTRL_TRL_PYTHON` or one made here, or to `{ reason }`. */
export async function findTrl() {
  const named = process.env.CONTRACTRL_TRL_PYTHON;
  if (named !== undefined) return { python: named };
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return { python: PYTHON };
  const found = COMMANDS.find(([command, ...before]) => capture(command, [...before, '-c', NEW_ENOUGH]) !== undefined);
  if (found === undefined) return { reason: 'no Python of 3.11 or later was found' };
  mkdirSync(dirname(FOLDER), { recursive: true });
  const [command, ...before] = found;
  if ((await run(command, [...before, '-m', 'venv', FOLDER])) !== 0) return { reason: `${command} made no virtual environment` };
  console.error('Installing PyTorch, transformers, TRL and PEFT (several gigabytes) …');
  const code = await run(PYTHON, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-cache-dir', '--no-compile', '--only-binary', ':all:', '--requirement', REQUIREMENTS]);
  if (code !== 0) return { reason: `pip install ended with ${code}` };
  writeFileSync(STAMP, wanted);
  return { python: PYTHON };
}
