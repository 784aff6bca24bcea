/**
 * `train --rank R [--seed S] [--examples N] [--epochs E] [--minutes M] [--out FOLDER] [--resume] [--data FOLDER] [--model FILE]`: makes the audited data set, trains
 * a LoRA adapter on it, supervised, and writes it with its card, log and checkpoint. Ends with code 1, having said why, where data or model are missing
 * or the run fails; with 2 after wrong usage.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import type { Result } from '@contractrl/core';
import { createVocabulary, type Vocabulary } from '@contractrl/grammar-mask';
import { createTokenizer, readGguf, type GgufModel, type OrtRuntime, type Tokenizer } from '@contractrl/runtime-webgpu';
import { fetchModel, formatModelFailure } from '@contractrl/runtime-webgpu/node';
import { DEFAULT_SYNTHETIC_SHARE, DEFAULT_VALIDATION_SHARE } from './data/build-dataset.ts';
import { prepareDataset, type Output } from './data/prepare-dataset.ts';
import { runSft, type RunSftIssue, type SftSummary } from './sft/run-sft.ts';
import { DEFAULT_SFT, type SftEvent } from './sft/train.ts';

const OPTIONS = {
  rank: { type: 'string' }, seed: { type: 'string', default: String(DEFAULT_SFT.seed) }, examples: { type: 'string', default: '4000' }, epochs: { type: 'string', default: '1' },
  minutes: { type: 'string' }, out: { type: 'string' }, resume: { type: 'boolean', default: false }, data: { type: 'string' }, model: { type: 'string' },
} as const;
const USAGE = 'Usage: --rank R [--seed S] [--examples N] [--epochs E] [--minutes M] [--out FOLDER] [--resume] [--data FOLDER] [--model FILE]; the data folder may also be named by CONTRACTRL_DATA.';

const BASE_NAME = 'HuggingFaceTB/SmolLM2-135M-Instruct';
/** No prompt of the data set with its answer is longer; a longer one is left out. */
const CONTEXT_LENGTH = 1024;
/** A look at them costs a tenth of the steps between two. */
const VALIDATION_COUNT = 64;
/** No larger rank has been useful, and a typing error would fill the memory. */
const MAX_RANK = 256;

export interface TrainParts {
  /** Stands in for `--data`; empty where there is none. */
  readonly dataFolder: string;
  /** Loaded where a model is trained: without data or model nothing needs its 30 MB. */
  readonly loadOrt: () => Promise<OrtRuntime>;
  readonly signal?: AbortSignal;
}

/** Runs the command and gives its exit code. An option that does not exist is a `TypeError` of `parseArgs`. */
export async function train(args: readonly string[], { dataFolder, loadOrt, signal }: TrainParts, output: Output): Promise<number> {
  const { tell } = output;
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const [rank, seed, count, epochs, minutes] = [values.rank, values.seed, values.examples, values.epochs, values.minutes ?? '0'].map(Number) as [number, number, number, number, number];
  const isCount = (value: number): boolean => Number.isInteger(value) && value > 0;
  if (!isCount(rank) || rank > MAX_RANK || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32 || !isCount(count) || !isCount(epochs) || (values.minutes !== undefined && !(minutes > 0))) {
    tell(USAGE);
    return 2;
  }
  const folder = values.data ?? dataFolder;
  if (folder === '') {
    tell('train/no-data: there is no folder of training and evaluation data: name it with --data or CONTRACTRL_DATA. Nothing is trained that could not be audited against the evaluation sets.');
    return 1;
  }
  const opened = await openModel(values.model, signal);
  if (typeof opened === 'string') {
    tell(opened);
    return 1;
  }
  const data = prepareDataset(folder, { seed, count, syntheticShare: DEFAULT_SYNTHETIC_SHARE, validationShare: DEFAULT_VALIDATION_SHARE }, output);
  if (data === undefined) return 1;
  const out = values.out ?? `adapter-r${rank}`;
  const ended = await runSft({
    ...opened, folder: out, resume: values.resume, ort: await loadOrt(), data, rank, settings: { ...DEFAULT_SFT, seed, epochs },
    contextLength: Math.min(CONTEXT_LENGTH, opened.model.config.contextLength), validationCount: VALIDATION_COUNT,
    clock: () => performance.now(), ...(values.minutes === undefined ? {} : { limitMs: minutes * 60_000 }), ...(signal === undefined ? {} : { signal }),
    onEvent: (event) => { tell(lineOf(event)); },
  });
  return report(ended, out, output) ? 0 : 1;
}

