/**
 * `contractrl-train export --out FOLDER [--format trl|verl] [--turns chatml|llama3] [--count N] [--seed S] [--group G] [--data FOLDER] [λ]` writes prompts, labels and the way they are judged
 * for trainers on other machines; `contractrl-train serve-reward [--manifest FILE | λ] [--model base|FILE]` judges what comes back, line by line. λ are the weights
 * `--collateral`, `--retry`, `--refused` and `--token`. Code 1: what was asked for cannot be had, and why has been told. Code 2: wrong usage.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DEFAULT_SYNTHETIC_SHARE, DEFAULT_VALIDATION_SHARE } from './data/build-dataset.ts';
import { prepareDataset, type Output } from './data/prepare-dataset.ts';
import { isWeight, readWeightsOfManifest } from './export/export-manifest.ts';
import { answerLine } from './export/reward-server.ts';
import { createMaskAlong, type MaskAlong } from './export/token-masks.ts';
import { TURN_FORMATS } from './export/rows.ts';
import { EXPORT_FORMATS, writeExport } from './export/write-export.ts';
import { DEFAULT_REWARD_WEIGHTS, type RewardWeights } from './grpo/reward.ts';
import { openModel } from './open-model.ts';
import { PACKAGED_DATA } from './packaged-data.ts';

const WEIGHT_OPTIONS = { collateral: { type: 'string' }, retry: { type: 'string' }, refused: { type: 'string' }, token: { type: 'string' } } as const;
const EXPORT_OPTIONS = {
  out: { type: 'string' }, format: { type: 'string', default: 'trl' }, count: { type: 'string', default: '4000' }, seed: { type: 'string', default: '13' }, group: { type: 'string', default: '8' },
  turns: { type: 'string', default: 'chatml' }, data: { type: 'string' }, ...WEIGHT_OPTIONS,
} as const;
const SERVE_OPTIONS = { manifest: { type: 'string' }, model: { type: 'string' }, ...WEIGHT_OPTIONS } as const;

const USAGE = `Usage: export --out FOLDER [--format trl|verl] [--turns chatml|llama3] [--count N] [--seed S] [--group G] [--data FOLDER] [--collateral λ] [--retry λ] [--refused λ] [--token λ]
   or: serve-reward [--manifest FILE] [--model base|FILE] [--collateral λ] [--retry λ] [--refused λ] [--token λ]   (the weights are the manifest’s, or given here)`;

/** A group of one has no advantage. */
const SMALLEST_GROUP = 2;

export interface CommandParts {
  /** Stands in for `--data`; empty where there is none. */
  readonly dataFolder: string;
  /** Begins to read the lines that `serve-reward` answers, each by one line to `print`, until they end. */
  readonly openLines: () => AsyncIterable<string>;
}

/** Runs the command and gives its exit code. An option that does not exist is a `TypeError` of `parseArgs`. */
export async function contractrlTrain([command, ...args]: readonly string[], { dataFolder, openLines }: CommandParts, output: Output): Promise<number> {
  switch (command) {
    case 'export': return exportCommand(args, dataFolder, output);
    case 'serve-reward': return serveCommand(args, openLines, output);
    default: return wrongUsage(output);
  }
}

function exportCommand(args: readonly string[], dataFolder: string, output: Output): number {
  const { values } = parseArgs({ args: [...args], options: EXPORT_OPTIONS });
  const [count, seed, groupSize] = [values.count, values.seed, values.group].map(Number) as [number, number, number];
  const format = EXPORT_FORMATS.find((each) => each === values.format);
  const turns = TURN_FORMATS.find((each) => each === values.turns);
  const weights = weightsOf(values);
  if (
    values.out === undefined || format === undefined || turns === undefined || weights === undefined || !Number.isInteger(count) || count < 1 || !Number.isInteger(seed) || seed < 0
    || !Number.isInteger(groupSize) || groupSize < SMALLEST_GROUP
  ) return wrongUsage(output);
  const folder = values.data ?? (dataFolder === '' ? PACKAGED_DATA : dataFolder);
  const data = prepareDataset(folder, { seed, count, syntheticShare: DEFAULT_SYNTHETIC_SHARE, validationShare: DEFAULT_VALIDATION_SHARE }, output);
  if (data === undefined) return 1;
  const written = writeExport(data, { folder: values.out, format, turns, groupSize, weights });
  if (!written.ok) {
    output.tell(`${written.error.code}: ${written.error.train} rows to train on, ${written.error.validation} to validate with: raise --count.`);
    return 1;
  }
  const { counts, leftOut } = written.value;
  output.print(`${counts.train} rows to train on, ${counts.validation} to validate with, in ${values.out}; left out ${JSON.stringify(leftOut)}`);
  return 0;
}

async function serveCommand(args: readonly string[], openLines: CommandParts['openLines'], output: Output): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: SERVE_OPTIONS });
  const { manifest, model } = values;
  const given = weightsOf(values);
  const isTwice = manifest !== undefined && Object.keys(WEIGHT_OPTIONS).some((name) => Object.hasOwn(values, name));
  if (given === undefined || isTwice) return wrongUsage(output);
  const weights = manifest === undefined ? given : weightsOfFile(manifest, output);
  if (weights === undefined) return 1;
  const masks = model === undefined ? undefined : await openMasks(model);
  if (typeof masks === 'string') {
    output.tell(masks);
    return 1;
  }
  for await (const line of openLines()) output.print(await answerLine(line, { weights, masks }));
  return 0;
}

function weightsOfFile(path: string, { tell }: Output): RewardWeights | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    tell(`manifest/unreadable: ${path} (${cause instanceof Error ? cause.message : String(cause)})`);
    return undefined;
  }
  const weights = readWeightsOfManifest(text);
  if (weights.ok) return weights.value;
  tell(`${weights.error.code}: ${path} ${JSON.stringify(weights.error)}`);
  return undefined;
}

/** A text says what is wrong. */
async function openMasks(model: string): Promise<MaskAlong | string> {
  const opened = await openModel(model === 'base' ? undefined : model, undefined);
  return typeof opened === 'string' ? opened : createMaskAlong(opened.vocabulary);
}

/** Undefined where one is none. */
function weightsOf(values: Readonly<Partial<Record<keyof RewardWeights, string | undefined>>>): RewardWeights | undefined {
  const { collateral, retry, refused, token } = DEFAULT_REWARD_WEIGHTS;
  const weight = (text: string | undefined, standard: number): number => (text === undefined ? standard : text.trim() === '' ? Number.NaN : Number(text));
  const weights = {
    collateral: weight(values.collateral, collateral), retry: weight(values.retry, retry), refused: weight(values.refused, refused), token: weight(values.token, token),
  };
  return Object.values(weights).every(isWeight) ? weights : undefined;
}

function wrongUsage({ tell }: Output): number {
  tell(USAGE);
  return 2;
}
