/**
 * The part of WebGPU that the engine uses, and adapters kept in GPU buffers: fed from JavaScript, their matrices would cross to the GPU
 * again at every step. Reference: W3C WebGPU §22 (device loss and errors).
 */
import type { Tensor } from 'onnxruntime-node';
import type { LoraFeed } from '../lora/feeds.ts';
import type { OrtRuntime } from './runtime.ts';

interface GpuBuffer {
  destroy(): void;
}

/** The half of a `GPUDevice` that is needed here. */
export interface GpuDevice {
  readonly lost: Promise<{ readonly reason: string; readonly message: string }>;
  readonly queue: { writeBuffer(buffer: GpuBuffer, offset: number, data: Float32Array<ArrayBuffer>): void };
  createBuffer(descriptor: { readonly size: number; readonly usage: number }): GpuBuffer;
  addEventListener(type: 'uncapturederror', listener: (event: { readonly error: { readonly message: string } }) => void): void;
  destroy(): void;
}

/** GPUBufferUsage: COPY_SRC, COPY_DST, STORAGE. The names exist only in browsers. */
const STORAGE_USAGE = 0x4 | 0x8 | 0x80;

/**
 * Chunks that are safe where the device is ONNX Runtime's own: from 32 new tokens on, its fused attention goes wrong on devices with small
 * subgroups (microsoft/onnxruntime#28520), and only a device made by us can do without them.
 */
export const SAFE_CHUNK_LENGTH = 31;

/** Tensors by input name, and what frees them. */
export interface OwnedTensors {
  readonly tensors: Readonly<Record<string, Tensor>>;
  release(): void;
}

export function toGpuTensors({ Tensor }: OrtRuntime, device: GpuDevice, feeds: readonly LoraFeed[]): OwnedTensors {
  const buffers: GpuBuffer[] = [];
  const entries = feeds.map(({ name, data, shape }) => {
    const buffer = device.createBuffer({ size: data.byteLength, usage: STORAGE_USAGE });
    device.queue.writeBuffer(buffer, 0, data);
    buffers.push(buffer);
    return [name, Tensor.fromGpuBuffer(buffer as never, { dataType: 'float32', dims: shape })] as const;
  });
  return { tensors: Object.fromEntries(entries), release: () => buffers.forEach((buffer) => buffer.destroy()) };
}

export function toCpuTensors({ Tensor }: OrtRuntime, feeds: readonly LoraFeed[]): OwnedTensors {
  return { tensors: Object.fromEntries(feeds.map(({ name, data, shape }) => [name, new Tensor('float32', data, shape)])), release: () => undefined };
}
