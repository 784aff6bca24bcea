/**
 * The tests of `npm run mutate`. Sources come instrumented: all mutants are in the code at once, each behind a switch. `CONTRACTRL_MUTATION`
 * names the job that `scripts/mutate.mjs` wrote.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
import { packageTests } from '../../vitest.shared.ts';

interface Job {
  /** Instrumented text by absolute path. */
  readonly sources: Readonly<Record<string, string>>;
  readonly mutation: { readonly mutantIds: readonly string[]; readonly doneFile: string; readonly reachFile: string };
}
declare module 'vitest' {
  interface ProvidedContext { readonly mutation: Job['mutation'] }
}

const { sources, mutation } = JSON.parse(readFileSync(process.env['CONTRACTRL_MUTATION']!, 'utf8')) as Job;
const here = (path: string): string => fileURLToPath(new URL(`tests/mutation/${path}`, import.meta.url));
const STAND_INS: Readonly<Record<string, string>> = { 'vitest': here('registry.ts'), 'fast-check': here('few-rounds.ts') };

const mutants: Plugin = {
  name: 'mutants',
  enforce: 'pre',
  resolveId: (id, importer) => (importer?.includes('/tests/mutation/') === true ? null : STAND_INS[id] ?? null),
  load: (id) => sources[id] ?? null,
};

export default defineConfig({
  ...packageTests({ include: ['tests/mutation/mutants.ts'], pool: 'threads', reporters: ['default'], silent: true, provide: { mutation } }),
  plugins: [mutants],
});
