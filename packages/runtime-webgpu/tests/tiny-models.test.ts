/** The whole path from GGUF file to logits against plain loops, on small random models of every architecture, in both formats. */
import * as ort from 'onnxruntime-node';
import * as ortWeb from 'onnxruntime-web';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Digest } from '@contractrl/core';
import type { Engine, KvCache } from '../src/engine.ts';
import { LINEAR_NAMES, type LinearName, type LoraAdapter, type LoraMatrix } from '../src/lora/adapter.ts';
import { readGguf } from '../src/model/gguf.ts';
import { createOrtEngine } from '../src/ort/engine.ts';
import { referenceLogits, type ReferenceLora } from './support/reference-decoder.ts';
import { randomNumbers, TINY_CONFIGS, tinyModel, type TinyConfig, type TinyModel } from './support/tiny-model.ts';

/** Long enough to cross the 32 positions at which other attention kernels take over. */
const TOKENS = Array.from({ length: 41 }, (_, i) => (i * i * 7 + 3 * i) % 50);
/** Logits are of size 10 to 100 here; float32 sums over 2 layers. */
const TOLERANCE = 2e-3;

async function start(model: TinyModel, format: 'q41x' | 'f32', lora = true): Promise<Engine> {
  const gguf = await readGguf(model.file);
  if (!gguf.ok) throw new Error(gguf.error.code);
  const engine = await createOrtEngine({ ort, model: gguf.value, graph: { format, lora }, executionProvider: 'cpu', threadCount: 1 });
  if (!engine.ok) throw new Error(engine.error.code, { cause: engine.error });
  return engine.value;
}

/** Logits after feeding `chunks` one after the other. */
async function logitsAfter(engine: Engine, chunks: readonly (readonly number[])[], from: KvCache = engine.emptyCache): Promise<Float32Array> {
  let cache = from;
  let hidden = new Float32Array(0);
  for (const chunk of chunks) {
    const step = await engine.extend(cache, chunk);
    if (!step.ok) throw new Error(step.error.code, { cause: step.error });
    ({ cache, hidden } = step.value as { cache: KvCache; hidden: Float32Array<ArrayBuffer> });
  }
  const logits = new Float32Array(engine.logitWidth);
  engine.allLogits(hidden, logits);
  return logits;
}

function largestDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  return Array.from(actual).reduce((largest, value, i) => Math.max(largest, Math.abs(value - expected[i]!)), 0);
}

const TENSORS: Readonly<Record<LinearName, string>> = {
  q: 'attn_q', k: 'attn_k', v: 'attn_v', o: 'attn_output', gate: 'ffn_gate', up: 'ffn_up', down: 'ffn_down',
};

function randomAdapter(config: TinyConfig, rank: number): LoraAdapter {
  const random = randomNumbers(rank);
  const { hiddenSize, feedForwardSize, headSize } = config;
  const [querySize, keySize] = [config.headCount * headSize, config.kvHeadCount * headSize];
  const sizes: Record<LinearName, readonly [number, number]> = {
    q: [hiddenSize, querySize], k: [hiddenSize, keySize], v: [hiddenSize, keySize], o: [querySize, hiddenSize],
    gate: [hiddenSize, feedForwardSize], up: [hiddenSize, feedForwardSize], down: [feedForwardSize, hiddenSize],
  };
  const draw = (length: number): Float32Array => Float32Array.from({ length }, () => 0.4 * (random() - 0.5));
  const matrix = ([inputSize, outputSize]: readonly [number, number]): LoraMatrix => ({ a: draw(rank * inputSize), b: draw(outputSize * rank), inputSize, outputSize });
  const layers = Array.from({ length: config.layerCount }, () => Object.fromEntries(LINEAR_NAMES.map((name) => [name, matrix(sizes[name])])) as Record<LinearName, LoraMatrix>);
  return { rank, alpha: 2 * rank, digest: String(rank).padStart(64, '0') as Digest, layers };
}

function toReference(adapter: LoraAdapter): ReferenceLora {
  const nameOf = (tensor: string): LinearName => LINEAR_NAMES.find((name) => TENSORS[name] === tensor)!;
  return { scaling: adapter.alpha / adapter.rank, matrixOf: (layer, tensor) => ({ ...adapter.layers[layer]![nameOf(tensor)], rank: adapter.rank }) };
}

describe.each(Object.values(TINY_CONFIGS))('$architecture', (config) => {
  describe.each(['q41x', 'f32'] as const)('%s', (format) => {
    const model = tinyModel(config);
    let engine: Engine;
    let expected: Float64Array;

    beforeAll(async () => {
      engine = await start(model, format);
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

test.each(['F32', 'F16', 'Q8_0'] as const)('linears stored as %s are used as they are in both formats', async (storage) => {
  const model = tinyModel(TINY_CONFIGS.llama, storage);
  const expected = referenceLogits(model, TOKENS);
  for (const format of ['q41x', 'f32'] as const) {
    const engine = await start(model, format, false);
    expect(largestDifference(await logitsAfter(engine, [TOKENS]), expected)).toBeLessThan(TOLERANCE);
    await engine.dispose();
  }
});

/** Compiling 14 MB of WASM takes a second, on a busy machine several. */
const WASM_START_MS = 60_000;

describe('onnxruntime-web on WASM', () => {
  const model = tinyModel({ ...TINY_CONFIGS.llama, hiddenSize: 128, feedForwardSize: 192 });
  const expected = referenceLogits(model, TOKENS);

  test.each([
    { what: 'f32 in one buffer', graph: { format: 'f32' } },
    { what: 'f32 with the weights beside the model', graph: { format: 'f32', external: true } },
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
});
