/**
 * An engine without a model: logits are a function of the ids so far. Caches, steps, limits and failures behave as in a real one, so
 * everything above the port can be tested in milliseconds. Its "hidden state" simply is the row of logits.
 */
import { err, ok, type Digest, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { Engine, EngineFailure, EngineStep, EngineVerification, KvCache } from '../engine.ts';
import type { LoraAdapter } from '../lora/adapter.ts';

export interface ScriptedEngineOptions {
  readonly logitWidth: number;
  /**
   * Writes the logits that follow `history` into `out` (`logitWidth` zeros). NaN or infinity there makes the step fail with
   * `engine/bad-logits`; a thrown error makes it fail with `engine/run-failed`.
   */
  readonly script: (history: readonly TokenId[], out: Float32Array) => void;
  /** Default 4,096. */
  readonly contextLength?: number;
  /** Called at the start of every step; a promise delays it, so that aborts in mid-step can be tested. */
  readonly onStep?: (history: readonly TokenId[], newTokenCount: number) => Promise<void> | void;
}

const DEFAULT_CONTEXT_LENGTH = 4096;

class ScriptedCache implements KvCache {
  readonly history: readonly TokenId[];

  constructor(history: readonly TokenId[]) {
    this.history = history;
  }

  get length(): number {
    return this.history.length;
  }
}

export function createScriptedEngine(options: ScriptedEngineOptions): Engine {
  return new ScriptedEngine(options);
}

class ScriptedEngine implements Engine {
  readonly identity = { backend: 'scripted', modelDigest: '0'.repeat(64) as Digest, format: 'script' };
  readonly logitWidth: number;
  readonly contextLength: number;
  readonly emptyCache: KvCache = new ScriptedCache([]);
  adapterDigest: Digest | undefined;
  readonly #script: ScriptedEngineOptions['script'];
  readonly #onStep: ScriptedEngineOptions['onStep'];
  #failure: EngineFailure | undefined;

  constructor(options: ScriptedEngineOptions) {
    this.logitWidth = options.logitWidth;
    this.contextLength = options.contextLength ?? DEFAULT_CONTEXT_LENGTH;
    this.#script = options.script;
    this.#onStep = options.onStep;
  }

  useAdapter(adapter: LoraAdapter | undefined): Result<void, EngineFailure> {
    if (this.#failure !== undefined) return err(this.#failure);
    this.adapterDigest = adapter?.digest;
    return ok(undefined);
  }

  async extend(cache: KvCache, tokens: readonly TokenId[], signal?: AbortSignal): Promise<Result<EngineStep, EngineFailure>> {
    const run = await this.#run(cache, tokens, 1, signal);
    return run.ok ? ok({ cache: run.value.cache, hidden: run.value.hiddens[0]! }) : run;
  }

  async verify(cache: KvCache, tokens: readonly TokenId[], signal?: AbortSignal): Promise<Result<EngineVerification, EngineFailure>> {
    return this.#run(cache, tokens, tokens.length, signal);
  }

  shorten(cache: KvCache, length: number): KvCache {
    if (!(cache instanceof ScriptedCache)) throw new TypeError('cache: not made by a scripted engine');
    if (!Number.isInteger(length) || length < 0 || length > cache.length) throw new RangeError(`length: must be 0 to ${cache.length}`);
    return new ScriptedCache(cache.history.slice(0, length));
  }

  /** One step, with the hidden states after the last `keptCount` of `tokens`. */
  async #run(cache: KvCache, tokens: readonly TokenId[], keptCount: number, signal: AbortSignal | undefined): Promise<Result<EngineVerification, EngineFailure>> {
    if (!(cache instanceof ScriptedCache)) throw new TypeError('cache: not made by a scripted engine');
    if (tokens.length === 0) throw new RangeError('tokens: at least one');
    const isAborted = (): boolean => signal?.aborted ?? false;
    if (this.#failure !== undefined) return err(this.#failure);
    if (isAborted()) return err({ code: 'engine/aborted' });
    const history = [...cache.history, ...tokens];
    if (history.length > this.contextLength) return err({ code: 'engine/context-full', length: history.length, limit: this.contextLength });
    const hiddens = Array.from({ length: keptCount }, () => new Float32Array(this.logitWidth));
    try {
      await this.#onStep?.(history, tokens.length);
      for (const [index, hidden] of hiddens.entries()) this.#script(history.slice(0, history.length - keptCount + index + 1), hidden);
    } catch (cause) {
      this.#failure = { code: 'engine/run-failed', cause };
      return err(this.#failure);
    }
    if (isAborted()) return err({ code: 'engine/aborted' });
    const isUsable = hiddens.every((hidden) => hidden.every(Number.isFinite));
    return isUsable ? ok({ cache: new ScriptedCache(history), hiddens }) : err({ code: 'engine/bad-logits' });
  }

  logitsOf(hidden: Float32Array, ids: Int32Array, out: Float32Array): void {
    ids.forEach((id, index) => {
      if (id < 0 || id >= this.logitWidth) throw new RangeError(`token id ${id}: must be 0 to ${this.logitWidth - 1}`);
      out[index] = hidden[id]!;
    });
  }

  allLogits(hidden: Float32Array, out: Float32Array): void {
    out.set(hidden);
  }

  dispose(): Promise<void> {
    this.#failure = { code: 'engine/disposed' };
    return Promise.resolve();
  }
}
