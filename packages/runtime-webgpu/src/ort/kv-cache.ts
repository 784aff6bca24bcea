/**
 * Keys and values as the tensors that the session gave out. A run never writes into an older one's tensors, so a cache is a value and
 * holding on to it is all that a rollback or a shared prefix needs. Growing by copying is the faster form here: pre-allocated buffers
 * double the time of a decode step, because ONNX Runtime copies them whole.
 */
import type { Digest } from '@contractrl/core';
import type { Tensor } from 'onnxruntime-node';
import type { KvCache } from '../engine.ts';

export class OrtKvCache implements KvCache {
  readonly length: number;
  /** By the name of the input that takes it in the next run. */
  readonly tensors: Readonly<Record<string, Tensor>>;
  /** The engine that made it. */
  readonly owner: object;
  readonly adapterDigest: Digest | undefined;

  constructor(owner: object, length: number, tensors: Readonly<Record<string, Tensor>>, adapterDigest: Digest | undefined) {
    this.owner = owner;
    this.length = length;
    this.tensors = tensors;
    this.adapterDigest = adapterDigest;
  }
}
