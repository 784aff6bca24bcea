/** A run of group-relative optimisation from data set, model and a supervised adapter to the adapter's folder; it can be stopped and gone on with at any time. */
import { digestOf, err, ok, type JsonObject, type Result } from '@contractrl/core';
import { openBatch, PROMPT_VERSION, type EngineLoadIssue, type LoraAdapter, type Tokenizer } from '@contractrl/runtime-webgpu';
import { createOptimiserState } from '../gradient/adamw.ts';
import { createGradientEngine } from '../gradient/gradient-engine.ts';
import { adapterOf, parametersOf, type ParametersIssue } from '../gradient/parameters.ts';
import { openRunFolder, type RunFolderIssue, type RunOptions } from '../run-folder.ts';
import { grpoCard } from './card.ts';
import { Rollout } from './rollout.ts';
import { isOfCohort, type GrpoSettings } from './settings.ts';
import { bestLook, isPlannedLook, trainGrpo, type GrpoEnd, type GrpoEvent, type GrpoFailure, type GrpoValidationEntry } from './train.ts';

export interface RunGrpoOptions extends RunOptions<GrpoEvent> {
  readonly tokenizer: Tokenizer;
  /** What training begins with; its digest is that of its file. */
  readonly from: LoraAdapter;
  readonly settings: GrpoSettings;
}

export interface GrpoSummary {
  readonly end: GrpoEnd;
  readonly stepCount: number;
  /** Undefined where the run was aborted before the first look. */
  readonly best: GrpoValidationEntry | undefined;
}

export type RunGrpoIssue = RunFolderIssue | GrpoFailure | EngineLoadIssue | ParametersIssue
  /** None on one side that the policy would be asked about. */
  | { readonly code: 'grpo/too-few-examples'; readonly train: number; readonly validation: number };

/** Rows of a pass: one group of the default size. */
const BATCH_WIDTH = 8;

/** Trains and writes; minutes to hours. Equal options give equal bytes of adapter and checkpoint on one machine, in one go or several. */
export async function runGrpo(options: RunGrpoOptions): Promise<Result<GrpoSummary, RunGrpoIssue>> {
  const { folder, resume, ort, model, base, tokenizer, vocabulary, data, from, settings, contextLength, onEvent } = options;
  const train = data.examples.filter(({ split }) => split === 'train');
  const validation = data.examples.filter((example) => example.split === 'validation' && isOfCohort(example, settings)).slice(0, options.validationCount);
  const cohortCount = train.filter((example) => isOfCohort(example, settings)).length;
  if (cohortCount === 0 || validation.length === 0) return err({ code: 'grpo/too-few-examples', train: cohortCount, validation: validation.length });
  const [start, fresh] = [parametersOf(model.config, from), parametersOf(model.config, from)];
  if (!start.ok) return start;
  if (!fresh.ok) return fresh;
  const { rank, alpha } = start.value;
  const manifestDigest = digestOf(data.manifest);
  const identity: JsonObject = {
    method: 'grpo', base, model: model.digest, vocabulary: vocabulary.digest, promptVersion: PROMPT_VERSION, manifest: manifestDigest, from: from.digest, rank, alpha,
    settings: settings as unknown as JsonObject, contextLength, validationCount: options.validationCount,
  };
  // what is logged of a step is logged when it is over; the look before the next is kept with the checkpoint that follows it
  const isLasting = ({ kind, step }: GrpoEvent, stepCount: number): boolean => step * settings.innerSteps <= stepCount && (kind !== 'validation' || isPlannedLook(step, settings));
  const opened = openRunFolder<GrpoEvent>({ folder, resume, identity, like: fresh.value, isLasting });
  if (!opened.ok) return opened;
  const files = opened.value;
  const run = files.checkpoint ?? { parameters: fresh.value, state: createOptimiserState(fresh.value) };
  const threads = options.threadCount === undefined ? {} : { threadCount: options.threadCount };
  const batch = await openBatch({ ort, model, graph: { format: 'q41x', contextLength }, executionProvider: 'cpu', width: BATCH_WIDTH, ...threads });
  if (!batch.ok) return batch;
  const engine = await createGradientEngine({ ort, model, contextLength, ...threads });
  if (!engine.ok) {
    await batch.value.engine.dispose();
    return engine;
  }

  const looks = (): readonly GrpoValidationEntry[] => files.entries().filter((entry): entry is GrpoValidationEntry => entry.kind === 'validation');
  const writeCard = (): void => {
    files.writeCard((digest) => grpoCard({ base, baseDigest: model.digest, rank, alpha, digest, manifest: data.manifest, manifestDigest, from: from.digest, settings, entries: files.entries() }));
  };
  const ended = await trainGrpo({
    engine: engine.value, rollout: new Rollout({ batch: batch.value, tokenizer, vocabulary, settings }), run, start: start.value, train, validation, settings,
    packLength: contextLength, earlier: [...files.entries()], adapterOf: (parameters, digest) => adapterOf(model.config, parameters, digest), clock: options.clock,
    ...(options.limitMs === undefined ? {} : { limitMs: options.limitMs }), ...(options.signal === undefined ? {} : { signal: options.signal }),
    onEvent(event) {
      files.log(event);
      if (event.kind === 'validation') {
        // the adapter before the checkpoint: a run that is killed between the two looks again and writes the same
        if (bestLook(looks()) === event) files.keepAdapter(model.config, run.parameters, base);
        writeCard();
        files.keep(run);
      }
      onEvent(event);
    },
  });
  await Promise.all([engine.value.dispose(), batch.value.engine.dispose()]);
  if (!ended.ok) return ended;
  files.keep(run);
  if (looks().length > 0) writeCard();
  return ok({ end: ended.value, stepCount: run.state.stepCount / settings.innerSteps, best: bestLook(looks()) });
}
