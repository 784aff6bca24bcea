/** node-llama-cpp with its prebuilt library in a folder of the user's cache, for the runtime benchmark. */
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { npm } from './run.mjs';

const VERSION = '3.21.1';
const FOLDER = join(process.env.CONTRACTRL_CACHE ?? join(homedir(), '.cache', 'contractrl'), 'peers', `node-llama-cpp-${VERSION}`);
const LIBRARIES = {
  'linux x64': 'linux-x64', 'linux arm64': 'linux-arm64', 'darwin arm64': 'mac-arm64-metal', 'darwin x64': 'mac-x64', 'win32 x64': 'win-x64', 'win32 arm64': 'win-arm64',
};

/** The folder that has it, the one named by `CONTRACTRL_NODE_LLAMA_CPP` or one made here, or why there is none. */
export async function findNodeLlamaCpp() {
  const named = process.env.CONTRACTRL_NODE_LLAMA_CPP;
  if (named !== undefined) return { folder: named };
  const platform = `${process.platform} ${process.arch}`;
  const library = LIBRARIES[platform];
  if (library === undefined) return { reason: `no prebuilt library for ${platform}` };
  const isInstalled = () => [['node-llama-cpp'], ['@node-llama-cpp', library]].every((path) => existsSync(join(FOLDER, 'node_modules', ...path, 'package.json')));
  if (isInstalled()) return { folder: FOLDER };
  mkdirSync(FOLDER, { recursive: true });
  const code = await npm([
    'install', '--prefix', FOLDER, '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', `node-llama-cpp@${VERSION}`, `@node-llama-cpp/${library}@${VERSION}`,
  ]);
  return code === 0 && isInstalled() ? { folder: FOLDER } : { reason: `npm install ended with ${code}` };
}
