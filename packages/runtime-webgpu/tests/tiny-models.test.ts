/** The whole path from GGUF file to logits against plain loops, on small random models of every architecture, in both formats. */
import * as ort from 'onnxruntime-node';
import * as ortWeb from 'onnxruntime-web';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Digest } from '@contractrl/core';
import type { Engine } from '../src/engine.ts';
import type { LoraAdapter } from '../src/lora/adapter.ts';
import { readGguf } from '../src/model/gguf.ts';
import { createOrtEngine } from '../src/ort/engine.ts';
import { referenceLogits } from './support/reference-decoder.ts';
import { randomAdapter, toReference } from './support/tiny-adapter.ts';
import { largestDifference, logitsAfter, startTiny, TOLERANCE } from './support/tiny-engine.ts';
import { TINY_CONFIGS, tinyModel } from './support/tiny-model.ts';

/** Long enough to cross the 32 positions at which other attention kernels take over. */
const TOKENS = Array.from({ length: 41 }, (_, i) => (i * i * 7 + 3 * i) % 50);
describe.each(Object.values(TINY_CONFIGS))('$architecture', (config) => {
  describe.each(['q41x', 'f32'] as const)('%s', (format) => {
    const model = tinyModel(config);
    let engine: Engine;
    let expected: Float64Array;

    beforeAll(async () => {
      engine = await startTiny(model, format);
      expected = referenceLogits(model, TOKENS);
    });
    afterAll(() => engine.dispose());

    test('one prefill gives the logits of the plain loops', async () => {
      expect(largestDifference(await logitsAfter(engine, [TOKENS]), expected)).toBeLessThan(TOLERANCE);
    });

    test('one token at a time gives the same', async () => {
      expect(largestDifference(await logitsAfter(engine, TOKENS.map((token) => [token])), expected)).toBeLessThan(TOLERANCE);
    });

    test('chunks after a past give the same', async () => {
      expect(largestDifference(await logitsAfter(engine, [TOKENS.slice(0, 5), TOKENS.slice(5, 38), TOKENS.slice(38)]), expected)).toBeLessThan(TOLERANCE);
    });

    test('logits of chosen ids are those of the full row', async () => {
      const step = await engine.extend(engine.emptyCache, TOKENS);
      if (!step.ok) throw new Error(step.error.code);
      const ids = Int32Array.of(49, 0, 7);
      const some = new Float32Array(3);
      engine.logitsOf(step.value.hidden, ids, some);
      expect(largestDifference(some, Array.from(ids, (id) => expected[id]!))).toBeLessThan(TOLERANCE);
    });

    test('adapters of several ranks are swapped in and out without a reload', async () => {
      for (const rank of [4, 1, 7]) {
        const adapter = randomAdapter(config, rank);
        expect(engine.useAdapter(adapter).ok).toBe(true);
        const adapted = referenceLogits(model, TOKENS, toReference(adapter));
        expect(largestDifference(adapted, expected)).toBeGreaterThan(0.1);
        expect(largestDifference(await logitsAfter(engine, [TOKENS]), adapted)).toBeLessThan(TOLERANCE);
      }
      engine.useAdapter(undefined);
      expect(largestDifference(await logitsAfter(engine, [TOKENS]), expected)).toBeLessThan(TOLERANCE);
    });
  });
});

/** Heads and layers as wide as the blocks of 256 want them. */
const WIDE = { ...TINY_CONFIGS.llama, hiddenSize: 256, feedForwardSize: 512, headCount: 8, kvHeadCount: 4, headSize: 32 };

test.each(['F32', 'F16', 'BF16', 'Q8_0', 'Q4_0', 'Q4_1', 'Q5_0', 'Q5_1', 'Q4_K', 'Q5_K', 'Q6_K'] as const)(
  'linears, embedding and head stored as %s are used as they are in both formats',
  async (storage) => {
    const model = tinyModel({ ...WIDE, isHeadTied: false }, { linears: storage, embedding: storage, head: storage });
    const tokens = TOKENS.slice(0, 12);
    const expected = referenceLogits(model, tokens);
    for (const format of ['q41x', 'f32'] as const) {
      const engine = await startTiny(model, format, false);
      expect(largestDifference(await logitsAfter(engine, [tokens.slice(0, 9), tokens.slice(9)]), expected)).toBeLessThan(TOLERANCE);
      await engine.dispose();
    }
  },
);

test.each(['q41x', 'q41', 'f32'] as const)('matrices of several types under an adapter whose ranks and linears differ from layer to layer, in %s', async (format) => {
  const model = tinyModel(WIDE, { linears: 'Q4_K', wideLinears: 'Q6_K', embedding: 'Q8_0', head: 'F16' });
  const layers = [randomAdapter(WIDE, 3, ['q', 'v', 'up', 'down']).layers[0]!, randomAdapter(WIDE, 5, ['k', 'o', 'gate', 'up']).layers[1]!];
  const withRank = (layer: LoraAdapter['layers'][number], rank: number): LoraAdapter['layers'][number] =>
    Object.fromEntries(Object.entries(layer).map(([linear, matrix]) => [linear, { ...matrix, rank, scaling: 1 / rank }]));
  const adapter: LoraAdapter = { rank: 8, alpha: 8, digest: 'mixed' as Digest, layers: [withRank(layers[0]!, 3), withRank(layers[1]!, 5)] };
  const engine = await startTiny(model, format);
  expect(engine.useAdapter(adapter).ok).toBe(true);
  const [adapted, bare] = [referenceLogits(model, TOKENS, toReference(adapter)), referenceLogits(model, TOKENS)];
  expect(largestDifference(adapted, bare)).toBeGreaterThan(0.1);
  expect(largestDifference(await logitsAfter(engine, [TOKENS.slice(0, 40), TOKENS.slice(40)]), adapted)).toBeLessThan(TOLERANCE);
  await engine.dispose();
});

