/**
 * Key-value caches of prompts, kept across attempts and repairs. Engine caches are immutable values, so a snapshot is only a reference; cut to what
 * two prompts share, it serves whatever prompt begins with the same ids under the same adapter.
 */
import { ok, type Digest, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { Engine, EngineFailure, KvCache } from './engine.ts';
import type { PromptStep } from './engine-cursor.ts';

/** The common prefix and the prompts of a few repairs in flight; a prompt of 180 tokens holds 8 MB (46 KB a token). */
const SNAPSHOT_LIMIT = 4;

/** Storage behind the shared part is copied at every step: so many positions of it cost, over a repair, as much as reading a token anew. */
const EXCESS_PER_TOKEN = 8;

interface Snapshot {
  readonly ids: readonly TokenId[];
  readonly adapterDigest: Digest | undefined;
  readonly cache: KvCache;
}

export interface Prefill extends PromptStep {
  /** Ids of the prompt that a snapshot already held. */
  readonly reusedTokenCount: number;
}

export interface PrefillOptions {
  /** Length of what every prompt begins with. It is read once, as a chunk of its own, so that its snapshot holds nothing else. Default 0. */
  readonly commonLength?: number;
  /** Whether a prompt that begins like this one may follow, as one of the next attempt does. Default false. */
  readonly isKept?: boolean;
  /** A guess of what the model will say, read in the chunk of the prompt. Default nothing. */
  readonly ahead?: readonly TokenId[];
  readonly signal?: AbortSignal | undefined;
}

export interface PrefixCache {
  /** Runs `ids` (at least one) from the snapshot that shares most with them; one engine chunk, two where the common part is new. */
  prefill(ids: readonly TokenId[], options?: PrefillOptions): Promise<Result<Prefill, EngineFailure>>;
  clear(): void;
}

export function createPrefixCache(engine: Engine): PrefixCache {
  /** Least recently used first. */
  let snapshots: readonly Snapshot[] = [];

  function keep(snapshot: Snapshot): void {
    snapshots = [...snapshots.filter((other) => other !== snapshot), snapshot].slice(-SNAPSHOT_LIMIT);
  }

  /** The best snapshot's cache, cut to what it shares with `ids`; at least one of them is left to read. */
  function sharedWith(ids: readonly TokenId[]): { readonly cache: KvCache; readonly length: number } {
    const worth = (snapshot: Snapshot): number => sharedLength(snapshot.ids, ids) - Math.max(0, snapshot.ids.length - ids.length) / EXCESS_PER_TOKEN;
    const fitting = snapshots.filter(({ adapterDigest }) => adapterDigest === engine.adapterDigest);
    const best = fitting.reduce<Snapshot | undefined>((found, snapshot) => (worth(snapshot) > (found === undefined ? 0 : worth(found)) ? snapshot : found), undefined);
    if (best === undefined) return { cache: engine.emptyCache, length: 0 };
    keep(best);
    const length = Math.min(sharedLength(best.ids, ids), ids.length - 1);
    return { cache: length === best.ids.length ? best.cache : engine.shorten(best.cache, length), length };
  }

  return {
    async prefill(ids, { commonLength = 0, isKept = false, ahead = [], signal } = {}) {
      if (ids.length === 0) throw new RangeError('ids must hold at least one token');
      const { cache, length: reusedTokenCount } = sharedWith(ids);
      let [before, position] = [cache, reusedTokenCount];
      if (position < commonLength && commonLength < ids.length) {
        const common = await engine.extend(before, ids.slice(position, commonLength), signal);
        if (!common.ok) return common;
        [before, position] = [common.value.cache, commonLength];
        keep({ ids: ids.slice(0, commonLength), adapterDigest: engine.adapterDigest, cache: before });
      }
      const rest = ids.slice(position);
      const step = await (ahead.length === 0 ? engine.extend(before, rest, signal) : readAhead(before, rest, ahead, signal));
      if (!step.ok) return step;
      if (isKept) keep({ ids, adapterDigest: engine.adapterDigest, cache: step.value.cache });
      return ok({ ...step.value, reusedTokenCount });
    },
    clear() {
      snapshots = [];
    },
  };

  async function readAhead(before: KvCache, rest: readonly TokenId[], ahead: readonly TokenId[], signal: AbortSignal | undefined): Promise<Result<PromptStep, EngineFailure>> {
    const verified = await engine.verify(before, [...rest, ...ahead], signal, ahead.length + 1);
    if (!verified.ok) return verified;
    const { cache } = verified.value;
    const [hidden, ...hiddens] = verified.value.hiddens.slice(-ahead.length - 1);
    return ok({ cache: engine.shorten(cache, before.length + rest.length), hidden: hidden!, ahead: { ids: ahead, cache, hiddens } });
  }
}

function sharedLength(a: readonly TokenId[], b: readonly TokenId[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}
