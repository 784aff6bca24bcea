/**
 * `train [--method sft] --rank R [--seed S] [--examples N] [--epochs E] [--minutes M] [--out FOLDER] [--resume] [--data FOLDER] [--model FILE]`: makes the audited
 * data set, trains a LoRA adapter on it, supervised, and writes it with its card, log and checkpoint. `train --method grpo --from ADAPTER …` goes on from
 * such an adapter with its own attempts. Ends with code 1, having said why, where data or model are missing or the run fails; with 2 after wrong usage.
 */
import { parseArgs } from 'node:util';
import type { Result } from '@contractrl/core';
import type { OrtRuntime } from '@contractrl/runtime-webgpu';
import { DEFAULT_SYNTHETIC_SHARE, DEFAULT_VALIDATION_SHARE } from './data/build-dataset.ts';
import { prepareDataset, type Output } from './data/prepare-dataset.ts';
import { runGrpo, type GrpoSummary, type RunGrpoIssue } from './grpo/run-grpo.ts';
import type { GrpoSettings } from './grpo/settings.ts';
import { GRPO_ADVICE, GRPO_OPTIONS, GRPO_USAGE, grpoLine, readGrpoSettings, type GrpoOptionName } from './grpo/command.ts';
import type { GrpoEvent } from './grpo/train.ts';
import { openModel, type OpenedModel } from './open-model.ts';
import { NO_START, openStart } from './open-start.ts';
import { PACKAGED_DATA } from './packaged-data.ts';
import { runSft, type RunSftIssue, type SftSummary } from './sft/run-sft.ts';
import { DEFAULT_SFT, type SftEvent } from './sft/train.ts';

/** Less than half an hour on two cores that do nothing else. */
const DEFAULT_COUNT = 4800;

const OPTIONS = {
  method: { type: 'string', default: 'sft' }, rank: { type: 'string' }, seed: { type: 'string', default: String(DEFAULT_SFT.seed) }, examples: { type: 'string', default: String(DEFAULT_COUNT) },
  epochs: { type: 'string' }, minutes: { type: 'string' }, out: { type: 'string' }, resume: { type: 'boolean', default: false }, data: { type: 'string' }, model: { type: 'string' },
  ...(Object.fromEntries(GRPO_OPTIONS.map((name) => [name, { type: 'string' }])) as Record<GrpoOptionName, { readonly type: 'string' }>),
} as const;
const USAGE = 'Usage: --rank R [--seed S] [--examples N] [--epochs E] [--minutes M] [--out FOLDER] [--resume] [--data FOLDER] [--model FILE]; without --data, CONTRACTRL_DATA names the data folder, and without that it is the package’s own. '
  + `For group-relative optimisation: --method grpo ${GRPO_USAGE}, and the others but --epochs.`;

/** A look at them costs a few hundredths of the steps between two. Greedy episodes are right or wrong and nothing between, so more of them are needed than of losses. */
const VALIDATION_COUNT = { sft: 64, grpo: 200 } as const;
/** No larger rank has been useful, and a typing error would fill the memory. */
const MAX_RANK = 256;

export interface TrainParts {
  /** Stands in for `--data`; empty where there is none, and then the data of this package is. */
  readonly dataFolder: string;
  /** Loaded where a model is trained: without data or model nothing needs its 30 MB. */
  readonly loadOrt: () => Promise<OrtRuntime>;
  readonly signal?: AbortSignal;
}

/** Runs the command and gives its exit code. An option that does not exist is a `TypeError` of `parseArgs`. */
export async function train(args: readonly string[], parts: TrainParts, output: Output): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const plan = planOf(values);
  if (plan === undefined) {
    output.tell(USAGE);
    return 2;
  }
  const opened = await openModel(plan.model, parts.signal);
  if (typeof opened === 'string') {
    output.tell(opened);
    return 1;
  }
  const isDone = await (plan.method === 'sft' ? trainSupervised(plan, opened, parts, output) : trainInGroups(plan, opened, parts, output));
  return isDone ? 0 : 1;
}

