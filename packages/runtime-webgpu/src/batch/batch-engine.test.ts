/** Rows of a batch against rows alone, on the made-up model of the conformance suite: same answers, whatever the others do. */
import * as ort from 'onnxruntime-node';
import * as ortWeb from 'onnxruntime-web';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine, EngineStep, KvCache } from '../engine.ts';
import { generate, type Generation } from '../generate.ts';
import { buildGraph } from '../onnx/graph.ts';
import { createOrtEngine } from '../ort/engine.ts';
import type { OrtRuntime } from '../ort/runtime.ts';
import { createRandom, createSampler } from '../sampling.ts';
import { CHECK_PROMPT, createCheckAdapter, createCheckModel } from '../self-test/check-model.ts';
import { openCheckMatcher, TOKEN_BUDGET } from '../self-test/conformance.ts';
import { PATCH_PROMPT } from '../self-test/known-answers.ts';
import { openBatch, type Batch, type BatchOptions } from './batch-engine.ts';

const model = createCheckModel();
const WIDTH = 8;
/** Of a hidden state, whose numbers are of size 1: sums of float32 in another order. Seen: 2e-6. */
const TOLERANCE = 1e-4;

type Where = Pick<BatchOptions, 'ort' | 'graph' | 'executionProvider' | 'threadCount'>;
const CPU: Where = { ort, graph: { format: 'q41x' }, executionProvider: 'cpu', threadCount: 1 };
const WASM: Where = { ort: ortWeb, graph: { format: 'f32' }, executionProvider: 'wasm' };

async function open(where: Where, width: number = WIDTH): Promise<Batch> {
  const made = await openBatch({ model, width, ...where });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  return made.value;
}

async function openAlone(where: Where): Promise<Engine> {
  const made = await createOrtEngine({ model, ...where });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  return made.value;
}

/** A runtime whose sessions tell of each run how many tokens it had and in how many rows. */
function watched(runs: { readonly rows: number; readonly tokens: number }[], onRun: (outputs: ort.InferenceSession.ReturnType) => void = () => undefined): OrtRuntime {
  return {
    Tensor: ort.Tensor,
    InferenceSession: {
      async create(...given: Parameters<typeof ort.InferenceSession.create>) {
        const session = await ort.InferenceSession.create(...given);
        return {
          inputNames: session.inputNames, outputNames: session.outputNames, release: () => session.release(),
          async run(feeds: ort.InferenceSession.FeedsType) {
            runs.push({ rows: feeds['row_tokens']!.dims[0]!, tokens: feeds['embeddings']!.dims[1]! });
            const outputs = await session.run(feeds);
            onRun(outputs);
            return outputs;
          },
        };
      },
    } as never,
  };
}

async function extend(engine: Engine, cache: KvCache, tokens: readonly number[], signal?: AbortSignal): Promise<EngineStep> {
  const step = await engine.extend(cache, tokens, signal);
  if (!step.ok) throw new Error(step.error.code, { cause: step.error });
  return step.value;
}

/** One masked answer of `prompt`. */
async function answer(engine: Engine, prompt: readonly number[], seed?: number): Promise<Generation> {
  const start = await extend(engine, engine.emptyCache, prompt);
  const sampler = createSampler(seed === undefined ? { kind: 'greedy' } : { kind: 'random', temperature: 3, topP: 1, seed });
  const generation = await generate(engine, openCheckMatcher(), start, { sampler, clock: () => 0, maxTokens: TOKEN_BUDGET });
  if (!generation.ok) throw new Error(generation.error.code);
  return generation.value;
}

function difference(a: Float32Array, b: Float32Array): number {
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - b[i]!)), 0);
}

/** Of lengths below and above what is run together, all different. */
const PROMPTS = Array.from({ length: 12 }, (_, row) => [...PATCH_PROMPT.slice(0, 3 + 7 * row), ...CHECK_PROMPT.slice(0, row), 40 + row]);

