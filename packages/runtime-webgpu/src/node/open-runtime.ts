/**
 * A fresh machine → a running policy, in Node: model file (fetched once), graph (built once), session, adapter. Every step that can fail says which
 * one it was and what to do.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { err, ok, type Result } from '@contractrl/core';
import { createVocabulary, type Vocabulary } from '@contractrl/grammar-mask';
import type { Engine } from '../engine.ts';
import { ADAPTER_FILES } from '../lora/adapter-files.ts';
import type { LoraAdapter } from '../lora/adapter.ts';
import { DEFAULT_ADAPTER_NAME } from '../lora/shipped-adapters.ts';
import { readGgufFile, readGgufTables, type GgufModel } from '../model/gguf.ts';
import { createTokenizer } from '../model/tokenizer.ts';
import type { GraphOptions } from '../onnx/graph.ts';
import { weightReport, type WeightUse } from '../onnx/weight-report.ts';
import { createOrtEngine } from '../ort/engine.ts';
import type { OrtRuntime } from '../ort/runtime.ts';
import { PROMPT_VERSION } from '../prompt.ts';
import { foreignTo, readCalibration, type Calibration, type CalibrationIssue } from '../release/calibration.ts';
import type { Release } from '../release/release.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { adapterFolder, formatUnknownAdapter } from './adapter-folder.ts';
import { chooseNodeEngine, fallBack, NODE_FORMATS, type NodeEngineChoice, type NodeEngineName, type NodeEngineWish } from './choose-engine.ts';
import { formatModelFailure, toFileFailure, type ModelFailure } from './failure.ts';
import { openFile } from './files.ts';
import { dropGraph, ensureGraph, type StoredGraph } from './graph-store.ts';
import { cacheDirectory, fetchModel, type LocatedModel, type ModelOptions } from './model-store.ts';
import { readAdapterFolder } from './read-adapter-folder.ts';

export interface OpenOptions extends ModelOptions {
  /**
   * An adapter that ships, by name (`r8`); the folder of a PEFT adapter, as a path with a slash or with a dot in front; or `none` for the bare model. Default:
   * {@link DEFAULT_ADAPTER_NAME} for the base model it was trained on, else `none`.
   */
  readonly adapter?: string;
  /**
   * `off`: no patch is withheld for low confidence, whatever stands beside the adapter. A `threshold` in [0, 1] stands in for the calibration's own, and
   * then there must be one. Default: the `calibration.json` in the adapter's folder, where there is one, with its threshold.
   */
  readonly release?: 'off' | { readonly threshold: number };
  /** Threads of one run; default: the runtime's own choice, all cores. */
  readonly threads?: number;
  /** Default `cpu`. `webgpu` and `auto` test the graphics adapter first and fall back to the processor; {@link Runtime.choice} says why. */
  readonly engine?: NodeEngineWish;
  /** Default `q41x`: exact, 80 MB, the fastest exact format on CPUs; `q41` on WebGPU. */
  readonly format?: GraphOptions['format'];
}

export interface Runtime {
  readonly engine: Engine;
  /** Which engine it is, and why not another. */
  readonly choice: NodeEngineChoice;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
  readonly model: LocatedModel;
  /** As it is in use; undefined for the bare base model. */
  readonly adapter: LoraAdapter | undefined;
  /** The release rule that the adapter came with; absent for none. */
  readonly release?: Release;
  /** What became of the model's weights, by the type they are stored as. */
  readonly weightFormats: readonly WeightUse[];
}

/** `message` says what to do. `detail` is the failure of the step as data. */
export interface OpenFailure {
  readonly code: string;
  readonly message: string;
  readonly detail: { readonly code: string };
}

