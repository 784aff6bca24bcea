import * as ort from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Digest } from '@contractrl/core';
import { largestDifference } from '../../tests/support/tiny-engine.ts';
import { TINY_CONFIGS, tinyModel } from '../../tests/support/tiny-model.ts';
import type { Engine, KvCache } from '../engine.ts';
import { LINEAR_NAMES, type LinearName, type LoraAdapter, type LoraMatrix } from '../lora/adapter.ts';
import { linearShape } from '../model/layout.ts';
import { readGguf, type GgufModel } from '../model/gguf.ts';
import { buildGraph, type GraphOptions } from '../onnx/graph.ts';
import { concatBytes } from '../onnx/encoder.ts';
import { createOrtEngine, type OrtEngineOptions } from './engine.ts';

const GRAPH: GraphOptions = { format: 'q41x' };

async function load(config = TINY_CONFIGS.llama): Promise<GgufModel> {
  const read = await readGguf(tinyModel(config).file);
  if (!read.ok) throw new Error(read.error.code);
  return read.value;
}

const model = await load();
const deeper = await load({ ...TINY_CONFIGS.llama, layerCount: 3 });

async function start(options: Partial<OrtEngineOptions> = {}): Promise<Engine> {
  const made = await createOrtEngine({ ort, model, graph: GRAPH, executionProvider: 'cpu', threadCount: 1, ...options });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  return made.value;
}

async function extend(engine: Engine, cache: KvCache, tokens: readonly number[]): Promise<{ cache: KvCache; hidden: Float32Array }> {
  const step = await engine.extend(cache, tokens);
  if (!step.ok) throw new Error(step.error.code);
  return step.value;
}

/** An adapter whose every number is `value`. */
function adapterOf(value: number, layerCount = 2): LoraAdapter {
  const matrix = (linear: LinearName): LoraMatrix => {
    const { inputSize, outputSize } = linearShape(model.config, linear);
    return { inputSize, outputSize, a: new Float32Array(inputSize).fill(value), b: new Float32Array(outputSize).fill(value) };
  };
  const layers = Array.from({ length: layerCount }, () => Object.fromEntries(LINEAR_NAMES.map((name) => [name, matrix(name)])) as Record<LinearName, LoraMatrix>);
  return { rank: 1, alpha: 1, digest: `adapter of ${value}` as Digest, layers };
}

