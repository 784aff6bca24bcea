/**
 * What computes derivatives, and the training graph in a session of ONNX Runtime as such: a packed batch and the parameters as they are now in, the loss
 * and every derivative out. Embedding and head stay outside the graph as tables of float32 rows, one for both where the model ties them, of which a run
 * is given what it needs. Equal runs give equal bytes, on any number of threads: no product is split along what it sums over.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { GgufModel, OrtRuntime } from '@contractrl/runtime-webgpu';
import { concatBytes, dequantise, EMBEDDING, HEAD } from '@contractrl/runtime-webgpu/onnx';
import type { PackedBatch } from './batch.ts';
import { trainingMemoryBytes } from './memory.ts';
import {
  ALLOWED, ATTENTION_BIAS, EMBEDDINGS, gradientOf, HEAD_ROWS, LOG_PROBABILITIES, LORA_SCALING, LOSS, POSITION_IDS, STEP_POSITIONS, STEP_WEIGHTS, TARGET_ROWS,
} from './names.ts';
import type { LoraParameters } from './parameters.ts';
import { buildTrainingGraph } from './training-graph.ts';

export interface GradientEngineOptions {
  readonly ort: OrtRuntime;
  /** With all its tensors, as `readGguf` gives it. */
  readonly model: GgufModel;
  /** Positions of the longest path, at most the model's. */
  readonly contextLength: number;
  /** Threads of one run; default: the runtime's own choice, all cores. */
  readonly threadCount?: number;
  /** What the process may still take; default: what the system says now. */
  readonly availableBytes?: number;
}

export type GradientFailure =
  /** The model, or its longest path, would not fit: see {@link trainingMemoryBytes}. Nothing was built. */
  | { readonly code: 'gradient/too-little-memory'; readonly neededBytes: number; readonly availableBytes: number }
  /** ONNX Runtime refused the graph, for lack of memory perhaps. */
  | { readonly code: 'gradient/load-failed'; readonly cause: unknown }
  | { readonly code: 'gradient/run-failed'; readonly cause: unknown }
  /** The loss or a derivative is infinite or no number: the parameters have gone astray, and a step would spoil them. */
  | { readonly code: 'gradient/not-finite'; readonly output: string }
  /** A path of the batch is longer than the graph was built for. */
  | { readonly code: 'gradient/context-full'; readonly length: number; readonly limit: number }
  | { readonly code: 'gradient/disposed' };

export interface Gradient {
  readonly loss: number;
  /** `[m]`: natural logarithms, in the order of the batch's steps. */
  readonly logProbabilities: Float32Array;
  /** One for each of the parameters' tensors, in their order and shapes; the caller's. */
  readonly gradients: readonly Float32Array[];
}

/** A batch at a time: calls wait for each other. */
export interface GradientEngine {
  /** Loss and derivatives of a batch at the parameters as they are when the run begins; they must not be changed until it ends. */
  run(batch: PackedBatch, parameters: LoraParameters): Promise<Result<Gradient, GradientFailure>>;
  dispose(): Promise<void>;
}

/** Builds the graph and loads it: seconds, and some 16 bytes a weight in memory. A `contextLength` out of range is a RangeError. */
export async function createGradientEngine(options: GradientEngineOptions): Promise<Result<GradientEngine, GradientFailure>> {
  const { ort, model, contextLength, threadCount, availableBytes = process.availableMemory() } = options;
  const neededBytes = trainingMemoryBytes(model, contextLength);
  if (neededBytes > availableBytes) return err({ code: 'gradient/too-little-memory', neededBytes, availableBytes });
  const graph = buildTrainingGraph(model, contextLength);
  try {
    const session = await ort.InferenceSession.create(concatBytes(graph.parts), {
      // a plan of memory for each length of batch is kept: 5.3 GB where a run without takes 3.6, and no longer
      executionProviders: ['cpu'], externalData: graph.externalData, enableMemPattern: false, logSeverityLevel: LOG_ERRORS_ONLY,
      ...(threadCount === undefined ? {} : { intraOpNumThreads: threadCount }),
    });
    return ok(new OrtGradientEngine(options, session));
  } catch (cause) {
    return err({ code: 'gradient/load-failed', cause });
  }
}

type Session = Awaited<ReturnType<OrtRuntime['InferenceSession']['create']>>;
type Feeds = Parameters<Session['run']>[0];

/** Rows of one matrix in float32. */
interface Rows {
  readonly values: Float32Array<ArrayBuffer>;
  readonly count: number;
  readonly length: number;
}

class OrtGradientEngine implements GradientEngine {
  readonly #ort: OrtRuntime;
  readonly #session: Session;
  readonly #embedding: Rows;
  readonly #head: Rows;
  readonly #contextLength: number;
  /** Ends when every run so far has ended; never rejects. */
  #queue: Promise<unknown> = Promise.resolve();
  #isDisposed = false;

  constructor({ ort, model, contextLength }: GradientEngineOptions, session: Session) {
    this.#ort = ort;
    this.#contextLength = contextLength;
    this.#session = session;
    this.#embedding = rowsOf(model, EMBEDDING);
    this.#head = model.tensors.has(HEAD) ? rowsOf(model, HEAD) : this.#embedding;
  }

  async run(batch: PackedBatch, parameters: LoraParameters): Promise<Result<Gradient, GradientFailure>> {
    const run = this.#queue.then(() => this.#run(batch, parameters));
    this.#queue = run.then(() => undefined, () => undefined);
    return run;
  }

