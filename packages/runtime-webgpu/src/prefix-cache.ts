/**
 * Key-value caches of prompt prefixes, kept across attempts and repairs. Engine caches are immutable values, so a snapshot is only a reference;
 * it fits whatever prompt begins with the same ids under the same adapter.
 */
import { ok, type Digest, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { Engine, EngineFailure, EngineStep, KvCache } from './engine.ts';

/** Static prefix and the tasks of a few repairs in flight; a task of 150 tokens holds 7 MB (46 KB a token). */
const SNAPSHOT_LIMIT = 4;

interface Snapshot {
  readonly ids: readonly TokenId[];
  readonly adapterDigest: Digest | undefined;
  readonly cache: KvCache;
}

export interface Prefill extends EngineStep {
  /** Ids of the prompt that a snapshot already held. */
  readonly reusedTokenCount: number;
}

export interface PrefixCache {
  /**
   * Runs `ids` (at least one) from the longest snapshot that is a proper prefix of them, and keeps a snapshot at each of `boundaries`
   * (ascending lengths). One engine chunk between two boundaries.
   */
  prefill(ids: readonly TokenId[], boundaries: readonly number[], signal?: AbortSignal): Promise<Result<Prefill, EngineFailure>>;
  clear(): void;
}

export function createPrefixCache(engine: Engine): PrefixCache {
  /** Least recently used first. */
  let snapshots: readonly Snapshot[] = [];

  function longestPrefix(ids: readonly TokenId[]): Snapshot | undefined {
    const fitting = snapshots.filter(
      (snapshot) =>
        snapshot.adapterDigest === engine.adapterDigest && snapshot.ids.length < ids.length && snapshot.ids.every((id, index) => id === ids[index]),
    );
    return fitting.reduce<Snapshot | undefined>((best, snapshot) => (best === undefined || snapshot.ids.length > best.ids.length ? snapshot : best), undefined);
  }

  function keep(snapshot: Snapshot): void {
    snapshots = [...snapshots.filter((other) => other !== snapshot), snapshot].slice(-SNAPSHOT_LIMIT);
  }

  return {
    async prefill(ids, boundaries, signal) {
      if (ids.length === 0) throw new RangeError('ids must hold at least one token');
      const start = longestPrefix(ids);
      if (start !== undefined) keep(start);
      const reusedTokenCount = start?.ids.length ?? 0;
      const inner = boundaries.filter((boundary) => boundary > reusedTokenCount && boundary < ids.length);
      let cache = start?.cache ?? engine.emptyCache;
      let position = reusedTokenCount;
      for (const boundary of inner) {
        const step = await engine.extend(cache, ids.slice(position, boundary), signal);
        if (!step.ok) return step;
        cache = step.value.cache;
        position = boundary;
        keep({ ids: ids.slice(0, boundary), adapterDigest: engine.adapterDigest, cache });
      }
      const last = await engine.extend(cache, ids.slice(position), signal);
      return last.ok ? ok({ ...last.value, reusedTokenCount }) : last;
    },
    clear() {
      snapshots = [];
    },
  };
}
