/**
 * Keys and values as the tensors that the session gave out. A run never writes into an older one's tensors, so a cache is a value and
 * holding on to it is all that a rollback or a shared prefix needs. Growing by copying is the faster form here: pre-allocated buffers
 * double the time of a decode step, because ONNX Runtime copies them whole. A cache that was cut shares the tensors of the longer one: the
 * attention reads the first `length` positions and writes over what lies behind them.
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
 * each is freed exactly once: when the last cache that holds it is released, or was only dropped and is collected, or with the engine.
 */
export class GpuTensors {
  /** How many caches hold each. */
  readonly #holders = new Map<CacheTensors, number>();
  readonly #dropped: FinalizationRegistry<CacheTensors> = new FinalizationRegistry((tensors) => this.#letGo(tensors));

  /** Takes charge of what `cache` holds, where it is on a GPU. */
  hold(cache: OrtKvCache): void {
    const { tensors } = cache;
    if (tensors === undefined || !Object.values(tensors).some(({ location }) => location === 'gpu-buffer')) return;
    this.#holders.set(tensors, 0);
    this.share(cache);
  }

  /** Counts one more cache of tensors that are held already; nothing happens where they are not. */
  share(cache: OrtKvCache): void {
    const { tensors } = cache;
    const count = tensors === undefined ? undefined : this.#holders.get(tensors);
    if (tensors === undefined || count === undefined) return;
    this.#holders.set(tensors, count + 1);
    this.#dropped.register(cache, tensors, cache);
  }

  /** Frees what `cache` holds unless another holds it too; its steps must be over. */
  release(cache: OrtKvCache): void {
    const { tensors } = cache;
    cache.tensors = undefined;
    if (tensors !== undefined && this.#dropped.unregister(cache)) this.#letGo(tensors);
  }

  releaseAll(): void {
    for (const tensors of this.#holders.keys()) this.#free(tensors);
  }

  /** The device took them along. */
  forgetAll(): void {
    this.#holders.clear();
  }

  #letGo(tensors: CacheTensors): void {
    const count = this.#holders.get(tensors) ?? 0;
    if (count > 1) this.#holders.set(tensors, count - 1);
    else this.#free(tensors);
  }

  #free(tensors: CacheTensors): void {
    if (!this.#holders.delete(tensors)) return;
    for (const tensor of Object.values(tensors)) tensor.dispose();
  }
}
