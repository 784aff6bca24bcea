/**
 * A guess changes how often the engine runs, and nothing else: the laws of speculation, under the real mask. Guesses here are right for a while and then
 * not, or never; what the product guesses is tested beside `draft.ts`.
 */
import * as ort from 'onnxruntime-node';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileMask, type MaskMatcher, type TokenId } from '@contractrl/grammar-mask';
import type { Drafter } from '../src/draft.ts';
import type { Engine, KvCache } from '../src/engine.ts';
import type { PromptStep } from '../src/engine-cursor.ts';
import { generate, type GenerateOptions, type Generation } from '../src/generate.ts';
import { createOrtEngine } from '../src/ort/engine.ts';
import { createPrefixCache } from '../src/prefix-cache.ts';
import { createSampler, type Sampling } from '../src/sampling.ts';
import { createScriptedEngine } from '../src/scripted/engine.ts';
import { createCheckModel } from '../src/self-test/check-model.ts';
import { openCheckMatcher, TOKEN_BUDGET } from '../src/self-test/conformance.ts';
import { PATCH_PROMPT } from '../src/self-test/known-answers.ts';
import { anyTaste, BYTE_VOCABULARY, SPELLINGS } from './support/byte-policy.ts';
import { contractOf, observationOf, REFERENCE_REPAIRS, requestOf, type ReferenceRepair } from './support/repair-prompts.ts';

/** For a machine on which other tests run at the same time; alone, each takes some seconds. */
const TIMEOUT_MS = 120_000;
const PROMPT: readonly TokenId[] = [0, 1];
const NO_GUESS: Drafter = { after: () => [] };

/** Right for `rightCount` tokens at a time, then `noise`; nothing where the output is over. */
function drafterOf(output: readonly TokenId[], rightCount: number, noise: readonly TokenId[]): Drafter {
  return { after: (ids) => [...output.slice(ids.length, ids.length + rightCount), ...noise] };
}

/** What speculation may not change. */
function lasting({ decodeMs, maskMs, speculation, ...rest }: Generation): object {
  expect([decodeMs, maskMs]).toEqual([0, 0]);
  expect(speculation.acceptedTokenCount).toBeLessThanOrEqual(speculation.draftedTokenCount);
  return rest;
}

/** Throws where a cache is used, cut or freed after it was freed. */
function strict(engine: Engine): { readonly engine: Engine; readonly live: ReadonlySet<KvCache> } {
  const live = new Set<KvCache>([engine.emptyCache]);
  const used = <T extends KvCache>(cache: T): T => {
    if (!live.has(cache)) throw new Error('a freed cache is used');
    return cache;
  };
  const made = <T extends KvCache>(cache: T): T => {
    live.add(cache);
    return cache;
  };
  return {
    live,
    engine: {
      identity: engine.identity, logitWidth: engine.logitWidth, contextLength: engine.contextLength, emptyCache: engine.emptyCache, adapterDigest: engine.adapterDigest,
      useAdapter: (adapter) => engine.useAdapter(adapter),
      async extend(cache, tokens, signal) {
        const step = await engine.extend(used(cache), tokens, signal);
        if (step.ok) made(step.value.cache);
        return step;
      },
      async verify(cache, tokens, signal) {
        const step = await engine.verify(used(cache), tokens, signal);
        if (step.ok) made(step.value.cache);
        return step;
      },
      shorten: (cache, length) => made(engine.shorten(used(cache), length)),
      logitsOf: (hidden, ids, out) => engine.logitsOf(hidden, ids, out),
      allLogits: (hidden, out) => engine.allLogits(hidden, out),
      release: (cache) => void live.delete(used(cache)),
      dispose: () => engine.dispose(),
    },
  };
}

async function opened(engine: Engine, prompt: readonly TokenId[], ahead: readonly TokenId[]): Promise<PromptStep> {
  const start = await createPrefixCache(engine).prefill(prompt, { ahead });
  if (!start.ok) throw new Error(start.error.code);
  return start.value;
}

type Decode = (drafter: Drafter, sampling: Sampling, ahead?: readonly TokenId[]) => Promise<Generation>;

