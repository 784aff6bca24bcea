/**
 * The engine port over ONNX Runtime, native or WASM. One run: embedding rows of the new tokens, the cache and the adapter go in; the
 * hidden state of the last position and a longer cache come out. Runs are queued, one at a time, because a session is not re-entrant.
 * Every failure of the library is caught here and becomes an `EngineFailure`.
 */
import { err, ok, type Digest, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Engine, EngineFailure, EngineIdentity, EngineStep, KvCache } from '../engine.ts';
import type { LoraAdapter } from '../lora/adapter.ts';
import { loraFeeds, zeroFeeds, type LoraFeed } from '../lora/feeds.ts';
import type { ModelConfig } from '../model/config.ts';
import type { GgufModel } from '../model/gguf.ts';
import { EMBEDDING, HEAD } from '../model/layout.ts';
import { createRowTable, type RowTable } from '../model/row-table.ts';
import { buildGraph, graphSettings, type DecoderGraph, type GraphOptions, type GraphSettings } from '../onnx/graph.ts';
import { concatBytes } from '../onnx/encoder.ts';
import { EMBEDDINGS, HIDDEN, loraA, pastKey, pastValue, presentKey, presentValue, SEQUENCE_LENGTHS, TOTAL_LENGTH } from '../onnx/names.ts';
import { OrtKvCache } from './kv-cache.ts';
import type { OrtRuntime } from './runtime.ts';

export interface OrtEngineOptions {
  readonly ort: OrtRuntime;
  readonly model: GgufModel;
  /** Which graph: weight format, LoRA inputs, context length. */
  readonly graph: GraphOptions;
  /** Path of an `.onnx` file built with the same options (see `graphCacheKey`), or a graph just built. Built here where absent. */
  readonly source?: string | DecoderGraph;
  /** `cpu` in Node, `wasm` in a browser. */
  readonly executionProvider: 'cpu' | 'wasm';
  /** Threads of one run in Node. On WASM they are set once for the page, in `ort.env.wasm.numThreads`, before the first session. */
  readonly threadCount?: number;
  readonly onProgress?: (phase: EnginePhase) => void;
}

/** Steps of starting an engine, reported as each begins. */
export type EnginePhase = 'build-graph' | 'load-session' | 'ready';

export type EngineLoadIssue =
  /** ONNX Runtime refused the graph: damaged cache file, out of memory, no such backend. */
  | { readonly code: 'engine/load-failed'; readonly cause: unknown }
  /** The file at `source` is a graph of another model or of other options. */
  | { readonly code: 'engine/wrong-graph'; readonly detail: string };

/** Starts an engine: builds the graph unless one is given, and loads it into a session. */
export async function createOrtEngine(options: OrtEngineOptions): Promise<Result<Engine, EngineLoadIssue>> {
  const { ort, model, onProgress } = options;
  const settings = graphSettings(model, options.graph);
  if (options.source === undefined) onProgress?.('build-graph');
  const source = options.source ?? buildGraph(model, options.graph);
  onProgress?.('load-session');
  const session = await loadSession(ort, source, options);
  if (!session.ok) return session;
  const mismatch = graphMismatch(session.value, model.config, settings);
  if (mismatch !== undefined) {
    await session.value.release();
    return err({ code: 'engine/wrong-graph', detail: mismatch });
  }
  onProgress?.('ready');
  return ok(new OrtEngine(ort, session.value, model, settings, options.executionProvider));
}

async function loadSession(ort: OrtRuntime, source: string | DecoderGraph, options: OrtEngineOptions): Promise<Result<InferenceSession, EngineLoadIssue>> {
  const sessionOptions: InferenceSession.SessionOptions = {
    executionProviders: [options.executionProvider],
    logSeverityLevel: LOG_ERRORS_ONLY,
    ...(options.threadCount === undefined ? {} : { intraOpNumThreads: options.threadCount }),
  };
  try {
    if (typeof source === 'string') return ok(await ort.InferenceSession.create(source, sessionOptions));
    if (source.externalData.length > 0) sessionOptions.externalData = source.externalData;
    return ok(await ort.InferenceSession.create(concatBytes(source.parts), sessionOptions));
  } catch (cause) {
    return err({ code: 'engine/load-failed', cause });
  }
}

