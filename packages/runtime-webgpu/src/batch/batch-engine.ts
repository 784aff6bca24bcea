/**
 * Several repairs in one pass: what each of them asks of the engine waits until all that are open have asked, and one run serves them together. The
 * weights, which are most of a step, are then read once for all. Everything above the port runs unchanged, as many times at once as rows are open.
 *
 *     const batch = await openBatch({ …, width: 8 });
 *     await Promise.all(requests.map((request) => batch.run(() => repairer.repair(request))));
 *
 * Rows that ask the same of the same cache are one: a prompt that a group shares is read once. Long chunks run alone, since they have nothing to gain.
 */
import { err, ok, type Digest, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Engine, EngineFailure, EngineIdentity, EngineStep, EngineVerification, KvCache } from '../engine.ts';
import type { LoraAdapter } from '../lora/adapter.ts';
import { loraFeeds, zeroFeeds } from '../lora/feeds.ts';
import type { GgufModel } from '../model/gguf.ts';
import { graphSettings, type GraphOptions } from '../onnx/graph.ts';
import { ATTENTION_BIAS, ATTENTION_PARTS, EMBEDDINGS, HIDDEN, KEPT_POSITIONS, POSITION_IDS, ROW_TOKENS, TOKEN_PLACES } from '../onnx/names.ts';
import { toRunFailure } from '../ort/failure.ts';
import { toCpuTensors, type OwnedTensors } from '../ort/gpu.ts';
import type { OrtRuntime } from '../ort/runtime.ts';
import { openSession, type EngineLoadIssue, type SessionOptions } from '../ort/session.ts';
import { TokenTables } from '../ort/token-tables.ts';
import { Chain } from './chain.ts';
import { OpenRows } from './open-rows.ts';
import { planPass, type PassRow } from './pass.ts';
import { chunkOf, pastNames, Slots, type Chunk } from './slots.ts';

export interface BatchOptions extends Pick<SessionOptions, 'ort' | 'model' | 'source' | 'threadCount' | 'onProgress'> {
  /** Which graph; `batched` is set here. */
  readonly graph: Omit<GraphOptions, 'batched'>;
  /** Caches lie in the memory of the CPU: a GPU would be sent all of them in each pass. */
  readonly executionProvider: 'cpu' | 'wasm';
  /** Rows in one pass, and works that run at once. */
  readonly width: number;
}

export interface Batch {
  /** Serves all rows; one repairer over it, with one memory, serves all repairs. Caches are of the batch and not of a row. */
  readonly engine: Engine;
  readonly width: number;
  /**
   * Runs `work`, which asks `engine` for one step at a time, as one of the rows that a pass waits for; in line while `width` others run. A row that
   * waits for anything but the engine holds up the others, and for ever where it waits for one of them.
   */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Chunks longer than this run alone: their linears are large matrices already. */
const SHARED_CHUNK_LENGTH = 32;
/** Tokens of a row in one pass where others have fewer; the rest comes in the next. Rows are filled up to the longest, at the cost of their attention. */
const PART_LENGTH = 8;

/** Starts a batch: as an engine of its own, with weights of its own. */
export async function openBatch(options: BatchOptions): Promise<Result<Batch, EngineLoadIssue>> {
  const rows = new OpenRows(options.width);
  const graph: GraphOptions = { ...options.graph, batched: true };
  const session = await openSession({ ...options, graph });
  if (!session.ok) return session;
  const engine = new BatchEngine({ ...options, graph }, session.value, rows);
  return ok({ engine, width: options.width, run: (work) => rows.run(work, () => engine.onRowEnd()) });
}

type Kept = PassRow['kept'];
type Settle = (result: Result<EngineVerification, EngineFailure>) => void;

/** Tokens after a cache, for all who asked for just these. */
interface Job {
  /** The cache, and the tokens that earlier passes have run. */
  chain: Chain<Chunk>;
  rest: readonly TokenId[];
  kept: Kept;
  /** Of the tokens that were run. */
  readonly hiddens: Float32Array[];
  readonly requests: Set<Settle>;
}

/** A job in a pass, with as many of its tokens as the pass takes. */
interface Turn {
  readonly job: Job;
  readonly tokens: readonly TokenId[];
}

interface Ran {
  readonly turn: Turn;
  readonly hiddens: readonly Float32Array[];
  readonly chunk: Chunk;
}

class BatchEngine implements Engine {
  readonly identity: EngineIdentity;
  readonly logitWidth: number;
  readonly contextLength: number;
  readonly emptyCache: KvCache = new Chain<Chunk>(this);
  adapterDigest: Digest | undefined;
  readonly #ort: OrtRuntime;
  readonly #session: InferenceSession;
  readonly #model: GgufModel;
  readonly #hasLora: boolean;
  readonly #tables: TokenTables;
  readonly #rows: OpenRows;
  readonly #slots: Slots;
  /** For what runs alone, so that the others keep their places. */
  readonly #ownSlot: Slots;
  #adapter: OwnedTensors;
  #waiting: Job[] = [];
  /** Ends with the run under way; never rejects. */
  #running: Promise<void> | undefined;
  /** Why no further run is possible. */
  #failure: EngineFailure | undefined;

