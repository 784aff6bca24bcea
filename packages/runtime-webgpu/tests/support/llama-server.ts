/**
 * llama.cpp's server as a process, from the wheel `xllamacpp` on PyPI. The wheel is installed once into the cache folder, by the pip of whatever
 * Python this machine has; where one of these is missing, the reason is for the names of skipped tests.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory, modelPath } from '../../src/node/model-store.ts';

const REQUIREMENT = 'xllamacpp==2026.10.11549';
const DRIVER = fileURLToPath(new URL('llama_server.py', import.meta.url));
const INSTALL_TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 60_000;

export interface LlamaServer {
  /** With `/v1`. */
  readonly baseUrl: string;
  stop(): Promise<void>;
}

export type LlamaServerSetup = { readonly folder: string; readonly model: string; readonly missing?: never } | { readonly missing: string };

/** Downloads about 35 MB on the first run on a machine. */
export function setUpLlamaServer(): LlamaServerSetup {
  const model = process.env['CONTRACTRL_MODEL'] ?? modelPath();
  if (!existsSync(model)) return { missing: 'no model file; set CONTRACTRL_MODEL or run `contractrl model fetch`' };
  const folder = join(cacheDirectory(), 'python', REQUIREMENT.replace('==', '-'));
  if (!existsSync(folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    const building = mkdtempSync(join(dirname(folder), 'building-'));
    const pip = python(['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:', '--target', building, REQUIREMENT], {}, INSTALL_TIMEOUT_MS);
    // another run may have been first
    if (pip === undefined && !existsSync(folder)) renameSync(building, folder);
    rmSync(building, { recursive: true, force: true });
    if (pip !== undefined) return { missing: `pip could not install ${REQUIREMENT}: ${pip}` };
  }
  const imported = python(['-c', 'import xllamacpp'], { PYTHONPATH: folder }, START_TIMEOUT_MS);
  return imported === undefined ? { folder, model } : { missing: `xllamacpp cannot be loaded: ${imported}` };
}

/** Undefined where it ended well, else the last line of what it said. */
function python(args: readonly string[], environment: NodeJS.ProcessEnv, timeout: number): string | undefined {
  const run = spawnSync('python3', args, { encoding: 'utf8', env: { ...process.env, ...environment }, timeout });
  return run.status === 0 ? undefined : run.error?.message ?? run.stderr.trim().split('\n').at(-1) ?? `exit status ${run.status}`;
}

export async function startLlamaServer({ folder, model }: Extract<LlamaServerSetup, { readonly folder: string }>): Promise<LlamaServer> {
  const child = spawn('python3', [DRIVER, model], { env: { ...process.env, PYTHONPATH: folder }, stdio: ['pipe', 'pipe', 'pipe'] });
  const address = await listeningAddress(child);
  return {
    baseUrl: `${address}/v1`,
    stop: () => new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.stdin.end();
    }),
  };
}

function listeningAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const fail = (why: string): void => {
      child.kill();
      reject(new Error(`${why}: ${said.slice(-500)}`));
    };
    const timer = setTimeout(() => fail('the server did not start'), START_TIMEOUT_MS);
    const listen = (text: string): void => {
      said += text;
      // llama.cpp writes to the same streams from its own threads, also in the middle of a line
      const [, address] = /test server at (http:\S+:\d+)\s/u.exec(said) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout?.setEncoding('utf8').on('data', listen);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => { said += text; });
    child.once('exit', () => fail('the server ended'));
  });
}
