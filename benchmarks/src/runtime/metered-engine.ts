/**
 * An engine behind a meter: how often it was asked and how long it took, prompt and answer apart. What the record of a repair calls decoding is
 * then split into the engine's own time, the logits, and what is left for choosing tokens.
 */
import type { TokenId } from '@contractrl/grammar-mask';
import { createProposerMemory, type Clock, type Engine, type KvCache, type ProposerMemory } from '@contractrl/runtime-webgpu';

export interface EngineFigures {
  readonly prefillCalls: number;
  readonly prefillTokens: number;
  readonly prefillMs: number;
  readonly decodeCalls: number;
  readonly decodeTokens: number;
  readonly decodeMs: number;
  readonly headMs: number;
}

export interface MeteredEngine {
  readonly engine: Engine;
  /** One for a repairer: its prefix cache tells the meter when a prompt is read. */
  newMemory(): ProposerMemory;
  /** The figures since the last time they were taken. */
  take(): EngineFigures;
}

export const NO_FIGURES: EngineFigures = { prefillCalls: 0, prefillTokens: 0, prefillMs: 0, decodeCalls: 0, decodeTokens: 0, decodeMs: 0, headMs: 0 };

export function meteredEngine(inner: Engine, clock: Clock): MeteredEngine {
  let figures = { ...NO_FIGURES };
  let isPrefilling = false;
  function timeHead(work: () => void): void {
    const from = clock();
    work();
    figures.headMs += clock() - from;
  }
  async function timeStep<T>(cache: KvCache, tokens: readonly TokenId[], work: () => Promise<T>): Promise<T> {
    const from = clock();
    const step = await work();
    const phase = isPrefilling || cache === inner.emptyCache ? 'prefill' : 'decode';
    figures[`${phase}Calls`] += 1;
    figures[`${phase}Tokens`] += tokens.length;
    figures[`${phase}Ms`] += clock() - from;
    return step;
  }
  const engine: Engine = {
    identity: inner.identity,
    logitWidth: inner.logitWidth,
    contextLength: inner.contextLength,
    emptyCache: inner.emptyCache,
    get adapterDigest() {
      return inner.adapterDigest;
    },
    useAdapter: (adapter) => inner.useAdapter(adapter),
    extend: (cache, tokens, signal) => timeStep(cache, tokens, () => inner.extend(cache, tokens, signal)),
    verify: (cache, tokens, signal, count) => timeStep(cache, tokens, () => inner.verify(cache, tokens, signal, count)),
    shorten: (cache, length) => inner.shorten(cache, length),
    logitsOf: (hidden, ids, out) => timeHead(() => inner.logitsOf(hidden, ids, out)),
    allLogits: (hidden, out) => timeHead(() => inner.allLogits(hidden, out)),
    release: (cache) => inner.release?.(cache),
    dispose: () => inner.dispose(),
  };
  return {
    engine,
    newMemory() {
      const { prefixes, ...masks } = createProposerMemory(engine);
      return {
        ...masks,
        prefixes: {
          async prefill(ids, options) {
            isPrefilling = true;
            const step = await prefixes.prefill(ids, options);
            isPrefilling = false;
            return step;
          },
          clear: () => prefixes.clear(),
        },
      };
    },
    take() {
      const taken = figures;
      figures = { ...NO_FIGURES };
      return taken;
    },
  };
}
