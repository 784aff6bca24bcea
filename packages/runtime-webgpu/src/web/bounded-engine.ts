/**
 * An engine whose steps come back or are given up: a graphics device that a sleeping tab has lost, or whose driver hangs, may say nothing at all.
 * To the repair it is then lost like any other, and the next engine does it again.
 */
import { err } from '@contractrl/core';
import type { Engine, EngineFailure } from '../engine.ts';
import { afterAwakeMs } from '../worker/awake-timer.ts';
import { aroundSteps } from './around-steps.ts';

/** A prompt on a software adapter takes half a minute, with its shaders compiled on a busy machine a whole one. */
const STEP_LIMIT_MS = 180_000;

/**
 * Fails with `engine/device-lost`, reason `no-answer`, for a step that takes longer than `limitMs` of waking time, and from there on; `giveUp` may free
 * what the engine runs on. A disposal is not waited for then.
 */
export function bounded(engine: Engine, giveUp: () => void, limitMs: number = STEP_LIMIT_MS): Engine {
  let failure: EngineFailure | undefined;
  return aroundSteps(engine, {
    step(run) {
      if (failure !== undefined) return Promise.resolve(err(failure));
      return new Promise((resolve, reject) => {
        const stop = afterAwakeMs(limitMs, () => {
          failure = { code: 'engine/device-lost', reason: 'no-answer', detail: `no step came back within ${limitMs} ms` };
          giveUp();
          resolve(err(failure));
        });
        run().finally(stop).then(resolve, reject);
      });
    },
    dispose() {
      const disposed = engine.dispose();
      return failure === undefined ? disposed : Promise.resolve();
    },
  });
}
