import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BASE_MODEL } from '../model/base-model.ts';
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

test('the default adapter ships with the package', async () => {
  expect(DEFAULT_ADAPTER_FOLDER).toMatch(/adapters[/\\]sft-r8$/u);
  // it is read before the model: were it missing, this would be an adapter's code
  expect((await failureOf(options())).code).toBe('model/not-gguf');
});

test('a repairer that cannot be opened says why', async () => {
  const opened = await openRepairer(options({ adapter: 'none' }));
  expect(!opened.ok && opened.error.code).toBe('model/not-gguf');
});