export async function openRuntime(options: OpenOptions = {}): Promise<Result<Runtime, OpenFailure>> {
  // before the model, which may be a download
  const named = adapterFolder(options.adapter ?? DEFAULT_ADAPTER_NAME);
  if (!named.ok) return err(openFailure(named.error, formatUnknownAdapter(named.error)));
  const located = await fetchModel(options);
  if (!located.ok) return err(toOpenFailure(located.error));
  const folder = options.adapter === undefined && !located.value.isBase ? undefined : named.value;
  const adapter = await openAdapter(folder);
  if (!adapter.ok) return adapter;
  const release = await openRelease(folder, adapter.value, options.release);
  if (!release.ok) return release;
  const model = await openModel(located.value, readGgufTables);
  if (!model.ok) return model;
  const tokenizer = createTokenizer(model.value);
  if (!tokenizer.ok) return err(openFailure(tokenizer.error, `The model’s tokenizer is not one that this library knows (${describe(tokenizer.error)}).`));
  const vocabulary = createVocabulary({
    logitWidth: model.value.vocabularySize, tokens: tokenizer.value.tokens, stopIds: tokenizer.value.stopIds, encode: (text) => tokenizer.value.encodePlain(text),
  });
  if (!vocabulary.ok) return err(openFailure(vocabulary.error, 'The model’s tokenizer does not fit its weights.'));
  const opened = await openEngine(model.value, located.value, options);
  if (!opened.ok) return opened;
  const { engine, choice } = opened.value;
  const used = engine.useAdapter(adapter.value);
  if (!used.ok) {
    await engine.dispose();
    return err(openFailure(used.error, 'The adapter does not fit the base model: use an adapter that was trained for it, or --adapter none.'));
  }
  if (options.signal?.aborted === true) {
    await engine.dispose();
    return err(toOpenFailure({ code: 'model/aborted' }));
  }
  const weightFormats = weightReport(model.value, formatOf(options, choice.engine));
  return ok({
    engine, choice, tokenizer: tokenizer.value, vocabulary: vocabulary.value, model: located.value, adapter: adapter.value, weightFormats,
    ...(release.value === undefined ? {} : { release: release.value }),
  });
}

async function openModel(located: LocatedModel, read: typeof readGgufFile): Promise<Result<GgufModel, OpenFailure>> {
  const file = await openFile(located.path);
  if (!file.ok) return err(toOpenFailure(file.error));
  const model = await read(file.value, located.sha256 as GgufModel['digest']);
  await file.value.close();
  if (model.ok) return model;
  const advice = located.source === 'path' ? 'give another one, or leave out --model' : 'delete it and fetch it again';
  return err(openFailure(model.error, `The model file ${located.path} cannot be used (${describe(model.error)}): ${advice}.`));
}

/** A code with what it names: `model/unsupported-setting: llama.expert_count, 8`. */
function describe({ code, ...params }: { readonly code: string }): string {
  const named = Object.values(params).filter((value) => typeof value === 'string' || typeof value === 'number');
  return named.length === 0 ? code : `${code}: ${named.join(', ')}`;
}

/** From the folder of a PEFT adapter; undefined without one. */
async function openAdapter(folder: string | undefined): Promise<Result<LoraAdapter | undefined, OpenFailure>> {
  if (folder === undefined) return ok(undefined);
  const adapter = await readAdapterFolder(folder);
  if (adapter.ok) return adapter;
  const { code } = adapter.error;
  const reason = code === 'adapter/file-missing' ? 'files are missing' : code === 'adapter/file-access' ? 'files cannot be read' : code;
  return err(openFailure(adapter.error, `The adapter in ${folder} cannot be used (${reason}): give a folder with ${ADAPTER_FILES.weights} and ${ADAPTER_FILES.config}, or --adapter none.`));
}

/** The release rule for an adapter, from the calibration in its folder; a file there that cannot be used is not passed over. */
async function openRelease(folder: string | undefined, adapter: LoraAdapter | undefined, asked: OpenOptions['release']): Promise<Result<Release | undefined, OpenFailure>> {
  if (asked === 'off') return ok(undefined);
  const calibration = folder === undefined || adapter === undefined ? ok(undefined) : await openCalibration(join(folder, ADAPTER_FILES.calibration), adapter);
  if (!calibration.ok) return calibration;
  if (calibration.value !== undefined) return ok({ calibration: calibration.value, threshold: asked?.threshold ?? calibration.value.threshold });
  if (asked === undefined) return ok(undefined);
  const missing = { code: 'calibration/missing' };
  return err(openFailure(missing, `A threshold needs a calibration, and there is no ${ADAPTER_FILES.calibration} beside the adapter: calibrate the adapter, or repair without a threshold.`));
}

