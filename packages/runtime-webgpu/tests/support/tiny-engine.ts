/** Tiny models on onnxruntime-node, to be compared with the plain loops. */
import * as ort from 'onnxruntime-node';
import type { Engine, KvCache } from '../../src/engine.ts';
import { readGguf } from '../../src/model/gguf.ts';
import type { WeightFormat } from '../../src/onnx/linear.ts';
import { createOrtEngine } from '../../src/ort/engine.ts';
import type { TinyModel } from './tiny-model.ts';

/** Logits are of size 2 to 100 in these models; float32 sums over 2 layers were seen to differ by 2e-5, a wrong bit of one weight type by far more. */
export const TOLERANCE = 5e-4;

export async function startTiny(model: TinyModel, format: WeightFormat, lora = true): Promise<Engine> {
  const gguf = await readGguf(model.file);
  if (!gguf.ok) throw new Error(gguf.error.code, { cause: gguf.error });
  const engine = await createOrtEngine({ ort, model: gguf.value, graph: { format, lora }, executionProvider: 'cpu', threadCount: 1 });
  if (!engine.ok) throw new Error(engine.error.code, { cause: engine.error });
  return engine.value;
}

/** Logits after feeding `chunks` one after the other. */
export async function logitsAfter(engine: Engine, chunks: readonly (readonly number[])[], from: KvCache = engine.emptyCache): Promise<Float32Array> {
  let cache = from;
  let hidden = new Float32Array(0);
  for (const chunk of chunks) {
    const step = await engine.extend(cache, chunk);
    if (!step.ok) throw new Error(step.error.code, { cause: step.error });
    ({ cache, hidden } = step.value as { cache: KvCache; hidden: Float32Array<ArrayBuffer> });
  }
  const logits = new Float32Array(engine.logitWidth);
  engine.allLogits(hidden, logits);
  return logits;
}

export function largestDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  return Array.from(actual).reduce((largest, value, i) => Math.max(largest, Math.abs(value - expected[i]!)), 0);
}
