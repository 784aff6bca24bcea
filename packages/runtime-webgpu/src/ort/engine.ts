/**
 * The engine port over ONNX Runtime: native, WASM or WebGPU. One run: embedding rows of the new tokens, the cache and the adapter go in; the hidden
 * states of the last positions and a longer cache come out. On a GPU, cache and adapter stay there and only the hidden states come back.
 * Runs are queued, one at a time, because a session is not re-entrant. Every failure of the library is caught here and becomes an `EngineFailure`.
 */
import { err, ok, type Digest, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Engine, EngineFailure, EngineIdentity, EngineStep, EngineVerification, KvCache } from '../engine.ts';
import type { LoraAdapter } from '../lora/adapter.ts';
import { loraFeeds, zeroFeeds, type LoraFeed } from '../lora/feeds.ts';
import type { ModelConfig } from '../model/config.ts';
import { graphSettings, type GraphSettings } from '../onnx/graph.ts';
import { EMBEDDINGS, HIDDEN, KEPT_POSITIONS, pastKey, pastValue, presentKey, presentValue, SEQUENCE_LENGTHS, TOTAL_LENGTH } from '../onnx/names.ts';
import { toRunFailure } from './failure.ts';
import { SAFE_CHUNK_LENGTH, toCpuTensors, toGpuTensors, type GpuDevice, type OwnedTensors } from './gpu.ts';
import { GpuTensors, OrtKvCache } from './kv-cache.ts';
import type { OrtRuntime } from './runtime.ts';
import { openSession, type EngineLoadIssue, type SessionOptions } from './session.ts';
import { TokenTables } from './token-tables.ts';

export interface OrtEngineOptions extends SessionOptions {
  /** Longer chunks are run in parts of this many tokens. Default: no limit, and {@link SAFE_CHUNK_LENGTH} on a GPU that ONNX Runtime opened itself. */
  readonly maxChunkLength?: number;
}

/** Starts an engine: builds the graph unless one is given, and loads it into a session. */
export async function createOrtEngine(options: OrtEngineOptions): Promise<Result<Engine, EngineLoadIssue>> {
  const session = await openSession(options);
  return session.ok ? ok(new OrtEngine(options, session.value, graphSettings(options.model, options.graph))) : session;
}

/** A call, so that the compiler does not take the answer before a run for the answer after it. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}

/** What one run gives: hidden states of the last positions, in order, at least of so many as were asked for. */
interface ChunkRun {
  readonly cache: OrtKvCache;
  readonly hiddens: readonly Float32Array[];
}

/** Views on the rows of a matrix. */
function splitRows(matrix: Float32Array, width: number): readonly Float32Array[] {
  return Array.from({ length: matrix.length / width }, (_, row) => matrix.subarray(row * width, (row + 1) * width));
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
  readonly #tables: TokenTables;
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
    this.#tables = new TokenTables(model);
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
    const run = await this.#enqueue(cache, tokens, 1, signal);
    return run.ok ? ok({ cache: run.value.cache, hidden: run.value.hiddens.at(-1)! }) : run;
  }

  async verify(cache: KvCache, tokens: readonly TokenId[], signal?: AbortSignal, count: number = tokens.length): Promise<Result<EngineVerification, EngineFailure>> {
    return this.#enqueue(cache, tokens, count, signal);
  }

  shorten(cache: KvCache, length: number): KvCache {
    this.#checkCache(cache);
    if (!Number.isInteger(length) || length < 0 || length > cache.length) throw new RangeError(`length: must be 0 to ${cache.length}`);
    // where nothing is left it has nothing to share
    const shortened = length === 0 ? new OrtKvCache(this, 0, this.#emptyTensors(), undefined) : new OrtKvCache(this, length, cache.tensors!, cache.adapterDigest);
    this.#onGpu.share(shortened);
    return shortened;
  }

  logitsOf(hidden: Float32Array, ids: Int32Array, out: Float32Array): void {
    this.#tables.logitsOf(hidden, ids, out);
  }

  allLogits(hidden: Float32Array, out: Float32Array): void {
    this.#tables.allLogits(hidden, out);
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

  async #enqueue(cache: KvCache, tokens: readonly TokenId[], keptCount: number, signal: AbortSignal | undefined): Promise<Result<ChunkRun, EngineFailure>> {
    this.#checkCache(cache);
    if (tokens.length === 0) throw new RangeError('tokens: at least one');
    for (const token of tokens) this.#tables.checkId(token);
    const run = this.#queue.then(() => this.#run(cache, tokens, keptCount, signal));
    // without its result, which would keep the last cache from being collected
    this.#queue = run.then(() => undefined);
    return run;
  }

  async #run(cache: OrtKvCache, tokens: readonly TokenId[], keptCount: number, signal: AbortSignal | undefined): Promise<Result<ChunkRun, EngineFailure>> {
    const length = cache.length + tokens.length;
    if (length > this.contextLength) return err({ code: 'engine/context-full', length, limit: this.contextLength });
    let current = cache;
    const hiddens: Float32Array[] = [];
    for (let from = 0; ; from += this.#maxChunkLength) {
      const chunk = tokens.slice(from, from + this.#maxChunkLength);
      // the graph gives one state at the least
      const keptHere = Math.max(1, Math.min(chunk.length, keptCount - (tokens.length - from - chunk.length)));
      const run = await this.#runChunk(current, chunk, keptHere, signal);
      if (current !== cache) this.#onGpu.release(current);
      if (!run.ok) return run;
      hiddens.push(...run.value.hiddens);
      current = run.value.cache;
      if (current.length === length) return ok({ cache: current, hiddens });
    }
  }

  async #runChunk(cache: OrtKvCache, tokens: readonly TokenId[], keptCount: number, signal: AbortSignal | undefined): Promise<Result<ChunkRun, EngineFailure>> {
    if (this.#failure !== undefined) return err(this.#failure);
    if (isAborted(signal)) return err({ code: 'engine/aborted' });
    const { adapterDigest } = this;
    if (cache.length > 0 && cache.adapterDigest !== adapterDigest) {
      return err({ code: 'engine/adapter-mismatch', detail: 'the cache was filled under another adapter' });
    }
    const length = cache.length + tokens.length;
    const outputs = await this.#runSession(() => this.#feeds(cache, tokens, keptCount));
    this.#interrupt = undefined;
    if (!outputs.ok) {
      this.#failure ??= outputs.error;
      return outputs;
    }
    const grown = new OrtKvCache(this, length, this.#cacheTensors(outputs.value), adapterDigest);
    this.#onGpu.hold(grown);
    const rows = outputs.value[HIDDEN]?.data;
    const isUsable = rows instanceof Float32Array && rows.every(Number.isFinite);
    if (isUsable && !isAborted(signal)) return ok({ cache: grown, hiddens: splitRows(rows, this.#config.hiddenSize) });
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

  #feeds(cache: OrtKvCache, tokens: readonly TokenId[], keptCount: number): Record<string, Tensor> {
    const { Tensor } = this.#ort;
    const length = cache.length + tokens.length;
    const positions = Int32Array.from({ length: keptCount }, (_, i) => tokens.length - keptCount + i);
    return {
      [EMBEDDINGS]: new Tensor('float32', this.#tables.embed(tokens), [1, tokens.length, this.#config.hiddenSize]),
      [SEQUENCE_LENGTHS]: new Tensor('int32', Int32Array.of(length - 1), [1]),
      [TOTAL_LENGTH]: new Tensor('int32', Int32Array.of(length), []),
      [KEPT_POSITIONS]: new Tensor('int32', positions, [positions.length]),
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
}
