import * as ort from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { referenceLogits } from '../../tests/support/reference-decoder.ts';
import { randomAdapter, toReference } from '../../tests/support/tiny-adapter.ts';
import { largestDifference, logitsAfter, TOLERANCE } from '../../tests/support/tiny-engine.ts';
import { TINY_CONFIGS, tinyModel, type TinyModel } from '../../tests/support/tiny-model.ts';
import type { Engine } from '../engine.ts';
import { readGguf, type GgufModel } from '../model/gguf.ts';
import { graphCacheKey } from '../onnx/graph.ts';
import type { WeightFormat } from '../onnx/linear.ts';
import { createOrtEngine } from '../ort/engine.ts';
import type { LoraAdapter } from './adapter.ts';
import { mergeAdapter } from './merge.ts';

const TOKENS = [3, 7, 11, 2, 49, 0, 30, 30, 12];

async function read(model: TinyModel): Promise<GgufModel> {
  const gguf = await readGguf(model.file);
  if (!gguf.ok) throw new Error(gguf.error.code);
  return gguf.value;
}

async function merge(model: GgufModel, adapter: LoraAdapter, format: WeightFormat = 'f32'): Promise<GgufModel> {
  const merged = await mergeAdapter(model, adapter, format);
  if (!merged.ok) throw new Error(merged.error.code);
  return merged.value;
}

async function start(model: GgufModel, format: WeightFormat, lora: boolean): Promise<Engine> {
  const engine = await createOrtEngine({ ort, model, graph: { format, lora }, executionProvider: 'cpu', threadCount: 1 });
  if (!engine.ok) throw new Error(engine.error.code);
  return engine.value;
}

describe.each(Object.values(TINY_CONFIGS))('$architecture', (config) => {
  test('merged weights give the logits of the adapter as input, and of the plain loops', async () => {
    const model = tinyModel(config);
    const gguf = await read(model);
    const fed = await start(gguf, 'f32', true);
    for (const adapter of [randomAdapter(config, 4), randomAdapter(config, 2, ['q', 'k', 'down'])]) {
      const merged = await start(await merge(gguf, adapter), 'f32', false);
      expect(fed.useAdapter(adapter).ok).toBe(true);
      const [mergedLogits, fedLogits] = [await logitsAfter(merged, [TOKENS]), await logitsAfter(fed, [TOKENS])];
      const size = Math.max(...fedLogits.map(Math.abs));
      expect(largestDifference(mergedLogits, fedLogits)).toBeLessThan(2e-5 * size);
      expect(largestDifference(mergedLogits, referenceLogits(model, TOKENS, toReference(adapter)))).toBeLessThan(TOLERANCE);
      await merged.dispose();
    }
    await fed.dispose();
  });
});

describe('what is merged', () => {
  const config = TINY_CONFIGS.llama;
  const adapter = randomAdapter(config, 3);

  test('reports the adapter, and takes no other and none', async () => {
    const engine = await start(await merge(await read(tinyModel(config)), adapter), 'f32', false);
    expect(engine.adapterDigest).toBe(adapter.digest);
    expect(engine.useAdapter(adapter)).toEqual({ ok: true, value: undefined });
    for (const other of [undefined, randomAdapter(config, 2)]) expect(engine.useAdapter(other)).toMatchObject({ ok: false, error: { code: 'engine/adapter-mismatch' } });
    expect(engine.adapterDigest).toBe(adapter.digest);
    await engine.dispose();
  });

  test('has a graph of its own, by what is in it and by how strongly', async () => {
    const gguf = await read(tinyModel(config));
    const keys = await Promise.all([adapter, { ...adapter, alpha: 1 }, randomAdapter(config, 3, ['q'])].map(async (one) => graphCacheKey(await merge(gguf, one), { format: 'f32' })));
    expect(new Set([...keys, graphCacheKey(gguf, { format: 'f32' })]).size).toBe(4);
  });

  test.each(['F32', 'F16', 'BF16'] as const)('may stay in the narrow format where the file has %s', async (storage) => {
    const model = tinyModel(config, storage);
    const engine = await start(await merge(await read(model), adapter, 'q41x'), 'q41x', false);
    expect(largestDifference(await logitsAfter(engine, [TOKENS]), referenceLogits(model, TOKENS, toReference(adapter)))).toBeLessThan(TOLERANCE);
    await engine.dispose();
  });

  test.each(['Q4_1', 'Q8_0'] as const)('cannot stay in blocks of %s', async (storage) => {
    expect(await mergeAdapter(await read(tinyModel(config, storage)), adapter, 'q41x')).toEqual({
      ok: false, error: { code: 'adapter/not-mergeable', tensor: 'blk.0.attn_q.weight', type: storage, format: 'q41x' },
    });
  });

  test('must fit the model', async () => {
    const wide = randomAdapter({ ...config, feedForwardSize: 128 }, 2);
    expect(await mergeAdapter(await read(tinyModel(config)), wide, 'f32')).toMatchObject({ ok: false, error: { code: 'adapter/does-not-fit', detail: expect.stringContaining('gate of layer 0') as string } });
    expect(await mergeAdapter(await read(tinyModel({ ...config, layerCount: 3 })), adapter, 'f32')).toMatchObject({ ok: false, error: { code: 'adapter/does-not-fit' } });
  });
});
