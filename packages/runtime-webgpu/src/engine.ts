/**
 * The port to a language model: embeddings in, hidden state out, logits only of the ids that are asked for.
 * Caches are immutable values, so a rollback is holding on to an older one.
 */
import type { Digest, JsonObject, Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { LoraAdapter } from './lora/adapter.ts';

/** Keys and values of `length` positions. Earlier snapshots stay valid while later ones are used. */
export interface KvCache {
  readonly length: number;
}

export interface EngineStep {
  readonly cache: KvCache;
  /** Final hidden state of the last position, `[hiddenSize]`. */
  readonly hidden: Float32Array;
}

export interface EngineVerification {
  readonly cache: KvCache;
  /** Final hidden state after each of the new tokens in order, `[hiddenSize]` each; where fewer were asked for, perhaps of the last ones only. */
  readonly hiddens: readonly Float32Array[];
}

export type EngineFailure =
  | { readonly code: 'engine/aborted' }
  | { readonly code: 'engine/context-full'; readonly length: number; readonly limit: number }
  | { readonly code: 'engine/bad-logits' }
  | { readonly code: 'engine/disposed' }
  | { readonly code: 'engine/adapter-mismatch'; readonly detail: string }
  /** The GPU went away: reset, unplugged, its driver updated, or taken from a page that slept. */
  | { readonly code: 'engine/device-lost'; readonly reason: string; readonly detail: string }
  | { readonly code: 'engine/out-of-memory'; readonly cause: unknown }
  | { readonly code: 'engine/run-failed'; readonly cause: unknown };

/** What the ledger records of the model that answered. */
export interface EngineIdentity {
  readonly backend: string;
  readonly modelDigest: Digest;
  readonly format: string;
}

export interface Engine {
  readonly identity: EngineIdentity;
  readonly logitWidth: number;
  readonly contextLength: number;
  readonly emptyCache: KvCache;
  /** Digest of the adapter in use, or undefined for the bare base model. Caches of one adapter are meaningless to another. */
  readonly adapterDigest: Digest | undefined;
  /** Takes effect at the next `extend`. Fails with `engine/adapter-mismatch` where a shape does not fit the base model. */
  useAdapter(adapter: LoraAdapter | undefined): Result<void, EngineFailure>;
  /** Runs `tokens` (at least one) after `cache`, as one chunk. */
  extend(cache: KvCache, tokens: readonly TokenId[], signal?: AbortSignal): Promise<Result<EngineStep, EngineFailure>>;
  /**
   * As {@link extend}, with the hidden state after every one of `tokens`: what tells how far a guess of several tokens holds. With `count`, at least
   * those after the last `count` of them; a part of the last layer is then spared of the others.
   */
  verify(cache: KvCache, tokens: readonly TokenId[], signal?: AbortSignal, count?: number): Promise<Result<EngineVerification, EngineFailure>>;
  /** `cache` cut to its first `length` positions: a cache of its own that shares the storage, so nothing is copied and each is released by itself. */
  shorten(cache: KvCache, length: number): KvCache;
  /** Writes the logit of `ids[i]` into `out[i]`. */
  logitsOf(hidden: Float32Array, ids: Int32Array, out: Float32Array): void;
  /** Writes all `logitWidth` logits. */
  allLogits(hidden: Float32Array, out: Float32Array): void;
  /** Frees what `cache` holds now rather than when it is collected; it cannot be extended again, others can. Waits for steps already asked for. */
  release?(cache: KvCache): void;
  dispose(): Promise<void>;
}

/** For the ledger and for records: an engine and its adapter as data. */
export function describeEngine(engine: Engine): JsonObject {
  const { backend, modelDigest, format } = engine.identity;
  return { backend, modelDigest, format, adapterDigest: engine.adapterDigest ?? null };
}
