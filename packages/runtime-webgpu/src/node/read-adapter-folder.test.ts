import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SHIPPED_ADAPTERS } from '../lora/shipped-adapters.ts';
import { DEFAULT_ADAPTER_FOLDER } from './adapter-folder.ts';
import { readAdapterFolder } from './read-adapter-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contractrl-adapter-'));
  await cp(DEFAULT_ADAPTER_FOLDER, folder, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a folder is read without its card and its calibration', async () => {
  await Promise.all(['README.md', 'calibration.json'].map((name) => rm(join(folder, name))));
  expect(await readAdapterFolder(folder)).toMatchObject({ ok: true, value: { rank: 8, digest: SHIPPED_ADAPTERS.r8.weights.sha256 } });
});

test.each(['adapter_model.safetensors', 'adapter_config.json'])('without %s it holds no adapter', async (name) => {
  await rm(join(folder, name));
  expect(await readAdapterFolder(folder)).toEqual({ ok: false, error: { code: 'adapter/file-missing', folder } });
});

test('a file that cannot be read is another fault than one that is not there', async () => {
  const path = join(folder, 'adapter_config.json');
  await rm(path);
  await mkdir(path);
  expect(await readAdapterFolder(folder)).toEqual({ ok: false, error: { code: 'adapter/file-access', folder } });
});

test('an adapter of another base or another prompt is refused, with what it is of', async () => {
  expect(await readAdapterFolder(folder, { base: 'other' })).toMatchObject({ ok: false, error: { code: 'adapter/wrong-base', expected: 'other' } });
  await writeFile(join(folder, 'adapter_config.json'), JSON.stringify({ peft_type: 'LORA', r: 8, lora_alpha: 16, target_modules: ['q_proj'], contractrl: { prompt_version: '0' } }));
  expect(await readAdapterFolder(folder)).toMatchObject({ ok: false, error: { code: 'adapter/other-prompt', promptVersion: '0' } });
});
