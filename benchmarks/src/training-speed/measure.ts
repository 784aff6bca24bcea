/**
 * Our gradient engine, as training runs it and one example at a time, and PyTorch, each in a process of its own, in turns: in each round all take one step of the same examples from the same adapter on, the
 * order shifting by one, so that a machine that slows down slows all of them. The first round is not counted, and shows whether all calculate the same.
 */
import { fileURLToPath } from 'node:url';
import { err, ok, type Result } from '@contractrl/core';
import { lengthOf, type Work } from './prepare-work.ts';
import { openWorker, type StepTaken, type Worker } from './worker.ts';

/** `ours`: as `train` runs it, what the examples of a batch share read once. `ours-single`: the same engine, one example after the other. */
export const ENGINES = ['ours', 'ours-single', 'torch-f32', 'torch-bf16'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface SpeedComparison {
  readonly base: string;
  readonly rank: number;
  readonly threads: number;
  /** Examples a step. */
  readonly batchSize: number;
  /** Of all steps, prompt and answer. */
  readonly meanTokens: number;
  readonly versions: Readonly<Record<string, string>>;
  /** By round, the first of which warms up. */
  readonly rounds: readonly Readonly<Record<EngineName, StepTaken>>[];
}

export type MeasureIssue = {
  /** Another loss at the same parameters: they do not calculate the same, and times say nothing. */
  readonly code: 'training-speed/other-loss'; readonly engine: EngineName; readonly loss: number; readonly expected: number;
};

export interface MeasureOptions {
  readonly workFile: string;
  readonly work: Work;
  readonly python: string;
  readonly threads: number;
  readonly onRound: (round: number, taken: Readonly<Record<EngineName, StepTaken>>) => void;
}

const OUR_WORKER = fileURLToPath(new URL('engine-worker.js', import.meta.url));
const TORCH_WORKER = fileURLToPath(new URL('../../python/training_step.py', import.meta.url));

/** Each example alone: what the others must come to. */
const REFERENCE: EngineName = 'ours-single';

/** Of the first loss, in parts of it: float32 in another order of summation, and 8 bits of mantissa. */
const LOSS_TOLERANCE: Readonly<Record<EngineName, number>> = { 'ours': 1e-4, 'ours-single': 0, 'torch-f32': 1e-4, 'torch-bf16': 5e-2 };

export async function measureTrainingSpeed({ workFile, work, python, threads, onRound }: MeasureOptions): Promise<Result<SpeedComparison, MeasureIssue>> {
  const workers: Record<EngineName, Worker> = {
    'ours': await openWorker(process.execPath, [OUR_WORKER, workFile, String(threads), 'packed']),
    'ours-single': await openWorker(process.execPath, [OUR_WORKER, workFile, String(threads), 'single']),
    'torch-f32': await openWorker(python, [TORCH_WORKER, workFile, 'f32', String(threads)]),
    'torch-bf16': await openWorker(python, [TORCH_WORKER, workFile, 'bf16', String(threads)]),
  };
  const rounds: Record<EngineName, StepTaken>[] = [];
  let issue: MeasureIssue | undefined;
  for (const step of work.steps.keys()) {
    const order = ENGINES.map((_, place) => ENGINES[(step + place) % ENGINES.length]!);
    const taken: Partial<Record<EngineName, StepTaken>> = {};
    for (const name of order) taken[name] = await workers[name].take(step);
    const round = taken as Record<EngineName, StepTaken>;
    rounds.push(round);
    onRound(step, round);
    issue = step === 0 ? otherLoss(round) : undefined;
    if (issue !== undefined) break;
  }
  for (const worker of Object.values(workers)) worker.close();
  if (issue !== undefined) return err(issue);
  const examples = work.steps.flat();
  return ok({
    base: work.base, rank: work.lora.rank, threads, batchSize: work.steps[0]!.length, meanTokens: examples.reduce((sum, example) => sum + lengthOf(example), 0) / examples.length,
    versions: { ...workers['torch-f32'].versions, ...workers.ours.versions }, rounds,
  });
}

/** The first engine whose loss is not that of each example alone. */
export function otherLoss(round: Readonly<Record<EngineName, Pick<StepTaken, 'loss'>>>): MeasureIssue | undefined {
  const expected = round[REFERENCE].loss;
  const engine = ENGINES.find((name) => !(Math.abs(round[name].loss - expected) <= LOSS_TOLERANCE[name] * expected));
  return engine === undefined ? undefined : { code: 'training-speed/other-loss', engine, loss: round[engine].loss, expected };
}
