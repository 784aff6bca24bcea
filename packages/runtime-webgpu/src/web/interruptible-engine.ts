/** An engine that lets its worker listen between two steps: a WASM run blocks the thread and resolves as a microtask. */
import { err } from '@contractrl/core';
import type { Engine } from '../engine.ts';
import { nextTurn } from './next-turn.ts';

/** Wraps `engine`: before every `extend` pending messages are delivered, then `signal` is read. Costs about 0.1 ms a step. */
export function interruptible(engine: Engine): Engine {
  return {
    identity: engine.identity,
    logitWidth: engine.logitWidth,
    contextLength: engine.contextLength,
    emptyCache: engine.emptyCache,
    get adapterDigest() { return engine.adapterDigest; },
    useAdapter: (adapter) => engine.useAdapter(adapter),
    async extend(cache, tokens, signal) {
      await nextTurn();
      if (signal?.aborted === true) return err({ code: 'engine/aborted' });
      return engine.extend(cache, tokens, signal);
    },
    logitsOf: (hidden, ids, out) => engine.logitsOf(hidden, ids, out),
    allLogits: (hidden, out) => engine.allLogits(hidden, out),
    ...(engine.release === undefined ? {} : { release: (cache) => engine.release?.(cache) }),
    dispose: () => engine.dispose(),
  };
}
