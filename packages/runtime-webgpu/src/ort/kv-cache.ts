/**
 * Keys and values as the tensors that the session gave out. A run never writes into an older one's tensors, so a cache is a value and
 * holding on to it is all that a rollback or a shared prefix needs. Growing by copying is the faster form here: pre-allocated buffers
 * double the time of a decode step, because ONNX Runtime copies them whole.
 */
import type { Digest } from '@contractrl/core';
import type { Tensor } from 'onnxruntime-node';
import type { KvCache } from '../engine.ts';

export type CacheTensors = Readonly<Record<string, Tensor>>;

export class OrtKvCache implements KvCache {
  readonly length: number;
  /** The engine that made it. */
  readonly owner: object;
  readonly adapterDigest: Digest | undefined;
  /** By the name of the input that takes it in the next run; undefined once freed. */
  tensors: CacheTensors | undefined;
  /** No further step may be asked for; those asked for before may still read it. */
  isReleased = false;

  constructor(owner: object, length: number, tensors: CacheTensors, adapterDigest: Digest | undefined) {
    this.owner = owner;
    this.length = length;
    this.tensors = tensors;
    this.adapterDigest = adapterDigest;
  }
}

/**
 * The tensors of an engine's caches that are buffers of a GPU. No garbage collector sees their size, and none of them outlives the session, so
 * each is freed exactly once: when its cache is released, when a cache that was only dropped is collected, or with the engine.
 */
export class GpuTensors {
  readonly #live = new Set<CacheTensors>();
  readonly #dropped: FinalizationRegistry<CacheTensors> = new FinalizationRegistry((tensors) => this.#free(tensors));

  /** Takes charge of what `cache` holds, where it is on a GPU. */
  hold(cache: OrtKvCache): void {
    const { tensors } = cache;
    if (tensors === undefined || !Object.values(tensors).some(({ location }) => location === 'gpu-buffer')) return;
    this.#live.add(tensors);
    this.#dropped.register(cache, tensors);
  }

  /** Frees what `cache` holds; its steps must be over. */
  release(cache: OrtKvCache): void {
    if (cache.tensors !== undefined) this.#free(cache.tensors);
    cache.tensors = undefined;
  }

  releaseAll(): void {
    for (const tensors of this.#live) this.#free(tensors);
  }

  /** The device took them along. */
  forgetAll(): void {
    this.#live.clear();
  }

  #free(tensors: CacheTensors): void {
    if (!this.#live.delete(tensors)) return;
    for (const tensor of Object.values(tensors)) tensor.dispose();
  }
}
