/**
 * How fast an execution provider is at what fills a prompt: products of matrices. ONNX Runtime in Node does not say whether its graphics adapter is
 * software, and its speed does: a software adapter takes a hundred times as long as the processor that it runs on.
 */
import { err, ok, type Result } from '@contractrl/core';
import { GraphBuilder } from '../onnx/builder.ts';
import { concatBytes, encodeModel } from '../onnx/encoder.ts';
import { toLoadFailure, toRunFailure, type LoadFailure } from '../ort/failure.ts';
import type { OrtRuntime } from '../ort/runtime.ts';
import type { EngineFailure } from '../engine.ts';

/** 1 GFLOP in all: 5 ms on two cores, more than a transfer to a device and back. */
const ROWS = 256;
const SIZE = 1024;
const PRODUCTS = 2;
const RUNS = 4;
/** A first run compiles one shader, which takes no real device as long. */
const ENOUGH_MS = 2_000;

/** Milliseconds of the fastest run; there is but one where that takes over two seconds. */
export async function measureMatrixMs({ InferenceSession, Tensor }: OrtRuntime, executionProvider: 'cpu' | 'webgpu'): Promise<Result<number, LoadFailure | EngineFailure>> {
  const graph = new GraphBuilder('model');
  const weight = graph.weight('weight', 'float32', [SIZE, SIZE], new Float32Array(SIZE * SIZE).fill(1 / SIZE));
  let x = graph.input('x', 'float32', [ROWS, SIZE]);
  for (let i = 1; i <= PRODUCTS; i += 1) x = graph.node('MatMul', [x, weight], `y${i}`);
  graph.output(x, 'float32', [ROWS, SIZE]);
  let session: Awaited<ReturnType<typeof InferenceSession.create>>;
  try {
    session = await InferenceSession.create(concatBytes(encodeModel(graph)), { executionProviders: [executionProvider], logSeverityLevel: 3 });
  } catch (cause) {
    return err(toLoadFailure(cause));
  }
  const feeds = { x: new Tensor('float32', new Float32Array(ROWS * SIZE).fill(1), [ROWS, SIZE]) };
  try {
    const times: number[] = [];
    while (times.length < RUNS && (times[0] ?? 0) < ENOUGH_MS) {
      const from = performance.now();
      await session.run(feeds);
      times.push(performance.now() - from);
    }
    return ok(Math.min(...times));
  } catch (cause) {
    return err(toRunFailure(cause));
  } finally {
    await session.release();
  }
}