describe.each([{ name: 'CPU', where: CPU }, { name: 'WASM', where: WASM }])('$name', ({ where }) => {
  let batch: Batch;
  let alone: Engine;
  beforeAll(async () => {
    batch = await open(where);
    alone = await openAlone(where);
  });
  afterAll(() => Promise.all([batch.engine.dispose(), alone.dispose()]));

  test('twelve prompts over eight rows write the patches that each writes alone', async () => {
    const together = await Promise.all(PROMPTS.map((prompt, row) => batch.run(() => answer(batch.engine, prompt, row))));
    const texts = new Set<string>();
    for (const [row, prompt] of PROMPTS.entries()) {
      const { text, ids, sequenceLogProbability } = await answer(alone, prompt, row);
      texts.add(text);
      expect(together[row]).toMatchObject({ text, ids });
      expect(together[row]!.sequenceLogProbability).toBeCloseTo(sequenceLogProbability, 3);
    }
    expect(texts.size).toBeGreaterThan(3);
  }, 60_000);

  test('rows that grow, go back, fork, are cut and verified at random have the states of rows alone, past the first places of their caches', async () => {
    /** Caches of both engines that mean the same. */
    interface Pair { readonly ours: KvCache; readonly theirs: KvCache }
    const begin: Pair = { ours: batch.engine.emptyCache, theirs: alone.emptyCache };
    const shared: Pair = { ours: (await extend(batch.engine, begin.ours, PATCH_PROMPT)).cache, theirs: (await extend(alone, begin.theirs, PATCH_PROMPT)).cache };
    const lengths = await Promise.all(Array.from({ length: 5 }, (_, row) => batch.run(async () => {
      const random = createRandom(row);
      const below = (limit: number): number => Math.floor(random() * limit);
      const kept = [begin, shared];
      for (let step = 0; step < 16; step++) {
        const from = random() < 0.9 ? kept.at(-1)! : kept[below(kept.length)]!;
        const length = random() < 0.3 ? Math.max(0, from.ours.length - below(20)) : from.ours.length;
        const [ours, theirs] = [batch.engine.shorten(from.ours, length), alone.shorten(from.theirs, length)];
        const tokens = Array.from({ length: 1 + below(random() < 0.3 ? 40 : 6) }, () => below(256));
        const [here, there] = [await batch.engine.verify(ours, tokens), await alone.verify(theirs, tokens)];
        if (!here.ok || !there.ok) throw new Error('a guess was not verified');
        expect(here.value.hiddens.length).toBe(tokens.length);
        for (const [index, hidden] of here.value.hiddens.entries()) expect(difference(hidden, there.value.hiddens[index]!)).toBeLessThan(TOLERANCE);
        const again = await extend(batch.engine, ours, tokens);
        expect(difference(again.hidden, there.value.hiddens.at(-1)!)).toBeLessThan(TOLERANCE);
        kept.push({ ours: random() < 0.5 ? again.cache : here.value.cache, theirs: there.value.cache });
      }
      return Math.max(...kept.map(({ ours }) => ours.length));
    })));
    expect(Math.max(...lengths)).toBeGreaterThan(128);
  }, 60_000);
});

describe('passes', () => {
  const runs: { rows: number; tokens: number }[] = [];
  let batch: Batch;
  beforeAll(async () => {
    batch = await open({ ...CPU, ort: watched(runs) }, 4);
  });
  afterAll(() => batch.engine.dispose());

  async function runsOf(work: () => Promise<unknown>): Promise<readonly { readonly rows: number; readonly tokens: number }[]> {
    runs.length = 0;
    await work();
    return [...runs];
  }

  test('a step of all rows is one run', async () => {
    expect(await runsOf(() => Promise.all([1, 2, 3, 4].map((token) => batch.run(() => extend(batch.engine, batch.engine.emptyCache, [token])))))).toEqual([{ rows: 4, tokens: 4 }]);
  });

  test('a prompt that a group shares is read once, and so is every step until its rows part', async () => {
    const seen = await runsOf(() => Promise.all([7, 7, 8].map((token) => batch.run(async () => {
      const { cache } = await extend(batch.engine, batch.engine.emptyCache, PATCH_PROMPT);
      const stepped = await extend(batch.engine, batch.engine.shorten(cache, PATCH_PROMPT.length - 1), [5]);
      await extend(batch.engine, stepped.cache, [token]);
    }))));
    expect(seen).toEqual([{ rows: 1, tokens: PATCH_PROMPT.length }, { rows: 1, tokens: 1 }, { rows: 2, tokens: 2 }]);
  });

  test('a row that ends leaves its place to the next in line, and holds up nobody where there is none', async () => {
    const order: number[] = [];
    const seen = await runsOf(() => Promise.all([3, 1, 1, 1, 1].map((stepCount, row) => batch.run(async () => {
      let cache: KvCache = batch.engine.emptyCache;
      for (let step = 0; step < stepCount; step++) ({ cache } = await extend(batch.engine, cache, [row + 1]));
      order.push(row);
    }))));
    expect(seen).toEqual([{ rows: 4, tokens: 4 }, { rows: 2, tokens: 2 }, { rows: 1, tokens: 1 }]);
    expect(order.at(-1)).toBe(0);
  });

  test('a chunk that is long for its pass comes in parts, one that is long by itself runs alone, and the others go on', async () => {
    const tokens = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);
    const steps = async (chunks: readonly number[]): Promise<void> => {
      let cache: KvCache = batch.engine.emptyCache;
      for (const count of chunks) ({ cache } = await extend(batch.engine, cache, tokens(count)));
    };
    const seen = await runsOf(() => Promise.all([[12], [1, 1], [40, 1]].map((chunks) => batch.run(() => steps(chunks)))));
    expect(seen).toEqual([{ rows: 1, tokens: 40 }, { rows: 3, tokens: 10 }, { rows: 2, tokens: 5 }]);
  });

  test('what is asked outside of any row runs at once', async () => {
    expect(await runsOf(() => extend(batch.engine, batch.engine.emptyCache, [1, 2]))).toEqual([{ rows: 1, tokens: 2 }]);
  });

  test('the abort of one row ends that row and no other, while it waits and while it runs', async () => {
    const controller = new AbortController();
    const ended: string[] = [];
    const row = (name: string, signal?: AbortSignal): Promise<void> => batch.run(async () => {
      let cache: KvCache = batch.engine.emptyCache;
      for (let step = 0; step < 3; step++) {
        if (name === 'third' && step === 1) controller.abort();
        const next = await batch.engine.extend(cache, [name.length, step], signal);
        if (!next.ok) {
          ended.push(`${name}: ${next.error.code} at ${step}`);
          return;
        }
        ({ cache } = next.value);
      }
      ended.push(`${name}: done`);
    });
    await Promise.all([row('first'), row('second', controller.signal), row('third')]);
    expect(ended.sort()).toEqual(['first: done', 'second: engine/aborted at 1', 'third: done']);
  });
});

