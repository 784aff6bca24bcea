/** An engine that lets its worker listen between two steps: a WASM run blocks the thread and resolves as a microtask. */
import { err } from '@contractrl/core';
import type { Engine } from '../engine.ts';
import { aroundSteps } from './around-steps.ts';
import { nextTurn } from './next-turn.ts';

/** Wraps `engine`: before every step pending messages are delivered, then `signal` is read. Costs about 0.1 ms a step. */
export function interruptible(engine: Engine): Engine {
  return aroundSteps(engine, {
    async step(run, signal) {
      await nextTurn();
      return signal?.aborted === true ? err({ code: 'engine/aborted' }) : run();
    },
  });
}
