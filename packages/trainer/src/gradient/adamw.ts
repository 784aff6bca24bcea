/**
 * AdamW, with what surrounds it in a training step: gradients of several batches added up, clipped by the norm of them all together, and a learning
 * rate that warms up and falls along a cosine. Sums are in double precision, moments and parameters in float32, element by element in one order: the
 * same numbers in give the same bytes out.
 * Reference: Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2; 2017, "SGDR", eq. 5.
 */
import type { LoraParameters } from './parameters.ts';

export interface AdamWOptions {
  /** Decay of the first moment; default 0.9. */
  readonly beta1?: number;
  /** Decay of the second; default 0.99, of a memory of some 100 steps, where runs have hundreds. */
  readonly beta2?: number;
  /** Default 1e-8. */
  readonly epsilon?: number;
  /** By which parameters shrink in a step, in parts of the learning rate; default 0. */
  readonly weightDecay?: number;
}

/** What the optimiser remembers between steps, by parameter tensor. */
export interface OptimiserState {
  /** Steps taken. */
  stepCount: number;
  readonly firstMoments: readonly Float32Array<ArrayBuffer>[];
  readonly secondMoments: readonly Float32Array<ArrayBuffer>[];
}

export function createOptimiserState({ tensors }: LoraParameters): OptimiserState {
  const zeros = (): readonly Float32Array<ArrayBuffer>[] => tensors.map(({ data }) => new Float32Array(data.length));
  return { stepCount: 0, firstMoments: zeros(), secondMoments: zeros() };
}

/** One step: changes `parameters` and `state` in place. Gradients of other sizes, and a rate that is no number from 0 up, are RangeErrors. */
export function takeStep(parameters: LoraParameters, gradients: readonly Float32Array[], state: OptimiserState, learningRate: number, options: AdamWOptions = {}): void {
  const { beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8, weightDecay = 0 } = options;
  if (!(learningRate >= 0 && Number.isFinite(learningRate))) throw new RangeError('learningRate: a number from 0 up');
  checkSizes(parameters.tensors.map(({ data }) => data), gradients);
  state.stepCount += 1;
  const correction1 = 1 - beta1 ** state.stepCount;
  const correction2 = 1 - beta2 ** state.stepCount;
  for (const [index, { data }] of parameters.tensors.entries()) {
    const [gradient, first, second] = [gradients[index]!, state.firstMoments[index]!, state.secondMoments[index]!];
    for (let i = 0; i < data.length; i++) {
      const slope = gradient[i]!;
      first[i] = beta1 * first[i]! + (1 - beta1) * slope;
      second[i] = beta2 * second[i]! + (1 - beta2) * slope * slope;
      const direction = first[i]! / correction1 / (Math.sqrt(second[i]! / correction2) + epsilon);
      data[i] = data[i]! * (1 - learningRate * weightDecay) - learningRate * direction;
    }
  }
}

/** Adds `gradients` into `sum`, tensor by tensor. */
export function addGradients(sum: readonly Float32Array[], gradients: readonly Float32Array[]): void {
  checkSizes(sum, gradients);
  for (const [index, total] of sum.entries()) {
    const gradient = gradients[index]!;
    for (let i = 0; i < total.length; i++) total[i] = total[i]! + gradient[i]!;
  }
}

/** Shrinks `gradients` in place so that the norm of all of them together is at most `maxNorm`, and gives back what it was. */
export function clipGradients(gradients: readonly Float32Array[], maxNorm: number): number {
  if (!(maxNorm > 0)) throw new RangeError('maxNorm: a positive number');
  let squares = 0;
  for (const gradient of gradients) for (let i = 0; i < gradient.length; i++) squares += gradient[i]! * gradient[i]!;
  const norm = Math.sqrt(squares);
  if (norm <= maxNorm) return norm;
  for (const gradient of gradients) for (let i = 0; i < gradient.length; i++) gradient[i] = gradient[i]! * (maxNorm / norm);
  return norm;
}

export interface LearningRateSchedule {
  readonly peak: number;
  /** Steps of a straight rise to the peak, which the last of them has. */
  readonly warmUpSteps: number;
  readonly totalSteps: number;
  /** What is left after the last step, in parts of the peak. */
  readonly floor: number;
}

/** Learning rate of a step, counted from 0; past the last one the floor. */
export function learningRateAt(step: number, { peak, warmUpSteps, totalSteps, floor }: LearningRateSchedule): number {
  if (step < warmUpSteps) return (peak * (step + 1)) / warmUpSteps;
  const share = totalSteps > warmUpSteps ? Math.min(1, (step - warmUpSteps) / (totalSteps - warmUpSteps)) : 1;
  return peak * (floor + ((1 - floor) * (1 + Math.cos(Math.PI * share))) / 2);
}

function checkSizes(expected: readonly Float32Array[], actual: readonly Float32Array[]): void {
  if (expected.length !== actual.length || expected.some((tensor, i) => tensor.length !== actual[i]!.length)) throw new RangeError('gradients: not of the sizes of the parameters');
}
