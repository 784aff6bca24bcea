/**
 * A fresh machine → a running policy, in Node: model file (fetched once), graph (built once), session, adapter. Every step that can fail says which
 * one it was and what to do.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { err, ok, type Result } from '@contractrl/core';
import { createVocabulary, type Vocabulary } from '@contractrl/grammar-mask';
import type { Engine } from '../engine.ts';
import type { LoraAdapter } from '../lora/adapter.ts';
import { readAdapter } from '../lora/peft.ts';
import { readGguf, type GgufModel } from '../model/gguf.ts';
import { createTokenizer } from '../model/tokenizer.ts';
import type { GraphOptions } from '../onnx/graph.ts';
import { weightReport, type WeightUse } from '../onnx/weight-report.ts';
import { createOrtEngine } from '../ort/engine.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { formatModelFailure, toFileFailure, type ModelFailure } from './failure.ts';
import { readWholeFile } from './files.ts';
import { dropGraph, ensureGraph, type StoredGraph } from './graph-store.ts';
import { cacheDirectory, fetchModel, type LocatedModel, type ModelOptions } from './model-store.ts';

export interface OpenOptions extends ModelOptions {
  /** Folder of a PEFT adapter, `none` for the bare model; default {@link DEFAULT_ADAPTER_FOLDER} for the base model it was trained on, else `none`. */
  readonly adapter?: string;
  /** Threads of one run; default: the runtime's own choice, all cores. */
  readonly threads?: number;
  /** Default `q41x`: exact, 80 MB, the fastest exact format on CPUs. */
  readonly format?: GraphOptions['format'];
}

export interface Runtime {
  readonly engine: Engine;
  readonly tokenizer: Tokenizer;
  readonly vocabulary: Vocabulary;
  readonly model: LocatedModel;
  /** As it is in use; undefined for the bare base model. */
  readonly adapter: LoraAdapter | undefined;
  /** What became of the model's weights, by the type they are stored as. */
  readonly weightFormats: readonly WeightUse[];
}

/** `message` says what to do. `detail` is the failure of the step as data. */
export interface OpenFailure {
  readonly code: string;
  readonly message: string;
  readonly detail: { readonly code: string };
}

/** The adapter that ships with this package. */
export const DEFAULT_ADAPTER_FOLDER: string = fileURLToPath(new URL('../../adapters/sft-r8', import.meta.url));
const ADAPTER_WEIGHTS = 'adapter_model.safetensors';
const ADAPTER_CONFIG = 'adapter_config.json';

export async function openRuntime(options: OpenOptions = {}): Promise<Result<Runtime, OpenFailure>> {
  const located = await fetchModel(options);
  if (!located.ok) return err(toOpenFailure(located.error));
  const adapter = await openAdapter(options.adapter ?? (located.value.isBase ? DEFAULT_ADAPTER_FOLDER : 'none'));
  if (!adapter.ok) return adapter;
  const model = await openModel(located.value);
  if (!model.ok) return model;
  const tokenizer = createTokenizer(model.value);
  if (!tokenizer.ok) return err(openFailure(tokenizer.error, `The model’s tokenizer is not one that this library knows (${describe(tokenizer.error)}).`));
  const vocabulary = createVocabulary({
    logitWidth: model.value.vocabularySize, tokens: tokenizer.value.tokens, stopIds: tokenizer.value.stopIds, encode: (text) => tokenizer.value.encodePlain(text),
  });
  if (!vocabulary.ok) return err(openFailure(vocabulary.error, 'The model’s tokenizer does not fit its weights.'));
  const engine = await openEngine(model.value, options);
  if (!engine.ok) return engine;
  const used = engine.value.useAdapter(adapter.value);
  if (!used.ok) {
    await engine.value.dispose();
    return err(openFailure(used.error, 'The adapter does not fit the base model: use an adapter that was trained for it, or --adapter none.'));
  }
  if (options.signal?.aborted === true) {
    await engine.value.dispose();
    return err(toOpenFailure({ code: 'model/aborted' }));
  }
  const weightFormats = weightReport(model.value, formatOf(options));
  return ok({ engine: engine.value, tokenizer: tokenizer.value, vocabulary: vocabulary.value, model: located.value, adapter: adapter.value, weightFormats });
}

