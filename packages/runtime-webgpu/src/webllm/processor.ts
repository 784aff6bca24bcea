/**
 * Mask and choice as WebLLM's logit processor. The choice is made here, as for every engine, and only its logit is left: what the engine does behind
 * the processor (bias, penalties, temperature, top-p) cannot change a choice among one. While no decision is open, other chats of the
 * same engine pass through untouched.
 */
import { err, ok, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { EngineFailure } from '../engine.ts';
import type { IdList } from '../mask-cursor.ts';
import type { Choice } from '../sampling.ts';
import type { LogitProcessor, WebLlmFailure } from './port.ts';

/**
 * Stands for −Infinity, which shaders may assume never to meet (WGSL §15.7.2). The engine divides by a temperature of at least 1e-6: then it is still
 * finite in 32 bits, and its exponential beside any real logit is exactly 0.
 */
export const MASKED_LOGIT = -1e30;

export interface Decision {
  /** `logitsOf` gives the logits of a list, in its order; `all` holds those of all ids, and belongs to the engine. */
  choose(logitsOf: (list: IdList) => Float32Array, all: Float32Array): Result<Choice, EngineFailure>;
  /** Hears the token that was sampled. */
  accept(id: TokenId): Result<void, { readonly code: `mask/${string}` }>;
}

type Failure = WebLlmFailure | EngineFailure | { readonly code: `mask/${string}` };

export class MaskProcessor implements LogitProcessor {
  /** Of the first row of logits; 0 before it. */
  logitWidth = 0;
  #decision: Decision | undefined;
  #choice: Choice | undefined;
  #isSampled = false;
  #failure: Failure | undefined;

  /** Until {@link close}, the next row of logits is for this decision. */
  open(decision: Decision): void {
    this.#decision = decision;
    this.#choice = undefined;
    this.#isSampled = false;
    this.#failure = undefined;
  }

  /** What the engine said it took. The cursor has moved on where this is a choice. */
  close(id: TokenId): Result<Choice, Failure> {
    const choice = this.#choice;
    this.#decision = undefined;
    if (this.#failure !== undefined) return err(this.#failure);
    if (choice === undefined) return err({ code: 'webllm/no-logit-processor' });
    if (!this.#isSampled) return err({ code: 'webllm/out-of-order', detail: 'the sampled token was not reported' });
    return id === choice.id ? ok(choice) : err({ code: 'webllm/left-mask', id, expected: choice.id });
  }

  processLogits(logits: Float32Array): Float32Array {
    if (this.logitWidth === 0) this.logitWidth = logits.length;
    const decision = this.#decision;
    if (decision === undefined) return logits;
    if (this.#choice !== undefined) this.#fail({ code: 'webllm/out-of-order', detail: 'logits were processed twice for one token' });
    else if (logits.length !== this.logitWidth) this.#fail({ code: 'webllm/width-changed', expected: this.logitWidth, actual: logits.length });
    else this.#choose(decision, logits);
    const kept = this.#failure === undefined ? this.#choice : undefined;
    const logit = kept === undefined ? 0 : logits[kept.id]!;
    logits.fill(MASKED_LOGIT);
    if (kept !== undefined) logits[kept.id] = logit;
    return logits;
  }

  processSampledToken(id: TokenId): void {
    if (this.#decision === undefined || this.#failure !== undefined) return;
    if (this.#choice === undefined) return this.#fail({ code: 'webllm/out-of-order', detail: 'a token was sampled before its logits were processed' });
    if (this.#isSampled) return this.#fail({ code: 'webllm/out-of-order', detail: 'two tokens were sampled from one row of logits' });
    this.#isSampled = true;
    if (id !== this.#choice.id) return this.#fail({ code: 'webllm/left-mask', id, expected: this.#choice.id });
    const accepted = this.#decision.accept(id);
    if (!accepted.ok) this.#fail(accepted.error);
  }

  resetState(): void {
    this.#decision = undefined;
    this.#choice = undefined;
    this.#failure = undefined;
  }

  #choose(decision: Decision, row: Float32Array): void {
    const choice = decision.choose(({ ids, count }) => Float32Array.from({ length: count }, (_, index) => row[ids[index]!] ?? NaN), row);
    if (choice.ok) this.#choice = choice.value;
    else this.#fail(choice.error);
  }

  #fail(failure: Failure): void {
    this.#failure ??= failure;
  }
}
