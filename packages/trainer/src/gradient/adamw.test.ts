import { describe, expect, test } from 'vitest';
import { addGradients, clipGradients, createOptimiserState, learningRateAt, takeStep } from './adamw.ts';
import type { LoraParameters } from './parameters.ts';

function single(...values: readonly number[]): LoraParameters {
  return { rank: 1, alpha: 2, tensors: [{ name: 'a', shape: [1, values.length], data: Float32Array.from(values) }] };
}

describe('AdamW', () => {
  test('the first step goes against the sign of each derivative, by the learning rate', () => {
    const parameters = single(1, -2, 3);
    takeStep(parameters, [Float32Array.of(0.3, -40, 1e-4)], createOptimiserState(parameters), 0.01);
    const expected = [0.99, -1.99, 2.99];
    for (const [i, value] of expected.entries()) expect(parameters.tensors[0]!.data[i]).toBeCloseTo(value, 5);
  });

  // torch 2.15.0: optim.AdamW([p], lr=0.1, betas=(0.9, 0.99), eps=1e-8, weight_decay=…), p = [1, -2], gradients as below
  const GRADIENTS = [[0.5, -1], [0.25, 2], [-1, 0.5], [0.125, 0]] as const;
  test.each([
    { weightDecay: 0, expected: [0.8377296, -2.0123009] }, { weightDecay: 0.1, expected: [0.8029474, -1.9353196] },
  ])('four steps with weight decay $weightDecay end where torch’s do', ({ weightDecay, expected }) => {
    const parameters = single(1, -2);
    const state = createOptimiserState(parameters);
    for (const gradient of GRADIENTS) takeStep(parameters, [Float32Array.from(gradient)], state, 0.1, { weightDecay });
    for (const [i, value] of expected.entries()) expect(parameters.tensors[0]!.data[i]).toBeCloseTo(value, 6);
    expect(state.stepCount).toBe(4);
  });

  test('decay shrinks a parameter that has no derivative', () => {
    const parameters = single(2);
    takeStep(parameters, [Float32Array.of(0)], createOptimiserState(parameters), 0.5, { weightDecay: 0.1 });
    expect(parameters.tensors[0]!.data[0]).toBeCloseTo(2 * (1 - 0.05), 6);
  });

  test.each([Number.NaN, -1, Infinity])('a learning rate of %d is the caller’s mistake', (rate) => {
    expect(() => takeStep(single(1), [Float32Array.of(1)], createOptimiserState(single(1)), rate)).toThrow(RangeError);
  });

  test('gradients of other sizes are the caller’s mistake', () => {
    expect(() => takeStep(single(1), [Float32Array.of(1, 2)], createOptimiserState(single(1)), 1)).toThrow(RangeError);
    expect(() => addGradients([Float32Array.of(1)], [])).toThrow(RangeError);
  });
});

describe('gradients', () => {
  test('add up', () => {
    const sum = [Float32Array.of(1, 2), Float32Array.of(3)];
    addGradients(sum, [Float32Array.of(0.5, -2), Float32Array.of(1)]);
    expect(sum).toEqual([Float32Array.of(1.5, 0), Float32Array.of(4)]);
  });

  test.each([
    { maxNorm: 1, expected: [0.6, 0.8] }, { maxNorm: 5, expected: [3, 4] }, { maxNorm: 100, expected: [3, 4] },
  ])('are clipped to a norm of $maxNorm over all tensors together', ({ maxNorm, expected }) => {
    const gradients = [Float32Array.of(3), Float32Array.of(4)];
    expect(clipGradients(gradients, maxNorm)).toBe(5);
    expect(gradients.map(([value]) => value)).toEqual(expected.map((value) => expect.closeTo(value, 6) as number));
  });

  test('cannot be clipped to nothing', () => {
    expect(() => clipGradients([Float32Array.of(1)], 0)).toThrow(RangeError);
  });
});

describe('learning rate', () => {
  const schedule = { peak: 1e-3, warmUpSteps: 4, totalSteps: 104, floor: 0.05 };
  test.each([
    { step: 0, share: 0.25 }, { step: 3, share: 1 }, { step: 4, share: 1 }, { step: 54, share: 0.525 }, { step: 104, share: 0.05 }, { step: 500, share: 0.05 },
  ])('step $step has $share of the peak', ({ step, share }) => {
    expect(learningRateAt(step, schedule)).toBeCloseTo(share * 1e-3, 9);
  });

  test('rises without a pause and then never again', () => {
    const rates = Array.from({ length: 110 }, (_, step) => learningRateAt(step, schedule));
    for (let step = 1; step < rates.length; step++) expect(Math.sign(rates[step]! - rates[step - 1]!)).toBe(step < 4 ? 1 : step === 4 || step > 104 ? 0 : -1);
  });

  test('without warm-up it starts at the peak, and without a fall it ends at the floor', () => {
    expect(learningRateAt(0, { ...schedule, warmUpSteps: 0 })).toBe(1e-3);
    expect(learningRateAt(4, { ...schedule, totalSteps: 4 })).toBeCloseTo(5e-5, 9);
  });
});
