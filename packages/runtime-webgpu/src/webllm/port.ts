/**
 * What is needed of WebLLM, by structure: the library is the application's to bring, and its `MLCEngine` fits. Ids go in and come out, so that no
 * text of a request can become a special token, and the prompt is the same as on every other engine.
 * Reference: @mlc-ai/web-llm 0.2.86, `lib/types.d.ts` (`LogitProcessor`, `MLCEngineInterface`).
 */

/** Called synchronously for each token: all logits, then the token that was sampled, the stop token too. */
export interface LogitProcessor {
  /** Returns as many logits as it got. */
  processLogits(logits: Float32Array): Float32Array;
  processSampledToken(token: number): void;
  /** When the chat is reset. */
  resetState(): void;
}

export interface WebLlmEngine {
  /** By model id; takes effect at the next `reload`. A client of WebLLM's own worker protocol has no such method: make the engine in the worker. */
  setLogitProcessorRegistry(registry: Map<string, LogitProcessor>): void;
  reload(modelId: string, chatOptions?: Readonly<Record<string, number>>): Promise<void>;
  resetChat(keepStats?: boolean, modelId?: string): Promise<void>;
  /** Runs the ids after those before, processes the logits of the last, samples. `isPrefill`: more than one id. */
  forwardTokensAndSample(inputIds: number[], isPrefill: boolean, modelId?: string): Promise<number>;
  unload(): Promise<void>;
}

export type WebLlmFailure =
  /** The engine runs without our processor: nothing it writes would be masked. */
  | { readonly code: 'webllm/no-logit-processor' }
  /** The engine took another token than the one that was left to it. */
  | { readonly code: 'webllm/left-mask'; readonly id: number; readonly expected: number }
  /** The engine called in another order, or other than once for each token. */
  | { readonly code: 'webllm/out-of-order'; readonly detail: string }
  | { readonly code: 'webllm/width-changed'; readonly expected: number; readonly actual: number };
