/** The engine on a GPU that is a fake in what can go wrong, over the real CPU session: loss, errors without a caller, what is freed and when. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as ort from 'onnxruntime-node';
import { afterEach, describe, expect, test, vi, type Mock } from 'vitest';
import type { Engine, EngineFailure, KvCache } from '../engine.ts';
import { createCheckAdapter, createCheckModel } from '../self-test/check-model.ts';
import { createOrtEngine } from './engine.ts';
import { toLoadFailure, toRunFailure } from './failure.ts';
import type { GpuDevice } from './gpu.ts';

const model = createCheckModel();

interface FakeBuffer {
  readonly destroy: Mock<() => void>;
}

class FakeGpu implements GpuDevice {
  readonly lost: Promise<{ readonly reason: string; readonly message: string }>;
  lose: (info: { readonly reason: string; readonly message: string }) => void = () => undefined;
  readonly queue = { writeBuffer: (buffer: object, _offset: number, data: Float32Array<ArrayBuffer>) => { (buffer as { data?: Float32Array }).data = data; } };
  readonly buffers: FakeBuffer[] = [];
  readonly destroy: Mock<() => void> = vi.fn();
  raise: (message: string) => void = () => undefined;

  constructor() {
    this.lost = new Promise((resolve) => { this.lose = resolve; });
  }

  createBuffer(): FakeBuffer {
    const buffer = { destroy: vi.fn() };
    this.buffers.push(buffer);
    return buffer;
  }

  addEventListener(_type: 'uncapturederror', listener: (event: { readonly error: { readonly message: string } }) => void): void {
    this.raise = (message) => listener({ error: new Error(message) });
  }
}

/** Tensors that the runtime gave out and that were disposed. */
const disposed: string[] = [];
/** Where set, called and awaited at the start of a run. */
let gate: (() => Promise<void>) | undefined;

/** A tensor of the CPU that says it is elsewhere. */
interface FarTensor {
  readonly location: 'gpu-buffer';
  readonly near: ort.Tensor;
  dispose(): void;
}

/** ONNX Runtime whose sessions run on the CPU and call their outputs GPU tensors. */
const gpuRuntime = {
  Tensor: Object.assign(ort.Tensor, { fromGpuBuffer: (buffer: { data: Float32Array }, { dims }: { dims: readonly number[] }) => new ort.Tensor('float32', buffer.data, dims) }),
  InferenceSession: {
    async create(bytes: Uint8Array, options: ort.InferenceSession.SessionOptions) {
      const session = await ort.InferenceSession.create(bytes, { ...options, executionProviders: ['cpu'] });
      return {
        inputNames: session.inputNames,
        outputNames: session.outputNames,
        release: () => session.release(),
        async run(feeds: Readonly<Record<string, ort.Tensor | FarTensor>>) {
          await gate?.();
          const outputs = await session.run(Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, 'near' in tensor ? tensor.near : tensor])));
          const far = (name: string, near: ort.Tensor): FarTensor => ({ location: 'gpu-buffer', near, dispose: () => { disposed.push(name); } });
          return Object.fromEntries(Object.entries(outputs).map(([name, tensor]) => [name, name === 'hidden' ? tensor : far(name, tensor)]));
        },
      };
    },
  },
};

async function start(gpu: GpuDevice): Promise<Engine> {
  const made = await createOrtEngine({ ort: gpuRuntime as never, model, graph: { format: 'f32' }, executionProvider: 'webgpu', gpu });
  if (!made.ok) throw new Error(made.error.code, { cause: made.error });
  return made.value;
}

async function extend(engine: Engine, cache: KvCache, tokens: readonly number[]): Promise<KvCache> {
  const step = await engine.extend(cache, tokens);
  if (!step.ok) throw new Error(step.error.code, { cause: step.error });
  return step.value.cache;
}

afterEach(() => {
  disposed.length = 0;
  gate = undefined;
});

describe('a device that is lost', () => {
  const lost: EngineFailure = { code: 'engine/device-lost', reason: 'unknown', detail: 'GPU reset' };

  test('ends the step under way, which would never end by itself, and every later one', async () => {
    const gpu = new FakeGpu();
    const engine = await start(gpu);
    gate = () => new Promise(() => undefined);
    const step = engine.extend(engine.emptyCache, [1]);
    gpu.lose({ reason: 'unknown', message: 'GPU reset' });
    expect(await step).toEqual({ ok: false, error: lost });
    expect(await engine.extend(engine.emptyCache, [1])).toEqual({ ok: false, error: lost });
    expect(engine.useAdapter(undefined)).toEqual({ ok: false, error: lost });
    await engine.dispose();
  });

  test('while nothing runs is told by the next step', async () => {
    const gpu = new FakeGpu();
    const engine = await start(gpu);
    gpu.lose({ reason: 'unknown', message: 'GPU reset' });
    await Promise.resolve();
    expect(await engine.extend(engine.emptyCache, [1])).toEqual({ ok: false, error: lost });
    await engine.dispose();
  });

  test('because the engine was disposed is no loss', async () => {
    const gpu = new FakeGpu();
    const engine = await start(gpu);
    await engine.dispose();
    expect(gpu.destroy).toHaveBeenCalledOnce();
    gpu.lose({ reason: 'destroyed', message: '' });
    expect(await engine.extend(engine.emptyCache, [1])).toEqual({ ok: false, error: { code: 'engine/disposed' } });
  });
});