interface OpenedModel {
  readonly model: GgufModel;
  readonly base: string;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
}

/** As the command line finds it: the given file, or the base model from the cache or fetched. A text says what is wrong. */
async function openModel(path: string | undefined, signal: AbortSignal | undefined): Promise<OpenedModel | string> {
  const located = await fetchModel({ ...(path === undefined ? {} : { model: path }), ...(signal === undefined ? {} : { signal }) });
  if (!located.ok) return `${located.error.code}: ${formatModelFailure(located.error)}`;
  const unusable = (code: string): string => `${code}: the model file ${located.value.path} cannot be trained on`;
  const model = await readGguf(readFileSync(located.value.path), { digest: located.value.sha256 as GgufModel['digest'] });
  if (!model.ok) return unusable(model.error.code);
  const tokenizer = createTokenizer(model.value);
  if (!tokenizer.ok) return unusable(tokenizer.error.code);
  const { tokens, stopIds } = tokenizer.value;
  const vocabulary = createVocabulary({ logitWidth: model.value.vocabularySize, tokens, stopIds, encode: (text) => tokenizer.value.encodePlain(text) });
  if (!vocabulary.ok) return unusable(vocabulary.error.code);
  const base = located.value.isBase ? BASE_NAME : basename(located.value.path);
  return { model: model.value, base, tokenizer: tokenizer.value, vocabulary: vocabulary.value };
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
function report(ended: Result<SftSummary, RunSftIssue>, out: string, { print, tell }: Output): boolean {
  if (!ended.ok) {
    tell(`${ended.error.code}: ${ADVICE[ended.error.code]} (${JSON.stringify(ended.error, (_, value: unknown) => (value instanceof Error ? value.message : value))})`);
    return false;
  }
  const { end, stepCount, best } = ended.value;
  const why = { done: 'all steps taken', 'validation-rose': 'stopped, validation did not get better', 'out-of-time': 'time is up; --resume goes on', aborted: 'stopped; --resume goes on' }[end];
  print(`${stepCount} steps: ${why}. ${best === undefined ? 'No adapter yet.' : `Adapter of step ${best.step}, validation ${best.loss.toFixed(4)}, in ${out}/adapter.`}`);
  return end !== 'aborted';
}

const ADVICE: Readonly<Record<RunSftIssue['code'], string>> = {
  'run/exists': 'there is a run in that folder already: give another --out, or --resume to go on with it',
  'run/missing': 'there is no run in that folder to go on with: leave out --resume, or check --out',
  'run/mismatch': 'the run in that folder was begun with other data, another model or other options: give those again, or another --out',
  'checkpoint/unreadable': 'the checkpoint in that folder is damaged: begin anew in another one',
  'checkpoint/mismatch': 'the checkpoint in that folder is of another run: begin anew in another one',
  'sft/too-few-examples': 'there are too few examples to train on and to validate with: raise --examples',
  'sft/nothing-to-learn': 'none of the examples of a step fits this model’s prompt and mask',
  'gradient/load-failed': 'ONNX Runtime does not take the training graph, perhaps for lack of memory',
  'gradient/run-failed': 'ONNX Runtime failed in a step; --resume goes on from the last checkpoint',
  'gradient/not-finite': 'the parameters have gone astray: try another --seed',
  'gradient/context-full': 'an example is longer than the training graph',
  'gradient/disposed': 'the training graph was closed',
};
