/** A model loaded by WebLLM with our processor in place, which is tried before anything is asked of it. One repair runs at a time. */
import { err, ok, type Result } from '@contractrl/core';
import type { EngineFailure } from '../engine.ts';
import { toLoadFailure, toRunFailure, type LoadFailure } from '../ort/failure.ts';
import { createSampler } from '../sampling.ts';
import type { WebLlmModel } from './model.ts';
import type { WebLlmEngine, WebLlmFailure } from './port.ts';
import { MaskProcessor, type Decision } from './processor.ts';

/**
 * What the engine would otherwise take from the model's own configuration. None of it can change a choice among one; neutral, it costs nothing.
 * Below 1, top-p has its candidate whichever way it compares.
 */
const NEUTRAL = { temperature: 1, top_p: 0.95, repetition_penalty: 1, frequency_penalty: 0, presence_penalty: 0 };

export interface WebLlmSession {
  readonly engine: WebLlmEngine;
  readonly modelId: string;
  readonly model: WebLlmModel;
  /** As the engine showed it, whatever the configuration says. */
  readonly logitWidth: number;
  /** Forgets all that was said. */
  reset(): Promise<Result<void, EngineFailure>>;
  /** Runs `ids` and takes the decision's choice, which it has then heard of. */
  decide(ids: readonly number[], decision: Decision): ReturnType<typeof forward>;
  /** `work` has the engine to itself. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Registers the processor and loads the model, in place of what the engine had of both. Fails with `webllm/no-logit-processor` where the engine then
 * runs without it, and with `webllm/left-mask` where it does not keep to it.
 */
export async function openWebLlm(engine: WebLlmEngine, modelId: string, model: WebLlmModel): Promise<Result<WebLlmSession, WebLlmFailure | EngineFailure | LoadFailure>> {
  const processor = new MaskProcessor();
  let queue: Promise<unknown> = Promise.resolve();
  const reset = async (): Promise<Result<void, EngineFailure>> => {
    try {
      return ok(await engine.resetChat(false, modelId));
    } catch (cause) {
      return err(toRunFailure(cause));
    }
  };
  try {
    engine.setLogitProcessorRegistry(new Map([[modelId, processor]]));
    await engine.reload(modelId, NEUTRAL);
  } catch (cause) {
    return err(toLoadFailure(cause));
  }
  // one token in, and one out that no model would say first
  const [stopId = 0] = model.tokenizer.stopIds;
  const sampler = createSampler({ kind: 'greedy' });
  const list = { ids: Int32Array.of(stopId), count: 1 };
  const only: Decision = { choose: (logitsOf) => sampler.choose(list.ids, logitsOf(list), list.count), accept: () => ok(undefined) };
  const started = await reset();
  if (!started.ok) return started;
  const tried = await forward(engine, processor, modelId, [stopId], only);
  if (!tried.ok) return tried as Result<never, WebLlmFailure | EngineFailure>;
  return ok({
    engine, modelId, model, logitWidth: processor.logitWidth, reset,
    decide: (ids, decision) => forward(engine, processor, modelId, ids, decision),
    alone(work) {
      const done = queue.then(work);
      queue = done.then(() => undefined, () => undefined);
      return done;
    },
  });
}

async function forward(engine: WebLlmEngine, processor: MaskProcessor, modelId: string, ids: readonly number[], decision: Decision): Promise<ReturnType<MaskProcessor['close']>> {
  processor.open(decision);
  try {
    return processor.close(await engine.forwardTokensAndSample([...ids], ids.length > 1, modelId));
  } catch (cause) {
    processor.resetState();
    return err(toRunFailure(cause));
  }
}
