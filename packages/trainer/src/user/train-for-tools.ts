/**
 * An adapter for the tools of one user, from their definitions and, where there are any, their recorded calls: data set, a look at what the policy does now,
 * supervised training that goes on from an adapter which repairs already, a look at what it does then, and a card that tells both. Figures are of validation examples that neither training nor the choice of the
 * best step has seen; they are faults made of calls, not faults as the user's agents make them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { digestOf, err, isJsonObject, jsonEqual, ok, parseJson, type JsonObject, type Result } from '@contractrl/core';
import { DEFAULT_ADAPTER_NAME } from '@contractrl/runtime-webgpu/node';
import { openModel } from '../open-model.ts';
import { NO_START } from '../open-start.ts';
import { PACKAGED_DATA } from '../packaged-data.ts';
import { runSft, type RunSftIssue, type SftSummary } from '../sft/run-sft.ts';
import { DEFAULT_SFT, type SftEvent, type SftSettings } from '../sft/train.ts';
import { chooseStart, type ChooseStartIssue } from './choose-start.ts';
import { measureExamples, type MeasureIssue, type Measured } from './measure.ts';
import { measurementSection } from './measurement-section.ts';
import { prepareUserDataset, type UserDataset, type UserDatasetIssue, type UserDatasetOptions } from './prepare-user-dataset.ts';
import { readTools, type ToolFileIssue } from './tool-file.ts';
import { readTraces, type TraceFileIssue, type UserTraces } from './trace-file.ts';

export interface TrainForToolsOptions {
  /** Text of the file of tools. */
  readonly tools: string;
  readonly traces: readonly { readonly file: string; readonly text: string }[];
  readonly rank: number;
  /** What training begins with: name of an adapter that ships, path of a folder, or `none`. Default: the adapter of that rank that ships, where it is one for this base, else none. */
  readonly from?: string;
  /** For everything: data, both looks and training. */
  readonly minutes: number;
  /** In all; default as many as are likely to be trained on in `minutes`, {@link MAX_EXAMPLES} at most. */
  readonly examples?: number;
  readonly seed: number;
  /** Folder of the run; the adapter is in `adapter/` below it. */
  readonly out: string;
  readonly resume: boolean;
  /** GGUF file; default the base model. */
  readonly model?: string;
  readonly generalShare: number;
  readonly splitBy: 'request' | 'tool';
  readonly allowOverlap: boolean;
  /** Of the public and evaluation sets; default what comes with this package. */
  readonly dataFolder?: string;
  readonly clock: () => number;
  readonly signal?: AbortSignal;
  readonly onEvent: (event: UserTrainEvent) => void;
}

export type UserTrainEvent =
  /** Something of what was given is not used. */
  | { readonly kind: 'left-out'; readonly what: 'tool' | 'traces' | 'drawn'; readonly name: string; readonly code: string; readonly count: number }
  | { readonly kind: 'making'; readonly done: number; readonly total: number }
  | { readonly kind: 'made'; readonly train: number; readonly validation: number; readonly calls: UserDataset['calls'] }
  /** The model, which is fetched where it is not in the cache yet. */
  | { readonly kind: 'loading' }
  /** What training begins with, by name; undefined for nothing, and then `code` says why, unless nothing was asked for. */
  | { readonly kind: 'beginning'; readonly from: string | undefined; readonly code?: string }
  | { readonly kind: 'measuring'; readonly when: 'before' | 'after'; readonly done: number; readonly total: number }
  | { readonly kind: 'training'; readonly event: SftEvent };

export interface TrainedForTools extends SftSummary {
  /** Folder of the new one, as `repair --adapter` takes it. */
  readonly adapter: string;
  /** What there was before, as `repair --adapter` takes it: `none` for the bare model. */
  readonly start: string;
  readonly before: Measured;
  /** Undefined where the run was stopped, and goes on with `resume`. */
  readonly after: Measured | undefined;
}

export type TrainForToolsIssue = ToolFileIssue | TraceFileIssue | UserDatasetIssue | ChooseStartIssue | MeasureIssue | RunSftIssue
  | { readonly code: 'train/aborted' }
  /** `message` says which and what to do. */
  | { readonly code: 'train/no-model'; readonly message: string };

/** Two cores that do nothing else train on 200. Data and looks take a third of the time, and slow cores have half the speed. */
const EXAMPLES_A_MINUTE = 70;
/** What supervised training of a small base gains from is in the first few thousand. */
const MAX_EXAMPLES = 4000;
/**
 * Of a start that repairs already. It is near to where it shall go, and with fresh moments each of the first steps is as long as the rate: those of a run from
 * nothing, 3.5 times as long, would first take it away from there.
 */
const LEARNING_RATE_ON = 2e-4;
/** Looked at in training, of the validation side, and in each of the two looks. */
const MAX_LOOKED_AT = 48;
const MAX_MEASURED = 96;
/** Looks in a run, so that one of few steps is stopped in time too. */
const LOOKS = 10;
const MIN_STEPS_BETWEEN_LOOKS = 5;
const BEFORE = 'before.json';

