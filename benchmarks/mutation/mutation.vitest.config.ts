/**
 * The tests of `npm run mutate`, in the package that is mutated. Its sources come instrumented: all mutants are in the code at once, each behind a
 * switch. `CONTRACTRL_MUTATION` names the job that `scripts/mutate.mjs` wrote.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { packageTests } from '../../vitest.shared.ts';

interface Job {
  /** Folder of the package. */
  readonly root: string;
  /** Paths of the tests that mutants have to survive, those first that fail soonest. */
  readonly suite: readonly string[];
  /** Instrumented text by absolute path. */
  readonly sources: Readonly<Record<string, string>>;
  /** `roundShare`: how many of their rounds properties run, in (0, 1]. */
  readonly mutation: { readonly mutantIds: readonly string[]; readonly doneFile: string; readonly reachFile: string; readonly roundShare: number };
}
declare module 'vitest' {
  interface ProvidedContext { readonly mutation: Job['mutation'] }
}

const { root, suite, sources, mutation } = JSON.parse(readFileSync(process.env['CONTRACTRL_MUTATION']!, 'utf8')) as Job;
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const HARNESS = here('mutants.ts');
const STAND_INS: Readonly<Record<string, string>> = { 'vitest': here('registry.ts'), 'fast-check': here('few-rounds.ts') };

const mutants: Plugin = {
  name: 'mutants',
  enforce: 'pre',
  resolveId: (id, importer) => (importer?.startsWith(here('.')) === true ? null : STAND_INS[id] ?? null),
  load: (id) => sources[id] ?? null,
  transform: (code, id) => (id === HARNESS ? `${suite.map((path) => `import ${JSON.stringify(path)};`).join('\n')}\n${code}` : null),
};

export default defineConfig({
  ...packageTests({ root, include: [HARNESS], pool: 'threads', reporters: ['default'], silent: true, provide: { mutation } }),
  plugins: [mutants],
});
