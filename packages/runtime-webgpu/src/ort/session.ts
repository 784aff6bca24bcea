/**
 * A graph in a session of ONNX Runtime: built unless it is given, loaded, and looked at whether it is the one that was asked for.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { InferenceSession } from 'onnxruntime-node';
import type { ModelConfig } from '../model/config.ts';
import type { GgufModel } from '../model/gguf.ts';
import { concatBytes } from '../onnx/encoder.ts';
import { buildGraph, graphSettings, type DecoderGraph, type GraphOptions, type GraphSettings } from '../onnx/graph.ts';
import { EMBEDDINGS, HIDDEN, KEPT_POSITIONS, loraA, pastKey, POSITION_IDS, presentKey, presentValue } from '../onnx/names.ts';
import { toLoadFailure, type LoadFailure } from './failure.ts';
import type { GpuDevice } from './gpu.ts';
import type { OrtRuntime } from './runtime.ts';

export interface SessionOptions {
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

/** The GPU of the options is destroyed where this fails. */
export async function openSession(options: SessionOptions): Promise<Result<InferenceSession, EngineLoadIssue>> {
  const { model, onProgress, gpu } = options;
  if (options.source === undefined) onProgress?.('build-graph');
  const source = options.source ?? buildGraph(model, options.graph);
  onProgress?.('load-session');
  const session = await loadSession(source, options);
  if (!session.ok) {
    gpu?.destroy();
    return session;
  }
  const mismatch = graphMismatch(session.value, model.config, graphSettings(model, options.graph));
  if (mismatch !== undefined) {
    await session.value.release();
    gpu?.destroy();
    return err({ code: 'engine/wrong-graph', detail: mismatch });
  }
  onProgress?.('ready');
  return session;
}

async function loadSession(source: string | DecoderGraph, options: SessionOptions): Promise<Result<InferenceSession, EngineLoadIssue>> {
  const { ort } = options;
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

/** What tells that a graph file was built for other options; sizes that the names do not show are part of its cache key. */
function graphMismatch(session: InferenceSession, config: ModelConfig, settings: GraphSettings): string | undefined {
  const names = new Set(session.inputNames);
  if (!names.has(EMBEDDINGS) || !names.has(KEPT_POSITIONS) || !session.outputNames.includes(HIDDEN)) return 'not a decoder graph of this library';
  if (!names.has(pastKey(config.layerCount - 1)) || names.has(pastKey(config.layerCount))) return `not of ${config.layerCount} layers`;
  if (names.has(loraA(0, 'qkv')) !== settings.lora) return settings.lora ? 'no adapter inputs' : 'unexpected adapter inputs';
  if (names.has(POSITION_IDS) !== settings.batched) return settings.batched ? 'not for a batch' : 'for a batch';
  return undefined;
}
