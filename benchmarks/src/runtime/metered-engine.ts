/**
 * An engine behind a meter: how often it was asked and how long it took, prompt and answer apart. What the record of a repair calls decoding is
 * then split into the engine's own time, the logits, and what is left for choosing tokens.
 */
import { createProposerMemory, type Clock, type Engine, type ProposerMemory } from '@contractrl/runtime-webgpu';

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
  const engine: Engine = {
    identity: inner.identity,
    logitWidth: inner.logitWidth,
    contextLength: inner.contextLength,
    emptyCache: inner.emptyCache,
    get adapterDigest() {
      return inner.adapterDigest;
    },
    useAdapter: (adapter) => inner.useAdapter(adapter),
    async extend(cache, tokens, signal) {
      const from = clock();
      const step = await inner.extend(cache, tokens, signal);
      const phase = isPrefilling || cache === inner.emptyCache ? 'prefill' : 'decode';
      figures[`${phase}Calls`] += 1;
      figures[`${phase}Tokens`] += tokens.length;
      figures[`${phase}Ms`] += clock() - from;
      return step;
    },
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
          async prefill(ids, boundaries, signal) {
            isPrefilling = true;
            const step = await prefixes.prefill(ids, boundaries, signal);
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
