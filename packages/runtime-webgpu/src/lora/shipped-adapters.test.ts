import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { DEFAULT_ADAPTER } from '../web/default-artifacts.ts';
import { ADAPTER_FILES } from './adapter-files.ts';
import { readAdapter } from './peft.ts';
import { SHIPPED_ADAPTER_NAMES, SHIPPED_ADAPTERS } from './shipped-adapters.ts';

const ADAPTERS = fileURLToPath(new URL('../../adapters', import.meta.url));

/** What the package may weigh for the adapters' sake, and every clone of the repository: no release may grow past it unnoticed. */
const CEILING_BYTES = 20e6;

test('these adapters are in the package and nothing else, and together they are small', () => {
  const inFolder = readdirSync(ADAPTERS, { recursive: true, withFileTypes: true });
  const files = inFolder.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.toSorted()).toEqual(SHIPPED_ADAPTER_NAMES.flatMap((name) => Object.values(ADAPTER_FILES).map((file) => join(ADAPTERS, name, file))).toSorted());
  expect(inFolder.filter((entry) => !entry.isFile()).map(({ name }) => name).toSorted()).toEqual(SHIPPED_ADAPTER_NAMES.toSorted());
  expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(CEILING_BYTES);
});

describe.each(SHIPPED_ADAPTER_NAMES)('%s', (name) => {
  const file = (part: keyof typeof ADAPTER_FILES): Buffer => readFileSync(join(ADAPTERS, name, ADAPTER_FILES[part]));

  test.each(['config', 'weights', 'calibration'] as const)('the pin of its %s is that of the file that ships', (part) => {
    const bytes = file(part);
    expect(SHIPPED_ADAPTERS[name][part]).toEqual({ sha256: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.length });
  });

  test('it is for the 30 layers of the base model, of the rank that its name says, and its card names its digest', async () => {
    const read = await readAdapter(file('weights'), file('config').toString(), { base: 'HuggingFaceTB/SmolLM2-135M-Instruct' });
    if (!read.ok) throw new Error(read.error.code);
    expect(`r${read.value.rank}`).toBe(name);
    expect(read.value.layers).toHaveLength(30);
    expect(file('card').toString()).toContain(read.value.digest);
  });
});

test('a page loads r8 unless told otherwise', () => {
  expect(DEFAULT_ADAPTER).toBe(SHIPPED_ADAPTERS.r8);
});