describe('under the mask of a contract', () => {
  const bind = (reference: ReferenceRepair, goal: boolean, isClosed: boolean): MaskMatcher => {
    const request = requestOf(reference);
    const observation = observationOf(request);
    const provenance = { texts: request.request.map(({ content }) => content), candidate: observation.state.candidate };
    const mask = compileMask(contractOf(request), BYTE_VOCABULARY, { goal, excludeNoOps: true, maxStringLength: 12, ...(isClosed ? { provenance } : {}) });
    const matcher = mask.ok ? mask.value.bind(observation.state, { tokenBudget: 120 }) : mask;
    if (!matcher.ok) throw new Error(matcher.error.code);
    return matcher.value;
  };

  interface Given extends Partial<GenerateOptions> {
    readonly reference?: ReferenceRepair;
    readonly goal?: boolean;
    readonly prefers?: boolean;
  }

  function decoderOf(seed: number, { reference = REFERENCE_REPAIRS[0]!, goal = true, prefers = false, ...options }: Given = {}): Decode {
    return async (drafter, sampling, ahead = []) => {
      const { engine, live } = strict(createScriptedEngine({
        logitWidth: BYTE_VOCABULARY.logitWidth, contextLength: 200,
        script: (history, out) => {
          anyTaste(seed, PROMPT.length)(history, out);
          SPELLINGS.forEach((spelling, id) => { if (spelling.startsWith('[')) out[id]! += 4; });
        },
      }));
      const start = await opened(engine, PROMPT, ahead);
      const closed = prefers ? { closed: { matcher: bind(reference, goal, true), share: 0.3 } } : {};
      const generation = await generate(engine, bind(reference, goal, false), start, { sampler: createSampler(sampling), clock: () => 0, maxTokens: 120, drafter, ...closed, ...options });
      if (!generation.ok) throw new Error(generation.error.code);
      // the empty one and the prompt's are left
      expect(live).toEqual(new Set([engine.emptyCache, start.cache]));
      return generation.value;
    };
  }

  test('whatever is guessed, text, tokens, figures and digest stay the same', async () => {
    const seen = { takenBack: 0, accepted: 0, refused: 0 };
    const some = fc.array(fc.nat(BYTE_VOCABULARY.logitWidth - 1), { maxLength: 3 });
    await fc.assert(fc.asyncProperty(
      fc.record({ reference: fc.constantFrom(...REFERENCE_REPAIRS.slice(0, 6)), seed: fc.nat(), rightCount: fc.nat(9), noise: some, aheadCount: fc.nat(30) }),
      fc.record({ isRandom: fc.boolean(), prefers: fc.boolean(), jumpForward: fc.boolean(), reportMass: fc.boolean() }),
      async ({ reference, seed, rightCount, noise, aheadCount }, { isRandom, ...given }) => {
        const sampling: Sampling = isRandom ? { kind: 'random', temperature: 1, topP: 0.95, seed } : { kind: 'greedy' };
        const decode = decoderOf(seed, { reference, ...given });
        const plain = await decode(NO_GUESS, sampling);
        const { ids } = plain;
        const guessed = await decode(drafterOf(ids, rightCount, noise), sampling, [...ids.slice(0, aheadCount), ...noise]);
        expect(lasting(guessed)).toEqual(lasting(plain));
        const { passCount, draftedTokenCount, acceptedTokenCount } = guessed.speculation;
        expect(passCount).toBeLessThanOrEqual(plain.speculation.passCount);
        expect(plain.speculation).toMatchObject({ draftedTokenCount: 0, acceptedTokenCount: 0 });
        seen.takenBack += plain.generatedTokenCount - ids.length;
        seen.accepted += acceptedTokenCount;
        seen.refused += draftedTokenCount - acceptedTokenCount;
      },
    ), { numRuns: 24 });
    expect(Math.min(seen.takenBack, seen.accepted, seen.refused)).toBeGreaterThan(0);
  }, TIMEOUT_MS);

  test('what is guessed right at once costs no pass at all, and the end needs no guess', async () => {
    const decode = decoderOf(3, { goal: false });
    const { ids, kind, speculation } = await decode(NO_GUESS, { kind: 'greedy' });
    expect(kind).toBe('complete');
    expect(speculation.passCount).toBeGreaterThan(3);
    const right = await decode(NO_GUESS, { kind: 'greedy' }, ids.slice(0, -2));
    expect(right.speculation).toEqual({ passCount: 0, draftedTokenCount: ids.length - 2, acceptedTokenCount: ids.length - 2 });
  });

  test('no guess is read beyond the context, or beyond the tokens that may still be written', async () => {
    const endless: Drafter = { after: () => Array<TokenId>(500).fill(65) };
    // the context ends 198 tokens behind the prompt
    for (const maxTokens of [40, 198]) {
      const { kind, speculation } = await decoderOf(3, { maxTokens })(endless, { kind: 'greedy' });
      expect(kind).not.toBe('goal-unreachable');
      expect(speculation.passCount).toBeGreaterThan(0);
      expect(speculation.draftedTokenCount).toBeLessThan(maxTokens * speculation.passCount);
    }
  });
});

describe('on a small model in ONNX Runtime', () => {
  let engine: Engine;

  beforeAll(async () => {
    const opened = await createOrtEngine({ ort, model: createCheckModel(), graph: { format: 'q41x', lora: false }, executionProvider: 'cpu', threadCount: 1 });
    if (!opened.ok) throw new Error(opened.error.code);
    engine = opened.value;
  });
  afterAll(() => engine.dispose());

  const decode: Decode = async (drafter, sampling, ahead = []) => {
    const checked = strict(engine);
    const start = await opened(checked.engine, PATCH_PROMPT, ahead);
    const generation = await generate(checked.engine, openCheckMatcher(), start, { sampler: createSampler(sampling), clock: () => 0, maxTokens: TOKEN_BUDGET, drafter });
    if (!generation.ok) throw new Error(generation.error.code);
    return generation.value;
  };

  test('the same tokens under the same mask; probabilities differ as sums of other chunks do', async () => {
    await fc.assert(fc.asyncProperty(
      fc.record({ seed: fc.nat(), isRandom: fc.boolean(), rightCount: fc.nat(9), noise: fc.array(fc.nat(255), { maxLength: 3 }), aheadCount: fc.nat(20) }),
      async ({ seed, isRandom, rightCount, noise, aheadCount }) => {
        const sampling: Sampling = isRandom ? { kind: 'random', temperature: 1, topP: 1, seed } : { kind: 'greedy' };
        const plain = await decode(NO_GUESS, sampling);
        const guessed = await decode(drafterOf(plain.ids, rightCount, noise), sampling, [...plain.ids.slice(0, aheadCount), ...noise]);
        const { sequenceLogProbability, abstainShare, margin, openLogAllowed } = plain;
        expect(lasting(guessed)).toEqual({
          ...lasting(plain), sequenceLogProbability: expect.closeTo(sequenceLogProbability, 4) as number, abstainShare: expect.closeTo(abstainShare!, 4) as number,
          margin: expect.closeTo(margin!, 4) as number, openLogAllowed: expect.closeTo(openLogAllowed, 4) as number,
        });
      },
    ), { numRuns: 25 });
  }, TIMEOUT_MS);
});