interface CommonPlan {
  readonly seed: number;
  readonly count: number;
  readonly limitMs: number | undefined;
  readonly out: string | undefined;
  readonly resume: boolean;
  readonly data: string | undefined;
  readonly model: string | undefined;
}
type SftPlan = CommonPlan & { readonly method: 'sft'; readonly rank: number; readonly epochs: number };
/** `rank`, where it is given, is what the adapter must have. */
type GrpoPlan = CommonPlan & { readonly method: 'grpo'; readonly rank: number | undefined; readonly from: string; readonly settings: GrpoSettings };

/** Undefined after wrong usage. */
function planOf(values: Readonly<Partial<Record<Exclude<keyof typeof OPTIONS, 'resume'>, string>>> & { readonly resume?: boolean }): SftPlan | GrpoPlan | undefined {
  const { method, rank, examples, epochs, minutes, out, resume = false, data, model, from } = values;
  const seed = Number(values.seed);
  const isCount = (text: string | undefined): boolean => text !== undefined && /^[1-9]\d*$/u.test(text);
  const isRank = isCount(rank) && Number(rank) <= MAX_RANK;
  if (!isCount(examples) || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32 || (minutes !== undefined && !(Number(minutes) > 0))) return undefined;
  const common: CommonPlan = { seed, count: Number(examples), limitMs: minutes === undefined ? undefined : Number(minutes) * 60_000, out, resume, data, model };
  if (method === 'sft') {
    const isOther = GRPO_OPTIONS.some((name) => values[name] !== undefined);
    return isRank && !isOther && (epochs === undefined || isCount(epochs)) ? { ...common, method, rank: Number(rank), epochs: Number(epochs ?? DEFAULT_SFT.epochs) } : undefined;
  }
  const settings = readGrpoSettings(values, seed);
  if (method !== 'grpo' || epochs !== undefined || from === undefined || from === NO_START || settings === undefined || (rank !== undefined && !isRank)) return undefined;
  return { ...common, method, rank: rank === undefined ? undefined : Number(rank), from, settings };
}

/** What both methods take; undefined where there is no such data set, which has been told then. */
async function runOptionsOf({ method, seed, count, limitMs, resume, data }: SftPlan | GrpoPlan, opened: OpenedModel, { dataFolder, loadOrt, signal }: TrainParts, output: Output) {
  const folder = data ?? (dataFolder === '' ? PACKAGED_DATA : dataFolder);
  const prepared = prepareDataset(folder, { seed, count, syntheticShare: DEFAULT_SYNTHETIC_SHARE, validationShare: DEFAULT_VALIDATION_SHARE }, output);
  return prepared === undefined ? undefined : {
    ...opened, resume, ort: await loadOrt(), data: prepared, validationCount: VALIDATION_COUNT[method],
    clock: (): number => performance.now(), ...(limitMs === undefined ? {} : { limitMs }), ...(signal === undefined ? {} : { signal }),
  };
}

/** Whether it went well. */
async function trainSupervised(plan: SftPlan, opened: OpenedModel, parts: TrainParts, output: Output): Promise<boolean> {
  const options = await runOptionsOf(plan, opened, parts, output);
  if (options === undefined) return false;
  const { rank, epochs, seed, out = `adapter-r${rank}` } = plan;
  return report(await runSft({ ...options, folder: out, rank, settings: { ...DEFAULT_SFT, seed, epochs }, onEvent: (event) => { output.tell(lineOf(event)); } }), out, output);
}

/** Whether it went well. The adapter to begin with is looked at before the data, which take minutes. */
async function trainInGroups(plan: GrpoPlan, opened: OpenedModel, parts: TrainParts, output: Output): Promise<boolean> {
  const from = await openStart(plan.from, opened.base);
  if (!from.ok) {
    output.tell(`${from.error.code}: ${plan.from} is no adapter that could be gone on with (${JSON.stringify(from.error)})`);
    return false;
  }
  const { rank } = from.value;
  if (plan.rank !== undefined && plan.rank !== rank) {
    output.tell(`train/other-rank: the adapter to begin with has rank ${rank}: leave out --rank, or give another --from`);
    return false;
  }
  const options = await runOptionsOf(plan, opened, parts, output);
  if (options === undefined) return false;
  const { settings, out = `adapter-r${rank}-grpo` } = plan;
  const tellEvent = (event: GrpoEvent): void => {
    const line = grpoLine(event);
    if (line !== undefined) output.tell(line);
  };
  return reportGrpo(await runGrpo({ ...options, folder: out, from: from.value, settings, onEvent: tellEvent }), out, output);
}

