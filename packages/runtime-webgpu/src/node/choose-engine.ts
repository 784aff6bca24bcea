/**
 * Which of onnxruntime-node's two engines: the processor, or its WebGPU provider where there is an adapter, its numbers are right, and, unless it was
 * asked for, it is the faster one. Why it was passed over is data, as in the browser.
 */
import type { OrtRuntime } from '../ort/runtime.ts';
import { createOrtEngine } from '../ort/engine.ts';
import type { EngineChoice, EngineReason } from '../probe/choice.ts';
import { measureMatrixMs } from '../probe/matrix-speed.ts';
import { selfTest } from '../self-test/self-test.ts';
import type { WeightFormat } from '../onnx/linear.ts';

export type NodeEngineName = 'cpu' | 'webgpu';
/** `webgpu` and `auto` fall back to the processor, and `auto` also where that is faster. */
export type NodeEngineWish = NodeEngineName | 'auto';
export const NODE_ENGINE_WISHES: readonly NodeEngineWish[] = ['cpu', 'webgpu', 'auto'];

export type NodeEngineChoice = EngineChoice<NodeEngineName>;

/** In which each is fast and exact. */
export const NODE_FORMATS: Readonly<Record<NodeEngineName, WeightFormat>> = { cpu: 'q41x', webgpu: 'q41' };

/** Tests nothing for `cpu`. The first test on an adapter compiles shaders: a second on a real one, half a minute on a software adapter. */
export async function chooseNodeEngine(ort: OrtRuntime, wish: NodeEngineWish, onTest: () => void = () => undefined): Promise<NodeEngineChoice> {
  if (wish === 'cpu') return { engine: 'cpu', reason: { code: 'choice/asked-for' }, rejected: [] };
  onTest();
  const obstacle = (wish === 'auto' ? await findFaster(ort) : undefined) ?? (await findFault(ort));
  if (obstacle !== undefined) return fallBack(obstacle);
  return { engine: 'webgpu', reason: { code: wish === 'webgpu' ? 'choice/asked-for' : 'choice/gpu' }, rejected: [] };
}

/** What `auto` would take on this machine, without a model. */
export async function checkNodeEngines(): Promise<NodeEngineChoice> {
  return chooseNodeEngine(await import('onnxruntime-node'), 'auto');
}

export function fallBack(reason: EngineReason): NodeEngineChoice {
  return { engine: 'cpu', reason: { code: 'choice/fallback' }, rejected: [{ engine: 'webgpu', reason }] };
}

async function findFaster(ort: OrtRuntime): Promise<EngineReason | undefined> {
  const gpu = await measureMatrixMs(ort, 'webgpu');
  if (!gpu.ok) return { ...gpu.error };
  const cpu = await measureMatrixMs(ort, 'cpu');
  return cpu.ok && cpu.value <= gpu.value ? { code: 'gpu/slower-than-cpu', gpuMs: gpu.value, cpuMs: cpu.value } : undefined;
}

async function findFault(ort: OrtRuntime): Promise<EngineReason | undefined> {
  const tested = await selfTest((model) => createOrtEngine({ ort, model, graph: { format: NODE_FORMATS.webgpu }, executionProvider: 'webgpu' }));
  return tested.ok ? undefined : { ...tested.error };
}
