/** An engine whose steps something is done around; all else is the engine's own. */
import type { Result } from '@contractrl/core';
import type { Engine, EngineFailure } from '../engine.ts';

export interface Around {
  step<T>(run: () => Promise<Result<T, EngineFailure>>, signal: AbortSignal | undefined): Promise<Result<T, EngineFailure>>;
  /** Default: the engine's own. */
  dispose?(): Promise<void>;
}

export function aroundSteps(engine: Engine, around: Around): Engine {
  return {
    identity: engine.identity,
    logitWidth: engine.logitWidth,
    contextLength: engine.contextLength,
    emptyCache: engine.emptyCache,
    get adapterDigest() { return engine.adapterDigest; },
    useAdapter: (adapter) => engine.useAdapter(adapter),
    extend: (cache, tokens, signal) => around.step(() => engine.extend(cache, tokens, signal), signal),
    verify: (cache, tokens, signal, count) => around.step(() => engine.verify(cache, tokens, signal, count), signal),
    shorten: (cache, length) => engine.shorten(cache, length),
    logitsOf: (hidden, ids, out) => engine.logitsOf(hidden, ids, out),
    allLogits: (hidden, out) => engine.allLogits(hidden, out),
    ...(engine.release === undefined ? {} : { release: (cache) => engine.release?.(cache) }),
    dispose: () => around.dispose?.() ?? engine.dispose(),
  };
}
