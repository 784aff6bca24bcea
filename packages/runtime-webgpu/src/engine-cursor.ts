/**
 * The engine's side of decoding, as `mask-cursor.ts` is the mask's: how much of the output the layers have read, and the hidden state behind each
 * of its tokens. What must be read next goes in as one chunk, with a guess of what follows behind it; where the output then says something
 * else, the cache is cut to what both share. A guess so changes how often the layers run, and never what is written.
 */
import { ok, type Result } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import type { Engine, EngineFailure, EngineStep, KvCache } from './engine.ts';

/** The engine's step over the prompt. `ahead`: what entered with it of a guess of the output. */
export interface PromptStep extends EngineStep {
  readonly ahead?: Ahead | undefined;
}

export interface Ahead {
  readonly ids: readonly TokenId[];
  /** Over the prompt and `ids`; whoever decodes may release it. */
  readonly cache: KvCache;
  /** After each of `ids`. */
  readonly hiddens: readonly Float32Array[];
}

/** What guessing came to. */
export interface SpeculationFigures {
  /** Passes through the layers behind the prompt. */
  readonly passCount: number;
  readonly draftedTokenCount: number;
  /** Of these, how many the output came to say. */
  readonly acceptedTokenCount: number;
}

export class EngineCursor {
  readonly #engine: Engine;
  readonly #start: PromptStep;
  readonly #signal: AbortSignal | undefined;
  /** Output tokens, and guesses behind them, that `#cache` holds beyond the prompt. */
  #read: readonly TokenId[];
  /** By the number of tokens read before it. */
  #hiddens: readonly Float32Array[];
  /** By token read: a guess that the output has not said yet. */
  #isOpen: boolean[];
  #cache: KvCache;
  #passCount = 0;
  #draftedTokenCount: number;
  #acceptedTokenCount = 0;

  constructor(engine: Engine, start: PromptStep, signal: AbortSignal | undefined) {
    const { ahead } = start;
    this.#engine = engine;
    this.#start = start;
    this.#signal = signal;
    this.#read = ahead?.ids ?? [];
    this.#hiddens = [start.hidden, ...(ahead?.hiddens ?? [])];
    this.#isOpen = this.#read.map(() => true);
    this.#cache = ahead?.cache ?? start.cache;
    this.#draftedTokenCount = this.#read.length;
  }

  /** The hidden state behind the output `ids`. Where the engine has not read all of them, they enter together with `guess()`. */
  async stateAfter(ids: readonly TokenId[], guess: () => readonly TokenId[]): Promise<Result<Float32Array, EngineFailure>> {
    const shared = this.#settle(ids);
    if (shared < ids.length) {
      const promptLength = this.#start.cache.length;
      const guessed = guess().slice(0, Math.max(0, this.#engine.contextLength - promptLength - ids.length));
      const chunk = [...ids.slice(shared), ...guessed];
      const isWhole = shared === this.#read.length;
      const base = shared === 0 ? this.#start.cache : isWhole ? this.#cache : this.#engine.shorten(this.#cache, promptLength + shared);
      const verified = await this.#engine.verify(base, chunk, this.#signal);
      if (!verified.ok) return verified;
      // nothing comes back to them, and of a GPU's buffers the garbage collector sees no size
      if (base !== this.#cache) this.#release(base);
      this.#release(this.#cache);
      this.#cache = verified.value.cache;
      this.#read = [...ids, ...guessed];
      this.#hiddens = [...this.#hiddens.slice(0, shared + 1), ...verified.value.hiddens];
      this.#isOpen = this.#read.map((_, index) => index >= ids.length);
      this.#passCount += 1;
      this.#draftedTokenCount += guessed.length;
    }
    return ok(this.#hiddens[ids.length]!);
  }

  /** Frees what was read beyond the prompt; nothing can be asked after it. `ids` is the whole output. */
  close(ids: readonly TokenId[]): SpeculationFigures {
    this.#settle(ids);
    this.#release(this.#cache);
    return { passCount: this.#passCount, draftedTokenCount: this.#draftedTokenCount, acceptedTokenCount: this.#acceptedTokenCount };
  }

  /** How many tokens `ids` shares with what was read; guesses among them are accepted. */
  #settle(ids: readonly TokenId[]): number {
    let shared = 0;
    while (shared < ids.length && ids[shared] === this.#read[shared]) {
      if (this.#isOpen[shared]) {
        this.#acceptedTokenCount += 1;
        this.#isOpen[shared] = false;
      }
      shared += 1;
    }
    return shared;
  }

  #release(cache: KvCache): void {
    if (cache !== this.#start.cache) this.#engine.release?.(cache);
  }
}
