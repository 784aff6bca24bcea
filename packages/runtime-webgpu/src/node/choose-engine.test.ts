import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ort from 'onnxruntime-node';
import { expect, onTestFinished, test } from 'vitest';
import { TINY_CONFIGS, tinyModel } from '../../tests/support/tiny-model.ts';
import { BASE_MODEL } from '../model/base-model.ts';
import type { OrtRuntime } from '../ort/runtime.ts';
import { chooseNodeEngine } from './choose-engine.ts';
import { openRuntime } from './open-runtime.ts';

/** ONNX Runtime whose WebGPU provider is the processor again, after `ms`, or refuses. */
function runtime(gpu: { readonly ms: number } | { readonly refuses: string }): OrtRuntime {
  const create = async (source: string | Uint8Array, options: ort.InferenceSession.SessionOptions): Promise<ort.InferenceSession> => {
    if (options.executionProviders?.[0] !== 'webgpu') return ort.InferenceSession.create(source as string, options);
    if ('refuses' in gpu) throw new Error(gpu.refuses);
    const session = await ort.InferenceSession.create(source as string, { ...options, executionProviders: ['cpu'] });
    const run = session.run.bind(session);
    session.run = (async (feeds: ort.InferenceSession.FeedsType) => {
      await new Promise((resolve) => setTimeout(resolve, gpu.ms));
      return run(feeds);
    }) as typeof session.run;
    return session;
  };
  return { Tensor: ort.Tensor, InferenceSession: { create } as unknown as OrtRuntime['InferenceSession'] };
}

const NO_ADAPTER = { refuses: 'Failed to get a WebGPU adapter: No supported adapters' };

test('the processor is taken untested where it is asked for', async () => {
  const tests: string[] = [];
  expect(await chooseNodeEngine(runtime(NO_ADAPTER), 'cpu', () => tests.push('test'))).toEqual({ engine: 'cpu', reason: { code: 'choice/asked-for' }, rejected: [] });
  expect(tests).toEqual([]);
});

test('an adapter that was asked for and gives the known answers is taken, slow or not', async () => {
  expect(await chooseNodeEngine(runtime({ ms: 50 }), 'webgpu')).toEqual({ engine: 'webgpu', reason: { code: 'choice/asked-for' }, rejected: [] });
});

test.each(['webgpu', 'auto'] as const)('without an adapter %s is the processor, and the reason is named', async (wish) => {
  expect(await chooseNodeEngine(runtime(NO_ADAPTER), wish)).toMatchObject({
    engine: 'cpu', reason: { code: 'choice/fallback' }, rejected: [{ engine: 'webgpu', reason: { code: 'engine/load-failed', cause: { message: NO_ADAPTER.refuses } } }],
  });
});

test('an adapter that is slower than the processor is not chosen by itself', async () => {
  expect(await chooseNodeEngine(runtime({ ms: 500 }), 'auto')).toMatchObject({
    engine: 'cpu', rejected: [{ engine: 'webgpu', reason: { code: 'gpu/slower-than-cpu', gpuMs: expect.any(Number) as number, cpuMs: expect.any(Number) as number } }],
  });
});

test('an adapter whose numbers are wrong is not used', async () => {
  const { Tensor, InferenceSession } = runtime({ ms: 0 });
  const wrong = async (source: string, options: ort.InferenceSession.SessionOptions): Promise<ort.InferenceSession> => {
    const session = await InferenceSession.create(source, options);
    const run = session.run.bind(session);
    session.run = (async (feeds: ort.InferenceSession.FeedsType) => {
      const outputs = await run(feeds);
      (outputs['hidden']!.data as Float32Array)[0]! += 1;
      return outputs;
    }) as typeof session.run;
    return session;
  };
  const choice = await chooseNodeEngine({ Tensor, InferenceSession: { create: wrong } as unknown as OrtRuntime['InferenceSession'] }, 'webgpu');
  expect(choice).toMatchObject({ engine: 'cpu', rejected: [{ reason: { code: 'engine/self-test-failed', check: 'prefill' } }] });
});

test('a model that is to run on WebGPU runs there, or for want of an adapter on the processor, and says so', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'contractrl-engine-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { file } = tinyModel(TINY_CONFIGS.llama);
  await writeFile(join(folder, 'tiny.gguf'), file);
  const pin = { ...BASE_MODEL, sizeBytes: file.length, sha256: createHash('sha256').update(file).digest('hex') };
  const told: string[] = [];
  const opened = await openRuntime({
    model: join(folder, 'tiny.gguf'), adapter: 'none', cacheDirectory: folder, transport: { pin }, engine: 'webgpu', onProgress: ({ stage }) => told.push(stage),
  });
  if (!opened.ok) throw new Error(opened.error.message);
  const { engine, choice } = opened.value;
  const isOnGpu = choice.engine === 'webgpu';
  expect(engine.identity).toMatchObject(isOnGpu ? { backend: 'onnxruntime-webgpu', format: 'q41' } : { backend: 'onnxruntime-cpu', format: 'q41x' });
  expect(choice.rejected).toMatchObject(isOnGpu ? [] : [{ engine: 'webgpu', reason: { code: 'engine/load-failed' } }]);
  expect(told).toContain('test-engine');
  expect(told.includes('engine-rejected')).toBe(!isOnGpu);
  expect(await engine.extend(engine.emptyCache, [1, 2, 3])).toMatchObject({ ok: true });
  await engine.dispose();
}, 120_000);
