import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEFAULT_ADAPTER } from './default-artifacts.ts';

test.each([
  ['config', 'adapter_config.json'],
  ['weights', 'adapter_model.safetensors'],
  ['calibration', 'calibration.json'],
] as const)('the pin of the adapter\'s %s is that of the file that ships', (part, name) => {
  const bytes = readFileSync(new URL(`../../adapters/r8/${name}`, import.meta.url));
  expect(DEFAULT_ADAPTER[part]).toEqual({ sha256: createHash('sha256').update(bytes).digest('hex'), sizeBytes: bytes.length });
});