describe('steps', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine.dispose());

  test('an older cache still means what it meant, so a rollback is holding on to it', async () => {
    const { cache } = await extend(engine, engine.emptyCache, [1, 2, 3]);
    const first = await extend(engine, cache, [4]);
    await extend(engine, first.cache, [5, 6, 7]);
    const again = await extend(engine, cache, [4]);
    expect(again.hidden).toEqual(first.hidden);
    expect([cache.length, first.cache.length]).toEqual([3, 4]);
  });

  test('a guess is verified with the states that single steps give, in parts too', async () => {
    const [shared, tokens] = [(await extend(engine, engine.emptyCache, [1, 2])).cache, [3, 4, 5, 6, 7]];
    const parted = await start({ maxChunkLength: 2 });
    const partedStart = (await extend(parted, parted.emptyCache, [1, 2])).cache;
    const [whole, parts] = [await engine.verify(shared, tokens), await parted.verify(partedStart, tokens)];
    if (!whole.ok || !parts.ok) throw new Error('a guess was not verified');
    expect([whole.value.hiddens.length, parts.value.hiddens.length, parts.value.cache.length]).toEqual([5, 5, 7]);
    for (const [index, hidden] of whole.value.hiddens.entries()) {
      const alone = (await extend(engine, shared, tokens.slice(0, index + 1))).hidden;
      expect(largestDifference(hidden, alone)).toBeLessThan(1e-4);
      expect(largestDifference(parts.value.hiddens[index]!, alone)).toBeLessThan(1e-4);
    }
    for (const count of [1, 2, 4]) {
      const [few, fewOfParts] = [await engine.verify(shared, tokens, undefined, count), await parted.verify(partedStart, tokens, undefined, count)];
      if (!few.ok || !fewOfParts.ok) throw new Error('a guess was not verified');
      expect(few.value.hiddens).toHaveLength(count);
      for (let back = 1; back <= count; back++) {
        expect(largestDifference(few.value.hiddens.at(-back)!, whole.value.hiddens.at(-back)!)).toBeLessThan(1e-4);
        expect(largestDifference(fewOfParts.value.hiddens.at(-back)!, whole.value.hiddens.at(-back)!)).toBeLessThan(1e-4);
      }
    }
    await parted.dispose();
  });

  test('a cache that was cut goes on as one that never was longer, again and again, and the longer one is whole', async () => {
    const tokens = [9, 8, 7, 6, 5, 4, 3];
    const { cache } = await extend(engine, engine.emptyCache, tokens);
    const untouched = await extend(engine, cache, [2]);
    for (const length of [0, 1, 4, 7]) {
      let cut = engine.shorten(cache, length);
      let fresh = length === 0 ? engine.emptyCache : (await extend(engine, engine.emptyCache, tokens.slice(0, length))).cache;
      for (const chunk of [[11], [12, 13], [14], [15, 16, 17, 18]]) {
        const [step, expected] = [await extend(engine, cut, chunk), await extend(engine, fresh, chunk)];
        expect(step.cache.length).toBe(expected.cache.length);
        expect(largestDifference(step.hidden, expected.hidden)).toBeLessThan(1e-4);
        [cut, fresh] = [step.cache, expected.cache];
      }
    }
    expect((await extend(engine, cache, [2])).hidden).toEqual(untouched.hidden);
    for (const length of [-1, 8, 0.5]) expect(() => engine.shorten(cache, length)).toThrow(RangeError);
  });

  test('steps asked for at once run one after the other, each on its own cache', async () => {
    const alone = await Promise.all([[1], [2, 3], [4]].map((tokens) => extend(engine, engine.emptyCache, tokens)));
    for (const [index, tokens] of [[1], [2, 3], [4]].entries()) {
      expect((await extend(engine, engine.emptyCache, tokens)).hidden).toEqual(alone[index]!.hidden);
    }
  });

  test('an aborted signal ends a step before it runs and while it waits, and the engine goes on', async () => {
    expect(await engine.extend(engine.emptyCache, [1], AbortSignal.abort())).toEqual({ ok: false, error: { code: 'engine/aborted' } });
    const controller = new AbortController();
    const waiting = [engine.extend(engine.emptyCache, [1, 2]), engine.extend(engine.emptyCache, [1], controller.signal)] as const;
    controller.abort();
    expect(await waiting[0]).toMatchObject({ ok: true });
    expect(await waiting[1]).toEqual({ ok: false, error: { code: 'engine/aborted' } });
    expect(await engine.extend(engine.emptyCache, [1])).toMatchObject({ ok: true });
  });

  test('more positions than the context has are refused, the last one fits', async () => {
    const { cache } = await extend(engine, engine.emptyCache, Array.from({ length: 63 }, () => 1));
    expect(await engine.extend(cache, [1, 2])).toEqual({ ok: false, error: { code: 'engine/context-full', length: 65, limit: 64 } });
    expect(await engine.extend(cache, [1])).toMatchObject({ ok: true, value: { cache: { length: 64 } } });
  });

  test.each([
    { what: 'no tokens', tokens: [] },
    { what: 'an id past the vocabulary', tokens: [50] },
    { what: 'a negative id', tokens: [-1] },
    { what: 'a fraction', tokens: [0.5] },
  ])('$what is the caller’s mistake', async ({ tokens }) => {
    await expect(engine.extend(engine.emptyCache, tokens)).rejects.toThrow(RangeError);
  });

  test('a cache of another engine is the caller’s mistake', async () => {
    const other = await start();
    await expect(engine.extend(other.emptyCache, [1])).rejects.toThrow(TypeError);
    await expect(engine.extend({ length: 0 }, [1])).rejects.toThrow(TypeError);
    await other.dispose();
  });

  test('logits need a whole hidden state, known ids and room for the answer', () => {
    const hidden = new Float32Array(64);
    expect(() => engine.logitsOf(new Float32Array(63), Int32Array.of(0), new Float32Array(1))).toThrow(RangeError);
    expect(() => engine.logitsOf(hidden, Int32Array.of(50), new Float32Array(1))).toThrow(RangeError);
    expect(() => engine.logitsOf(hidden, Int32Array.of(0, 1), new Float32Array(1))).toThrow(RangeError);
    expect(() => engine.allLogits(hidden, new Float32Array(49))).toThrow(RangeError);
  });
});

describe('adapters', () => {
  test('a cache filled under one adapter is refused under another', async () => {
    const engine = await start();
    const { cache } = await extend(engine, engine.emptyCache, [1, 2]);
    engine.useAdapter(adapterOf(0.1));
    expect(engine.adapterDigest).toBe('adapter of 0.1');
    expect(await engine.extend(cache, [3])).toMatchObject({ ok: false, error: { code: 'engine/adapter-mismatch' } });
    expect(await engine.extend(engine.emptyCache, [3])).toMatchObject({ ok: true });
    engine.useAdapter(undefined);
    expect(await engine.extend(cache, [3])).toMatchObject({ ok: true });
    await engine.dispose();
  });

  test('one with other layers or sizes is refused and leaves the one in use', async () => {
    const engine = await start();
    engine.useAdapter(adapterOf(0.1));
    expect(engine.useAdapter(adapterOf(0.2, 3))).toMatchObject({ ok: false, error: { code: 'engine/adapter-mismatch', detail: '3 layers, the model has 2' } });
    const wide = adapterOf(0.3);
    const layers = wide.layers.map((layer) => ({ ...layer, up: { ...layer.up!, outputSize: 95 } }));
    expect(engine.useAdapter({ ...wide, layers })).toMatchObject({ ok: false, error: { detail: 'up of layer 0 is 64 to 95, the model\'s 64 to 96' } });
    expect(engine.adapterDigest).toBe('adapter of 0.1');
    await engine.dispose();
  });

  test('a graph without adapter inputs takes none', async () => {
    const engine = await start({ graph: { ...GRAPH, lora: false } });
    expect(engine.useAdapter(adapterOf(0.1))).toMatchObject({ ok: false, error: { code: 'engine/adapter-mismatch' } });
    expect(engine.useAdapter(undefined)).toEqual({ ok: true, value: undefined });
    await engine.dispose();
  });

  test('one that makes the hidden state overflow fails the step, not the engine', async () => {
    const engine = await start();
    engine.useAdapter(adapterOf(1e20));
    expect(await engine.extend(engine.emptyCache, [1])).toEqual({ ok: false, error: { code: 'engine/bad-logits' } });
    engine.useAdapter(undefined);
    expect(await engine.extend(engine.emptyCache, [1])).toMatchObject({ ok: true });
    await engine.dispose();
  });
});