const LOG_ERRORS_ONLY = 3;

/** A call, so that the compiler does not take the answer before a run for the answer after it. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}

/** What tells that a graph file was built for other options; sizes that the names do not show are part of its cache key. */
function graphMismatch(session: InferenceSession, config: ModelConfig, settings: GraphSettings): string | undefined {
  const names = new Set(session.inputNames);
  if (!names.has(EMBEDDINGS) || !session.outputNames.includes(HIDDEN)) return 'not a decoder graph of this library';
  if (!names.has(pastKey(config.layerCount - 1)) || names.has(pastKey(config.layerCount))) return `not of ${config.layerCount} layers`;
  if (names.has(loraA(0, 'q')) !== settings.lora) return settings.lora ? 'no adapter inputs' : 'unexpected adapter inputs';
  return undefined;
}

class OrtEngine implements Engine {
  readonly identity: EngineIdentity;
  readonly logitWidth: number;
  readonly contextLength: number;
  readonly emptyCache: KvCache;
  adapterDigest: Digest | undefined;
  readonly #ort: OrtRuntime;
  readonly #session: InferenceSession;
  readonly #config: ModelConfig;
  readonly #hasLora: boolean;
  readonly #embedding: RowTable;
  readonly #head: RowTable;
  #adapterTensors: Readonly<Record<string, Tensor>>;
  /** Ends when every run queued so far has ended; never rejects. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Why no further run is possible. */
  #failure: EngineFailure | undefined;

  constructor(ort: OrtRuntime, session: InferenceSession, model: GgufModel, settings: GraphSettings, backend: string) {
    this.#ort = ort;
    this.#session = session;
    this.#config = model.config;
    this.#hasLora = settings.lora;
    const embedding = model.tensors.get(EMBEDDING);
    if (embedding === undefined) throw new TypeError('model: no embedding, though readGguf checks the layout');
    this.#embedding = createRowTable(embedding);
    const head = model.tensors.get(HEAD);
    this.#head = head === undefined ? this.#embedding : createRowTable(head);
    this.#adapterTensors = settings.lora ? this.#toTensors(zeroFeeds(model.config)) : {};
    this.identity = { backend: `onnxruntime-${backend}`, modelDigest: model.digest, format: settings.format };
    this.logitWidth = model.vocabularySize;
    this.contextLength = settings.contextLength;
    this.emptyCache = this.#makeCache(0, this.#emptyTensors(), undefined);
  }

