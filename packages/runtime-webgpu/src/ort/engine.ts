/**
 * The engine port over ONNX Runtime: native, WASM or WebGPU. One run: embedding rows of the new tokens, the cache and the adapter go in; the
 * hidden state of the last position and a longer cache come out. On a GPU, cache and adapter stay there and only the hidden state comes back.
 * Runs are queued, one at a time, because a session is not re-entrant. Every failure of the library is caught here and becomes an `EngineFailure`.
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
import { toLoadFailure, toRunFailure, type LoadFailure } from './failure.ts';
import { SAFE_CHUNK_LENGTH, toCpuTensors, toGpuTensors, type GpuDevice, type OwnedTensors } from './gpu.ts';
import { GpuTensors, OrtKvCache } from './kv-cache.ts';
import type { OrtRuntime } from './runtime.ts';

export interface OrtEngineOptions {
  readonly ort: OrtRuntime;
  readonly model: GgufModel;
  /** Which graph: weight format, LoRA inputs, context length. */
  readonly graph: GraphOptions;
  /** Path of an `.onnx` file built with the same options (see `graphCacheKey`), or a graph just built. Built here where absent. */
  readonly source?: string | DecoderGraph;
  /** `cpu` in Node, `wasm` or `webgpu` in a browser. */
  readonly executionProvider: 'cpu' | 'wasm' | 'webgpu';
  /**
   * The GPU to run on, see `openGpu`; from here on the engine's, and destroyed with it. Without one ONNX Runtime makes its own, whose loss is
   * only noticed by a run, and brings keys and values back to the CPU after each run: what Node's provider can do.
   */
  readonly gpu?: GpuDevice;
  /** Longer chunks are run in parts of this many tokens. Default: no limit, and {@link SAFE_CHUNK_LENGTH} on a GPU that ONNX Runtime opened itself. */
  readonly maxChunkLength?: number;
  /** Threads of one run in Node. On WASM they are set once for the page, in `ort.env.wasm.numThreads`, before the first session. */
  readonly threadCount?: number;
  readonly onProgress?: (phase: EnginePhase) => void;
}

/** Steps of starting an engine, reported as each begins. */
export type EnginePhase = 'build-graph' | 'load-session' | 'ready';

export type EngineLoadIssue =
  /** `engine/load-failed`: ONNX Runtime refused the graph: damaged cache file, no such backend. */
  | LoadFailure
  /** The file at `source` is a graph of another model or of other options. */
  | { readonly code: 'engine/wrong-graph'; readonly detail: string };

/** Starts an engine: builds the graph unless one is given, and loads it into a session. */
export async function createOrtEngine(options: OrtEngineOptions): Promise<Result<Engine, EngineLoadIssue>> {
  const { ort, model, onProgress, gpu } = options;
  const settings = graphSettings(model, options.graph);
  if (options.source === undefined) onProgress?.('build-graph');
  const source = options.source ?? buildGraph(model, options.graph);
  onProgress?.('load-session');
  const session = await loadSession(ort, source, options);
  if (!session.ok) {
    gpu?.destroy();
    return session;
  }
  const mismatch = graphMismatch(session.value, model.config, settings);
  if (mismatch !== undefined) {
    await session.value.release();
    gpu?.destroy();
    return err({ code: 'engine/wrong-graph', detail: mismatch });
  }
  onProgress?.('ready');
  return ok(new OrtEngine(options, session.value, settings));
}

async function loadSession(ort: OrtRuntime, source: string | DecoderGraph, options: OrtEngineOptions): Promise<Result<InferenceSession, EngineLoadIssue>> {
  const sessionOptions: InferenceSession.SessionOptions = {
    executionProviders: [options.gpu === undefined ? options.executionProvider : { name: 'webgpu', device: options.gpu as never }],
    ...(options.gpu === undefined ? {} : { preferredOutputLocation: cacheOnGpu(options.model.config) }),
    logSeverityLevel: LOG_ERRORS_ONLY,
    ...(options.threadCount === undefined ? {} : { intraOpNumThreads: options.threadCount }),
  };
  try {
    if (typeof source === 'string') return ok(await ort.InferenceSession.create(source, sessionOptions));
    if (source.externalData.length > 0) sessionOptions.externalData = source.externalData;
    return ok(await ort.InferenceSession.create(concatBytes(source.parts), sessionOptions));
  } catch (cause) {
    return err(toLoadFailure(cause));
  }
}

