import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Digest } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import { createOrtEngine, createRandom, logSumExp, type Engine, type GgufModel, type OrtRuntime } from '@contractrl/runtime-webgpu';
import { createCheckModel } from '@contractrl/runtime-webgpu/web';
import * as ort from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { TREE, unpackTree } from '../../tests/support/tiny-batch.ts';
import { BASE_NAMES, tinyDecoder, tinyParameters, type BaseName } from '../../tests/support/tiny-decoder.ts';
import { packSegments, type PackedBatch, type Segment } from './batch.ts';
import { createGradientEngine, type Gradient, type GradientEngine } from './gradient-engine.ts';
import { trainingMemoryBytes } from './memory.ts';
import { adapterOf, initialParameters, type LoraParameters } from './parameters.ts';

interface Recorded {
  readonly base: BaseName;
  readonly rank: number;
  readonly loss: number;
  readonly logProbabilities: readonly number[];
  /** By parameter. */
  readonly gradients: Readonly<Record<string, readonly number[]>>;
}

const recorded = JSON.parse(gunzipSync(readFileSync(new URL('../../tests/fixtures/gradients/gradients.json.gz', import.meta.url))).toString()) as readonly Recorded[];

async function openEngine(base: BaseName, threadCount = 1): Promise<GradientEngine> {
  const engine = await createGradientEngine({ ort, model: tinyDecoder(base), contextLength: 32, threadCount });
  if (!engine.ok) throw new Error(engine.error.code, { cause: engine.error });
  return engine.value;
}

async function gradientOf(engine: GradientEngine, batch: PackedBatch, parameters: LoraParameters): Promise<Gradient> {
  const gradient = await engine.run(batch, parameters);
  if (!gradient.ok) throw new Error(gradient.error.code, { cause: gradient.error });
  return gradient.value;
}

/** Of the largest derivative of a matrix: float32 sums over two layers against double precision were seen to differ by 2e-6, a wrong term by far more. */
const TOLERANCE = 2e-5;

describe.each(recorded)('$base, rank $rank, against transformers', ({ base, rank, loss, logProbabilities, gradients }) => {
  test.each([{ packing: 'a tree that shares the prompt', segments: TREE }, { packing: 'sequences by themselves', segments: unpackTree(TREE) }])('$packing', async ({ segments }) => {
    const engine = await openEngine(base);
    const parameters = tinyParameters(tinyDecoder(base).config, rank);
    const made = await gradientOf(engine, packSegments(segments), parameters);
    expect(made.loss).toBeCloseTo(loss, 4);
    expect(made.logProbabilities).toHaveLength(logProbabilities.length);
    for (const [i, value] of logProbabilities.entries()) expect(made.logProbabilities[i]).toBeCloseTo(value, 4);
    for (const [i, { name }] of parameters.tensors.entries()) {
      const expected = gradients[name]!;
      const size = Math.max(...expected.map(Math.abs));
      const difference = Math.max(...expected.map((value, at) => Math.abs(value - made.gradients[i]![at]!)));
      expect(made.gradients[i]).toHaveLength(expected.length);
      expect(difference / size, name).toBeLessThan(TOLERANCE);
    }
    await engine.dispose();
  });
});

test('each kind of base that the runtime takes is recorded', () => {
  expect(new Set(recorded.map(({ base }) => base))).toEqual(new Set(BASE_NAMES));
});

