/** Engines, as people call them. */
import type { NodeEngineName } from '@contractrl/runtime-webgpu/node';

export const ENGINE_NAMES: Readonly<Record<NodeEngineName, string>> = { cpu: 'the processor', webgpu: 'the graphics adapter (WebGPU)' };
