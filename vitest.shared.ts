/** Test configuration shared by every package: TypeScript sources are resolved directly, so tests need no build. */
import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';

/** The export condition that points at `src/` instead of `dist/`. */
const sourceConditions = ['@contractrl/source'];

/** Configuration of one package's tests; `.reports/vitest.json` is what `npm test` counts. */
export function packageTests(overrides: ViteUserConfig['test'] = {}): ViteUserConfig {
  return {
    resolve: { conditions: sourceConditions },
    ssr: { resolve: { conditions: sourceConditions } },
    test: {
      include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
      setupFiles: [fileURLToPath(new URL('./vitest.setup.ts', import.meta.url))],
      // a machine that is busy with something else must not fail a test that is only slow there
      testTimeout: 30_000,
      reporters: ['default', 'json'],
      outputFile: { json: '.reports/vitest.json' },
      passWithNoTests: false,
      ...overrides,
    },
  };
}
