/** Test configuration shared by every package: TypeScript sources are resolved directly, so tests need no build. */
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
      reporters: ['default', 'json'],
      outputFile: { json: '.reports/vitest.json' },
      passWithNoTests: false,
      ...overrides,
    },
  };
}
