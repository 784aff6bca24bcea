/** One program of this folder as one piece of JavaScript, for a page or a child process: both take no TypeScript. */
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build, type Rolldown } from 'vite';

export async function bundle(name: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    resolve: { conditions: ['@contractrl/source', 'module', 'import', 'default'] },
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      lib: { entry: fileURLToPath(new URL(name, import.meta.url)), formats: ['es'] },
      rolldownOptions: { external: [/^node:/, ...builtinModules] },
    },
  });
  const [{ output }] = (Array.isArray(result) ? result : [result]) as [Rolldown.RolldownOutput];
  return output[0].code;
}
