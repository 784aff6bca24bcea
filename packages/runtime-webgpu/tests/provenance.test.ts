/** Values of public provenance: a closed mask beside the contract's own in decoding, and the settings of the proposer under the real masks. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadContract, parsePatch, type Proposal } from '@contractrl/core';
import type { TokenId } from '@contractrl/grammar-mask';
import { generate, type GenerateOptions, type Generation } from '../src/generate.ts';
import { createMaskedProposer, createProposerMemory, type ProposerOptions } from '../src/proposer.ts';
import { publicSources } from '../src/public-sources.ts';
import { createSampler } from '../src/sampling.ts';
import { createScriptedEngine, type ScriptedEngineOptions } from '../src/scripted/engine.ts';
import type { Tokenizer } from '../src/tokenizer.ts';
import { anyTaste, BYTE_VOCABULARY, SPELLINGS, STOP } from './support/byte-policy.ts';
import { createToyMatcher } from './support/toy-matcher.ts';
import { observationOf, REFERENCE_REPAIRS, requestOf } from './support/repair-prompts.ts';

const GREEDY = createSampler({ kind: 'greedy' });

describe('a closed mask beside the contract’s own', () => {
  const PIECES = ['=', 'Rome', 'R', 'ome', 'Paris', 'Oslo', ';', '!', '?', ' City'];
  const FREE = ['=Rome;!', '=Rome;?', '=Rome City;!', '=Rome City;?', '=Paris;!', '=Paris;?', '=Oslo;!', '=Oslo;?'];
  const CLOSED = FREE.filter((text) => text.startsWith('=Rome'));

  async function decode(logits: Readonly<Record<string, number>>, share: number, options: Partial<GenerateOptions> = {}): Promise<{ readonly generation: Generation; readonly chunks: readonly (readonly string[])[] }> {
    const chunks: (readonly string[])[] = [];
    const spell = (id: TokenId): string => PIECES[id - 1] ?? '';
    const script: ScriptedEngineOptions['script'] = (_, out) => { PIECES.forEach((piece, index) => { out[index + 1] = logits[piece] ?? 0; }); };
    const engine = createScriptedEngine({ logitWidth: PIECES.length + 1, script, onStep: (history, count) => void chunks.push(history.slice(-count).map(spell)) });
    const start = await engine.extend(engine.emptyCache, [1]);
    if (!start.ok) throw new Error(start.error.code);
    const closed = { matcher: createToyMatcher(PIECES, CLOSED), share };
    const generation = await generate(engine, createToyMatcher(PIECES, FREE), start.value, { sampler: GREEDY, clock: () => 0, maxTokens: 20, closed, ...options });
    if (!generation.ok) throw new Error(generation.error.code);
    return { generation: generation.value, chunks: chunks.slice(1) };
  }

  test('is used while its tokens have the share, which is measured where it is narrower', async () => {
    // at the value: Rome and R against Paris and Oslo, all alike
    const { generation } = await decode({ Rome: 0 }, 0.5);
    expect(generation.text.startsWith('=Rome')).toBe(true);
    expect(generation.closed).toEqual({ logShare: expect.closeTo(Math.log(0.5), 6) as number, hasLeft: false });
    expect(generation.maskTrail.closedCount).toBe(generation.maskTrail.ids.length);
  });

  test('is left for good below it', async () => {
    const { generation } = await decode({ Paris: 1 }, 0.5);
    expect(generation.text.startsWith('=Paris')).toBe(true);
    const share = 2 / (2 + Math.E + 1);
    expect(generation.closed).toEqual({ logShare: expect.closeTo(Math.log(share), 6) as number, hasLeft: true });
    expect(generation.maskTrail.closedCount).toBe(1);
    // and the probability of the answer is that among all admissible ones
    expect(Math.exp(generation.sequenceLogProbability)).toBeCloseTo((Math.E / (3 + Math.E)) * 0.5, 5);
  });

  test('is not left where the model would rather write something else but the share is reached', async () => {
    expect((await decode({ Paris: 1 }, 0.3)).generation.text.startsWith('=Rome')).toBe(true);
    expect((await decode({ Paris: 9 }, 0)).generation).toMatchObject({ text: expect.stringMatching(/^=Rome/u) as string, closed: { hasLeft: false } });
  });

  test('never forces what the model was not asked about; once it was, its runs are forced', async () => {
    const only = { closed: { matcher: createToyMatcher(PIECES, ['=Paris;!', '=Paris;?']), share: 0.5 } };
    // `Paris` is the only closed value: still a decision, and the model wants Oslo
    expect((await decode({ Oslo: 3 }, 0.5, only)).generation.text.startsWith('=Oslo')).toBe(true);
    const { generation } = await decode({ R: 2, Rome: 1 }, 0.3, { closed: { matcher: createToyMatcher(PIECES, ['=Rome City;!', '=Rome City;?']), share: 0.3 } });
    // behind `R` the contract leaves ` City` open; the closed mask does not, and the model is not asked again
    expect(generation.text.startsWith('=Rome City;')).toBe(true);
    expect(generation.forcedTokenCount).toBeGreaterThanOrEqual(4);
  });

  test('token by token gives the same text', async () => {
    for (const share of [0, 0.3, 0.5, 1]) expect((await decode({ Rome: 1, Paris: 0.5 }, share, { jumpForward: false })).generation.text).toBe((await decode({ Rome: 1, Paris: 0.5 }, share)).generation.text);
  });

  test('that refuses what the contract’s own mask forces is left', async () => {
    const closed = { matcher: createToyMatcher(PIECES, ['Rome']), share: 0 };
    const { generation } = await decode({}, 0, { closed });
    expect(generation).toMatchObject({ kind: 'complete', closed: { hasLeft: true } });
    expect(generation.maskTrail.closedCount).toBe(0);
  });
});

describe('the proposer', () => {
  const tokenizer: Tokenizer = { encodePlain: BYTE_VOCABULARY.encode, encodeTrusted: BYTE_VOCABULARY.encode, decode: (ids) => ids.map((id) => SPELLINGS[id]!).join(''), specialIds: new Map(), stopIds: [STOP], tokens: BYTE_VOCABULARY.tokens };
  const observations = REFERENCE_REPAIRS.slice(0, 8).map((reference) => observationOf(requestOf(reference)));

  async function propose(seed: number, observation: (typeof observations)[number], options: ProposerOptions): Promise<Proposal> {
    // any taste over the answer; the prompt is as long as the history at the first question
    let promptLength = 0;
    const engine = createScriptedEngine({
      logitWidth: BYTE_VOCABULARY.logitWidth, contextLength: 8192,
      script: (history, out) => {
        anyTaste(seed, promptLength)(history, out);
        SPELLINGS.forEach((spelling, id) => { if (spelling.includes('"') || spelling.startsWith('[')) out[id]! += 2; });
      },
      onStep: (history, count) => { if (history.length === count || count > 60) promptLength = history.length; },
    });
    const parts = { engine, tokenizer, vocabulary: BYTE_VOCABULARY, clock: () => 0, memory: createProposerMemory(engine) };
    const proposal = await createMaskedProposer(parts, options).propose(observation, { aborted: false });
    if (!proposal.ok) throw new Error(`${proposal.error.code} ${JSON.stringify(proposal.error.params)}`);
    return proposal.value;
  }

  function strict(observation: (typeof observations)[number], texts: readonly string[] = []): (typeof observations)[number] {
    const contract = loadContract({ ...observation.contract.document, provenance: 'require' });
    if (!contract.ok) throw new Error(contract.error.code);
    return { ...observation, contract: contract.value, request: [...observation.request, ...texts.map((content) => ({ role: 'user', content }))] };
  }

  test.each<[string, (observation: (typeof observations)[number]) => (typeof observations)[number], ProposerOptions]>([
    ['that requires provenance', (observation) => observation, { provenance: 'require' }],
    ['under a contract that does', (observation) => strict(observation), {}],
    ['under one, that prefers it', (observation) => strict(observation), { provenance: 'prefer', provenanceShare: 1 }],
  ])('%s writes values of the sources only', async (_, of, options) => {
    let stringCount = 0;
    await fc.assert(fc.asyncProperty(fc.constantFrom(...observations.map(of)), fc.integer({ min: 0, max: 2 ** 32 - 1 }), async (observation, seed) => {
      const { kind, text } = await propose(seed, observation, { ...options, maxAnswerTokens: 300 });
      const patch = kind === 'text' ? parsePatch(text) : undefined;
      if (patch?.ok !== true) return;
      const { texts, candidate } = publicSources(observation);
      const known = JSON.stringify([texts, candidate, observation.contract.schema]).toLowerCase();
      for (const operation of patch.value) {
        if (!('value' in operation) || typeof operation.value !== 'string') continue;
        stringCount += 1;
        expect(known).toContain(JSON.stringify(operation.value).slice(1, -1).toLowerCase());
      }
    }), { numRuns: 16, seed: 3 });
    expect(stringCount).toBeGreaterThan(0);
  });

  test('leaves a contract’s question for origins to the judge where no mask can hold the sources', async () => {
    const words = Array.from({ length: 3_000 }, (_, index) => `w${index.toString(36)}`).join(' ');
    const { kind } = await propose(5, strict(observations[0]!, [words]), { maxAnswerTokens: 300 });
    expect(['text', 'incomplete']).toContain(kind);
    await expect(propose(5, strict(observations[0]!, [words]), { provenance: 'require', maxAnswerTokens: 300 })).rejects.toThrow('provenance/too-long');
  });

  test('that prefers it writes as one that requires it at share 0, and as one without it at share 1', async () => {
    const differing = { count: 0 };
    await fc.assert(fc.asyncProperty(fc.constantFrom(...observations), fc.integer({ min: 0, max: 2 ** 32 - 1 }), async (observation, seed) => {
      const of = (options: ProposerOptions): Promise<Proposal> => propose(seed, observation, { maxAnswerTokens: 300, ...options });
      const [off, require] = [await of({}), await of({ provenance: 'require' })];
      const never = await of({ provenance: 'prefer', provenanceShare: 0 });
      expect(never.text).toBe(require.text);
      expect((await of({ provenance: 'prefer', provenanceShare: 1 })).text).toBe(off.text);
      expect(never.signals?.['provenance']).toMatchObject({ hasLeft: false });
      if (off.text !== require.text) differing.count += 1;
    }), { numRuns: 12, seed: 9 });
    expect(differing.count).toBeGreaterThan(0);
  });

  test('names its settings, and refuses a share that is none', () => {
    const engine = createScriptedEngine({ logitWidth: BYTE_VOCABULARY.logitWidth, script: () => undefined });
    const parts = { engine, tokenizer, vocabulary: BYTE_VOCABULARY, clock: () => 0, memory: createProposerMemory(engine) };
    expect(createMaskedProposer(parts, { provenance: 'prefer', provenanceShare: 0.25, abstainShare: 0.5 }).identity).toMatchObject({ provenance: 'prefer', provenanceShare: 0.25, abstainShare: 0.5 });
    for (const share of [-0.1, 1.1, NaN]) {
      expect(() => createMaskedProposer(parts, { provenanceShare: share })).toThrow(RangeError);
      expect(() => createMaskedProposer(parts, { abstainShare: share })).toThrow(RangeError);
    }
  });
});

test('sources are the words of all speakers, the context and the call that the first proposal saw', () => {
  const observation = observationOf({ ...requestOf(REFERENCE_REPAIRS[0]!), request: [{ role: 'user', content: 'a' }, { role: 'tool', content: 'b' }], context: { now: '2026-01-02', open: [true, null, { limit: 7 }] } });
  expect(publicSources(observation)).toEqual({ texts: ['a', 'b'], context: observation.context, candidate: observation.state.candidate });
  expect(publicSources({ ...observation, given: { days: 7 } }).candidate).toEqual({ days: 7 });
});
