import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { measureEntrySizes, type EntrySize } from './entry-size.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Ceilings in bytes, gzipped. Raise one only together with the reason in the commit that needs it. */
const ceilings = JSON.parse(readFileSync(join(root, 'benchmarks/baselines/entry-size.json'), 'utf8')) as Readonly<Record<string, { readonly own: number; readonly whole: number }>>;
const isBuilt = existsSync(join(root, 'packages/cli/dist/index.js'));

describe.skipIf(!isBuilt)('the gzipped size of an entry (needs the build)', () => {
  let sizes: readonly EntrySize[] = [];
  beforeAll(async () => {
    sizes = await measureEntrySizes(join(root, 'packages'));
    for (const { entry, ownGzipBytes, gzipBytes } of sizes) console.log(`${entry}: ${ownGzipBytes} bytes of its own, ${gzipBytes} with its libraries`);
  }, 120_000);

  test('every entry has a ceiling, and every ceiling an entry', () => {
    expect(sizes.map(({ entry }) => entry).sort()).toEqual(Object.keys(ceilings).sort());
  });

  test.each(Object.entries(ceilings))('%s stays below its ceilings', (entry, { own, whole }) => {
    const size = sizes.find((candidate) => candidate.entry === entry);
    expect(size?.ownGzipBytes).toBeGreaterThan(0);
    expect(size?.ownGzipBytes).toBeLessThanOrEqual(own);
    expect(size?.gzipBytes).toBeLessThanOrEqual(whole);
  });
});
