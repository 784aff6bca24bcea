import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Digest } from '@contractrl/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeAdapter } from '../lora/peft.ts';
import { SHIPPED_ADAPTER_NAMES } from '../lora/shipped-adapters.ts';
import { BASE_MODEL } from '../model/base-model.ts';
import { PROMPT_VERSION } from '../prompt.ts';
import { CALIBRATION_FILE, CALIBRATION_VERSION } from '../release/calibration.ts';
import { DEFAULT_ADAPTER_FOLDER } from './adapter-folder.ts';
import { openRepairer } from './open-repairer.ts';
import { openRuntime, type OpenFailure, type OpenOptions } from './open-runtime.ts';
import { TINY_CONFIGS, tinyModel } from '../../tests/support/tiny-model.ts';

const NO_MODEL = Buffer.from('not a model');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contractrl-open-'));
  await writeFile(join(folder, 'm.gguf'), NO_MODEL);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The file of the model is verified, and by default is none. */
function options(overrides: Partial<OpenOptions> = {}, model: Uint8Array = NO_MODEL): OpenOptions {
  const pin = { ...BASE_MODEL, sizeBytes: model.length, sha256: createHash('sha256').update(model).digest('hex') };
  return { model: join(folder, 'm.gguf'), cacheDirectory: folder, environment: {}, transport: { pin }, ...overrides };
}

async function failureOf(given: OpenOptions): Promise<OpenFailure> {
  const opened = await openRuntime(given);
  if (opened.ok) throw new Error('expected a failure');
  return opened.error;
}

test.each([
  { name: 'a file that is no model', given: {}, code: 'model/not-gguf' },
  { name: 'no model and no leave to fetch one', given: { model: 'missing.gguf', offline: true }, code: 'model/file-missing' },
  { name: 'an adapter folder without files', given: { adapter: tmpdir() }, code: 'adapter/file-missing' },
  { name: 'a folder that is called as an adapter that ships, and is not there', given: { adapter: './r8' }, code: 'adapter/file-missing' },
  { name: 'an adapter that does not ship, before a model is looked for,', given: { adapter: 'r32', model: 'missing.gguf', offline: true }, code: 'adapter/unknown-name' },
  { name: 'a cancelled start', given: { signal: AbortSignal.abort() }, code: 'model/aborted' },
])('$name is a failure with a sentence', async ({ given, code }) => {
  expect(await failureOf(options(given))).toMatchObject({ code, message: expect.stringMatching(/\.$/u) as string, detail: { code } });
});

