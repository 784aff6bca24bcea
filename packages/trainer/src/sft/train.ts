/**
 * The supervised start: AdamW on the right answers, under the mask. A step reads a batch of shuffled examples, one a run of the graph, the longest first,
 * and adds their derivatives up; what it counts is the mean over all decisions of the batch. Order, rate and derivatives follow from seed, examples and
 * the number of the step alone, so that a run that goes on from a checkpoint ends with the same bytes.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { Example } from '../data/example.ts';
import { addGradients, clipGradients, learningRateAt, takeStep, type LearningRateSchedule } from '../gradient/adamw.ts';
import { packSegments } from '../gradient/batch.ts';
import type { Checkpoint } from '../gradient/checkpoint.ts';
import type { Gradient, GradientEngine, GradientFailure } from '../gradient/gradient-engine.ts';
import { openRandom } from '../random.ts';
import type { EncodedExample, EncodeIssue } from './encode-example.ts';

export interface SftSettings {
  readonly seed: number;
  /** Passes over the examples. */
  readonly epochs: number;
  /** Examples a step. */
  readonly batchSize: number;
  readonly learningRate: number;
  readonly warmUpSteps: number;
  /** Of the learning rate, left at the end. */
  readonly floor: number;
  /** Of all derivatives of a step together. */
  readonly maxNorm: number;
  /** Steps between two looks at the validation side. */
  readonly validateEvery: number;
  /** Looks in a row without a new lowest loss that end the run. */
  readonly patience: number;
}

/** As measured for rank 8 on SmolLM2-135M: the runs `batch-…` of the training report. */
export const DEFAULT_SFT: SftSettings = {
  seed: 13, epochs: 1, batchSize: 8, learningRate: 7e-4, warmUpSteps: 30, floor: 0.05, maxNorm: 1, validateEvery: 100, patience: 3,
};

export interface StepEntry {
  readonly kind: 'step';
  /** Steps taken, this one included. */
  readonly step: number;
  /** Mean −log probability of a decision under the mask, before the step. */
  readonly loss: number;
  readonly learningRate: number;
  /** Before clipping. */
  readonly gradientNorm: number;
  /** Of this process so far, validation included. */
  readonly examplesPerSecond: number;
  readonly secondsLeft: number;
}

export interface ValidationEntry {
  readonly kind: 'validation';
  readonly step: number;
  readonly loss: number;
}

export type SftEvent = StepEntry | ValidationEntry
  /** An example that cannot be encoded, each time it is met; `step` counts those taken before. */
  | { readonly kind: 'left-out'; readonly step: number; readonly id: string; readonly code: EncodeIssue['code'] };

/** All steps taken, or why not: validation got worse, time was up, the caller stopped it. */
export type SftEnd = 'done' | 'validation-rose' | 'out-of-time' | 'aborted';

export type SftFailure = GradientFailure
  /** Nothing of a step's batch, or of the validation side, can be encoded. */
  | { readonly code: 'sft/nothing-to-learn'; readonly step: number };