describe('positions are turned as the file says', () => {
  test.each([
    { what: 'linear scaling', change: { ropeScaling: { kind: 'linear', factor: 4 } } },
    { what: 'YaRN', change: { ropeScaling: { kind: 'yarn', factor: 4, originalContextLength: 32 } } },
    { what: 'a divisor for each frequency', change: { ropeDivisors: Array.from({ length: 16 }, (_, i) => 1 + i * i) } },
    { what: 'a part of each head', change: { ropeSize: 16 } },
    { what: 'a part of each head and YaRN', change: { ropeSize: 16, ropeScaling: { kind: 'yarn', factor: 2, originalContextLength: 64 } } },
  ] as const)('$what, in llama and in qwen row order', async ({ change }) => {
    for (const architecture of ['llama', 'qwen2'] as const) {
      const config = { ...TINY_CONFIGS[architecture], headSize: 32, ropeBase: 1000 };
      const model = tinyModel({ ...config, ...change });
      const expected = referenceLogits(model, TOKENS);
      // the same weights without it: it must matter here
      expect(largestDifference(expected, referenceLogits({ ...model, config }, TOKENS))).toBeGreaterThan(200 * TOLERANCE);
      const engine = await startTiny(model, 'q41x', false);
      expect(largestDifference(await logitsAfter(engine, [TOKENS.slice(0, 35), TOKENS.slice(35)]), expected)).toBeLessThan(TOLERANCE);
      await engine.dispose();
    }
  });
});

/** Set by software-gpu.ts where a driver is found. */
const hasGpu = process.env['VK_ICD_FILENAMES'] !== undefined;
/** Shaders are compiled for a CPU. */
const GPU_START_MS = 120_000;

test.skipIf(!hasGpu)(`the norms of qwen3, which onnxruntime fuses into the attention on WebGPU, give the logits of the plain loops${hasGpu ? '' : ' (skipped: no WebGPU driver)'}`, async () => {
  const model = tinyModel(TINY_CONFIGS.qwen3);
  const gguf = await readGguf(model.file);
  if (!gguf.ok) throw new Error(gguf.error.code);
  const made = await createOrtEngine({ ort, model: gguf.value, graph: { format: 'q41' }, executionProvider: 'webgpu' });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  const tokens = TOKENS.slice(0, 12);
  expect(largestDifference(await logitsAfter(made.value, [tokens.slice(0, 11), tokens.slice(11)]), referenceLogits(model, tokens))).toBeLessThan(TOLERANCE);
  await made.value.dispose();
}, GPU_START_MS);

/** Compiling 14 MB of WASM takes a second, on a busy machine several. */
const WASM_START_MS = 60_000;

describe('onnxruntime-web on WASM', () => {
  const model = tinyModel({ ...TINY_CONFIGS.llama, hiddenSize: 128, feedForwardSize: 192 });
  const expected = referenceLogits(model, TOKENS);

  test.each([
    { what: 'f32 in one buffer', graph: { format: 'f32' } },
    { what: 'f32 with the weights beside the model', graph: { format: 'f32', weights: 'files' } },
    { what: 'q41x', graph: { format: 'q41x' } },
  ] as const)('$what gives the logits of the plain loops, with and without an adapter', async ({ graph }) => {
    const gguf = await readGguf(model.file);
    if (!gguf.ok) throw new Error(gguf.error.code);
    ortWeb.env.wasm.numThreads = 1;
    const made = await createOrtEngine({ ort: ortWeb, model: gguf.value, graph, executionProvider: 'wasm' });
    if (!made.ok) throw new Error(made.error.code, { cause: made.error });
    expect(largestDifference(await logitsAfter(made.value, [TOKENS.slice(0, 35), TOKENS.slice(35)]), expected)).toBeLessThan(TOLERANCE);
    const adapter = randomAdapter(model.config, 3);
    made.value.useAdapter(adapter);
    expect(largestDifference(await logitsAfter(made.value, [TOKENS]), referenceLogits(model, TOKENS, toReference(adapter)))).toBeLessThan(TOLERANCE);
    await made.value.dispose();
  }, WASM_START_MS);

  test.each([
    { linears: 'Q6_K', wideLinears: 'Q8_0' }, { linears: 'Q5_K', wideLinears: 'Q4_0' }, { linears: 'Q4_K', wideLinears: 'F16' }, { linears: 'BF16', wideLinears: 'Q5_1' },
  ] as const)('$linears and $wideLinears in q41x too', async ({ linears, wideLinears }) => {
    const mixed = tinyModel(WIDE, { linears, wideLinears, embedding: 'Q6_K', head: 'Q6_K' });
    const tokens = TOKENS.slice(0, 12);
    const gguf = await readGguf(mixed.file);
    if (!gguf.ok) throw new Error(gguf.error.code);
    const made = await createOrtEngine({ ort: ortWeb, model: gguf.value, graph: { format: 'q41x' }, executionProvider: 'wasm' });
    if (!made.ok) throw new Error(made.error.code, { cause: made.error });
    expect(largestDifference(await logitsAfter(made.value, [tokens.slice(0, 11), tokens.slice(11)]), referenceLogits(mixed, tokens))).toBeLessThan(TOLERANCE);
    await made.value.dispose();
  }, WASM_START_MS);
});
