/**
 * `calibrate --adapter NAME|FOLDER [--count N] [--seed S] [--alpha A] [--out FOLDER] [--data FOLDER] [--model FILE]`: runs the validation side of the public sources
 * through the production loop with the release rule off, fits the confidence of its patches, and writes `calibration.json` beside the adapter; under `--out` a row an
 * example. The seed is that of the training run, for the same tools to be the validation side. Ends with code 1, having said why, where something is missing; with 2
 * after wrong usage.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { digestOfText, type Digest, type Proposer } from '@contractrl/core';
import { CALIBRATION_FILE, createMaskedProposer, createProposerMemory, PROMPT_VERSION } from '@contractrl/runtime-webgpu';
import { adapterFolder, formatUnknownAdapter, openRuntime } from '@contractrl/runtime-webgpu/node';
import { linesOf } from '../data/manifest.ts';
import type { Output } from '../data/prepare-dataset.ts';
import { evaluateExamples } from '../evaluate/evaluate-examples.ts';
import type { validationSide } from '../evaluate/validation-side.ts';
import { DEFAULT_SFT } from '../sft/train.ts';
import { fitCalibration } from './fit-calibration.ts';
import { calibrationOf, calibrationRows, calibrationText } from './write-calibration.ts';

/**
 * Nine in ten released patches are right: what is asked of the whole system on plain calls, kept here by the bound and not by the mean. To show it takes 29
 * rows without a fault; 0.05 takes 59. Lower it where a wrong call costs more than none.
 */
const DEFAULT_ALPHA = 0.1;
const LEVEL = 0.95;

const OPTIONS = {
  adapter: { type: 'string' }, count: { type: 'string', default: '400' }, seed: { type: 'string', default: String(DEFAULT_SFT.seed) }, alpha: { type: 'string', default: String(DEFAULT_ALPHA) },
  out: { type: 'string' }, data: { type: 'string' }, model: { type: 'string' },
} as const;
const USAGE = 'Usage: --adapter NAME|FOLDER [--count N] [--seed S] [--alpha A] [--out FOLDER] [--data FOLDER] [--model FILE]; alpha lies between 0 and 1; without --data, CONTRACTRL_DATA names the data folder, and without that it is the package’s own.';

/** A line of progress after so many examples. */
const PROGRESS_EVERY = 20;

export interface CalibrateParts {
  /** Stands in for `--data`; empty where there is none, and then the data of this package is. */
  readonly dataFolder: string;
  readonly openPolicy: OpenPolicy;
  /** The validation side of the training run with that seed, as {@link validationSide} makes it. */
  readonly examplesOf: typeof validationSide;
  readonly clock: () => number;
  readonly signal?: AbortSignal;
}

/** The policy of an adapter, which must have one; a text says what is wrong. */
export type OpenPolicy = (adapter: string, model: string | undefined, signal: AbortSignal | undefined) => Promise<CalibratedPolicy | string>;

export interface CalibratedPolicy {
  readonly proposer: Proposer;
  readonly adapterDigest: Digest;
  dispose(): Promise<void>;
}

/** Runs the command and gives its exit code. An option that does not exist is a `TypeError` of `parseArgs`. */
export async function calibrate(args: readonly string[], { dataFolder, openPolicy, examplesOf, clock, signal }: CalibrateParts, { print, tell }: Output): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const [count, seed, alpha] = [values.count, values.seed, values.alpha].map(Number) as [number, number, number];
  if (values.adapter === undefined || !Number.isInteger(count) || count < 1 || !Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32 || !(alpha > 0 && alpha < 1)) {
    tell(USAGE);
    return 2;
  }
  const named = adapterFolder(values.adapter);
  if (!named.ok) {
    tell(`${named.error.code}: ${formatUnknownAdapter(named.error)}`);
    return 2;
  }
  // as a folder from here on: the calibration is written there
  const { value: adapter = values.adapter } = named;
  const { out = adapter } = values;
  const policy = await openPolicy(adapter, values.model, signal);
  if (typeof policy === 'string') {
    tell(policy);
    return 1;
  }
  // what users ask is nearer to public requests than to templates, which are stiff and made to be hard; and they say values in their own words
  const side = examplesOf({ seed, count, dataFolder: values.data ?? dataFolder, origin: 'public', asksSpoken: true }, tell);
  const examples = side ?? [];
  const startedMs = clock();
  const evaluated = await evaluateExamples(examples, {
    proposer: policy.proposer, deterministic: true, clock, ...(signal === undefined ? {} : { signal }),
    onProgress(done, total) {
      const leftMs = ((clock() - startedMs) / done) * (total - done);
      if (done % PROGRESS_EVERY === 0 || done === total) tell(`${done} of ${total}, ${Math.ceil(leftMs / 1000)} s left`);
    },
  });
  await policy.dispose();
  if (side === undefined) return 1;
  if (!evaluated.ok) {
    tell(evaluated.error.code);
    return 1;
  }
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'calibration.jsonl'), evaluated.value.map((row) => `${JSON.stringify(row)}\n`).join(''));

  const rule = { alpha, level: LEVEL };
  const fitted = fitCalibration(calibrationRows(evaluated.value, examples), rule);
  if (!fitted.ok) {
    tell(`${fitted.error.code}: ${JSON.stringify(fitted.error)}. Raise --count.`);
    return 1;
  }
  const calibration = calibrationOf(fitted.value, rule, {
    adapterDigest: policy.adapterDigest, promptVersion: PROMPT_VERSION, policy: policy.proposer.identity, examplesDigest: digestOfText(linesOf(examples, 'validation')), seed, exampleCount: examples.length,
  });
  writeFileSync(join(adapter, CALIBRATION_FILE), calibrationText(calibration));
  const { rowCount, rightCount, chosen, figures, threshold } = fitted.value;
  print(`${rowCount} patches, ${rightCount} right. Map ${chosen}: calibration error ${figures.calibrationError.toFixed(3)}, Brier ${figures.brier.toFixed(3)}, area under the curve ${figures.areaUnderCurve.toFixed(3)}.`);
  print(threshold === undefined
    ? `No threshold keeps the share of wrong ones at ${alpha}: the calibration withholds every patch. Give a higher --alpha, more examples, or train on.`
    : `Threshold ${threshold.threshold.toFixed(3)} releases ${threshold.released} of ${rowCount}, ${threshold.wrong} of them wrong (at most ${threshold.upperBound.toFixed(3)}).`);
  return 0;
}

/** The adapter on the engine of this machine, as production proposes, with nothing withheld. */
export const openAdapterPolicy: OpenPolicy = async (adapter, model, signal) => {
  const runtime = await openRuntime({ adapter, release: 'off', ...(model === undefined ? {} : { model }), ...(signal === undefined ? {} : { signal }) });
  if (!runtime.ok) return `${runtime.error.code}: ${runtime.error.message}`;
  const { engine, tokenizer, vocabulary, adapter: opened } = runtime.value;
  if (opened === undefined) {
    await engine.dispose();
    return 'calibrate/no-adapter: a calibration is bound to an adapter, and the bare model has none.';
  }
  const proposer = createMaskedProposer({ engine, tokenizer, vocabulary, clock: () => performance.now(), memory: createProposerMemory(engine) });
  return { proposer, adapterDigest: opened.digest, dispose: () => engine.dispose() };
};