/** Minutes to hours. Equal options give equal bytes of data and adapter on one machine, unless time is up first. */
export async function trainForTools(options: TrainForToolsOptions): Promise<Result<TrainedForTools, TrainForToolsIssue>> {
  const { rank, from, minutes, seed, out, resume, model, clock, signal, onEvent } = options;
  const startedMs = clock();
  // what can be refused at once is, before the data are made, which takes a while
  if (existsSync(join(out, 'run.json')) !== resume) return err({ code: resume ? 'run/missing' : 'run/exists', folder: out });
  const given = await readGiven(options);
  if (!given.ok) return given;
  onEvent({ kind: 'loading' });
  const opened = await openModel(model, signal);
  if (typeof opened === 'string') return signal?.aborted === true ? err({ code: 'train/aborted' }) : err({ code: 'train/no-model', message: opened });
  const start = await chooseStart({ from, rank, base: opened.base });
  if (!start.ok) return start;
  onEvent({ kind: 'beginning', from: start.value.name, ...(start.value.code === undefined ? {} : { code: start.value.code }) });
  const prepared = makeDataset(options, given.value);
  if (!prepared.ok) return prepared;
  const data = prepared.value;
  const train = data.examples.filter(({ split }) => split === 'train');
  const validation = data.examples.filter(({ split }) => split === 'validation');
  onEvent({ kind: 'made', train: train.length, validation: validation.length, calls: data.calls });
  const lookedAtCount = Math.min(MAX_LOOKED_AT, Math.floor(validation.length / 2));
  const measured = validation.slice(lookedAtCount, lookedAtCount + MAX_MEASURED);

  const look = (when: 'before' | 'after', adapter: string | undefined): Promise<Result<Measured, MeasureIssue>> => measureExamples(measured, {
    model, adapter, clock, ...(signal === undefined ? {} : { signal }), onProgress: (done, total) => { onEvent({ kind: 'measuring', when, done, total }); },
  });
  const lookStartedMs = clock();
  const kind: JsonObject = { manifest: digestOf(data.manifest), from: start.value.adapter?.digest ?? null };
  const before = await (keptBefore(out, kind) ?? look('before', start.value.name));
  if (!before.ok) return abortedOr(before.error);
  const lookMs = clock() - lookStartedMs;
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, BEFORE), JSON.stringify({ ...kind, ...before.value }));

  const settings: SftSettings = {
    ...DEFAULT_SFT, seed, validateEvery: Math.min(DEFAULT_SFT.validateEvery, Math.max(MIN_STEPS_BETWEEN_LOOKS, Math.round(train.length / DEFAULT_SFT.batchSize / LOOKS))),
    ...(start.value.adapter === undefined ? {} : { learningRate: LEARNING_RATE_ON }),
  };
  const ended = await runSft({
    ...opened, folder: out, resume, ort: await import('onnxruntime-node'), data, rank, ...(start.value.adapter === undefined ? {} : { from: start.value.adapter }), settings,
    validationCount: lookedAtCount, clock, limitMs: Math.max(0, minutes * 60_000 - (clock() - startedMs) - lookMs), ...(signal === undefined ? {} : { signal }),
    onEvent: (event) => { onEvent({ kind: 'training', event }); },
  });
  if (!ended.ok) return ended;
  // with its separator a path to a repair, and no name, where `out` is `.` too
  const adapter = `${out}${sep}adapter`;
  const trained = { ...ended.value, adapter, start: start.value.name ?? (before.value.adapter === null ? NO_START : DEFAULT_ADAPTER_NAME), before: before.value };
  if (ended.value.end === 'aborted' || ended.value.best === undefined) return ok({ ...trained, after: undefined });
  const after = await look('after', adapter);
  if (!after.ok) return abortedOr(after.error);
  writeFileSync(join(out, 'after.json'), JSON.stringify(after.value));
  const card = join(adapter, 'README.md');
  writeFileSync(card, `${readFileSync(card, 'utf8')}\n${measurementSection(before.value, after.value, data)}`);
  return ok({ ...trained, after: after.value });
}

function abortedOr(issue: MeasureIssue): Result<never, TrainForToolsIssue> {
  return err(issue.code === 'evaluate/aborted' ? { code: 'train/aborted' } : issue);
}

type Given = Pick<UserDatasetOptions, 'contracts' | 'traces'>;

async function readGiven({ tools, traces, onEvent }: TrainForToolsOptions): Promise<Result<Given, ToolFileIssue | TraceFileIssue>> {
  const read = readTools(tools);
  if (!read.ok) return read;
  const { contracts, refused } = read.value;
  for (const { name, code } of refused) onEvent({ kind: 'left-out', what: 'tool', name, code, count: 1 });
  const readFiles: { readonly file: string; readonly read: UserTraces }[] = [];
  for (const { file, text } of traces) {
    const of = await readTraces(file, text, contracts);
    if (!of.ok) return of;
    for (const [code, count] of Object.entries(of.value.leftOut)) onEvent({ kind: 'left-out', what: 'traces', name: file, code, count });
    readFiles.push({ file, read: of.value });
  }
  return ok({ contracts, traces: readFiles });
}

function makeDataset(
  { seed, minutes, examples, generalShare, splitBy, allowOverlap, dataFolder = PACKAGED_DATA, onEvent }: TrainForToolsOptions, given: Given,
): Result<UserDataset, UserDatasetIssue> {
  const count = examples ?? Math.min(MAX_EXAMPLES, Math.round(minutes * EXAMPLES_A_MINUTE));
  const made = prepareUserDataset({
    seed, count, generalShare, splitBy, allowOverlap, dataFolder, ...given, onProgress: (done) => { onEvent({ kind: 'making', done, total: count }); },
  });
  if (made.ok) for (const { tool, code } of made.value.undrawn) onEvent({ kind: 'left-out', what: 'drawn', name: tool, code, count: 1 });
  return made;
}

/** The first look of a run that is gone on with, if it was of this kind: at the same data, with the same adapter to begin with. */
function keptBefore(out: string, kind: JsonObject): Result<Measured, never> | undefined {
  const path = join(out, BEFORE);
  const kept = existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : undefined;
  if (kept?.ok !== true || !isJsonObject(kept.value)) return undefined;
  const { adapter, rows, ...rest } = kept.value;
  return jsonEqual(rest, kind) ? ok({ adapter, rows } as unknown as Measured) : undefined;
}