  constructor({ ort, model, graph, executionProvider, width }: BatchOptions, session: InferenceSession, rows: OpenRows) {
    const settings = graphSettings(model, graph);
    this.#ort = ort;
    this.#session = session;
    this.#model = model;
    this.#hasLora = settings.lora;
    this.#tables = new TokenTables(model);
    this.#rows = rows;
    this.#slots = new Slots(model.config, width);
    this.#ownSlot = new Slots(model.config, 1);
    this.#adapter = toCpuTensors(ort, settings.lora ? zeroFeeds(model.config) : []);
    this.adapterDigest = model.merged?.adapterDigest;
    this.identity = { backend: `onnxruntime-${executionProvider}-batched`, modelDigest: model.digest, format: settings.format };
    this.logitWidth = model.vocabularySize;
    this.contextLength = settings.contextLength;
  }

  useAdapter(adapter: LoraAdapter | undefined): Result<void, EngineFailure> {
    if (this.#failure !== undefined) return err(this.#failure);
    if (adapter?.digest === this.adapterDigest) return ok(undefined);
    if (this.#model.merged !== undefined) return mismatch('an adapter is merged into the weights, and no other can be used');
    if (adapter !== undefined && !this.#hasLora) return mismatch('the graph was built without adapter inputs');
    if (this.#rows.count > 0 || this.#running !== undefined) return mismatch('all rows of a batch run under one adapter, and rows are open under another: wait for their end, or open another batch');
    const feeds = adapter === undefined ? ok(zeroFeeds(this.#model.config)) : loraFeeds(this.#model.config, adapter);
    if (!feeds.ok) return mismatch(feeds.error.detail);
    this.#adapter = toCpuTensors(this.#ort, feeds.value);
    this.adapterDigest = adapter?.digest;
    return ok(undefined);
  }

  async extend(cache: KvCache, tokens: readonly TokenId[], signal?: AbortSignal): Promise<Result<EngineStep, EngineFailure>> {
    const run = await this.#enqueue(cache, tokens, 'last', signal);
    return run.ok ? ok({ cache: run.value.cache, hidden: run.value.hiddens.at(-1)! }) : run;
  }

  async verify(cache: KvCache, tokens: readonly TokenId[], signal?: AbortSignal): Promise<Result<EngineVerification, EngineFailure>> {
    return this.#enqueue(cache, tokens, 'all', signal);
  }

  shorten(cache: KvCache, length: number): KvCache {
    this.#checkCache(cache);
    return cache.shorten(length);
  }

  logitsOf(hidden: Float32Array, ids: Int32Array, out: Float32Array): void {
    this.#tables.logitsOf(hidden, ids, out);
  }

  allLogits(hidden: Float32Array, out: Float32Array): void {
    this.#tables.allLogits(hidden, out);
  }

  async dispose(): Promise<void> {
    if (this.#failure?.code === 'engine/disposed') return;
    this.#fail({ code: 'engine/disposed' });
    await this.#running;
    await this.#session.release();
  }

  /** Begins a run where every open row waits for one. Called whenever a row has asked, or has ended. */
  advance(): void {
    if (this.#running !== undefined || this.#waiting.length === 0) return;
    const waitingCount = this.#waiting.reduce((count, { requests }) => count + requests.size, 0);
    if (waitingCount < this.#rows.count) return;
    this.#running = this.#serve().then(() => {
      this.#running = undefined;
      this.advance();
    });
  }

  /** A row was left. What is kept for the next pass of rows that there are no more is let go. */
  onRowEnd(): void {
    this.advance();
    if (this.#rows.count > 0) return;
    this.#slots.clear();
    this.#ownSlot.clear();
  }

  async #enqueue(cache: KvCache, tokens: readonly TokenId[], kept: Kept, signal: AbortSignal | undefined): Promise<Result<EngineVerification, EngineFailure>> {
    this.#checkCache(cache);
    if (tokens.length === 0) throw new RangeError('tokens: at least one');
    for (const token of tokens) this.#tables.checkId(token);
    if (this.#failure !== undefined) return err(this.#failure);
    if (signal?.aborted === true) return err({ code: 'engine/aborted' });
    const length = cache.length + tokens.length;
    if (length > this.contextLength) return err({ code: 'engine/context-full', length, limit: this.contextLength });
    if (cache.length > 0 && cache.adapterDigest !== this.adapterDigest) return mismatch('the cache was filled under another adapter');
    return new Promise((resolve) => {
      const job = this.#jobOf(cache, tokens, kept);
      const onAbort = (): void => {
        job.requests.delete(settle);
        if (job.requests.size === 0) this.#waiting = this.#waiting.filter((other) => other !== job);
        resolve(err({ code: 'engine/aborted' }));
      };
      const settle: Settle = (result) => {
        signal?.removeEventListener('abort', onAbort);
        resolve(result);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      job.requests.add(settle);
      this.advance();
    });
  }

  /** The waiting job for the same tokens after the same cache, or a new one. */
  #jobOf(start: Chain<Chunk>, tokens: readonly TokenId[], kept: Kept): Job {
    const same = this.#waiting.find((job) => job.hiddens.length === 0 && job.chain.isSame(start) && job.rest.length === tokens.length && job.rest.every((token, i) => token === tokens[i]));
    if (same !== undefined) {
      if (kept === 'all') same.kept = kept;
      return same;
    }
    const job: Job = { chain: start, rest: [...tokens], kept, hiddens: [], requests: new Set() };
    this.#waiting.push(job);
    return job;
  }

  /** One pass over what waits, or where there are long chunks each of these by itself. */
  async #serve(): Promise<void> {
    const long = this.#waiting.filter(({ rest }) => rest.length > SHARED_CHUNK_LENGTH);
    if (long.length > 0) {
      this.#waiting = this.#waiting.filter((job) => !long.includes(job));
      for (const job of long) await this.#pass([{ job, tokens: job.rest }], this.#ownSlot);
      return;
    }
    const jobs = this.#waiting.splice(0, this.#rows.width);
    const partLength = Math.max(PART_LENGTH, Math.min(...jobs.map(({ rest }) => rest.length)));
    await this.#pass(jobs.map((job) => ({ job, tokens: job.rest.slice(0, partLength) })), this.#slots);
  }

  async #pass(given: readonly Turn[], slots: Slots): Promise<void> {
    // those that were aborted while they waited for others
    const turns = given.filter(({ job }) => job.requests.size > 0);
    if (turns.length === 0) return;
    const { adapterDigest } = this;
    const run = this.#failure === undefined ? await this.#runSession(turns, slots) : err(this.#failure);
    if (!run.ok) {
      for (const { job } of turns) settleAll(job, run);
      this.#fail(run.error);
      return;
    }
    for (const { turn: { job, tokens }, hiddens, chunk } of run.value) {
      if (!hiddens.every((hidden) => hidden.every(Number.isFinite))) {
        settleAll(job, err({ code: 'engine/bad-logits' }));
        continue;
      }
      job.chain = job.chain.append({ chunk, count: tokens.length }, adapterDigest);
      job.rest = job.rest.slice(tokens.length);
      job.hiddens.push(...hiddens);
      if (job.rest.length === 0) settleAll(job, ok({ cache: job.chain, hiddens: job.hiddens }));
      else if (job.requests.size > 0) this.#waiting.unshift(job);
    }
  }

  /** Feeds are made inside, because they too can find no memory. */
  async #runSession(turns: readonly Turn[], slots: Slots): Promise<Result<readonly Ran[], EngineFailure>> {
    try {
      const order = slots.arrange(turns.map(({ job }) => job.chain.segments));
      const placed = order.map((index) => turns[index]!);
      const rows = placed.map(({ job, tokens }): PassRow => ({ pastLength: job.chain.length, tokenCount: tokens.length, kept: job.kept }));
      const outputs = await this.#session.run(this.#feeds(placed.flatMap(({ tokens }) => tokens), rows, slots));
      const { hiddenSize } = this.#model.config;
      const states = outputs[HIDDEN]!.data as Float32Array;
      let at = 0;
      return ok(placed.map((turn, slot) => {
        const count = turn.job.kept === 'all' ? turn.tokens.length : 1;
        const hiddens = Array.from({ length: count }, (_, i) => states.subarray((at + i) * hiddenSize, (at + i + 1) * hiddenSize));
        at += count;
        return { turn, hiddens, chunk: chunkOf(outputs, this.#model.config, slot, turn.tokens.length) };
      }));
    } catch (cause) {
      return err(toRunFailure(cause));
    }
  }

  #feeds(tokens: readonly TokenId[], rows: readonly PassRow[], slots: Slots): Record<string, Tensor> {
    const { Tensor } = this.#ort;
    const { hiddenSize, kvHeadCount, headSize } = this.#model.config;
    const { capacity } = slots;
    const pass = planPass(rows, capacity);
    const views = slots.views(rows.length);
    return {
      [EMBEDDINGS]: new Tensor('float32', this.#tables.embed(tokens), [1, tokens.length, hiddenSize]),
      [POSITION_IDS]: new Tensor('int64', pass.positionIds, [1, tokens.length]),
      [ROW_TOKENS]: new Tensor('int32', pass.rowTokens, [rows.length, pass.width]),
      [TOKEN_PLACES]: new Tensor('int32', pass.tokenPlaces, [tokens.length]),
      [KEPT_POSITIONS]: new Tensor('int32', pass.keptPositions, [pass.keptPositions.length]),
      [ATTENTION_BIAS]: new Tensor('float32', pass.bias, [1, rows.length, 1, pass.width, capacity + pass.width]),
      [ATTENTION_PARTS]: new Tensor('int64', BigInt64Array.of(BigInt(capacity), BigInt(pass.width)), [2]),
      ...Object.fromEntries(pastNames(this.#model.config).map((name, index) => [name, new Tensor('float32', views[index]!, [1, rows.length, kvHeadCount, capacity, headSize])])),
      ...this.#adapter.tensors,
    };
  }

  /** No further run is possible: neither for those that wait nor for those to come. */
  #fail(failure: EngineFailure): void {
    this.#failure ??= failure;
    for (const job of this.#waiting.splice(0)) settleAll(job, err(this.#failure));
  }

  #checkCache(cache: KvCache): asserts cache is Chain<Chunk> {
    if (!(cache instanceof Chain) || cache.owner !== this) throw new TypeError('cache: not made by this batch');
  }
}

function settleAll(job: Job, result: Result<EngineVerification, EngineFailure>): void {
  for (const settle of job.requests) settle(result);
}

function mismatch(detail: string): Result<never, EngineFailure> {
  return err({ code: 'engine/adapter-mismatch', detail });
}
