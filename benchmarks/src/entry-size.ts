/**
 * What each package's entry costs a user: its built code and the libraries it pulls in, bundled, minified and gzipped. The runtimes of
 * onnxruntime are left out: they are fetched or installed on their own, and their sizes are theirs. So is the trainer, which the command line loads where it is installed.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';

export interface EntrySize {
  /** As an importer writes it, such as `@contractrl/runtime-webgpu/node`. */
  readonly entry: string;
  /** The package's own code alone: every import by package name left out. */
  readonly ownGzipBytes: number;
  /** With all libraries and packages it imports; all chunks, also those loaded later. */
  readonly gzipBytes: number;
}

const RUNTIMES = [/^onnxruntime-/, /^@contractrl\/trainer/, /^node:/, ...builtinModules];
const BARE_IMPORTS = [...RUNTIMES, /^[@a-z]/];

/** Bundles every entry that the packages under `packagesFolder` declare, from their `dist`; of those in `names` alone where given. Seconds. */
export async function measureEntrySizes(packagesFolder: string, names: readonly string[] = readdirSync(packagesFolder)): Promise<readonly EntrySize[]> {
  const sizes: EntrySize[] = [];
  for (const folder of names.map((name) => join(packagesFolder, name))) {
    if (!existsSync(join(folder, 'package.json'))) continue;
    const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    for (const [subpath, target] of Object.entries(exports ?? {})) {
      if (typeof target === 'string') continue;
      const path = join(folder, target.default);
      sizes.push({ entry: posix.join(name, subpath), ownGzipBytes: await bundleSize(path, BARE_IMPORTS), gzipBytes: await bundleSize(path, RUNTIMES) });
    }
  }
  return sizes;
}

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>;
}

async function bundleSize(path: string, external: readonly (string | RegExp)[]): Promise<number> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      lib: { entry: path, formats: ['es'] },
      // of a library Vite keeps the white space, which whoever bundles the page does not
      rolldownOptions: { external: [...external], output: { minify: true } },
    },
  });
  const outputs = (Array.isArray(result) ? result : [result]) as readonly Rolldown.RolldownOutput[];
  const chunks = outputs.flatMap(({ output }) => output).filter((item) => item.type === 'chunk');
  return chunks.reduce((sum, { code }) => sum + gzipSync(code).length, 0);
}
