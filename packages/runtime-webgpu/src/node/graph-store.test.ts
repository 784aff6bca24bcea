import { createHash } from 'node:crypto';
import { readdir, readFile, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ok } from '@contractrl/core';
import { readGguf, type GgufModel } from '../model/gguf.ts';
import { remember } from './files.ts';
import { ensureGraph, graphPath } from './graph-store.ts';
import { BASE_MODEL } from '../model/base-model.ts';
import { openRuntime } from './open-runtime.ts';
import type { OpenProgress } from './progress.ts';
import { writeGguf } from '../../tests/support/gguf-writer.ts';
import { TINY_CONFIGS, tinyFields, tinyModel } from '../../tests/support/tiny-model.ts';

const { file } = tinyModel(TINY_CONFIGS.llama);
const OPTIONS = { format: 'q41x' } as const;
let model: GgufModel;
let folder: string;

beforeAll(async () => {
  const read = await readGguf(file);
  if (!read.ok) throw new Error(read.error.code);
  model = read.value;
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contractrl-graph-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const graphs = (): string => join(folder, 'graphs');

async function ensure(cacheDirectory = folder): Promise<{ readonly kind: string; readonly built: boolean }> {
  let built = false;
  const stored = await ensureGraph(model, OPTIONS, cacheDirectory, () => {
    built = true;
    return Promise.resolve(ok(model));
  });
  if (!stored.ok) throw new Error('the model is at hand');
  return { kind: stored.value.kind, built };
}

test('a graph is built once', async () => {
  expect(await ensure()).toEqual({ kind: 'file', built: true });
  expect(await ensure()).toEqual({ kind: 'file', built: false });
  expect((await readdir(graphs())).filter((name) => !name.endsWith('.json'))).toHaveLength(2);
});

test.each([
  { name: 'cut short', damage: async (path: string) => writeFile(path, (await readFile(path)).subarray(0, 100)) },
  { name: 'without its note', damage: (path: string) => rm(`${path}.verified.json`) },
  { name: 'beside an unreadable note', damage: (path: string) => writeFile(`${path}.verified.json`, '{') },
].flatMap((row) => ['', '.weights'].map((file) => ({ ...row, file, of: file === '' ? 'itself' : 'in its weights' }))))('a graph $name, $of, is built again', async ({ damage, file }) => {
  await ensure();
  const path = `${graphPath(model, OPTIONS, folder)}${file}`;
  const whole = await readFile(path);
  await damage(path);
  expect((await ensure()).built).toBe(true);
  expect(await readFile(path)).toEqual(whole);
});

test('two builds at once leave one whole graph', async () => {
  const both = await Promise.all([ensure(), ensure()]);
  expect(both.map((stored) => stored.kind)).toEqual(['file', 'file']);
  expect(await ensure()).toEqual({ kind: 'file', built: false });
  expect((await readdir(graphs())).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('what a killed process left is cleared away, what a running one writes is not', async () => {
  await ensure();
  const path = graphPath(model, OPTIONS, folder);
  await writeFile(`${path}.${2 ** 30}-0a0a0a0a.tmp`, 'half');
  await writeFile(`${path}.${process.ppid}-0b0b0b0b.tmp`, 'half');
  await rm(path);
  await ensure();
  expect((await readdir(graphs())).filter((name) => name.endsWith('.tmp'))).toEqual([expect.stringContaining(`.${process.ppid}-`)]);
});

test('of many graphs the three last used are kept, with their notes', async () => {
  const models = Array.from({ length: 5 }, (_, i): GgufModel => ({ ...model, digest: String(i).repeat(64) as GgufModel['digest'] }));
  for (const [i, one] of models.entries()) {
    await ensureGraph(one, OPTIONS, folder, () => Promise.resolve(ok(one)));
    // as if used one after the other, a second apart, and the first of all used again at last
    const second = new Date(Date.now() - 60_000 + 1000 * i);
    await utimes(`${graphPath(one, OPTIONS, folder)}.verified.json`, second, second);
    if (i === 2) await ensureGraph(models[0]!, OPTIONS, folder, () => Promise.resolve(ok(models[0]!)));
  }
  const kept = [0, 3, 4].map((i) => basename(graphPath(models[i]!, OPTIONS, folder)));
  expect((await readdir(graphs())).sort()).toEqual(kept.flatMap((name) => [name, `${name}.weights`].flatMap((file) => [file, `${file}.verified.json`])).sort());
});

test('where nothing can be written the graph is used from memory', async () => {
  await writeFile(join(folder, 'cache'), 'a file, not a folder');
  expect(await ensure(join(folder, 'cache'))).toEqual({ kind: 'memory', built: true });
});

/** A whole start on the tiny model, given as a file of its own. */
async function open(onProgress?: (progress: OpenProgress) => void, cacheDirectory = folder): Promise<void> {
  const path = join(folder, 'tiny.gguf');
  await writeFile(path, file);
  const pin = { ...BASE_MODEL, sizeBytes: file.length, sha256: createHash('sha256').update(file).digest('hex') };
  const opened = await openRuntime({ model: path, adapter: 'none', cacheDirectory, transport: { pin }, threads: 1, ...(onProgress === undefined ? {} : { onProgress }) });
  if (!opened.ok) throw new Error(opened.error.message);
  const { engine, vocabulary } = opened.value;
  expect(vocabulary.logitWidth).toBe(engine.logitWidth);
  const step = await engine.extend(engine.emptyCache, [1, 2]);
  expect(step.ok).toBe(true);
  await engine.dispose();
}

test('a graph that was damaged unnoticed does not load, and is built anew once', async () => {
  await open();
  const path = graphPath(model, OPTIONS, folder);
  const { size } = await stat(path);
  await writeFile(path, Buffer.alloc(size, 7));
  await remember(path, '');
  const told: string[] = [];
  await open((progress) => told.push(progress.stage));
  expect(told.filter((stage) => stage !== 'verify')).toEqual(['load', 'build-graph', 'load']);
  expect(await readFile(path)).not.toEqual(Buffer.alloc(size, 7));
});

test('any model is opened by its path, without the adapter that was trained for another', async () => {
  const path = join(folder, 'qwen.gguf');
  const qwen = tinyModel({ ...TINY_CONFIGS.qwen2, hiddenSize: 256, feedForwardSize: 256, headSize: 64 }, { linears: 'Q4_K', wideLinears: 'Q6_K', embedding: 'Q6_K', head: 'Q6_K' });
  await writeFile(path, qwen.file);
  const opened = await openRuntime({ model: path, cacheDirectory: folder, threads: 1 });
  if (!opened.ok) throw new Error(opened.error.message);
  const { engine, model: located, adapter, weightFormats } = opened.value;
  expect(located).toMatchObject({ path, isBase: false, sha256: createHash('sha256').update(qwen.file).digest('hex') });
  expect([adapter, engine.adapterDigest]).toEqual([undefined, undefined]);
  expect(engine.identity.modelDigest).toBe(located.sha256);
  expect(weightFormats.map(({ storedAs, carriedAs }) => `${storedAs} ${carriedAs}`)).toEqual(['Q4_K q4+correction', 'Q6_K q4-pair', 'Q6_K rows', 'F32 f32']);
  await engine.dispose();
});

test.each([
  { what: 'by the setting it does not know', change: { 'qwen2.expert_count': { type: 'uint32', value: 4 } }, code: 'model/unsupported-setting', text: 'qwen2.expert_count' },
  { what: 'by its tokenizer', change: { 'tokenizer.ggml.pre': { type: 'string', value: 'tekken' } }, code: 'tokenizer/unsupported-pre-tokenizer', text: 'tekken' },
  {
    what: 'for want of turn markers', change: { 'tokenizer.ggml.tokens': { type: 'strings', value: ['<|endoftext|>', 'a'] }, 'tokenizer.ggml.token_type': { type: 'int32s', value: [3, 1] }, 'tokenizer.ggml.merges': { type: 'strings', value: [] } },
    code: 'tokenizer/no-turn-markers', text: 'ChatML',
  },
] as const)('a model that cannot be used is refused $what', async ({ change, code, text }) => {
  const path = join(folder, 'qwen.gguf');
  await writeFile(path, writeGguf({ ...tinyFields(TINY_CONFIGS.qwen2), ...change }, tinyModel(TINY_CONFIGS.qwen2).tensors));
  const opened = await openRuntime({ model: path, cacheDirectory: folder });
  expect(opened).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(text) as string } });
});

test('a start whose cache cannot be written says so and works', async () => {
  await writeFile(join(folder, 'cache'), 'a file, not a folder');
  const told: OpenProgress[] = [];
  await open((progress) => told.push(progress), join(folder, 'cache'));
  expect(told.map((progress) => progress.stage)).toContain('graph-not-kept');
});
