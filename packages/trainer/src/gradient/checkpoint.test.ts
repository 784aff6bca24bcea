import * as ort from 'onnxruntime-node';
import { describe, expect, test } from 'vitest';
import { TREE } from '../../tests/support/tiny-batch.ts';
import { tinyDecoder } from '../../tests/support/tiny-decoder.ts';
import { clipGradients, createOptimiserState, learningRateAt, takeStep, type OptimiserState } from './adamw.ts';
import { packSegments } from './batch.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { createGradientEngine } from './gradient-engine.ts';
import { initialParameters, type LoraParameters } from './parameters.ts';

describe('a run of the tiny decoder', () => {
  const model = tinyDecoder('llama');
  const batch = packSegments(TREE.map((segment) => ({ ...segment, steps: segment.steps.map((step) => ({ ...step, weight: 0.1 })) })));

  /** Losses of `count` steps, which change `parameters` and `state`. */
  async function train(parameters: LoraParameters, state: OptimiserState, count: number): Promise<readonly number[]> {
    const engine = await createGradientEngine({ ort, model, contextLength: 32, threadCount: 1 });
    if (!engine.ok) throw new Error(engine.error.code, { cause: engine.error });
    const losses: number[] = [];
    for (let i = 0; i < count; i++) {
      const gradient = await engine.value.run(batch, parameters);
      if (!gradient.ok) throw new Error(gradient.error.code, { cause: gradient.error });
      clipGradients(gradient.value.gradients, 1);
      takeStep(parameters, gradient.value.gradients, state, learningRateAt(state.stepCount, { peak: 0.02, warmUpSteps: 3, totalSteps: 30, floor: 0.05 }), { weightDecay: 0.01 });
      losses.push(gradient.value.loss);
    }
    await engine.value.dispose();
    return losses;
  }

  const fresh = (): LoraParameters => initialParameters(model.config, { rank: 2, alpha: 4, seed: 5 });

  test('learns what it is shown', async () => {
    const parameters = fresh();
    const losses = await train(parameters, createOptimiserState(parameters), 30);
    expect(losses.at(-1)).toBeLessThan(0.1 * losses[0]!);
  });

  test('resumed from a checkpoint it goes on with the same bytes', async () => {
    const whole = fresh();
    const wholeState = createOptimiserState(whole);
    await train(whole, wholeState, 7);
    const half = fresh();
    const halfState = createOptimiserState(half);
    await train(half, halfState, 4);
    const resumed = readCheckpoint(writeCheckpoint({ parameters: half, state: halfState }), fresh());
    if (!resumed.ok) throw new Error(resumed.error.code, { cause: resumed.error });
    await train(resumed.value.parameters, resumed.value.state, 3);
    expect(writeCheckpoint(resumed.value)).toEqual(writeCheckpoint({ parameters: whole, state: wholeState }));
  });
});

describe('checkpoint', () => {
  const single = (...values: readonly number[]): LoraParameters => ({ rank: 1, alpha: 2, tensors: [{ name: 'a', shape: [1, values.length], data: Float32Array.from(values) }] });
  const parameters = single(1, 2);
  const renamed: LoraParameters = { ...parameters, tensors: [{ ...parameters.tensors[0]!, name: 'b' }] };
  const file = writeCheckpoint({ parameters, state: createOptimiserState(parameters) });

  test.each([
    { what: 'cut off', bytes: file.subarray(0, -1), code: 'checkpoint/unreadable' },
    { what: 'empty', bytes: new Uint8Array(0), code: 'checkpoint/unreadable' },
    { what: 'of other shapes', bytes: writeCheckpoint({ parameters: single(1), state: createOptimiserState(single(1)) }), code: 'checkpoint/mismatch' },
    { what: 'of another alpha', bytes: writeCheckpoint({ parameters: { ...parameters, alpha: 3 }, state: createOptimiserState(parameters) }), code: 'checkpoint/mismatch' },
    { what: 'of another run’s tensors', bytes: writeCheckpoint({ parameters: renamed, state: createOptimiserState(renamed) }), code: 'checkpoint/mismatch' },
  ])('a file $what is refused', ({ bytes, code }) => {
    expect(readCheckpoint(bytes, parameters)).toMatchObject({ ok: false, error: { code } });
  });
});