describe.each(BASE_NAMES)('%s', (base) => {
  test('along random directions the loss changes as the derivatives say', async () => {
    const engine = await openEngine(base);
    const batch = packSegments(TREE);
    const parameters = tinyParameters(tinyDecoder(base).config, 3);
    const { gradients } = await gradientOf(engine, batch, parameters);
    const random = createRandom(7);
    for (let round = 0; round < 4; round++) {
      const direction = gradients.map((gradient) => gradient.map((value) => value * random() + 0.05 * (2 * random() - 1)));
      const slope = dot(gradients, direction);
      const step = 1e-3 / Math.sqrt(dot(direction, direction)) / 0.05;
      const rise = async (by: number): Promise<number> =>
        ((await gradientOf(engine, batch, moved(parameters, direction, by))).loss - (await gradientOf(engine, batch, moved(parameters, direction, -by))).loss) / (2 * by);
      // the loss is rounded to float32, some 1e-6 of it; of two steps the bend within them is taken out
      expect((4 * (await rise(step / 2)) - (await rise(step))) / 3 / slope).toBeCloseTo(1, 2);
    }
    await engine.dispose();
  });

  test('equal runs give equal bytes, on one thread or two, and in another engine', async () => {
    const parameters = tinyParameters(tinyDecoder(base).config, 2);
    const [one, other, two] = [await openEngine(base), await openEngine(base), await openEngine(base, 2)];
    const batch = packSegments(longSegments());
    const first = await gradientOf(one, batch, parameters);
    for (const engine of [one, other, two]) expect(await gradientOf(engine, batch, parameters)).toEqual(first);
    await Promise.all([one, other, two].map((engine) => engine.dispose()));
  });
});

/** Natural logarithms of −0.1 to −32: 3e-6 was seen, with the base in 4 bits 2e-5; a token of another position or another adapter gives tenths. */
const ROLLOUT_DIGITS = 4;

test.each([...BASE_NAMES.map((name) => ({ name, model: tinyDecoder(name) })), { name: 'a base in 4 bits', model: createCheckModel() }])(
  '$name: log probabilities are those that the engine of the rollout gives under the same adapter', async ({ model }) => {
    const parameters = tinyParameters(model.config, 2);
    const engine = await createGradientEngine({ ort, model, contextLength: 32, threadCount: 1 });
    if (!engine.ok) throw new Error(engine.error.code, { cause: engine.error });
    const { logProbabilities } = await gradientOf(engine.value, packSegments(TREE), parameters);
    const rollout = await openRollout(model, parameters);
    const expected: number[] = [];
    for (const segment of unpackTree(TREE)) expected.push(...(await rolloutLogProbabilities(rollout, segment)));
    expect(Array.from(logProbabilities)).toEqual(expected.map((value) => expect.closeTo(value, ROLLOUT_DIGITS) as number));
    await Promise.all([engine.value.dispose(), rollout.dispose()]);
  },
);

