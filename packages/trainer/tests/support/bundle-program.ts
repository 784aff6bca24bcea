/** A program of `src` as one file of JavaScript, for a child process: Node 20 takes no TypeScript. What `onnxruntime-node` is needed for is left out. */
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build, type Rolldown } from 'vite';

export async function bundleProgram(name: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    resolve: { conditions: ['@contractrl/source', 'node', 'module', 'import', 'default'] },
    ssr: { noExternal: true, resolve: { conditions: ['@contractrl/source', 'node', 'module', 'import', 'default'] } },
    build: {
      write: false,
      minify: false,
      ssr: fileURLToPath(new URL(`../../src/${name}`, import.meta.url)),
      rolldownOptions: { external: [/^node:/, ...builtinModules, 'onnxruntime-node'], output: { codeSplitting: false } },
    },
  });
  const [{ output }] = (Array.isArray(result) ? result : [result]) as [Rolldown.RolldownOutput];
  return output[0].code;
}