describe('failures of the runtime', () => {
  test('a run that throws fails that step and every later one', async () => {
    const { inputNames, outputNames } = await ort.InferenceSession.create(concatBytes(buildGraph(model, GRAPH).parts));
    const failing = { inputNames, outputNames, run: () => Promise.reject(new Error('no such kernel')) };
    const failingRuntime = { Tensor: ort.Tensor, InferenceSession: { create: () => Promise.resolve(failing) } };
    const engine = await start({ ort: failingRuntime as never });
    const first = await engine.extend(engine.emptyCache, [1]);
    expect(first).toMatchObject({ ok: false, error: { code: 'engine/run-failed', cause: { message: 'no such kernel' } } });
    expect(await engine.extend(engine.emptyCache, [1])).toEqual(first);
    expect(engine.useAdapter(undefined)).toEqual(first);
  });

  test('memory that cannot be had for what goes in is a typed failure too, and the queue goes on', async () => {
    const { inputNames, outputNames } = await ort.InferenceSession.create(concatBytes(buildGraph(model, GRAPH).parts));
    let isExhausted = false;
    const Tensor = new Proxy(ort.Tensor, { construct: (target, args: never[]) => { if (isExhausted) throw new RangeError('Array buffer allocation failed'); return Reflect.construct(target, args) as ort.Tensor; } });
    const engine = await start({ ort: { Tensor, InferenceSession: { create: () => Promise.resolve({ inputNames, outputNames, release: () => Promise.resolve() }) } } as never });
    isExhausted = true;
    expect(await engine.extend(engine.emptyCache, [1])).toMatchObject({ ok: false, error: { code: 'engine/out-of-memory' } });
    expect(await engine.extend(engine.emptyCache, [1])).toMatchObject({ ok: false, error: { code: 'engine/out-of-memory' } });
    await engine.dispose();
  });

  test('a disposed engine says so, also to a step that was waiting; disposing twice is harmless', async () => {
    const engine = await start();
    const waiting = engine.extend(engine.emptyCache, [1]);
    await engine.dispose();
    await engine.dispose();
    expect(await waiting).toEqual({ ok: false, error: { code: 'engine/disposed' } });
    expect(await engine.extend(engine.emptyCache, [1])).toEqual({ ok: false, error: { code: 'engine/disposed' } });
    expect(engine.useAdapter(undefined)).toEqual({ ok: false, error: { code: 'engine/disposed' } });
  });
});

describe('loading', () => {
  test('a graph built before gives the same engine, and phases are reported in order', async () => {
    const phases: string[] = [];
    const built = await start({ onProgress: (phase) => phases.push(phase) });
    const given = await start({ source: buildGraph(model, GRAPH) });
    expect((await extend(given, given.emptyCache, [1, 2])).hidden).toEqual((await extend(built, built.emptyCache, [1, 2])).hidden);
    expect(phases).toEqual(['build-graph', 'load-session', 'ready']);
    expect(given.identity).toEqual({ backend: 'onnxruntime-cpu', modelDigest: model.digest, format: 'q41x' });
    await Promise.all([built.dispose(), given.dispose()]);
  });

  test.each([
    { what: 'a file that is not there', source: '/nowhere/graph.onnx', code: 'engine/load-failed' },
    { what: 'half a graph', source: { ...buildGraph(model, GRAPH), parts: [concatBytes(buildGraph(model, GRAPH).parts).slice(0, 20_000)] }, code: 'engine/load-failed' },
    { what: 'a graph without adapter inputs', source: buildGraph(model, { ...GRAPH, lora: false }), code: 'engine/wrong-graph' },
    { what: 'a graph of a deeper model', source: buildGraph(deeper, GRAPH), code: 'engine/wrong-graph' },
  ])('$what is refused', async ({ source, code }) => {
    expect(await createOrtEngine({ ort, model, graph: GRAPH, source, executionProvider: 'cpu' })).toMatchObject({ ok: false, error: { code } });
  });
});