  async dispose(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    await this.#queue;
    await this.#session.release();
  }

  async #run(batch: PackedBatch, parameters: LoraParameters): Promise<Result<Gradient, GradientFailure>> {
    if (this.#isDisposed) return err({ code: 'gradient/disposed' });
    const pathLength = batch.positionIds.reduce((longest, position) => Math.max(longest, Number(position) + 1), 0);
    // the rotary tables end here, and the operator reads on
    if (pathLength > this.#contextLength) return err({ code: 'gradient/context-full', length: pathLength, limit: this.#contextLength });
    const feeds = this.#feeds(batch, parameters);
    const names = parameters.tensors.map(({ name }) => gradientOf(name));
    let outputs: Awaited<ReturnType<Session['run']>>;
    try {
      outputs = await this.#session.run(feeds, [LOSS, LOG_PROBABILITIES, ...names]);
    } catch (cause) {
      return err({ code: 'gradient/run-failed', cause });
    }
    const values = (name: string): Float32Array => outputs[name]!.data as Float32Array;
    const broken = [LOSS, ...names].find((name) => !areFinite(values(name)));
    if (broken !== undefined) return err({ code: 'gradient/not-finite', output: broken });
    return ok({ loss: values(LOSS)[0]!, logProbabilities: values(LOG_PROBABILITIES), gradients: names.map(values) });
  }

  #feeds(batch: PackedBatch, { rank, alpha, tensors }: LoraParameters): Feeds {
    const { Tensor } = this.#ort;
    const [length, stepCount] = [batch.tokens.length, batch.targets.length];
    const head = headFeeds(this.#head, batch);
    return {
      [EMBEDDINGS]: new Tensor('float32', gatherRows(this.#embedding, batch.tokens), [length, this.#embedding.length]),
      [POSITION_IDS]: new Tensor('int64', batch.positionIds, [length, 1]),
      [ATTENTION_BIAS]: new Tensor('float32', batch.bias, [length, length]),
      [STEP_POSITIONS]: new Tensor('int64', batch.stepPositions, [stepCount]),
      [HEAD_ROWS]: new Tensor('float32', head.rows, [head.count, this.#head.length]),
      [ALLOWED]: new Tensor('uint8', head.allowed, [stepCount, head.count]),
      [TARGET_ROWS]: new Tensor('int64', head.targets, [stepCount, 1]),
      [STEP_WEIGHTS]: new Tensor('float32', batch.weights, [stepCount]),
      [LORA_SCALING]: new Tensor('float32', Float32Array.of(alpha / rank), [1]),
      ...Object.fromEntries(tensors.map(({ name, shape, data }) => [name, new Tensor('float32', data, shape)])),
    };
  }
}

/** Zero times a number is zero, times what is none it is none: one sum tells, ten times as fast as a call for each. */
function areFinite(values: Float32Array): boolean {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += 0 * values[i]!;
  return sum === 0;
}

interface HeadFeeds {
  readonly rows: Float32Array<ArrayBuffer>;
  readonly count: number;
  /** `[m, count]` */
  readonly allowed: Uint8Array<ArrayBuffer>;
  readonly targets: BigInt64Array<ArrayBuffer>;
}

/** The head's rows for every id that some step allows: all of them as they lie where that is half of them or more, else copies of those. */
function headFeeds(head: Rows, { allowed, targets }: PackedBatch): HeadFeeds {
  /** By id, whether it is wanted; then its row. */
  const rowOf = new Int32Array(head.count);
  const ids: number[] = [];
  for (const stepIds of allowed) {
    for (const id of stepIds) {
      checkId(head, id);
      if (rowOf[id] === 0) ids.push(id);
      rowOf[id] = 1;
    }
  }
  const isWhole = ids.length >= head.count / 2;
  if (isWhole) rowOf.forEach((_, id) => (rowOf[id] = id));
  else ids.forEach((id, row) => (rowOf[id] = row));
  const count = isWhole ? head.count : ids.length;
  const flags = new Uint8Array(allowed.length * count);
  for (const [step, stepIds] of allowed.entries()) for (const id of stepIds) flags[step * count + rowOf[id]!] = 1;
  return { rows: isWhole ? head.values : gatherRows(head, ids), count, allowed: flags, targets: BigInt64Array.from(targets, (id) => BigInt(rowOf[id]!)) };
}

const LOG_ERRORS_ONLY = 3;

function rowsOf(model: GgufModel, name: string): Rows {
  const tensor = model.tensors.get(name);
  if (tensor === undefined) throw new TypeError(`model: no tensor ${name}, though readGguf checks the layout`);
  const [count = 0, length = 0] = tensor.shape;
  return { values: dequantise(tensor), count, length };
}

function gatherRows(rows: Rows, ids: readonly number[]): Float32Array<ArrayBuffer> {
  const { values, length } = rows;
  const out = new Float32Array(ids.length * length);
  for (const [row, id] of ids.entries()) {
    checkId(rows, id);
    out.set(values.subarray(id * length, (id + 1) * length), row * length);
  }
  return out;
}

function checkId({ count }: Rows, id: number): void {
  if (!(Number.isInteger(id) && id >= 0 && id < count)) throw new RangeError(`token ${id}: the model has ${count}`);
}