function lineOf(event: SftEvent): string {
  switch (event.kind) {
    case 'step':
      return `step ${event.step}: loss ${event.loss.toFixed(4)}, gradient ${event.gradientNorm.toFixed(2)}, ${event.examplesPerSecond.toFixed(2)} examples/s, ${Math.ceil(event.secondsLeft / 60)} min left`;
    case 'validation':
      return `step ${event.step}: validation ${event.loss.toFixed(4)}`;
    case 'left-out':
      return `${event.code}: ${event.id} is left out`;
  }
}

/** Whether it went well. */
function report(ended: Result<SftSummary, RunSftIssue>, out: string, output: Output): boolean {
  if (!ended.ok) return tellIssue(ended.error, output);
  const { end, stepCount, best } = ended.value;
  const why = { done: 'all steps taken', 'validation-rose': 'stopped, validation did not get better', 'out-of-time': 'time is up; --resume goes on', aborted: 'stopped; --resume goes on' }[end];
  output.print(`${stepCount} steps: ${why}. ${best === undefined ? 'No adapter yet.' : `Adapter of step ${best.step}, validation ${best.loss.toFixed(4)}, in ${out}/adapter.`}`);
  return end !== 'aborted';
}

/** Whether it went well. */
function reportGrpo(ended: Result<GrpoSummary, RunGrpoIssue>, out: string, output: Output): boolean {
  if (!ended.ok) return tellIssue(ended.error, output);
  const { end, stepCount, best } = ended.value;
  const why = { done: 'all steps taken', flat: 'stopped, no group of a step differed', 'out-of-time': 'time is up; --resume goes on', aborted: 'stopped; --resume goes on' }[end];
  output.print(`${stepCount} steps: ${why}. ${best === undefined ? 'No adapter yet.' : `Adapter of step ${best.step}, validation reward ${best.reward.toFixed(4)}, in ${out}/adapter.`}`);
  return end !== 'aborted';
}

function tellIssue(issue: RunSftIssue | RunGrpoIssue, { tell }: Output): false {
  tell(`${issue.code}: ${ADVICE[issue.code]} (${JSON.stringify(issue, (_, value: unknown) => (value instanceof Error ? value.message : value))})`);
  return false;
}

const ADVICE: Readonly<Record<(RunSftIssue | RunGrpoIssue)['code'], string>> = {
  ...GRPO_ADVICE,
  'run/exists': 'there is a run in that folder already: give another --out, or --resume to go on with it',
  'run/missing': 'there is no run in that folder to go on with: leave out --resume, or check --out',
  'run/mismatch': 'the run in that folder was begun with other data, another model or other options: give those again, or another --out',
  'checkpoint/unreadable': 'the checkpoint in that folder is damaged: begin anew in another one',
  'checkpoint/mismatch': 'the checkpoint in that folder is of another run: begin anew in another one',
  'sft/too-few-examples': 'there are too few examples to train on and to validate with: raise --examples',
  'sft/nothing-to-learn': 'none of the examples of a step fits this model’s prompt and mask',
  'gradient/too-little-memory': 'this base does not fit into the memory that is free: close other programs, or train a smaller one',
  'gradient/load-failed': 'ONNX Runtime does not take the training graph, perhaps for lack of memory',
  'gradient/run-failed': 'ONNX Runtime failed in a step; --resume goes on from the last checkpoint',
  'gradient/not-finite': 'the parameters have gone astray: try another --seed',
  'gradient/context-full': 'an example is longer than the training graph',
  'gradient/disposed': 'the training graph was closed',
  'train/other-rank': 'the adapter to begin with has another rank',
  'gradient/adapter-mismatch': 'the adapter to begin with has not the form that is trained: one rank and factor, all seven linears of every layer',
};
