/**
 * What a browser offers to an engine: its graphics adapter with the limits that matter here, threads, memory, storage. Asking costs
 * milliseconds and starts nothing. Works in a page and in a worker.
 */
export interface GpuProfile {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  /** Drawn by the CPU (SwiftShader and the like): right, and slower than WASM. */
  readonly isSoftware: boolean;
  readonly hasF16: boolean;
  /** Smallest number of lanes that work in step; undefined where the browser does not say. */
  readonly subgroupMinSize: number | undefined;
  readonly maxBufferBytes: number;
  /** Of one buffer as a shader sees it. */
  readonly maxBindingBytes: number;
}

export interface MachineProfile {
  readonly gpu: GpuProfile | GpuIssue;
  readonly coreCount: number;
  /** Threads need shared memory, and that a cross-origin isolated page. */
  readonly isIsolated: boolean;
  /** Rounded and at most 8 where the browser says it at all. */
  readonly memoryGb: number | undefined;
  /** JavaScript Promise Integration: the smaller of the two WebGPU runtimes works. */
  readonly hasJspi: boolean;
  readonly storage: StorageProfile | undefined;
}

export interface StorageProfile {
  readonly quotaBytes: number;
  readonly usageBytes: number;
}

export type GpuIssue =
  | { readonly code: 'gpu/no-webgpu' }
  /** The browser knows WebGPU and has no adapter: blocked, switched off, or none in the machine. */
  | { readonly code: 'gpu/no-adapter' }
  | { readonly code: 'gpu/no-device'; readonly detail: string };

/** Never rejects: what a browser refuses to say is undefined. */
export async function probeMachine(): Promise<MachineProfile> {
  const adapter = await findAdapter();
  return {
    gpu: 'code' in adapter ? adapter : describeAdapter(adapter),
    coreCount: navigator.hardwareConcurrency,
    isIsolated: globalThis.crossOriginIsolated,
    memoryGb: (navigator as { readonly deviceMemory?: number }).deviceMemory,
    hasJspi: 'Suspending' in WebAssembly,
    storage: await probeStorage(),
  };
}

export async function findAdapter(): Promise<GPUAdapter | GpuIssue> {
  const gpu = (navigator as Partial<Pick<Navigator, 'gpu'>>).gpu;
  if (gpu === undefined) return { code: 'gpu/no-webgpu' };
  try {
    return (await gpu.requestAdapter({ powerPreference: 'high-performance' })) ?? { code: 'gpu/no-adapter' };
  } catch (cause) {
    return { code: 'gpu/no-device', detail: String(cause) };
  }
}

export function describeAdapter({ info, features, limits }: GPUAdapter): GpuProfile {
  const { vendor, architecture, description } = info;
  return {
    vendor, architecture, description,
    isSoftware: info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|softpipe|basic render/iu.test(`${architecture} ${description}`),
    hasF16: features.has('shader-f16'),
    subgroupMinSize: (info as Partial<GPUAdapterInfo>).subgroupMinSize,
    maxBufferBytes: limits.maxBufferSize,
    maxBindingBytes: limits.maxStorageBufferBindingSize,
  };
}

/** What this origin may keep; undefined where the browser does not say. */
export async function probeStorage(): Promise<StorageProfile | undefined> {
  try {
    const { quota, usage } = await navigator.storage.estimate();
    return quota === undefined || usage === undefined ? undefined : { quotaBytes: quota, usageBytes: usage };
  } catch {
    return undefined;
  }
}
