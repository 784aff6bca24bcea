/** The one suite over all engines, as tests: a check is a test, and the largest differences are printed once an engine is through. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../src/engine.ts';
import { CONFORMANCE_CHECKS } from '../../src/self-test/conformance.ts';

export interface ConformanceOptions {
  /** Why the engine cannot be tested here; its tests are skipped under this name. */
  readonly missing?: string | undefined;
  /** Default true. Without a model only the laws of the port are checked. */
  readonly hasModel?: boolean;
  /** For opening the engine and for each check. */
  readonly timeoutMs?: number;
}

export function engineConformance(name: string, open: () => Promise<Engine>, options: ConformanceOptions = {}): void {
  const { missing, hasModel = true, timeoutMs = 60_000 } = options;
  describe.skipIf(missing !== undefined)(missing === undefined ? name : `${name} (skipped: ${missing})`, () => {
    let engine: Engine;
    const differences = new Map<string, number>();
    beforeAll(async () => {
      engine = await open();
    }, timeoutMs);
    afterAll(() => {
      const [worst, difference] = [...differences].reduce((a, b) => (b[1] > a[1] ? b : a), ['nothing', 0]);
      console.log(`${name}: largest difference ${difference.toExponential(1)} (${worst})`);
      return engine.dispose();
    });
    test.each(CONFORMANCE_CHECKS.filter(({ needsModel }) => hasModel || !needsModel))('$name', async ({ name: check, run }) => {
      const { fault, maxDifference } = await run(engine);
      if (maxDifference !== undefined) differences.set(check, maxDifference);
      expect(fault).toBeUndefined();
    }, timeoutMs);
  });
}
