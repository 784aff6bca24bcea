/**
 * An engine of the browser by name. Its runtime is imported only here, so that a visitor of WASM does not download the 17 or 27 MB of WebGPU.
 * Each has the weight format in which it is fast and exact: f32 on WASM, where 4 bits decode eleven times slower; 4 bits on a GPU.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { Engine } from '../engine.ts';
import type { GgufModel } from '../model/gguf.ts';
import type { WeightFormat } from '../onnx/linear.ts';
import { createOrtEngine } from '../ort/engine.ts';
import type { OrtRuntime } from '../ort/runtime.ts';
import type { EngineLoadIssue, EnginePhase } from '../ort/session.ts';
import type { WebEngineName } from '../probe/choice.ts';
import { openGpu } from '../probe/gpu-device.ts';
import type { GpuIssue } from '../probe/machine.ts';
import type { EngineRuntimes, RuntimeFiles } from '../worker/protocol.ts';
import { bounded } from './bounded-engine.ts';
import { interruptible } from './interruptible-engine.ts';

export const WEB_FORMATS: Readonly<Record<WebEngineName, WeightFormat>> = { wasm: 'f32', webgpu: 'q41' };

export interface OpenEngineOptions {
  readonly model: GgufModel;
  readonly lora: boolean;
  readonly runtimes: EngineRuntimes;
  /** Of WASM; WebGPU has one. Set once for the worker, by the first engine. */
  readonly threads: number;
  readonly hasJspi: boolean;
  readonly onProgress?: (phase: EnginePhase) => void;
}

export type OpenEngineIssue = EngineLoadIssue | GpuIssue | { readonly code: 'engine/not-served' };

/** The engines whose runtimes are named. */
export function servedEngines(runtimes: EngineRuntimes, hasJspi: boolean): readonly WebEngineName[] {
  return [...(gpuRuntime(runtimes, hasJspi) === undefined ? [] : ['webgpu'] as const), ...(runtimes.wasm === undefined ? [] : ['wasm'] as const)];
}

export async function openWebEngine(name: WebEngineName, options: OpenEngineOptions): Promise<Result<Engine, OpenEngineIssue>> {
  const { model, lora, onProgress } = options;
  const runtime = await importRuntime(name, options);
  if (!runtime.ok) return runtime;
  const parts = { ort: runtime.value, model, ...(onProgress === undefined ? {} : { onProgress }) };
  if (name === 'wasm') {
    const engine = await createOrtEngine({ ...parts, graph: { format: WEB_FORMATS.wasm, weights: 'files', lora }, executionProvider: 'wasm' });
    return engine.ok ? ok(interruptible(engine.value)) : engine;
  }
  const gpu = await openGpu();
  if (!gpu.ok) return gpu;
  const { device } = gpu.value;
  const engine = await createOrtEngine({ ...parts, graph: { format: WEB_FORMATS.webgpu, lora }, executionProvider: 'webgpu', gpu: device });
  return engine.ok ? ok(bounded(engine.value, () => device.destroy())) : engine;
}

/** Which of the two WebGPU runtimes: the smaller where the browser can run it. */
function gpuRuntime(runtimes: EngineRuntimes, hasJspi: boolean): 'jspi' | 'asyncify' | undefined {
  if (hasJspi && runtimes.jspi !== undefined) return 'jspi';
  return runtimes.asyncify === undefined ? undefined : 'asyncify';
}

async function importRuntime(name: WebEngineName, { runtimes, threads, hasJspi }: OpenEngineOptions): Promise<Result<OrtRuntime, OpenEngineIssue>> {
  const kind = name === 'wasm' ? name : gpuRuntime(runtimes, hasJspi);
  const files: RuntimeFiles | undefined = kind === undefined ? undefined : runtimes[kind];
  if (kind === undefined || files === undefined) return err({ code: 'engine/not-served' });
  try {
    const ort = await (kind === 'wasm' ? import('onnxruntime-web/wasm') : kind === 'jspi' ? import('onnxruntime-web/jspi') : import('onnxruntime-web/webgpu'));
    ort.env.wasm.numThreads = name === 'wasm' ? threads : 1;
    ort.env.wasm.wasmPaths = { mjs: files.mjs, wasm: files.wasm };
    return ok(ort);
  } catch (cause) {
    return err({ code: 'engine/load-failed', cause });
  }
}
