/** A supervised run from data set and model to the adapter's folder: training graph, loop, log, checkpoints, card. It can be stopped and gone on with at any time. */
import { digestOf, err, ok, type JsonObject, type Result } from '@contractrl/core';
import { createMaskMemory, PROMPT_VERSION, type LoraAdapter, type Tokenizer } from '@contractrl/runtime-webgpu';
import { createOptimiserState } from '../gradient/adamw.ts';
import { createGradientEngine } from '../gradient/gradient-engine.ts';
import { initialParameters, parametersOf, type ParametersIssue } from '../gradient/parameters.ts';
import { openRunFolder, type RunFolderIssue, type RunOptions } from '../run-folder.ts';
import { cardOf } from './card.ts';
import { encodeExample } from './encode-example.ts';
import { bestOf, isPlannedLook, trainSft, type SftEnd, type SftEvent, type SftFailure, type SftSettings, type ValidationEntry } from './train.ts';

export interface RunSftOptions extends RunOptions<SftEvent> {
  readonly tokenizer: Pick<Tokenizer, 'encodePlain' | 'encodeTrusted'>;
  readonly rank: number;
  /** What training begins with, of the same rank; its digest is that of its file. Default: an adapter that changes nothing. The optimiser is a fresh one. */
  readonly from?: LoraAdapter;
  readonly settings: SftSettings;
}

export interface SftSummary {
  readonly end: SftEnd;
  readonly stepCount: number;
  /** Undefined where the run was aborted before the first. */
  readonly best: ValidationEntry | undefined;
}

export type RunSftIssue = RunFolderIssue | SftFailure | ParametersIssue
  /** The adapter to begin with is of another rank. */
  | { readonly code: 'train/other-rank'; readonly rank: number; readonly startRank: number }
  /** Fewer than a batch to train on, or none to validate with. */
  | { readonly code: 'sft/too-few-examples'; readonly train: number; readonly validation: number };

/** The usual choice: an adapter's effect does not change with its rank then. */
const ALPHA_OF_RANK = 2;

/** Trains and writes; minutes to hours. Equal options give equal bytes of adapter and checkpoint on one machine, in one go or several. */
export async function runSft(options: RunSftOptions): Promise<Result<SftSummary, RunSftIssue>> {
  const { folder, resume, ort, model, base, vocabulary, data, rank, from, settings, contextLength, validationCount, onEvent } = options;
  const train = data.examples.filter(({ split }) => split === 'train');
  const validation = data.examples.filter(({ split }) => split === 'validation').slice(0, validationCount);
  if (train.length < settings.batchSize || validation.length === 0) return err({ code: 'sft/too-few-examples', train: train.length, validation: validation.length });
  if (from !== undefined && from.rank !== rank) return err({ code: 'train/other-rank', rank, startRank: from.rank });
  const start = from === undefined ? ok(initialParameters(model.config, { rank, alpha: ALPHA_OF_RANK * rank, seed: settings.seed })) : parametersOf(model.config, from);
  if (!start.ok) return start;
  const fresh = start.value;
  const { alpha } = fresh;
  const manifestDigest = digestOf(data.manifest);
  const identity: JsonObject = {
    base, model: model.digest, vocabulary: vocabulary.digest, promptVersion: PROMPT_VERSION, manifest: manifestDigest, rank, alpha, settings: { ...settings }, contextLength, validationCount,
    ...(from === undefined ? {} : { from: from.digest }),
  };
  const looksFirst = from !== undefined;
  const isLasting = (event: SftEvent, stepCount: number): boolean => event.step <= stepCount && (event.kind !== 'validation' || isPlannedLook(event.step, train.length, settings, looksFirst));
  const opened = openRunFolder({ folder, resume, identity, like: fresh, isLasting });
  if (!opened.ok) return opened;
  const files = opened.value;
  const run = files.checkpoint ?? { parameters: fresh, state: createOptimiserState(fresh) };
  const engine = await createGradientEngine({ ort, model, contextLength, ...(options.threadCount === undefined ? {} : { threadCount: options.threadCount }) });
  if (!engine.ok) return engine;

  const memory = createMaskMemory();
  const validations = (): readonly ValidationEntry[] => files.entries().filter((entry): entry is ValidationEntry => entry.kind === 'validation');
  const writeCard = (): void => {
    files.writeCard((digest) => cardOf({ base, baseDigest: model.digest, rank, alpha, digest, manifest: data.manifest, manifestDigest, from: from?.digest, settings, entries: files.entries() }));
  };
  const ended = await trainSft({
    engine: engine.value, run, train, validation, settings, looksFirst, earlier: validations(), clock: options.clock,
    encode: (example) => encodeExample(example, { tokenizer: options.tokenizer, vocabulary, contextLength, memory }),
    ...(options.limitMs === undefined ? {} : { limitMs: options.limitMs }), ...(options.signal === undefined ? {} : { signal: options.signal }),
    onEvent(event) {
      files.log(event);
      if (event.kind === 'validation') {
        // the adapter before the checkpoint: a run that is killed between the two looks again and writes the same
        if (bestOf(validations()) === event) files.keepAdapter(model.config, run.parameters, base);
        writeCard();
        files.keep(run);
      }
      onEvent(event);
    },
  });
  await engine.value.dispose();
  if (!ended.ok) return ended;
  files.keep(run);
  if (validations().length > 0) writeCard();
  return ok({ end: ended.value, stepCount: run.state.stepCount, best: bestOf(validations()) });
}
