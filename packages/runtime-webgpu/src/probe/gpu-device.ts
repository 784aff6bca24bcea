/**
 * A GPU of our own for ONNX Runtime, which would ask for the default one: with the adapter's own limits, or large weights do not fit, and without
 * `subgroups` where these are small. From 32 new tokens on, the runtime's fused attention assumes larger ones; without the feature it takes
 * another path. Wrong at sizes 4 and 8; 16 and more could not be tested, hence the self-test.
 * Reference: microsoft/onnxruntime#28520.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { GpuDevice } from '../ort/gpu.ts';
import { describeAdapter, findAdapter, type GpuIssue, type GpuProfile } from './machine.ts';

const SAFE_SUBGROUP_SIZE = 16;

/** Features that ONNX Runtime uses where it finds them. */
type WantedFeature = Extract<GPUFeatureName, 'shader-f16' | 'subgroups'>;
const WANTED_FEATURES: readonly WantedFeature[] = ['shader-f16', 'subgroups'];

const WANTED_LIMITS = [
  'maxBufferSize', 'maxStorageBufferBindingSize', 'maxStorageBuffersPerShaderStage', 'maxComputeWorkgroupStorageSize', 'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX', 'maxComputeWorkgroupSizeY', 'maxComputeWorkgroupSizeZ', 'maxComputeWorkgroupsPerDimension',
] as const satisfies readonly (keyof GPUSupportedLimits)[];

export interface OpenedGpu {
  /** The caller's, to destroy or to hand to an engine. */
  readonly device: GpuDevice;
  readonly profile: GpuProfile;
}

export async function openGpu(): Promise<Result<OpenedGpu, GpuIssue>> {
  const adapter = await findAdapter();
  if ('code' in adapter) return err(adapter);
  const profile = describeAdapter(adapter);
  try {
    const device = await adapter.requestDevice({
      requiredFeatures: featuresFor(adapter.features, profile.subgroupMinSize),
      requiredLimits: Object.fromEntries(WANTED_LIMITS.map((name) => [name, adapter.limits[name]])),
    });
    return ok({ device: device as unknown as GpuDevice, profile });
  } catch (cause) {
    return err({ code: 'gpu/no-device', detail: String(cause) });
  }
}

/** Of the wanted features those that the adapter has, and of these `subgroups` only where the size is known to be safe. */
export function featuresFor(available: ReadonlySet<string>, subgroupMinSize: number | undefined): WantedFeature[] {
  const isSafe = subgroupMinSize !== undefined && subgroupMinSize >= SAFE_SUBGROUP_SIZE;
  return WANTED_FEATURES.filter((feature) => available.has(feature) && (feature !== 'subgroups' || isSafe));
}