test.each([
  ['Out of memory', 'engine/out-of-memory'],
  ['Binding size is larger than the limit', 'engine/run-failed'],
])('an error that no call reports (%s) fails the engine, since zeros would be computed from then on', async (message, code) => {
  const gpu = new FakeGpu();
  const engine = await start(gpu);
  gpu.raise(message);
  expect(await engine.extend(engine.emptyCache, [1])).toMatchObject({ ok: false, error: { code } });
  await engine.dispose();
});

describe('memory of the GPU', () => {
  test('keys and values of a released cache are freed at once, and no others', async () => {
    const engine = await start(new FakeGpu());
    const first = await extend(engine, engine.emptyCache, [1, 2]);
    const second = await extend(engine, first, [3]);
    expect(disposed).toEqual([]);
    engine.release!(first);
    await extend(engine, second, [4]);
    expect(disposed.sort()).toEqual(['present_key.0', 'present_key.1', 'present_value.0', 'present_value.1']);
    engine.release!(second);
    await engine.dispose();
    // first, second, and the last one, which goes with the engine
    expect(disposed).toHaveLength(12);
  });

  test('what a cut cache shares is freed with the last that holds it, in either order', async () => {
    const engine = await start(new FakeGpu());
    for (const order of [[0, 1], [1, 0]] as const) {
      disposed.length = 0;
      const cache = await extend(engine, engine.emptyCache, [1, 2, 3]);
      const holders = [cache, engine.shorten(cache, 2)] as const;
      engine.release!(holders[order[0]]);
      engine.release!(await extend(engine, holders[order[1]], [4]));
      await Promise.resolve();
      expect(disposed).toHaveLength(4);
      engine.release!(holders[order[1]]);
      await Promise.resolve();
      expect(disposed).toHaveLength(8);
    }
    await engine.dispose();
    expect(disposed).toHaveLength(8);
  });

  test('a cache that is only dropped is freed when it is collected', async () => {
    const engine = await start(new FakeGpu());
    await extend(engine, engine.emptyCache, [1]);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await vi.waitFor(() => {
      collect();
      expect(disposed).toHaveLength(4);
    });
    await engine.dispose();
    expect(disposed).toHaveLength(4);
  });

  test('of a lost device nothing is freed: it took its buffers along', async () => {
    const gpu = new FakeGpu();
    const engine = await start(gpu);
    await extend(engine, engine.emptyCache, [1]);
    gpu.lose({ reason: 'unknown', message: '' });
    await engine.dispose();
    expect(disposed).toEqual([]);
  });

  test('a step that is aborted while it runs leaves nothing behind', async () => {
    const engine = await start(new FakeGpu());
    const controller = new AbortController();
    gate = async () => controller.abort();
    expect(await engine.extend(engine.emptyCache, [1], controller.signal)).toEqual({ ok: false, error: { code: 'engine/aborted' } });
    expect(disposed).toHaveLength(4);
    await engine.dispose();
  });

  test('an adapter goes over once, and its buffers are destroyed when the steps that read them are over', async () => {
    const gpu = new FakeGpu();
    const engine = await start(gpu);
    const zeros = gpu.buffers.length;
    expect(zeros).toBe(16);
    const running = engine.extend(engine.emptyCache, [1]);
    engine.useAdapter(createCheckAdapter(4));
    expect(gpu.buffers[0]!.destroy).not.toHaveBeenCalled();
    await running;
    await extend(engine, engine.emptyCache, [1]);
    expect(gpu.buffers).toHaveLength(2 * zeros);
    for (const [index, buffer] of gpu.buffers.entries()) expect(buffer.destroy).toHaveBeenCalledTimes(index < zeros ? 1 : 0);
    await engine.dispose();
    for (const buffer of gpu.buffers) expect(buffer.destroy).toHaveBeenCalledOnce();
  });
});

describe('failures by their text', () => {
  test.each([
    [new Error('The GPU device was lost: the driver was updated'), 'engine/device-lost'],
    [new Error('Failed to execute mapAsync: Device is lost'), 'engine/device-lost'],
    [new Error('A valid external Instance reference no longer exists.'), 'engine/device-lost'],
    [new (class GPUOutOfMemoryError { readonly message = 'Buffer (size 123) could not be created'; })(), 'engine/out-of-memory'],
    [new RangeError('Array buffer allocation failed'), 'engine/out-of-memory'],
    [new Error('std::bad_alloc'), 'engine/out-of-memory'],
    [new Error('failed to allocate a buffer of size 113246208'), 'engine/out-of-memory'],
    [new WebAssembly.RuntimeError('Aborted(OOM)'), 'engine/out-of-memory'],
    [6_345_232, 'engine/run-failed'],
    [new Error('Non-zero status code returned while running MatMul node'), 'engine/run-failed'],
  ])('%s', (cause, code) => {
    expect(toRunFailure(cause).code).toBe(code);
    expect(toLoadFailure(cause).code).toBe(code.replace('run-failed', 'load-failed'));
  });
});
