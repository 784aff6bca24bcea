/**
 * A few known answers before an engine is trusted with a real model: drivers and adapters exist on which a kernel is wrong and says nothing.
 * 33 tokens of attention, a step after them, an adapter, all through the operators and the weight format that the real model will use.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { Engine, EngineFailure } from '../engine.ts';
import type { GgufModel } from '../model/gguf.ts';
import type { EngineLoadIssue } from '../ort/session.ts';
import { CHECK_PROMPT, createCheckAdapter, createCheckModel } from './check-model.ts';
import { compare, logitsOfAnswer, TOLERANCE } from './conformance.ts';
import { KNOWN_ANSWERS, NEXT_TOKEN } from './known-answers.ts';

export interface SelfTestReport {
  /** Largest difference from the known logits. */
  readonly maxDifference: number;
  readonly tolerance: number;
}

export type SelfTestIssue =
  | EngineLoadIssue
  | EngineFailure
  | { readonly code: 'engine/self-test-failed'; readonly check: 'prefill' | 'decode' | 'adapter'; readonly maxDifference: number; readonly tolerance: number };

/** Opens an engine on the check model, asks it, and disposes it. */
export async function selfTest<E>(open: (model: GgufModel) => Promise<Result<Engine, E>>): Promise<Result<SelfTestReport, E | SelfTestIssue>> {
  const opened = await open(createCheckModel());
  if (!opened.ok) return opened;
  const engine = opened.value;
  const report = await ask(engine);
  await engine.dispose();
  return report;
}

async function ask(engine: Engine): Promise<Result<SelfTestReport, SelfTestIssue>> {
  const questions = [
    { check: 'prefill', chunks: [CHECK_PROMPT], expected: KNOWN_ANSWERS.prefill },
    { check: 'decode', chunks: [CHECK_PROMPT, [NEXT_TOKEN]], expected: KNOWN_ANSWERS.next },
    { check: 'adapter', chunks: [CHECK_PROMPT], expected: KNOWN_ANSWERS.adapters[4] },
  ] as const;
  let largest = 0;
  for (const { check, chunks, expected } of questions) {
    const used = engine.useAdapter(check === 'adapter' ? createCheckAdapter(4) : undefined);
    if (!used.ok) return used;
    const logits = await logitsOfAnswer(engine, chunks);
    if (!logits.ok) return logits;
    const { fault, maxDifference = 0 } = compare(logits.value, expected);
    if (fault !== undefined) return err({ code: 'engine/self-test-failed', check, maxDifference, tolerance: TOLERANCE });
    largest = Math.max(largest, maxDifference);
  }
  return ok({ maxDifference: largest, tolerance: TOLERANCE });
}