/** Undefined where there is no such file. */
async function openCalibration(path: string, { digest: adapterDigest }: LoraAdapter): Promise<Result<Calibration | undefined, OpenFailure>> {
  const failed = (detail: CalibrationIssue | { readonly code: string }): Result<never, OpenFailure> =>
    err(openFailure(detail, `The calibration ${path} cannot be used (${describe(detail)}): give the one that came with this adapter, calibrate the adapter again, or repair with the release rule off.`));
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    return toFileFailure(cause, path).code === 'model/file-missing' ? ok(undefined) : failed({ code: 'calibration/file-access' });
  }
  const calibration = readCalibration(text);
  if (!calibration.ok) return failed(calibration.error);
  const foreign = foreignTo(calibration.value, { adapterDigest, promptVersion: PROMPT_VERSION });
  return foreign === undefined ? calibration : failed(foreign);
}

/** On the engine of choice, or on the processor where that one does not take the model. */
async function openEngine(model: GgufModel, located: LocatedModel, options: OpenOptions): Promise<Result<Pick<Runtime, 'engine' | 'choice'>, OpenFailure>> {
  const { onProgress } = options;
  // The native library is loaded only where a model is run: commands that need none start without its 30 MB.
  const ort = await import('onnxruntime-node');
  let choice = await chooseNodeEngine(ort, options.engine ?? 'cpu', () => onProgress?.({ stage: 'test-engine' }));
  let engine = await openEngineOn(choice.engine, ort, model, located, options);
  if (!engine.ok && choice.engine === 'webgpu' && engine.error.code.startsWith('engine/')) {
    choice = fallBack(engine.error.detail);
    engine = await openEngineOn('cpu', ort, model, located, options);
  }
  for (const rejected of choice.rejected) onProgress?.({ stage: 'engine-rejected', ...rejected });
  return engine.ok ? ok({ engine: engine.value, choice }) : engine;
}

async function openEngineOn(name: NodeEngineName, ort: OrtRuntime, model: GgufModel, located: LocatedModel, options: OpenOptions): Promise<Result<Engine, OpenFailure>> {
  const { onProgress, threads } = options;
  const graphOptions: GraphOptions = { format: formatOf(options, name) };
  const readWhole = (): ReturnType<typeof openModel> => {
    onProgress?.({ stage: 'build-graph' });
    return openModel(located, readGgufFile);
  };
  const load = async (): Promise<Result<Loaded, OpenFailure>> => {
    const graph = await ensureGraph(model, graphOptions, cacheDirectory(options), readWhole);
    if (!graph.ok) return graph;
    const stored = graph.value;
    if (stored.kind === 'too-large') {
      return err(openFailure({ code: 'model/too-large' }, 'The model’s weights take more than the 2 GiB that a graph can hold: use a file with fewer bits a weight.'));
    }
    if (stored.kind === 'memory') onProgress?.({ stage: 'graph-not-kept', failure: stored.failure });
    onProgress?.({ stage: 'load' });
    const source = stored.kind === 'file' ? stored.path : stored.graph;
    const engine = await createOrtEngine({ ort, model, graph: graphOptions, source, executionProvider: name, ...(threads === undefined ? {} : { threadCount: threads }) });
    return ok({ stored, engine });
  };
  let loaded = await load();
  // A kept graph that does not load was damaged on disk: built anew, once.
  if (loaded.ok && !loaded.value.engine.ok && loaded.value.stored.kind === 'file' && !loaded.value.stored.isNew) {
    await dropGraph(loaded.value.stored.path);
    loaded = await load();
  }
  if (!loaded.ok) return loaded;
  const { engine } = loaded.value;
  if (engine.ok) return engine;
  return err(openFailure(engine.error, 'The model could not be started, perhaps for lack of memory (about 400 MB are needed for the default one): close other programs and try again.'));
}

interface Loaded {
  readonly stored: StoredGraph;
  readonly engine: Awaited<ReturnType<typeof createOrtEngine>>;
}

function formatOf(options: OpenOptions, engine: NodeEngineName): GraphOptions['format'] {
  return options.format ?? NODE_FORMATS[engine];
}

function toOpenFailure(failure: ModelFailure): OpenFailure {
  return openFailure(failure, formatModelFailure(failure));
}

function openFailure(detail: { readonly code: string }, message: string): OpenFailure {
  return { code: detail.code, message, detail };
}