export interface SftOptions {
  readonly engine: GradientEngine;
  /** Changed in place, a whole step at a time; where its count of steps is not 0 the run goes on from there. */
  readonly run: Checkpoint;
  readonly train: readonly Example[];
  readonly validation: readonly Example[];
  readonly encode: (example: Example) => Result<EncodedExample, EncodeIssue>;
  readonly settings: SftSettings;
  /** What validation said in the part before the checkpoint. */
  readonly earlier?: readonly ValidationEntry[];
  /** Milliseconds from anywhere. */
  readonly clock: () => number;
  /** A step that begins later is not taken. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
  readonly onEvent: (event: SftEvent) => void;
}

/** Trains until the end it gives. There is a validation by then, unless it was aborted. Settings or examples that make no step are RangeErrors. */
export async function trainSft(options: SftOptions): Promise<Result<SftEnd, SftFailure>> {
  const { run: { parameters, state }, train, settings, clock, limitMs = Infinity, signal, onEvent } = options;
  const { batchSize, epochs, validateEvery, patience } = settings;
  if (![batchSize, epochs, validateEvery, patience].every((count) => Number.isInteger(count) && count > 0)) throw new RangeError('settings: counts from 1 up');
  if (train.length === 0 || options.validation.length === 0) throw new RangeError('examples: none on one side');
  const schedule: LearningRateSchedule = {
    peak: settings.learningRate, warmUpSteps: settings.warmUpSteps, totalSteps: epochs * Math.ceil(train.length / batchSize), floor: settings.floor,
  };
  const validations = [...(options.earlier ?? [])];
  const startedMs = clock();
  const firstStep = state.stepCount;
  let seenCount = 0;

  const look = async (): Promise<Result<void | 'aborted', SftFailure>> => {
    const loss = await lossOf(options, state.stepCount);
    if (!loss.ok) return loss;
    if (loss.value === 'aborted') return ok('aborted');
    const entry: ValidationEntry = { kind: 'validation', step: state.stepCount, loss: loss.value };
    validations.push(entry);
    onEvent(entry);
    return ok(undefined);
  };

  for (;;) {
    if (signal?.aborted === true) return ok('aborted');
    const step = state.stepCount;
    const isOutOfTime = clock() - startedMs >= limitMs;
    // where it begins and not where a step ends: a run that was broken off between the two makes up for it
    if (validations.at(-1)?.step !== step && ((step > 0 && isPlannedLook(step, train.length, settings)) || (isOutOfTime && validations.length === 0))) {
      const looked = await look();
      if (!looked.ok) return looked;
      if (looked.value === 'aborted') return ok('aborted');
    }
    if (step >= schedule.totalSteps) return ok('done');
    if (hasRisen(validations, patience)) return ok('validation-rose');
    if (isOutOfTime) return ok('out-of-time');
    const batch = batchAt(train, step, settings);
    const summed = await gradientOf(options, batch, step);
    if (!summed.ok) return summed;
    if (summed.value === 'aborted') return ok('aborted');
    const { loss, gradients } = summed.value;
    const gradientNorm = clipGradients(gradients, settings.maxNorm);
    const learningRate = learningRateAt(step, schedule);
    takeStep(parameters, gradients, state, learningRate);
    seenCount += batch.length;
    const seconds = (clock() - startedMs) / 1000;
    const secondsLeft = (seconds / (state.stepCount - firstStep)) * (schedule.totalSteps - state.stepCount);
    onEvent({ kind: 'step', step: state.stepCount, loss, learningRate, gradientNorm, examplesPerSecond: seenCount / seconds, secondsLeft });
  }
}

/** Whether validation is looked at after so many steps, whatever happens. One more is, where time is up before the first. */
export function isPlannedLook(stepCount: number, exampleCount: number, { epochs, batchSize, validateEvery }: SftSettings): boolean {
  return stepCount % validateEvery === 0 || stepCount === epochs * Math.ceil(exampleCount / batchSize);
}

/** The validation with the lowest loss, the first of equals. */
export function bestOf(validations: readonly ValidationEntry[]): ValidationEntry | undefined {
  return validations.reduce<ValidationEntry | undefined>((best, entry) => (best === undefined || entry.loss < best.loss ? entry : best), undefined);
}

function hasRisen(validations: readonly ValidationEntry[], patience: number): boolean {
  const best = bestOf(validations);
  return best !== undefined && validations.length - 1 - validations.indexOf(best) >= patience;
}

/** The examples of a step, which each epoch deals anew. */
function batchAt(train: readonly Example[], step: number, { seed, batchSize }: SftSettings): readonly Example[] {
  const stepsAnEpoch = Math.ceil(train.length / batchSize);
  const first = (step % stepsAnEpoch) * batchSize;
  return openRandom(seed, `epoch:${String(Math.floor(step / stepsAnEpoch))}`).shuffled(train).slice(first, first + batchSize);
}

/** Those that can be encoded, the longest first: the runtime's memory grows once and is used again. */
function encodeAll({ encode, onEvent, run }: SftOptions, examples: readonly Example[]): readonly EncodedExample[] {
  const encoded = examples.flatMap((example) => {
    const one = encode(example);
    if (one.ok) return [one.value];
    onEvent({ kind: 'left-out', step: run.state.stepCount, id: example.id, code: one.error.code });
    return [];
  });
  return encoded.sort((a, b) => lengthOf(b) - lengthOf(a));
}

function lengthOf({ promptIds, answerIds }: EncodedExample): number {
  return promptIds.length + answerIds.length;
}

/** Loss and derivatives of a batch; every decision counts the same, whichever example it is of. */
async function gradientOf(options: SftOptions, batch: readonly Example[], step: number): Promise<Result<Pick<Gradient, 'loss' | 'gradients'> | 'aborted', SftFailure>> {
  const encoded = encodeAll(options, batch);
  const decisionCount = encoded.reduce((sum, { decisions }) => sum + decisions.length, 0);
  if (decisionCount === 0) return err({ code: 'sft/nothing-to-learn', step });
  const gradients = options.run.parameters.tensors.map(({ data }) => new Float32Array(data.length));
  let loss = 0;
  for (const example of encoded) {
    if (options.signal?.aborted === true) return ok('aborted');
    const one = await runOf(options, example, 1 / decisionCount);
    if (!one.ok) return one;
    loss += one.value.loss;
    addGradients(gradients, one.value.gradients);
  }
  return ok({ loss, gradients });
}

/** Mean −log probability of a decision of the validation side. */
async function lossOf(options: SftOptions, step: number): Promise<Result<number | 'aborted', SftFailure>> {
  let [sum, count] = [0, 0];
  for (const example of options.validation) {
    if (options.signal?.aborted === true) return ok('aborted');
    const [encoded] = encodeAll(options, [example]);
    if (encoded === undefined) continue;
    const one = await runOf(options, encoded, 1);
    if (!one.ok) return one;
    sum += one.value.loss;
    count += encoded.decisions.length;
  }
  return count === 0 ? err({ code: 'sft/nothing-to-learn', step }) : ok(sum / count);
}

function runOf({ engine, run }: SftOptions, { promptIds, answerIds, decisions }: EncodedExample, weight: number): Promise<Result<Gradient, GradientFailure>> {
  const steps = decisions.map(({ index, allowed }) => ({ index, allowed, weight }));
  return engine.run(packSegments([{ tokens: promptIds, steps: [] }, { tokens: answerIds, after: 0, steps }]), run.parameters);
}
