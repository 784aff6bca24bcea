/** llguidance from PyPI in a virtual environment of its own, for the mask benchmark. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { capture, ROOT } from './run.mjs';

const VERSION = '1.3.0';
const FOLDER = join(ROOT, '.cache', `llguidance-${VERSION}`);
const PYTHON = process.platform === 'win32' ? join(FOLDER, 'Scripts', 'python.exe') : join(FOLDER, 'bin', 'python');

/** A Python that has llguidance: the one named by `CONTRACTRL_LLGUIDANCE_PYTHON`, or one made here; undefined where that fails. */
export function findLlguidance() {
  const named = process.env.CONTRACTRL_LLGUIDANCE_PYTHON;
  if (named !== undefined) return named;
  if (!existsSync(PYTHON)) capture(process.platform === 'win32' ? 'python' : 'python3', ['-m', 'venv', FOLDER]);
  const isInstalled = () => capture(PYTHON, ['-c', 'import llguidance; print(1)']) !== undefined;
  if (!isInstalled()) capture(PYTHON, ['-m', 'pip', 'install', '--quiet', `llguidance==${VERSION}`]);
  return isInstalled() ? PYTHON : undefined;
}
