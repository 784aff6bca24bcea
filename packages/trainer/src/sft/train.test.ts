import { ok, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import fc from 'fast-check';
import * as ort from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { tinyParameters } from '../../tests/support/tiny-decoder.ts';
import { TINY_CONTEXT, TINY_TOKENIZER, TINY_VOCABULARY, tinyDataset, tinyPolicyModel } from '../../tests/support/tiny-policy.ts';
import { callOf, type Example } from '../data/example.ts';
import { createOptimiserState } from '../gradient/adamw.ts';
import { packSegments } from '../gradient/batch.ts';
import { createGradientEngine, type Gradient, type GradientEngine } from '../gradient/gradient-engine.ts';
import { openRandom } from '../random.ts';
import { encodeExample, type EncodedExample } from './encode-example.ts';
import { DEFAULT_SFT, openBatches, trainSft, type SftEvent, type SftOptions, type SftSettings } from './train.ts';

function taken<T>(result: Result<T, { readonly code: string }>): T {
  if (!result.ok) throw new Error(result.error.code, { cause: result.error });
  return result.value;
}

/** So many examples of each call, those of different calls mixed. */
function examplesOf(counts: readonly number[]): readonly Example[] {
  const rounds = Array.from({ length: Math.max(...counts) }, (_, round) => counts.flatMap((count, call) => (round < count ? [{ id: `call-${call}#${round}` } as Example] : [])));
  return rounds.flat();
}

/** The ids of an epoch, in order. */
function dealt(train: readonly Example[], epoch: number, settings: Pick<SftSettings, 'seed' | 'batchSize'>): readonly string[] {
  const steps = Math.ceil(train.length / settings.batchSize);
  const batchAt = openBatches(train, settings);
  return Array.from({ length: steps }, (_, step) => batchAt(epoch * steps + step)).flat().map(({ id }) => id);
}

/** A batch by itself, its calls looked for among all examples: what a run of any length has at that step. */
function batchAlone(train: readonly Example[], step: number, { seed, batchSize }: Pick<SftSettings, 'seed' | 'batchSize'>): readonly Example[] {
  const calls = [...new Set(train.map(callOf))].map((call) => train.filter((example) => callOf(example) === call));
  const stepsAnEpoch = Math.ceil(train.length / batchSize);
  const dealtCalls = openRandom(seed, `epoch:${Math.floor(step / stepsAnEpoch)}`).shuffled(calls);
  return dealtCalls.flat().filter((_, place) => Math.floor(place / batchSize) === step % stepsAnEpoch);
}

describe('an epoch', () => {
  test('deals every example once, and those of one call after each other', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 9 }), fc.nat(), fc.nat({ max: 3 }), (counts, batchSize, seed, epoch) => {
      const train = examplesOf(counts);
      const ids = dealt(train, epoch, { seed, batchSize });
      expect([...ids].sort()).toEqual(train.map(({ id }) => id).sort());
      const runs = ids.filter((id, index) => index === 0 || callOf({ id }) !== callOf({ id: ids[index - 1]! }));
      expect(runs).toHaveLength(counts.length);
    }), { numRuns: 100 });
  });

  test('has the same batches whichever steps were asked for before', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 9 }), fc.nat(), fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 12 }), (counts, batchSize, seed, steps) => {
      const train = examplesOf(counts);
      const batchAt = openBatches(train, { seed, batchSize });
      expect(steps.map(batchAt)).toEqual(steps.map((step) => batchAlone(train, step, { seed, batchSize })));
    }), { numRuns: 100 });
  });

  test('is dealt anew each time, and alike for a seed', () => {
    const train = examplesOf(Array<number>(20).fill(2));
    const first = dealt(train, 0, { seed: 1, batchSize: 8 });
    expect(dealt(train, 0, { seed: 1, batchSize: 8 })).toEqual(first);
    expect(dealt(train, 1, { seed: 1, batchSize: 8 })).not.toEqual(first);
    expect(dealt(train, 0, { seed: 2, batchSize: 8 })).not.toEqual(first);
  });
});

const model = tinyPolicyModel();
const parts = { tokenizer: TINY_TOKENIZER, vocabulary: TINY_VOCABULARY, contextLength: TINY_CONTEXT };

