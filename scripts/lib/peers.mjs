/**
 * Packages that the runtime benchmark compares with, each in a folder of the user's cache: they are no dependency of this project. Install scripts do not run.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { npm } from './run.mjs';

const CACHE = join(process.env.CONTRACTRL_CACHE ?? join(homedir(), '.cache', 'contractrl'), 'peers');

const LLAMA_CPP = '3.21.1';
const LLAMA_CPP_LIBRARIES = {
  'linux x64': 'linux-x64', 'linux arm64': 'linux-arm64', 'darwin arm64': 'mac-arm64-metal', 'darwin x64': 'mac-x64', 'win32 x64': 'win-x64', 'win32 arm64': 'win-arm64',
};
/** The version whose structured output `benchmarks` measures too. */
const TRANSFORMERS_JS = '4.3.0';

/** By name, the folder that has it, the one named by `CONTRACTRL_NODE_LLAMA_CPP` or `CONTRACTRL_TRANSFORMERS_JS` or one made here, or why there is none. */
export async function findPeers() {
  return { 'node-llama-cpp': await findNodeLlamaCpp(), 'transformers-js': await findTransformersJs() };
}

function findNodeLlamaCpp() {
  const platform = `${process.platform} ${process.arch}`;
  const library = LLAMA_CPP_LIBRARIES[platform];
  if (library === undefined) return { reason: `no prebuilt library for ${platform}` };
  return find('CONTRACTRL_NODE_LLAMA_CPP', `node-llama-cpp-${LLAMA_CPP}`, { 'node-llama-cpp': LLAMA_CPP, [`@node-llama-cpp/${library}`]: LLAMA_CPP }, ['--omit=optional']);
}

function findTransformersJs() {
  return find('CONTRACTRL_TRANSFORMERS_JS', `transformers-js-${TRANSFORMERS_JS}`, {
    '@huggingface/transformers': TRANSFORMERS_JS, '@huggingface/transformers-structured-output': TRANSFORMERS_JS,
  });
}

async function find(variable, name, packages, options = []) {
  const named = process.env[variable];
  if (named !== undefined) return { folder: named };
  const folder = join(CACHE, name);
  const isInstalled = () => Object.keys(packages).every((each) => existsSync(join(folder, 'node_modules', ...each.split('/'), 'package.json')));
  if (isInstalled()) return { folder };
  mkdirSync(folder, { recursive: true });
  const code = await npm([
    'install', '--prefix', folder, ...options, '--ignore-scripts', '--no-audit', '--no-fund', ...Object.entries(packages).map(([each, version]) => `${each}@${version}`),
  ]);
  return code === 0 && isInstalled() ? { folder } : { reason: `npm install ended with ${code}` };
}
