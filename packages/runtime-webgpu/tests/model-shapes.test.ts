/**
 * The shapes of models that people bring, with random weights and fewer layers, columns and ids: the same architecture, numbers of heads, ratios,
 * rotary settings, and the storage types that their published files mix. Each from its GGUF file through onnxruntime against plain loops.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { referenceLogits } from './support/reference-decoder.ts';
import { randomAdapter, toReference } from './support/tiny-adapter.ts';
import { largestDifference, logitsAfter, startTiny, TOLERANCE } from './support/tiny-engine.ts';
import { tinyModel, type TinyConfig, type TinyStorage } from './support/tiny-model.ts';

const TOKENS = [3, 60, 17, 17, 42, 0, 63, 5, 28, 11];

interface Shape extends TinyConfig {
  readonly name: string;
  readonly storage: TinyStorage;
}

const COMMON = { layerCount: 2, vocabularySize: 64, contextLength: 64, rmsEpsilon: 1e-5, isHeadTied: true } as const;

/** What the converter writes for Llama 3.2: high frequencies as they are, low ones divided by 32, a smooth step between. */
const LLAMA_DIVISORS = [1, 1, 1, 1, 2.7, 32, 32, 32];

const SHAPES: readonly Shape[] = [
  { ...COMMON, name: 'SmolLM2-360M, Q8_0', architecture: 'llama', headCount: 15, kvHeadCount: 5, headSize: 32, hiddenSize: 480, feedForwardSize: 1280, ropeBase: 100_000, storage: { linears: 'Q8_0', embedding: 'Q8_0', head: 'Q8_0' } },
  { ...COMMON, name: 'SmolLM2-1.7B, Q4_K_M', architecture: 'llama', headCount: 32, kvHeadCount: 32, headSize: 16, hiddenSize: 512, feedForwardSize: 1024, ropeBase: 130_000, storage: { linears: 'Q4_K', wideLinears: 'Q6_K', embedding: 'Q6_K', head: 'Q6_K' } },
  { ...COMMON, name: 'Llama 3.2 1B, Q4_K_M', architecture: 'llama', headCount: 32, kvHeadCount: 8, headSize: 16, hiddenSize: 512, feedForwardSize: 1024, ropeBase: 500_000, ropeDivisors: LLAMA_DIVISORS, storage: { linears: 'Q4_K', wideLinears: 'Q6_K', embedding: 'Q6_K', head: 'Q6_K' } },
  { ...COMMON, name: 'Qwen2.5 0.5B, Q4_K_M in blocks of 32', architecture: 'qwen2', headCount: 14, kvHeadCount: 2, headSize: 16, hiddenSize: 224, feedForwardSize: 1216, ropeBase: 1_000_000, rmsEpsilon: 1e-6, storage: { linears: 'Q5_0', wideLinears: 'Q8_0', embedding: 'Q8_0', head: 'Q8_0' } },
  { ...COMMON, name: 'Qwen2.5 1.5B, Q5_1, YaRN', architecture: 'qwen2', headCount: 12, kvHeadCount: 2, headSize: 32, hiddenSize: 384, feedForwardSize: 1120, ropeBase: 1_000_000, rmsEpsilon: 1e-6, ropeScaling: { kind: 'yarn', factor: 4, originalContextLength: 32_768 }, storage: { linears: 'Q5_1', embedding: 'Q4_0', head: 'Q4_0' } },
  { ...COMMON, name: 'Qwen3 0.6B, Q5_K_M', architecture: 'qwen3', headCount: 16, kvHeadCount: 8, headSize: 32, hiddenSize: 256, feedForwardSize: 768, ropeBase: 1_000_000, rmsEpsilon: 1e-6, storage: { linears: 'Q5_K', wideLinears: 'Q6_K', embedding: 'Q6_K', head: 'Q6_K' } },
  { ...COMMON, name: 'Qwen3 1.7B, BF16', architecture: 'qwen3', headCount: 16, kvHeadCount: 8, headSize: 16, hiddenSize: 256, feedForwardSize: 768, ropeBase: 1_000_000, rmsEpsilon: 1e-6, storage: { linears: 'BF16', embedding: 'BF16', head: 'BF16' } },
];

describe.each(SHAPES)('$name', (shape) => {
  const model = tinyModel(shape, shape.storage);
  let engine: Engine;
  let expected: Float64Array;

  beforeAll(async () => {
    engine = await startTiny(model, 'q41x');
    expected = referenceLogits(model, TOKENS);
  });
  afterAll(() => engine.dispose());

  test('a prefill and then single tokens give the logits of the plain loops', async () => {
    expect(largestDifference(await logitsAfter(engine, [TOKENS.slice(0, 7), [TOKENS[7]!], [TOKENS[8]!], [TOKENS[9]!]]), expected)).toBeLessThan(TOLERANCE);
  });

  test('so does the format f32', async () => {
    const f32 = await startTiny(model, 'f32', false);
    expect(largestDifference(await logitsAfter(f32, [TOKENS]), expected)).toBeLessThan(TOLERANCE);
    await f32.dispose();
  });

  test.each([1, 4, 16, 64])('so do adapters of rank %d', async (rank) => {
    const adapter = randomAdapter(shape, rank);
    expect(engine.useAdapter(adapter)).toEqual({ ok: true, value: undefined });
    const adapted = referenceLogits(model, TOKENS, toReference(adapter));
    expect(largestDifference(adapted, expected)).toBeGreaterThan(200 * TOLERANCE);
    expect(largestDifference(await logitsAfter(engine, [TOKENS]), adapted)).toBeLessThan(TOLERANCE);
    expect(engine.useAdapter(undefined).ok).toBe(true);
    expect(largestDifference(await logitsAfter(engine, [TOKENS]), expected)).toBeLessThan(TOLERANCE);
  });
});