  useAdapter(adapter: LoraAdapter | undefined): Result<void, EngineFailure> {
    if (this.#failure !== undefined) return err(this.#failure);
    if (adapter !== undefined && !this.#hasLora) return err({ code: 'engine/adapter-mismatch', detail: 'the graph was built without adapter inputs' });
    if (adapter !== undefined) {
      const feeds = loraFeeds(this.#config, adapter);
      if (!feeds.ok) return err({ code: 'engine/adapter-mismatch', detail: feeds.error.detail });
      this.#adapterTensors = this.#toTensors(feeds.value);
    } else if (this.#hasLora) {
      this.#adapterTensors = this.#toTensors(zeroFeeds(this.#config));
    }
    this.adapterDigest = adapter?.digest;
    return ok(undefined);
  }

  async extend(cache: KvCache, tokens: readonly TokenId[], signal?: AbortSignal): Promise<Result<EngineStep, EngineFailure>> {
    if (!(cache instanceof OrtKvCache) || cache.owner !== this) throw new TypeError('cache: not made by this engine');
    if (tokens.length === 0) throw new RangeError('tokens: at least one');
    for (const token of tokens) this.#checkId(token);
    const step = this.#queue.then(() => this.#run(cache, tokens, signal));
    this.#queue = step;
    return step;
  }

  logitsOf(hidden: Float32Array, ids: Int32Array, out: Float32Array): void {
    this.#checkHidden(hidden);
    if (out.length < ids.length) throw new RangeError(`out: room for ${ids.length} logits`);
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      this.#checkId(id);
      out[i] = this.#head.dot(id, hidden);
    }
  }

  allLogits(hidden: Float32Array, out: Float32Array): void {
    this.#checkHidden(hidden);
    if (out.length !== this.logitWidth) throw new RangeError(`out: must have ${this.logitWidth} elements`);
    for (let id = 0; id < out.length; id++) out[id] = this.#head.dot(id, hidden);
  }

  async dispose(): Promise<void> {
    if (this.#failure?.code === 'engine/disposed') return;
    this.#failure = { code: 'engine/disposed' };
    await this.#queue;
    await this.#session.release();
  }

  async #run(cache: OrtKvCache, tokens: readonly TokenId[], signal: AbortSignal | undefined): Promise<Result<EngineStep, EngineFailure>> {
    if (this.#failure !== undefined) return err(this.#failure);
    if (isAborted(signal)) return err({ code: 'engine/aborted' });
    if (cache.length > 0 && cache.adapterDigest !== this.adapterDigest) {
      return err({ code: 'engine/adapter-mismatch', detail: 'the cache was filled under another adapter' });
    }
    const length = cache.length + tokens.length;
    if (length > this.contextLength) return err({ code: 'engine/context-full', length, limit: this.contextLength });
    const { adapterDigest } = this;
    let outputs: InferenceSession.ReturnType;
    try {
      outputs = await this.#session.run(this.#feeds(cache, tokens, length));
    } catch (cause) {
      this.#failure = { code: 'engine/run-failed', cause };
      return err(this.#failure);
    }
    if (isAborted(signal)) return err({ code: 'engine/aborted' });
    const hidden = outputs[HIDDEN]?.data;
    if (!(hidden instanceof Float32Array) || !hidden.every(Number.isFinite)) return err({ code: 'engine/bad-logits' });
    return ok({ hidden, cache: this.#makeCache(length, this.#cacheTensors(outputs), adapterDigest) });
  }

  #feeds(cache: OrtKvCache, tokens: readonly TokenId[], length: number): Record<string, Tensor> {
    const { Tensor } = this.#ort;
    const embeddings = new Float32Array(tokens.length * this.#config.hiddenSize);
    this.#embedding.copyRows(tokens, embeddings);
    return {
      [EMBEDDINGS]: new Tensor('float32', embeddings, [1, tokens.length, this.#config.hiddenSize]),
      [SEQUENCE_LENGTHS]: new Tensor('int32', Int32Array.of(length - 1), [1]),
      [TOTAL_LENGTH]: new Tensor('int32', Int32Array.of(length), []),
      ...cache.tensors,
      ...this.#adapterTensors,
    };
  }

  #cacheTensors(outputs: InferenceSession.ReturnType): Record<string, Tensor> {
    const tensors: Record<string, Tensor> = {};
    for (let layer = 0; layer < this.#config.layerCount; layer++) {
      tensors[pastKey(layer)] = outputs[presentKey(layer)]!;
      tensors[pastValue(layer)] = outputs[presentValue(layer)]!;
    }
    return tensors;
  }

  #emptyTensors(): Record<string, Tensor> {
    const { kvHeadCount, headSize, layerCount } = this.#config;
    const empty = new this.#ort.Tensor('float32', new Float32Array(0), [1, kvHeadCount, 0, headSize]);
    return Object.fromEntries(Array.from({ length: layerCount }, (_, layer) => [pastKey(layer), pastValue(layer)]).flat().map((name) => [name, empty]));
  }

  #makeCache(length: number, tensors: Readonly<Record<string, Tensor>>, adapterDigest: Digest | undefined): OrtKvCache {
    return new OrtKvCache(this, length, tensors, adapterDigest);
  }

  #toTensors(feeds: readonly LoraFeed[]): Record<string, Tensor> {
    return Object.fromEntries(feeds.map(({ name, data, shape }) => [name, new this.#ort.Tensor('float32', data, shape)]));
  }

  #checkId(id: TokenId): void {
    if (!Number.isInteger(id) || id < 0 || id >= this.logitWidth) throw new RangeError(`token id ${id}: must be 0 to ${this.logitWidth - 1}`);
  }

  #checkHidden(hidden: Float32Array): void {
    if (hidden.length !== this.#config.hiddenSize) throw new RangeError(`hidden: must have ${this.#config.hiddenSize} elements`);
  }
}
