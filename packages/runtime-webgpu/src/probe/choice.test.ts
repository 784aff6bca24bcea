import { describe, expect, test } from 'vitest';
import { chooseEngine, chooseThreads, formatEngineReason, type EngineNeeds } from './choice.ts';
import { featuresFor } from './gpu-device.ts';
import type { GpuIssue, GpuProfile, MachineProfile } from './machine.ts';

const GPU: GpuProfile = { vendor: 'v', architecture: 'a', description: 'd', isSoftware: false, hasF16: true, subgroupMinSize: 32, maxBufferBytes: 2 ** 30, maxBindingBytes: 2 ** 27 };
const NEEDS: EngineNeeds = { served: ['webgpu', 'wasm'], largestWeightBytes: 2 ** 20 };

function machine(gpu: GpuProfile | GpuIssue): MachineProfile {
  return { gpu, coreCount: 8, isIsolated: true, memoryGb: 8, hasJspi: true, storage: undefined };
}

describe('chooseEngine', () => {
  test('a real graphics adapter is taken, and nothing is rejected', () => {
    expect(chooseEngine(machine(GPU), NEEDS)).toEqual({ ok: true, value: { engine: 'webgpu', reason: { code: 'choice/gpu' }, rejected: [] } });
  });

  test.each([
    { what: 'no WebGPU', gpu: { code: 'gpu/no-webgpu' }, needs: NEEDS, reason: { code: 'gpu/no-webgpu' } },
    { what: 'no adapter', gpu: { code: 'gpu/no-adapter' }, needs: NEEDS, reason: { code: 'gpu/no-adapter' } },
    { what: 'a software adapter', gpu: { ...GPU, isSoftware: true }, needs: NEEDS, reason: { code: 'gpu/software-adapter', adapter: 'a' } },
    { what: 'a matrix larger than a shader may see', gpu: GPU, needs: { ...NEEDS, largestWeightBytes: 2 ** 28 }, reason: { code: 'gpu/buffer-too-small', neededBytes: 2 ** 28, limitBytes: 2 ** 27 } },
    { what: 'a page without the runtime', gpu: GPU, needs: { ...NEEDS, served: ['wasm'] }, reason: { code: 'engine/not-served' } },
  ] as const)('with $what it is WASM, and the reason is named', ({ gpu, needs, reason }) => {
    expect(chooseEngine(machine(gpu), needs)).toEqual({ ok: true, value: { engine: 'wasm', reason: { code: 'choice/fallback' }, rejected: [{ engine: 'webgpu', reason }] } });
  });

  test('an engine that is asked for comes first, a software adapter too', () => {
    expect(chooseEngine(machine(GPU), { ...NEEDS, preferred: 'wasm' })).toMatchObject({ value: { engine: 'wasm', reason: { code: 'choice/asked-for' }, rejected: [] } });
    expect(chooseEngine(machine({ ...GPU, isSoftware: true }), { ...NEEDS, preferred: 'webgpu' })).toMatchObject({ value: { engine: 'webgpu' } });
  });

  test('one that failed is passed over with its own reason, and when all have, that is the answer', () => {
    const failed = [{ engine: 'webgpu', reason: { code: 'engine/self-test-failed', check: 'prefill' } }] as const;
    expect(chooseEngine(machine(GPU), NEEDS, failed)).toMatchObject({ value: { engine: 'wasm', rejected: failed } });
    const both = [...failed, { engine: 'wasm', reason: { code: 'engine/out-of-memory' } }] as const;
    expect(chooseEngine(machine(GPU), NEEDS, both)).toEqual({ ok: false, error: { code: 'engine/none-left', rejected: both } });
  });
});

test.each([
  { isIsolated: false, coreCount: 8, wanted: 4, threads: 1 },
  { isIsolated: true, coreCount: 2, wanted: 4, threads: 2 },
  { isIsolated: true, coreCount: 16, wanted: undefined, threads: 4 },
  { isIsolated: true, coreCount: 16, wanted: 0, threads: 1 },
])('of $coreCount cores, isolated $isIsolated, wanted $wanted: $threads threads', ({ wanted, threads, ...profile }) => {
  expect(chooseThreads(profile, wanted)).toBe(threads);
});

test.each([
  { size: 4, features: ['shader-f16'] }, { size: 8, features: ['shader-f16'] }, { size: undefined, features: ['shader-f16'] }, { size: 16, features: ['shader-f16', 'subgroups'] },
])('a device with subgroups of $size gets $features', ({ size, features }) => {
  expect(featuresFor(new Set(['subgroups', 'shader-f16', 'timestamp-query']), size)).toEqual(features);
  expect(featuresFor(new Set(), size)).toEqual([]);
});

test('every reason is a clause, a new one by its code', () => {
  expect(formatEngineReason({ code: 'gpu/no-adapter' })).toMatch(/adapter/u);
  expect(formatEngineReason({ code: 'new/code' })).toContain('new/code');
  expect(formatEngineReason({ code: 'constructor' })).toContain('constructor');
});