describe('adapters', () => {
  test('all rows run under one: another is refused while rows are open, and taken when none is', async () => {
    const batch = await open(CPU, 2);
    const alone = await openAlone(CPU);
    const [four, eight] = [createCheckAdapter(4), createCheckAdapter(8)];
    expect(batch.engine.useAdapter(four)).toMatchObject({ ok: true });
    await batch.run(async () => {
      const { cache } = await extend(batch.engine, batch.engine.emptyCache, [1]);
      expect(batch.engine.useAdapter(four)).toMatchObject({ ok: true });
      expect(batch.engine.useAdapter(eight)).toMatchObject({ ok: false, error: { code: 'engine/adapter-mismatch', detail: expect.stringContaining('all rows of a batch run under one adapter') as string } });
      expect(batch.engine.useAdapter(undefined)).toMatchObject({ ok: false });
      await extend(batch.engine, cache, [2]);
    });
    expect(batch.engine.useAdapter(eight)).toMatchObject({ ok: true });
    alone.useAdapter(eight);
    const [ours, theirs] = [await extend(batch.engine, batch.engine.emptyCache, CHECK_PROMPT), await extend(alone, alone.emptyCache, CHECK_PROMPT)];
    expect(difference(ours.hidden, theirs.hidden)).toBeLessThan(TOLERANCE);
    await Promise.all([batch.engine.dispose(), alone.dispose()]);
  });
});

describe('failures', () => {
  const ask = (batch: Batch, token: number): Promise<string> => batch.run(async () => {
    const step = await batch.engine.extend(batch.engine.emptyCache, [token]);
    return step.ok ? 'ok' : step.error.code;
  });

  test('a row whose numbers overflow fails, and no other', async () => {
    let isSpoiled = true;
    const batch = await open({ ...CPU, ort: watched([], (outputs) => { if (isSpoiled) (outputs['hidden']!.data as Float32Array)[1] = NaN; }) }, 3);
    const codes = await Promise.all([1, 2, 3].map((token) => ask(batch, token)));
    expect(codes.sort()).toEqual(['engine/bad-logits', 'ok', 'ok']);
    isSpoiled = false;
    expect(await ask(batch, 1)).toBe('ok');
    await batch.engine.dispose();
  });

  test('a run that throws fails all rows and every later step', async () => {
    const batch = await open({ ...CPU, ort: watched([], () => { throw new Error('no such kernel'); }) }, 2);
    expect(await Promise.all([1, 2, 3].map((token) => ask(batch, token)))).toEqual(['engine/run-failed', 'engine/run-failed', 'engine/run-failed']);
    expect(batch.engine.useAdapter(undefined)).toMatchObject({ ok: false, error: { code: 'engine/run-failed' } });
    await batch.engine.dispose();
  });

  test('a disposed batch says so, also to a row that waits for another', async () => {
    const batch = await open(CPU, 2);
    let end = (): void => undefined;
    const idle = batch.run(() => new Promise<void>((resolve) => { end = resolve; }));
    const waiting = ask(batch, 1);
    await new Promise((resolve) => setTimeout(resolve, 0));
    await batch.engine.dispose();
    expect(await waiting).toBe('engine/disposed');
    end();
    await idle;
    expect(await ask(batch, 1)).toBe('engine/disposed');
  });

  test('a work that throws leaves its row', async () => {
    const batch = await open(CPU, 1);
    await expect(batch.run(() => Promise.reject(new Error('mine')))).rejects.toThrow('mine');
    expect(await ask(batch, 1)).toBe('ok');
    await batch.engine.dispose();
  });

  test.each([0, 1.5, NaN])('a width of %d is the caller’s mistake', async (width) => {
    await expect(openBatch({ model, width, ...CPU })).rejects.toThrow(RangeError);
  });

  test('a graph for one row is refused, and by an engine one for a batch', async () => {
    const [single, batched] = [buildGraph(model, CPU.graph), buildGraph(model, { ...CPU.graph, batched: true })];
    expect(await openBatch({ model, width: 2, ...CPU, source: single })).toMatchObject({ ok: false, error: { code: 'engine/wrong-graph', detail: 'not for a batch' } });
    expect(await createOrtEngine({ model, ...CPU, source: batched })).toMatchObject({ ok: false, error: { code: 'engine/wrong-graph', detail: 'for a batch' } });
  });
});