describe('training', () => {
  test('meets each example of an epoch in one step', async () => {
    const train = examplesOf([2, 1, 3, 2, 2, 1]);
    const met: string[] = [];
    const parameters = tinyParameters(model.config, 2);
    const still: GradientEngine = {
      run: ({ targets }) => Promise.resolve(ok({ loss: 0, logProbabilities: new Float32Array(targets.length), gradients: parameters.tensors.map(({ data }) => new Float32Array(data.length)) })),
      dispose: () => Promise.resolve(),
    };
    const events: SftEvent[] = [];
    const options: SftOptions = {
      engine: still, run: { parameters, state: createOptimiserState(parameters) }, train, validation: [{ id: 'other#0' } as Example], settings: { ...DEFAULT_SFT, epochs: 2, batchSize: 4 }, clock: () => 0,
      encode({ id }) {
        if (id !== 'other#0') met.push(id);
        return ok({ promptIds: [1, 2] as readonly TokenId[], answerIds: [3] as readonly TokenId[], decisions: [{ index: 0, allowed: Int32Array.of(3, 4) }] });
      },
      onEvent: (event) => { events.push(event); },
    };
    expect(taken(await trainSft(options))).toBe('done');
    const ids = train.map(({ id }) => id).sort();
    expect([met.slice(0, 11).sort(), met.slice(11).sort()]).toEqual([ids, ids]);
    expect(events.filter(({ kind }) => kind === 'step')).toHaveLength(6);
  });

  test('has the loss and the derivative of its examples one by one, in fewer positions', async () => {
    const encoded = new Map<Example, EncodedExample>();
    for (const example of tinyDataset(90).examples) {
      const one = encodeExample(example, parts);
      if (one.ok && one.value.promptIds.length < 400) encoded.set(example, one.value);
    }
    const tokensOf = (example: Example): readonly TokenId[] => [...encoded.get(example)!.promptIds, ...encoded.get(example)!.answerIds];
    const examples = [...encoded.keys()];
    const pairs = examples.flatMap((a, at) => {
      const b = examples[at + 1];
      return b !== undefined && callOf(a) === callOf(b) ? [[a, b] as const] : [];
    });
    // the pair that fits best into one pack
    const positionsOf = (pair: readonly Example[]): number => new Set(pair.flatMap((example) => tokensOf(example).map((_, index, tokens) => tokens.slice(0, index + 1).join()))).size;
    const [pair] = pairs.toSorted((a, b) => positionsOf(a) - positionsOf(b));
    const batch = [...pair!, ...examples.filter((example) => callOf(example) !== callOf(pair![0])).slice(0, 1)];
    const parameters = tinyParameters(model.config, 2);
    const engine = taken(await createGradientEngine({ ort, model, contextLength: TINY_CONTEXT, threadCount: 1 }));

    const decisionCount = batch.reduce((sum, example) => sum + encoded.get(example)!.decisions.length, 0);
    const alone: Gradient[] = [];
    for (const example of batch) {
      const { promptIds, decisions } = encoded.get(example)!;
      const steps = decisions.map(({ index, allowed }) => ({ index: promptIds.length + index, allowed, weight: 1 / decisionCount }));
      alone.push(taken(await engine.run(packSegments([{ tokens: tokensOf(example), steps }]), parameters)));
    }

    const stop = new AbortController();
    const packed: Gradient[] = [];
    const losses: number[] = [];
    let positionCount = 0;
    const watched: GradientEngine = {
      async run(given, at) {
        const run = await engine.run(given, at);
        if (run.ok) packed.push(run.value);
        positionCount += given.tokens.length;
        return run;
      },
      dispose: () => engine.dispose(),
    };
    await trainSft({
      engine: watched, run: { parameters, state: createOptimiserState(parameters) }, train: batch, validation: batch, settings: { ...DEFAULT_SFT, batchSize: batch.length }, clock: () => 0, signal: stop.signal,
      encode: (example) => encodeExample(example, parts),
      onEvent(event) {
        if (event.kind === 'step') losses.push(event.loss);
        stop.abort();
      },
    });
    await engine.dispose();

    const sumOf = (runs: readonly Gradient[]): readonly number[] => parameters.tensors.flatMap((_, index) => runs.map(({ gradients }) => [...gradients[index]!]).reduce((a, b) => a.map((value, at) => value + b[at]!)));
    const norm = (values: readonly number[]): number => Math.hypot(...values);
    const [expected, actual] = [sumOf(alone), sumOf(packed)];
    expect(losses).toEqual([expect.closeTo(alone.reduce((sum, { loss }) => sum + loss, 0), 4)]);
    expect(norm(expected)).toBeGreaterThan(0.01);
    expect(norm(actual.map((value, index) => value - expected[index]!))).toBeLessThan(1e-4 * norm(expected));
    expect(packed.length).toBeLessThan(batch.length);
    expect(positionCount).toBeLessThan(0.9 * batch.reduce((sum, example) => sum + tokensOf(example).length, 0));
  });
});
