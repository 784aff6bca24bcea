import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Digest } from '@contractrl/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeAdapter } from '../lora/peft.ts';
import { BASE_MODEL } from '../model/base-model.ts';
import { PROMPT_VERSION } from '../prompt.ts';
import { CALIBRATION_FILE, CALIBRATION_VERSION } from '../release/calibration.ts';
import { openRepairer } from './open-repairer.ts';
import { DEFAULT_ADAPTER_FOLDER, openRuntime, type OpenFailure, type OpenOptions } from './open-runtime.ts';

const NO_MODEL = Buffer.from('not a model');
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contractrl-open-'));
  await writeFile(join(folder, 'm.gguf'), NO_MODEL);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A file that is verified, and is no model. */
function options(overrides: Partial<OpenOptions> = {}): OpenOptions {
  const pin = { ...BASE_MODEL, sizeBytes: NO_MODEL.length, sha256: createHash('sha256').update(NO_MODEL).digest('hex') };
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
