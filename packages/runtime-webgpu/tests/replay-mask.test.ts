/** A recorded attempt is verified without the model that wrote it, under the real mask. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Contract, RepairState } from '@contractrl/core';
import { compileMask, createVocabulary, type MaskMatcher, type Vocabulary } from '@contractrl/grammar-mask';
import { generate, type Generation } from '../src/generate.ts';
import { replayMask, type MaskRecord } from '../src/replay-mask.ts';
import { createSampler } from '../src/sampling.ts';
import { createScriptedEngine } from '../src/scripted/engine.ts';
import { anyTaste, BYTE_VOCABULARY, SPELLINGS } from './support/byte-policy.ts';
import { contractOf, observationOf, requestOf, REFERENCE_REPAIRS, type ReferenceRepair } from './support/repair-prompts.ts';

interface Bound {
  readonly reference?: ReferenceRepair;
  readonly vocabulary?: Vocabulary;
  readonly goal?: boolean;
  readonly contract?: (contract: Contract) => Contract;
  readonly state?: (state: RepairState) => RepairState;
  readonly isClosed?: boolean;
}

const [REFERENCE] = REFERENCE_REPAIRS as [ReferenceRepair];
const TOKEN_BUDGET = 120;

function bind({ reference = REFERENCE, vocabulary = BYTE_VOCABULARY, goal = false, contract = (same) => same, state = (same) => same, isClosed = false }: Bound = {}): MaskMatcher {
  const request = requestOf(reference);
  const observation = observationOf(request);
  const provenance = { texts: request.request.map(({ content }) => content), candidate: observation.state.candidate };
  const mask = compileMask(contract(contractOf(request)), vocabulary, { goal, excludeNoOps: true, maxStringLength: 12, ...(isClosed ? { provenance } : {}) });
  const matcher = mask.ok ? mask.value.bind(state(observation.state), { tokenBudget: TOKEN_BUDGET }) : mask;
  if (!matcher.ok) throw new Error(matcher.error.code);
  return matcher.value;
}

async function attempt(seed: number, jumpForward: boolean, bound: Bound = {}, share?: number): Promise<Generation> {
  const engine = createScriptedEngine({
    logitWidth: BYTE_VOCABULARY.logitWidth,
    script: (history, out) => {
      anyTaste(seed, 1)(history, out);
      // abstentions have no values
      SPELLINGS.forEach((spelling, id) => { if (spelling.startsWith('[')) out[id]! += 4; });
    },
  });
  const start = await engine.extend(engine.emptyCache, [0]);
  if (!start.ok) throw new Error(start.error.code);
  const closed = share === undefined ? {} : { closed: { matcher: bind({ ...bound, isClosed: true }), share } };
  const sampler = createSampler({ kind: 'random', temperature: 1, topP: 1, seed });
  const generation = await generate(engine, bind(bound), start.value, { sampler, clock: () => 0, maxTokens: TOKEN_BUDGET, jumpForward, ...closed });
  if (!generation.ok) throw new Error(generation.error.code);
  return generation.value;
}

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('an attempt comes out as it was recorded', () => {
  test.each([
    { name: 'with forced runs', jumpForward: true, goal: false, shares: [undefined] },
    { name: 'token by token', jumpForward: false, goal: false, shares: [undefined] },
    { name: 'with values that missed the goal and were taken back', jumpForward: true, goal: true, shares: [undefined] },
    { name: 'with a closed mask beside it', jumpForward: true, goal: false, shares: [0, 0.3, 1] },
    { name: 'with a closed mask, a goal and token by token', jumpForward: false, goal: true, shares: [0, 0.3, 1] },
  ])('$name', async ({ jumpForward, goal, shares }) => {
    const seen = { takenBack: 0, left: 0, stayed: 0 };
    await fc.assert(fc.asyncProperty(fc.constantFrom(...REFERENCE_REPAIRS.slice(0, 6)), seeds, fc.constantFrom<number | undefined>(...shares), async (reference, seed, share) => {
      const bound = { reference, goal };
      const { text, ids, maskDigest, maskTrail, closed } = await attempt(seed, jumpForward, bound, share);
      const replayed = replayMask({ maskDigest, maskTrail, jumpForward }, bind(bound), share === undefined ? undefined : bind({ ...bound, isClosed: true }));
      expect(replayed).toEqual({ ok: true, value: text });
      seen.takenBack += maskTrail.ids.length - ids.length;
      if (closed !== undefined) seen[closed.hasLeft ? 'left' : 'stayed'] += 1;
    }), { numRuns: goal ? 36 : 18, seed: 7 });
    if (goal) expect(seen.takenBack).toBeGreaterThan(0);
    if (shares.length > 1) expect(Math.min(seen.left, seen.stayed)).toBeGreaterThan(0);
  });
});

describe('a change is seen', () => {
  async function record(): Promise<MaskRecord> {
    const { maskDigest, maskTrail } = await attempt(3, true);
    return { maskDigest, maskTrail, jumpForward: true };
  }
  const otherVocabulary = (): Vocabulary => {
    // one more token, which is legal in no output
    const created = createVocabulary({ ...BYTE_VOCABULARY, logitWidth: BYTE_VOCABULARY.logitWidth + 1, tokens: [...BYTE_VOCABULARY.tokens, Uint8Array.of(1, 2)] });
    if (!created.ok) throw new Error(created.error.code);
    return created.value;
  };

  test.each<readonly [string, Bound]>([
    ['the document', { state: (state) => ({ ...state, candidate: { ...(state.candidate as object), court: 'Boston' } }) }],
    ['the budget of operations', { state: (state) => ({ ...state, operationsLeft: 1 }) }],
    ['the contract', { contract: (contract) => ({ ...contract, digest: 'f'.repeat(64) as Contract['digest'] }) }],
    ['a rule', { goal: true }],
    ['the vocabulary', { vocabulary: otherVocabulary() }],
  ])('in %s', async (_, changed) => {
    expect(replayMask(await record(), bind(changed))).toMatchObject({ ok: false, error: { code: expect.stringMatching(/^replay\//u) as string } });
  });

  test('in any one token id', async () => {
    const given = await record();
    const { ids } = given.maskTrail;
    fc.assert(fc.property(fc.nat(ids.length - 1), fc.nat(BYTE_VOCABULARY.logitWidth - 1), (index, id) => {
      fc.pre(ids[index] !== id);
      const changed = ids.map((each, at) => (at === index ? id : each));
      expect(replayMask({ ...given, maskTrail: { ids: changed, closedCount: null } }, bind()).ok).toBe(false);
    }));
  });

  test('in the digest, the mode of decoding, and ids too few or too many', async () => {
    const given = await record();
    const { ids } = given.maskTrail;
    const codeOf = (changed: Partial<MaskRecord>): string | undefined => {
      const replayed = replayMask({ ...given, ...changed }, bind());
      return replayed.ok ? undefined : replayed.error.code;
    };
    expect(codeOf({})).toBeUndefined();
    expect(codeOf({ maskDigest: 'f'.repeat(64) })).toBe('replay/mask-differs');
    expect(codeOf({ jumpForward: false })).toBe('replay/mask-differs');
    expect(codeOf({ maskTrail: { ids: [...ids, 0], closedCount: null } })).toBe('replay/token-after-end');
    const lastDecision = ids.slice(0, 2);
    expect(codeOf({ maskTrail: { ids: lastDecision, closedCount: null } })).toBe('replay/mask-differs');
  });

  test('in the place where the closed mask was left', async () => {
    let left: Generation | undefined;
    for (let seed = 0; seed < 50 && left?.closed?.hasLeft !== true; seed += 1) left = await attempt(seed, true, {}, 0.2);
    const { maskDigest, maskTrail } = left!;
    const closedCount = maskTrail.closedCount!;
    expect(closedCount).toBeLessThan(maskTrail.ids.length);
    const replayed = (recorded: number | null): boolean => replayMask({ maskDigest, maskTrail: { ...maskTrail, closedCount: recorded }, jumpForward: true }, bind(), bind({ isClosed: true })).ok;
    expect([closedCount, closedCount + 1, closedCount - 1, null].map(replayed)).toEqual([true, false, false, false]);
    expect(replayMask({ maskDigest, maskTrail, jumpForward: true }, bind()).ok).toBe(false);
  });
});