/** Where each output goes: what only the next run reads stays on the GPU. */
function cacheOnGpu({ layerCount }: ModelConfig): Record<string, 'cpu' | 'gpu-buffer'> {
  const names = Array.from({ length: layerCount }, (_, layer) => [presentKey(layer), presentValue(layer)]).flat();
  return { [HIDDEN]: 'cpu', ...Object.fromEntries(names.map((name) => [name, 'gpu-buffer'] as const)) };
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
  /** Digest of the adapter that is in the weights. */
  readonly #mergedDigest: Digest | undefined;
  readonly #embedding: RowTable;
  readonly #head: RowTable;
  readonly #gpu: GpuDevice | undefined;
  readonly #maxChunkLength: number;
  readonly #onGpu: GpuTensors = new GpuTensors();
  #adapter: OwnedTensors;
  /** Ends when every run queued so far has ended; never rejects. */
  #queue: Promise<unknown> = Promise.resolve();
  /** Why no further run is possible. */
  #failure: EngineFailure | undefined;
  /** Ends the run under way, which may never end by itself once its device is gone. */
  #interrupt: ((failure: EngineFailure) => void) | undefined;

  constructor(options: OrtEngineOptions, session: InferenceSession, settings: GraphSettings) {
    const { ort, model, gpu } = options;
    this.#ort = ort;
    this.#gpu = gpu;
    this.#maxChunkLength = options.maxChunkLength ?? (options.executionProvider === 'webgpu' && gpu === undefined ? SAFE_CHUNK_LENGTH : Infinity);
    this.#session = session;
    this.#config = model.config;
    this.#hasLora = settings.lora;
    this.#mergedDigest = model.merged?.adapterDigest;
    this.adapterDigest = this.#mergedDigest;
    const embedding = model.tensors.get(EMBEDDING);
    if (embedding === undefined) throw new TypeError('model: no embedding, though readGguf checks the layout');
    this.#embedding = createRowTable(embedding);
    const head = model.tensors.get(HEAD);
    this.#head = head === undefined ? this.#embedding : createRowTable(head);
    this.#adapter = this.#toTensors(settings.lora ? zeroFeeds(model.config) : []);
    this.identity = { backend: `onnxruntime-${options.executionProvider}`, modelDigest: model.digest, format: settings.format };
    this.logitWidth = model.vocabularySize;
    this.contextLength = settings.contextLength;
    this.emptyCache = new OrtKvCache(this, 0, this.#emptyTensors(), undefined);
    void gpu?.lost.then(({ reason, message }) => this.#fail({ code: 'engine/device-lost', reason, detail: message }));
    // A buffer that did not fit makes no call fail: it is reported here, and what is computed with it is zeros.
    gpu?.addEventListener('uncapturederror', ({ error }) => this.#fail(toRunFailure(error)));
  }

  useAdapter(adapter: LoraAdapter | undefined): Result<void, EngineFailure> {
    if (this.#failure !== undefined) return err(this.#failure);
    if (this.#mergedDigest !== undefined) {
      const isInUse = adapter?.digest === this.#mergedDigest;
      return isInUse ? ok(undefined) : err({ code: 'engine/adapter-mismatch', detail: 'an adapter is merged into the weights, and no other can be used' });
    }
    if (adapter !== undefined && !this.#hasLora) return err({ code: 'engine/adapter-mismatch', detail: 'the graph was built without adapter inputs' });
    const feeds = adapter === undefined ? ok(this.#hasLora ? zeroFeeds(this.#config) : []) : loraFeeds(this.#config, adapter);
    if (!feeds.ok) return err({ code: 'engine/adapter-mismatch', detail: feeds.error.detail });
    const old = this.#adapter;
    this.#adapter = this.#toTensors(feeds.value);
    // a run under way still reads it
    void this.#queue.then(() => old.release());
    this.adapterDigest = adapter?.digest;
    return ok(undefined);
  }

  async extend(cache: KvCache, tokens: readonly TokenId[], signal?: AbortSignal): Promise<Result<EngineStep, EngineFailure>> {
    this.#checkCache(cache);
    if (tokens.length === 0) throw new RangeError('tokens: at least one');
    for (const token of tokens) this.#checkId(token);
    const step = this.#queue.then(() => this.#run(cache, tokens, signal));
    // without its result, which would keep the last cache from being collected
    this.#queue = step.then(() => undefined);
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
    this.#head.multiply(hidden, out);
  }

  release(cache: KvCache): void {
    this.#checkCache(cache);
    if (cache === this.emptyCache) throw new TypeError('cache: the empty one serves every prompt');
    cache.isReleased = true;
    void this.#queue.then(() => this.#onGpu.release(cache));
  }

  async dispose(): Promise<void> {
    if (this.#failure?.code === 'engine/disposed') return;
    const isDeviceGone = this.#failure?.code === 'engine/device-lost';
    this.#failure = { code: 'engine/disposed' };
    await this.#queue;
    this.#adapter.release();
    // a session whose device is gone cannot wait for it any more
    if (!isDeviceGone) {
      this.#onGpu.releaseAll();
      await this.#session.release();
    }
    this.#gpu?.destroy();
  }

  #fail(failure: EngineFailure): void {
    this.#failure ??= failure;
    if (failure.code === 'engine/device-lost') this.#onGpu.forgetAll();
    this.#interrupt?.(this.#failure);
  }

  async #run(cache: OrtKvCache, tokens: readonly TokenId[], signal: AbortSignal | undefined): Promise<Result<EngineStep, EngineFailure>> {
    const length = cache.length + tokens.length;
    if (length > this.contextLength) return err({ code: 'engine/context-full', length, limit: this.contextLength });
    let current = cache;
    for (let from = 0; ; from += this.#maxChunkLength) {
      const step = await this.#runChunk(current, tokens.slice(from, from + this.#maxChunkLength), signal);
      if (current !== cache) this.#onGpu.release(current);
      if (!step.ok || step.value.cache.length === length) return step;
      current = step.value.cache;
    }
  }

  async #runChunk(cache: OrtKvCache, tokens: readonly TokenId[], signal: AbortSignal | undefined): Promise<Result<EngineStep & { readonly cache: OrtKvCache }, EngineFailure>> {
    if (this.#failure !== undefined) return err(this.#failure);
    if (isAborted(signal)) return err({ code: 'engine/aborted' });
    const { adapterDigest } = this;
    if (cache.length > 0 && cache.adapterDigest !== adapterDigest) {
      return err({ code: 'engine/adapter-mismatch', detail: 'the cache was filled under another adapter' });
    }
    const length = cache.length + tokens.length;
    const outputs = await this.#runSession(() => this.#feeds(cache, tokens, length));
    this.#interrupt = undefined;
    if (!outputs.ok) {
      this.#failure ??= outputs.error;
      return outputs;
    }
    const grown = new OrtKvCache(this, length, this.#cacheTensors(outputs.value), adapterDigest);
    this.#onGpu.hold(grown);
    const hidden = outputs.value[HIDDEN]?.data;
    const isUsable = hidden instanceof Float32Array && hidden.every(Number.isFinite);
    if (isUsable && !isAborted(signal)) return ok({ hidden, cache: grown });
    this.#onGpu.release(grown);
    return err(isUsable ? { code: 'engine/aborted' } : { code: 'engine/bad-logits' });
  }

  /** Feeds are made inside, because they too can find no memory. */
  #runSession(makeFeeds: () => Record<string, Tensor>): Promise<Result<InferenceSession.ReturnType, EngineFailure>> {
    return new Promise((resolve) => {
      this.#interrupt = (failure) => resolve(err(failure));
      const run = async (): Promise<InferenceSession.ReturnType> => this.#session.run(makeFeeds());
      run().then((outputs) => resolve(ok(outputs)), (cause: unknown) => resolve(err(toRunFailure(cause))));
    });
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
      ...this.#adapter.tensors,
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

  #toTensors(feeds: readonly LoraFeed[]): OwnedTensors {
    return this.#gpu === undefined ? toCpuTensors(this.#ort, feeds) : toGpuTensors(this.#ort, this.#gpu, feeds);
  }

  #checkCache(cache: KvCache): asserts cache is OrtKvCache {
    if (!(cache instanceof OrtKvCache) || cache.owner !== this) throw new TypeError('cache: not made by this engine');
    if (cache.isReleased) throw new TypeError('cache: released');
  }

  #checkId(id: TokenId): void {
    if (!Number.isInteger(id) || id < 0 || id >= this.logitWidth) throw new RangeError(`token id ${id}: must be 0 to ${this.logitWidth - 1}`);
  }

  #checkHidden(hidden: Float32Array): void {
    if (hidden.length !== this.#config.hiddenSize) throw new RangeError(`hidden: must have ${this.#config.hiddenSize} elements`);
  }
}