async function openModel(located: LocatedModel): Promise<Result<GgufModel, OpenFailure>> {
  const bytes = await readWholeFile(located.path);
  if (!bytes.ok) return err(toOpenFailure(bytes.error));
  const model = await readGguf(bytes.value, { digest: located.sha256 as GgufModel['digest'] });
  if (model.ok) return model;
  const advice = located.source === 'path' ? 'give another one, or leave out --model' : 'delete it and fetch it again';
  return err(openFailure(model.error, `The model file ${located.path} cannot be used (${describe(model.error)}): ${advice}.`));
}

/** A code with what it names: `model/unsupported-setting: llama.expert_count, 8`. */
function describe({ code, ...params }: { readonly code: string }): string {
  const named = Object.values(params).filter((value) => typeof value === 'string' || typeof value === 'number');
  return named.length === 0 ? code : `${code}: ${named.join(', ')}`;
}

/** From the folder of a PEFT adapter. */
async function openAdapter(folder: string): Promise<Result<LoraAdapter | undefined, OpenFailure>> {
  if (folder === 'none') return ok(undefined);
  const failed = (detail: { readonly code: string }, reason: string): Result<never, OpenFailure> =>
    err(openFailure(detail, `The adapter in ${folder} cannot be used (${reason}): give a folder with ${ADAPTER_WEIGHTS} and ${ADAPTER_CONFIG}, or --adapter none.`));
  let files: readonly [Uint8Array, string];
  try {
    files = await Promise.all([readFile(join(folder, ADAPTER_WEIGHTS)), readFile(join(folder, ADAPTER_CONFIG), 'utf8')]);
  } catch (cause) {
    const failure = toFileFailure(cause, folder);
    return failed({ code: failure.code === 'model/file-missing' ? 'adapter/file-missing' : 'adapter/file-access' }, failure.code === 'model/file-missing' ? 'files are missing' : 'files cannot be read');
  }
  const adapter = await readAdapter(...files);
  return adapter.ok ? adapter : failed(adapter.error, adapter.error.code);
}

async function openEngine(model: GgufModel, options: OpenOptions): Promise<Result<Engine, OpenFailure>> {
  const { onProgress, threads } = options;
  const graph: GraphOptions = { format: formatOf(options) };
  // The native library is loaded only where a model is run: commands that need none start without its 30 MB.
  const ort = await import('onnxruntime-node');
  const load = async (): Promise<{ readonly stored: StoredGraph; readonly engine: Awaited<ReturnType<typeof createOrtEngine>> | undefined }> => {
    const stored = await ensureGraph(model, graph, cacheDirectory(options), () => onProgress?.({ stage: 'build-graph' }));
    if (stored.kind === 'too-large') return { stored, engine: undefined };
    if (stored.kind === 'memory') onProgress?.({ stage: 'graph-not-kept', failure: stored.failure });
    onProgress?.({ stage: 'load' });
    const source = stored.kind === 'file' ? stored.path : stored.graph;
    return { stored, engine: await createOrtEngine({ ort, model, graph, source, executionProvider: 'cpu', ...(threads === undefined ? {} : { threadCount: threads }) }) };
  };
  let loaded = await load();
  // A kept graph that does not load was damaged on disk: built anew, once.
  if (loaded.engine?.ok === false && loaded.stored.kind === 'file' && !loaded.stored.isNew) {
    await dropGraph(loaded.stored.path);
    loaded = await load();
  }
  if (loaded.engine === undefined) {
    return err(openFailure({ code: 'model/too-large' }, 'The model’s weights take more than the 2 GiB that a graph can hold: use a file with fewer bits a weight.'));
  }
  if (loaded.engine.ok) return loaded.engine;
  return err(openFailure(loaded.engine.error, 'The model could not be started, perhaps for lack of memory (about 800 MB are needed for the default one): close other programs and try again.'));
}

function formatOf(options: OpenOptions): GraphOptions['format'] {
  return options.format ?? 'q41x';
}

function toOpenFailure(failure: ModelFailure): OpenFailure {
  return openFailure(failure, formatModelFailure(failure));
}

function openFailure(detail: { readonly code: string }, message: string): OpenFailure {
  return { code: detail.code, message, detail };
}
