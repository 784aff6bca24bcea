/**
 * The supervised start: AdamW on the right answers, under the mask. Calls are shuffled, and the examples of one call follow each other, so that a batch has
 * a few calls and several faults of each: what they share of their prompts is read once. A step adds up the derivatives of its packs; what it counts is the
 * mean over all decisions of the batch. Order, rate and derivatives follow from seed, examples and the number of the step alone, so that a run that goes on
 * from a checkpoint ends with the same bytes.
 */
import { err, ok, type Result } from '@contractrl/core';
import { callOf, type Example } from '../data/example.ts';
import { addGradients, clipGradients, learningRateAt, takeStep, type LearningRateSchedule } from '../gradient/adamw.ts';
import type { PackedBatch } from '../gradient/batch.ts';
import type { Checkpoint } from '../gradient/checkpoint.ts';
import type { Gradient, GradientEngine, GradientFailure } from '../gradient/gradient-engine.ts';
import { packSequences, type Decision, type Pack, type Sequence } from '../gradient/pack-sequences.ts';
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
  seed: 13, epochs: 1, batchSize: 8, learningRate: 7e-4, warmUpSteps: 30, floor: 0.05, maxNorm: 1, validateEvery: 200, patience: 3,
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
  /** Look at the validation side before the first step too, so that what training begins with is kept where no step is better. Default false. */
  readonly looksFirst?: boolean;
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
  const { run: { parameters, state }, train, settings, looksFirst = false, clock, limitMs = Infinity, signal, onEvent } = options;
  const { batchSize, epochs, validateEvery, patience } = settings;
  if (![batchSize, epochs, validateEvery, patience].every((count) => Number.isInteger(count) && count > 0)) throw new RangeError('settings: counts from 1 up');
  if (train.length === 0 || options.validation.length === 0) throw new RangeError('examples: none on one side');
  const schedule: LearningRateSchedule = {
    peak: settings.learningRate, warmUpSteps: settings.warmUpSteps, totalSteps: epochs * Math.ceil(train.length / batchSize), floor: settings.floor,
  };
  const batchAt = openBatches(train, settings);
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
    if (validations.at(-1)?.step !== step && (isPlannedLook(step, train.length, settings, looksFirst) || (isOutOfTime && validations.length === 0))) {
      const looked = await look();
      if (!looked.ok) return looked;
      if (looked.value === 'aborted') return ok('aborted');
    }
    if (step >= schedule.totalSteps) return ok('done');
    if (hasRisen(validations, patience)) return ok('validation-rose');
    if (isOutOfTime) return ok('out-of-time');
    const batch = batchAt(step);
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
export function isPlannedLook(stepCount: number, exampleCount: number, { epochs, batchSize, validateEvery }: SftSettings, looksFirst: boolean): boolean {
  if (stepCount === 0) return looksFirst;
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

/** The examples of any step of a run, which each epoch deals anew, call by call. */
export function openBatches(train: readonly Example[], { seed, batchSize }: Pick<SftSettings, 'seed' | 'batchSize'>): (step: number) => readonly Example[] {
  const byCall = new Map<string, Example[]>();
  for (const example of train) {
    const call = callOf(example);
    const others = byCall.get(call);
    if (others === undefined) byCall.set(call, [example]);
    else others.push(example);
  }
  const calls = [...byCall.values()];
  const stepsAnEpoch = Math.ceil(train.length / batchSize);
  return (step) => {
    const first = (step % stepsAnEpoch) * batchSize;
    return openRandom(seed, `epoch:${String(Math.floor(step / stepsAnEpoch))}`).shuffled(calls).flat().slice(first, first + batchSize);
  };
}

/** Positions of a pack: what attention costs grows with their square, and so do packs of few with what they do not share. */
const PACK_LENGTH = 448;

/** Examples of one batch in as few positions as their texts allow, what has a beginning in common together; the longest pack first, so that the runtime's memory grows once and is used again. */
export function packExamples(examples: readonly EncodedExample[]): readonly Pack<Decision>[] {
  const sequences = examples.map(({ promptIds, answerIds, decisions }): Sequence<Decision> => (
    { tokens: [...promptIds, ...answerIds], decisions: decisions.map(({ index, allowed }) => ({ index: promptIds.length + index, allowed })) }
  ));
  return packSequences(sequences.sort(byTokens), PACK_LENGTH).toSorted((a, b) => b.batch.tokens.length - a.batch.tokens.length);
}

/** Those that can be encoded. */
function packAll({ encode, onEvent, run }: SftOptions, examples: readonly Example[]): readonly Pack<Decision>[] {
  return packExamples(examples.flatMap((example): readonly EncodedExample[] => {
    const one = encode(example);
    if (one.ok) return [one.value];
    onEvent({ kind: 'left-out', step: run.state.stepCount, id: example.id, code: one.error.code });
    return [];
  }));
}

function byTokens({ tokens: a }: Sequence<Decision>, { tokens: b }: Sequence<Decision>): number {
  const differing = a.findIndex((token, index) => token !== b[index]);
  return differing === -1 ? a.length - b.length : a[differing]! - (b[differing] ?? -1);
}

/** Loss and derivatives of a batch; every decision counts the same, whichever example it is of. */
async function gradientOf(options: SftOptions, batch: readonly Example[], step: number): Promise<Result<Pick<Gradient, 'loss' | 'gradients'> | 'aborted', SftFailure>> {
  const packs = packAll(options, batch);
  const decisionCount = countOf(packs);
  if (decisionCount === 0) return err({ code: 'sft/nothing-to-learn', step });
  const gradients = options.run.parameters.tensors.map(({ data }) => new Float32Array(data.length));
  let loss = 0;
  for (const pack of packs) {
    if (options.signal?.aborted === true) return ok('aborted');
    const one = await runOf(options, pack, 1 / decisionCount);
    if (!one.ok) return one;
    loss += one.value.loss;
    addGradients(gradients, one.value.gradients);
  }
  return ok({ loss, gradients });
}

/** Mean −log probability of a decision of the validation side. */
async function lossOf(options: SftOptions, step: number): Promise<Result<number | 'aborted', SftFailure>> {
  const packs = packAll(options, options.validation);
  const decisionCount = countOf(packs);
  let sum = 0;
  for (const pack of packs) {
    if (options.signal?.aborted === true) return ok('aborted');
    const one = await runOf(options, pack, 1);
    if (!one.ok) return one;
    sum += one.value.loss;
  }
  return decisionCount === 0 ? err({ code: 'sft/nothing-to-learn', step }) : ok(sum / decisionCount);
}

function countOf(packs: readonly Pack<Decision>[]): number {
  return packs.reduce((sum, { decisions }) => decisions.reduce((count, taken) => count + taken.length, sum), 0);
}

function runOf({ engine, run }: SftOptions, pack: Pack<Decision>, weight: number): Promise<Result<Gradient, GradientFailure>> {
  return engine.run(weightedBatch(pack, weight), run.parameters);
}

/** What the graph runs of a pack, where every decision weighs `weight`. */
export function weightedBatch({ batch, decisions }: Pack<Decision>, weight: number): PackedBatch {
  return { ...batch, weights: Float32Array.from(decisions, (taken) => taken.length * weight) };
}
