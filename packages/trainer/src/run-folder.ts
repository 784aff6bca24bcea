/**
 * A run on disk: `run.json` says what is trained on what, `metrics.jsonl` what was seen, `checkpoint.safetensors` where to go on, `adapter/` is the PEFT
 * adapter of the best look at validation with its card. The log is the one account of figures: the card and a resumed run read them there.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalText, err, ok, parseJson, type Digest, type JsonObject, type JsonValue, type Result } from '@contractrl/core';
import type { Vocabulary } from '@contractrl/grammar-mask';
import { PROMPT_VERSION, writeAdapter, type GgufModel, type ModelConfig, type OrtRuntime } from '@contractrl/runtime-webgpu';
import { ADAPTER_FILES } from '@contractrl/runtime-webgpu/node';
import type { PreparedDataset } from './data/prepare-dataset.ts';
import { readCheckpoint, writeCheckpoint, type Checkpoint, type CheckpointIssue } from './gradient/checkpoint.ts';
import { adapterOf, type LoraParameters } from './gradient/parameters.ts';

const [IDENTITY, LOG, CHECKPOINT, ADAPTER] = ['run.json', 'metrics.jsonl', 'checkpoint.safetensors', 'adapter'];

/** The digest of an adapter is that of its file, which is written from it. */
const UNWRITTEN = '0'.repeat(64) as Digest;

/** What a run of either method is given. */
export interface RunOptions<Event> {
  readonly folder: string;
  /** Go on with the run that is in the folder. */
  readonly resume: boolean;
  readonly ort: OrtRuntime;
  readonly model: GgufModel;
  /** The base model's name on the hub, for the adapter's configuration. */
  readonly base: string;
  readonly vocabulary: Vocabulary;
  readonly data: PreparedDataset;
  /** Positions of prompt and answer. */
  readonly contextLength: number;
  /** Of what is looked at on the validation side, the first so many. */
  readonly validationCount: number;
  readonly threadCount?: number;
  readonly clock: () => number;
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
  readonly onEvent: (event: Event) => void;
}

export type RunFolderIssue = CheckpointIssue
  /** There is a run in the folder, and it was not asked to go on. */
  | { readonly code: 'run/exists'; readonly folder: string }
  | { readonly code: 'run/missing'; readonly folder: string }
  /** The run there is of other data, another model or other settings: its rest would not be the rest of it. */
  | { readonly code: 'run/mismatch'; readonly members: readonly string[] };

/** A line of the log. */
interface LoggedEvent {
  /** The step that it is of, or the steps taken before it. */
  readonly step: number;
}

export interface RunFolder<Event> {
  /** Where to go on from; undefined where no checkpoint was written. */
  readonly checkpoint: Checkpoint | undefined;
  /** What was logged up to the checkpoint, and since. */
  entries(): readonly Event[];
  log(event: Event): void;
  keep(checkpoint: Checkpoint): void;
  /** Of a model of this form, with `base` as its name. */
  keepAdapter(config: ModelConfig, parameters: LoraParameters, base: string): void;
  /** Writes the card beside the adapter, made from the digest of its weights file. */
  writeCard(textOf: (digest: Digest) => string): void;
}

export interface RunFolderOptions<Event> {
  readonly folder: string;
  readonly resume: boolean;
  /** What must be the same for a run to be gone on with. */
  readonly identity: JsonObject;
  /** Of which parameters its checkpoint is. */
  readonly like: LoraParameters;
  /** Whether a logged event is one of a run too that was broken off at a checkpoint of so many steps of its optimiser, and gone on with. */
  readonly isLasting: (event: Event, stepCount: number) => boolean;
}

/** Begins a run in a folder, or goes on with the one that is there. */
export function openRunFolder<Event extends LoggedEvent>({ folder, resume, identity, like, isLasting }: RunFolderOptions<Event>): Result<RunFolder<Event>, RunFolderIssue> {
  const path = (name: string): string => join(folder, name);
  const isThere = existsSync(path(IDENTITY));
  if (isThere !== resume) return err({ code: resume ? 'run/missing' : 'run/exists', folder });
  let checkpoint: Checkpoint | undefined;
  if (resume) {
    const members = differences(readFileSync(path(IDENTITY), 'utf8'), identity);
    if (members.length > 0) return err({ code: 'run/mismatch', members });
    const read = existsSync(path(CHECKPOINT)) ? readCheckpoint(readFileSync(path(CHECKPOINT)), like) : undefined;
    if (read?.ok === false) return read;
    checkpoint = read?.value;
  }
  const stepCount = checkpoint?.state.stepCount ?? 0;
  const entries = (resume && existsSync(path(LOG)) ? readLog<Event>(readFileSync(path(LOG), 'utf8')) : []).filter((event) => isLasting(event, stepCount));
  mkdirSync(path(ADAPTER), { recursive: true });
  writeFileSync(path(LOG), entries.map(lineOf).join(''));
  if (!resume) writeFileSync(path(IDENTITY), `${JSON.stringify(identity, undefined, 2)}\n`);
  return ok({
    checkpoint,
    entries: () => entries,
    log(event) {
      entries.push(event);
      appendFileSync(path(LOG), lineOf(event));
    },
    keep(kept) {
      // whole or not at all: a run may be killed while it writes
      writeFileSync(path(`${CHECKPOINT}.part`), writeCheckpoint(kept));
      renameSync(path(`${CHECKPOINT}.part`), path(CHECKPOINT));
    },
    keepAdapter(config, parameters, base) {
      const { weights, configText } = writeAdapter(adapterOf(config, parameters, UNWRITTEN), base, { promptVersion: PROMPT_VERSION, type: 'F16' });
      writeFileSync(join(folder, ADAPTER, ADAPTER_FILES.weights), weights);
      writeFileSync(join(folder, ADAPTER, ADAPTER_FILES.config), configText);
    },
    writeCard(textOf) {
      const digest = createHash('sha256').update(readFileSync(join(folder, ADAPTER, ADAPTER_FILES.weights))).digest('hex') as Digest;
      writeFileSync(join(folder, ADAPTER, ADAPTER_FILES.card), textOf(digest));
    },
  });
}

/** Names of the members that are not the same, or are on one side alone. */
function differences(text: string, identity: JsonObject): readonly string[] {
  const read = parseJson(text);
  const there = read.ok ? (read.value as JsonObject) : {};
  const textOf = (value: JsonValue | undefined): string | undefined => (value === undefined ? undefined : canonicalText(value));
  return [...new Set([...Object.keys(identity), ...Object.keys(there)])].filter((name) => textOf(there[name]) !== textOf(identity[name]));
}

/** A line that was being written when the run was killed is none. */
function readLog<Event>(text: string): Event[] {
  return text.split('\n').flatMap((line) => {
    const read = parseJson(line);
    return read.ok ? [read.value as unknown as Event] : [];
  });
}

function lineOf(event: LoggedEvent): string {
  return `${JSON.stringify(event)}\n`;
}