describe('what is not a gradient', () => {
  test('a step of weight 0 gives none, and its log probability all the same', async () => {
    const engine = await openEngine('llama');
    const parameters = tinyParameters(tinyDecoder('llama').config, 2);
    const silent = TREE.map((segment) => ({ ...segment, steps: segment.steps.map((step) => ({ ...step, weight: 0 })) }));
    const { loss, gradients, logProbabilities } = await gradientOf(engine, packSegments(silent), parameters);
    expect(Math.abs(loss)).toBe(0);
    expect(gradients.every((gradient) => gradient.every((value) => value === 0))).toBe(true);
    expect(logProbabilities.every((value) => value < 0)).toBe(true);
    await engine.dispose();
  });

  test('only A is left out at the start, where B is zero', async () => {
    const engine = await openEngine('llama');
    const parameters = initialParameters(tinyDecoder('llama').config, { rank: 2, alpha: 4, seed: 1 });
    const { gradients } = await gradientOf(engine, packSegments(TREE), parameters);
    for (const [i, { name }] of parameters.tensors.entries()) expect(gradients[i]!.some((value) => value !== 0), name).toBe(name.startsWith('lora_b'));
    await engine.dispose();
  });

  test('numbers that are none are reported and not returned', async () => {
    const engine = await openEngine('llama');
    const parameters = tinyParameters(tinyDecoder('llama').config, 2);
    parameters.tensors[3]!.data[0] = Number.NaN;
    expect(await engine.run(packSegments(TREE), parameters)).toMatchObject({ ok: false, error: { code: 'gradient/not-finite', output: 'loss' } });
    await engine.dispose();
  });

  test('a path longer than the graph, parameters of another model, a disposed engine', async () => {
    const engine = await openEngine('llama');
    const parameters = tinyParameters(tinyDecoder('llama').config, 2);
    const long: Segment = { tokens: Array.from({ length: 33 }, () => 1 as TokenId), steps: [{ index: 32, allowed: Int32Array.of(1), weight: 1 }] };
    expect(await engine.run(packSegments([long]), parameters)).toEqual({ ok: false, error: { code: 'gradient/context-full', length: 33, limit: 32 } });
    const deeper = tinyParameters({ ...tinyDecoder('llama').config, hiddenSize: 32 }, 2);
    expect(await engine.run(packSegments(TREE), deeper)).toMatchObject({ ok: false, error: { code: 'gradient/run-failed' } });
    await engine.dispose();
    expect(await engine.run(packSegments(TREE), parameters)).toEqual({ ok: false, error: { code: 'gradient/disposed' } });
  });

  test.each([{ what: 'a token', tokens: [1, 24] }, { what: 'an allowed id', tokens: [1, 2] }])('$what that the model lacks is the caller’s mistake', async ({ tokens }) => {
    const engine = await openEngine('llama');
    const batch = packSegments([{ tokens: tokens as readonly number[] as readonly TokenId[], steps: [{ index: 1, allowed: Int32Array.of(2, 24), weight: 1 }] }]);
    await expect(engine.run(batch, tinyParameters(tinyDecoder('llama').config, 2))).rejects.toThrow(RangeError);
    await engine.dispose();
  });

  test('a base that does not fit into memory is refused before it is built', async () => {
    const model = tinyDecoder('llama');
    const neededBytes = trainingMemoryBytes(model, 32);
    const built: OrtRuntime = { Tensor: ort.Tensor, InferenceSession: { create: () => Promise.reject(new Error('built')) } as unknown as OrtRuntime['InferenceSession'] };
    const open = (availableBytes: number): ReturnType<typeof createGradientEngine> => createGradientEngine({ ort: built, model, contextLength: 32, availableBytes });
    expect(await open(neededBytes - 1)).toEqual({ ok: false, error: { code: 'gradient/too-little-memory', neededBytes, availableBytes: neededBytes - 1 } });
    expect(await open(neededBytes)).toMatchObject({ ok: false, error: { code: 'gradient/load-failed' } });
  });

  test('a context that the model does not have is the caller’s mistake', async () => {
    await expect(createGradientEngine({ ort, model: tinyDecoder('llama'), contextLength: 33 })).rejects.toThrow(RangeError);
  });
});

function dot(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  return a.reduce((sum, values, i) => sum + values.reduce((inner, value, at) => inner + value * b[i]![at]!, 0), 0);
}

function moved(parameters: LoraParameters, direction: readonly Float32Array[], step: number): LoraParameters {
  return { ...parameters, tensors: parameters.tensors.map((tensor, i) => ({ ...tensor, data: tensor.data.map((value, at) => value + step * direction[i]![at]!) })) };
}

/** Long enough that two threads share the products. */
function longSegments(): readonly Segment[] {
  const random = createRandom(3);
  return Array.from({ length: 12 }, () => {
    const tokens = Array.from({ length: 31 }, () => Math.floor(24 * random()) as TokenId);
    return { tokens, steps: [20, 25, 30].map((index) => ({ index, allowed: Int32Array.from({ length: 24 }, (_, id) => id), weight: 2 * random() - 1 })) };
  });
}

async function openRollout(model: GgufModel, parameters: LoraParameters): Promise<Engine> {
  const engine = await createOrtEngine({ ort, model, graph: { format: 'q41x' }, executionProvider: 'cpu', threadCount: 1 });
  if (!engine.ok) throw new Error(engine.error.code, { cause: engine.error });
  const used = engine.value.useAdapter(adapterOf(model.config, parameters, '1'.repeat(64) as Digest));
  if (!used.ok) throw new Error(used.error.code, { cause: used.error });
  return engine.value;
}

/** Among the allowed ids, as the sampler of production reports it. */
async function rolloutLogProbabilities(engine: Engine, { tokens, steps }: Segment): Promise<readonly number[]> {
  const run = await engine.verify(engine.emptyCache, tokens);
  if (!run.ok) throw new Error(run.error.code, { cause: run.error });
  return steps.map(({ index, allowed }) => {
    const logits = new Float32Array(allowed.length);
    engine.logitsOf(run.value.hiddens[index - 1]!, allowed, logits);
    return logits[allowed.indexOf(tokens[index]!)]! - logSumExp(logits, logits.length);
  });
}