test.each([
  { name: 'cut off', weights: Buffer.from('{}'), config: '{}' },
  { name: 'of another kind', weights: Buffer.alloc(16), config: '{"peft_type":"IA3"}' },
  { name: 'not JSON', weights: Buffer.alloc(16), config: 'r: 8' },
])('an adapter that is $name is named with its folder', async ({ weights, config }) => {
  const adapter = join(folder, 'adapter');
  await mkdir(adapter);
  await writeFile(join(adapter, 'adapter_model.safetensors'), weights);
  await writeFile(join(adapter, 'adapter_config.json'), config);
  const failure = await failureOf(options({ adapter }));
  expect(failure.code).toMatch(/^adapter\//u);
  expect(failure.message).toContain(adapter);
});

test('an adapter that was trained for another prompt is refused', async () => {
  const adapter = join(folder, 'adapter');
  await mkdir(adapter);
  await copyFile(join(DEFAULT_ADAPTER_FOLDER, 'adapter_model.safetensors'), join(adapter, 'adapter_model.safetensors'));
  const config = JSON.parse(await readFile(join(DEFAULT_ADAPTER_FOLDER, 'adapter_config.json'), 'utf8')) as object;
  await writeFile(join(adapter, 'adapter_config.json'), JSON.stringify({ ...config, contractrl: { prompt_version: '0' } }));
  expect(await failureOf(options({ adapter }))).toMatchObject({ code: 'adapter/other-prompt', detail: { promptVersion: '0', expected: PROMPT_VERSION } });
});

describe.each(SHIPPED_ADAPTER_NAMES)('%s, by its name', (name) => {
  test('is opened with the calibration beside it', async () => {
    // adapter and calibration are read before the model: were one missing, or of another adapter or prompt, this would be its code
    expect((await failureOf(options({ adapter: name, release: { threshold: 0.9 } }))).code).toBe('model/not-gguf');
  });

  test('is refused by a model of other widths', async () => {
    const { file } = tinyModel(TINY_CONFIGS.llama);
    await writeFile(join(folder, 'm.gguf'), file);
    expect(await failureOf(options({ adapter: name, threads: 1 }, file))).toMatchObject({ code: 'engine/adapter-mismatch' });
  });
});

describe('the calibration beside an adapter', () => {
  const weights = writeAdapter({ rank: 1, alpha: 1, digest: '0'.repeat(64) as Digest, layers: [{ q: { a: new Float32Array(2), b: new Float32Array(2), inputSize: 2, outputSize: 2 } }] }, 'b', { promptVersion: PROMPT_VERSION });
  const digest = createHash('sha256').update(weights.weights).digest('hex');
  const map = { kind: 'isotonic', feature: 'margin', points: [[0, 0.5]] };
  const good = { version: CALIBRATION_VERSION, adapterDigest: digest, promptVersion: PROMPT_VERSION, map, threshold: 0.5, report: {} };

  /** Reading goes on to the model, which is none, where nothing is wrong with adapter and calibration. */
  async function codeWith(calibration: string | undefined, release?: OpenOptions['release']): Promise<OpenFailure> {
    const adapter = join(folder, 'adapter');
    await mkdir(adapter);
    await writeFile(join(adapter, 'adapter_model.safetensors'), weights.weights);
    await writeFile(join(adapter, 'adapter_config.json'), weights.configText);
    if (calibration !== undefined) await writeFile(join(adapter, CALIBRATION_FILE), calibration);
    return failureOf(options({ adapter, ...(release === undefined ? {} : { release }) }));
  }

  test.each<{ readonly what: string; readonly calibration: string | undefined; readonly release?: OpenOptions['release']; readonly code: string }>([
    { what: 'that fits is taken', calibration: JSON.stringify(good), code: 'model/not-gguf' },
    { what: 'with a threshold of the caller’s own is taken', calibration: JSON.stringify(good), release: { threshold: 0.9 }, code: 'model/not-gguf' },
    { what: 'that is not there is none', calibration: undefined, code: 'model/not-gguf' },
    { what: 'that is not there cannot have a threshold', calibration: undefined, release: { threshold: 0.9 }, code: 'calibration/missing' },
    { what: 'of another adapter is refused', calibration: JSON.stringify({ ...good, adapterDigest: 'b'.repeat(64) }), code: 'calibration/other-adapter' },
    { what: 'of another prompt is refused', calibration: JSON.stringify({ ...good, promptVersion: 'other' }), code: 'calibration/other-prompt' },
    { what: 'of another version is refused', calibration: JSON.stringify({ ...good, version: '0' }), code: 'calibration/other-version' },
    { what: 'that was cut off is refused', calibration: JSON.stringify(good).slice(0, 80), code: 'calibration/not-json' },
    { what: 'with another form is refused', calibration: JSON.stringify({ ...good, map: {} }), code: 'calibration/bad-form' },
    { what: 'is not looked at where the rule is off', calibration: '{', release: 'off', code: 'model/not-gguf' },
  ])('$what', async ({ calibration, release, code }) => {
    const failure = await codeWith(calibration, release);
    expect(failure.code).toBe(code);
    if (code.startsWith('calibration/')) expect(failure.message).toMatch(/\.$/u);
  });
});

test('the default adapter ships with the package', async () => {
  expect(DEFAULT_ADAPTER_FOLDER).toMatch(/adapters[/\\]r8$/u);
  // it is read before the model: were it missing, this would be an adapter's code
  expect((await failureOf(options())).code).toBe('model/not-gguf');
});

test('a repairer that cannot be opened says why', async () => {
  const opened = await openRepairer(options({ adapter: 'none' }));
  expect(!opened.ok && opened.error.code).toBe('model/not-gguf');
});
