/** The whole policy on the real model with the adapter that ships, on 20 repairs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyPatch, parsePatch, readAbstention, type Observation, type Proposal } from '@contractrl/core';
import { compileMask } from '@contractrl/grammar-mask';
import { openRuntime, type Runtime } from '../src/node/index.ts';
import { buildPrompt, encodePrompt } from '../src/prompt.ts';
import { createMaskedProposer, createProposerMemory, type ProposerMemory, type ProposerOptions } from '../src/proposer.ts';
import { replayMask } from '../src/replay-mask.ts';
import { hasRealModel, REAL_MODEL } from './support/real-model.ts';
import { observationOf, REFERENCE_REPAIRS, requestOf, type ReferenceRepair } from './support/repair-prompts.ts';

/** For a machine on which other tests run at the same time; alone, a proposal takes about a third of a second. */
const TIMEOUT_MS = 120_000;

describe.skipIf(!hasRealModel)(`the policy on ${REAL_MODEL}`, () => {
  let runtime: Runtime;
  let memory: ProposerMemory;

  beforeAll(async () => {
    const model = process.env['CONTRACTRL_MODEL'];
    const opened = await openRuntime({ offline: true, release: 'off', ...(model === undefined ? {} : { model }) });
    if (!opened.ok) throw new Error(opened.error.message);
    runtime = opened.value;
    memory = createProposerMemory(runtime.engine);
  }, TIMEOUT_MS);

  afterAll(() => runtime.engine.dispose());

  function propose(reference: ReferenceRepair, options?: ProposerOptions): Promise<Proposal> {
    return proposeFor(observationOf(requestOf(reference)), options);
  }

  async function proposeFor(observation: Observation, options?: ProposerOptions): Promise<Proposal> {
    const proposer = createMaskedProposer({ ...runtime, memory, clock: () => performance.now() }, options);
    const proposal = await proposer.propose(observation, { aborted: false });
    if (!proposal.ok) throw new Error(`${proposal.error.code}: ${proposal.error.message}`);
    return proposal.value;
  }

  test.each(REFERENCE_REPAIRS)('the prompt of $id has the reference’s ids', (reference) => {
    const encoded = encodePrompt(buildPrompt(observationOf(requestOf(reference))), runtime.tokenizer, 8192);
    expect(encoded.ok && encoded.value.ids).toEqual(reference.promptIds);
  });

  test.each(REFERENCE_REPAIRS)('$id: an admissible patch or an abstention, the recorded one, and the same without speculation; without jump-forward the same patch, or an abstention too', async (reference) => {
    const proposal = await propose(reference);
    // recorded with this package: the answer under the mask that the adapter gives greedily
    expect(proposal).toMatchObject({ kind: 'text', text: reference.answer });
    const { contract, state } = observationOf(requestOf(reference));
    if (!/^\{"abstain":"[a-z-]+"\}$/u.test(proposal.text)) {
      const patch = parsePatch(proposal.text);
      expect(patch.ok && applyPatch(contract, state.candidate, patch.value, state.operationsLeft)).toMatchObject({ ok: true });
    }
    const plain = await propose(reference, { speculate: false });
    expect([plain.text, plain.maskDigest, plain.maskTrail]).toEqual([proposal.text, proposal.kind === 'text' ? proposal.maskDigest : undefined, proposal.maskTrail]);
    const { passCount } = proposal.signals!['speculation'] as { readonly passCount: number };
    const decisionCount = plain.cost.generatedTokenCount - plain.cost.forcedTokenCount;
    expect(passCount).toBeLessThan(decisionCount === 1 ? 2 : decisionCount);
    const stepwise = await propose(reference, { jumpForward: false });
    // forced text that the model splits in its own way may lead to another reason, which decides nothing
    if (readAbstention(proposal.text) === undefined) expect(stepwise.text).toBe(proposal.text);
    else expect(readAbstention(stepwise.text)).toBeDefined();
    expect(stepwise.cost.forcedTokenCount).toBe(0);
    expect(proposal.cost.forcedTokenCount).toBeGreaterThan(0);
  }, TIMEOUT_MS);

  test('exact search scores the greedy answer as decoding does, and gives none that is less probable', async () => {
    const [reference] = REFERENCE_REPAIRS as [ReferenceRepair];
    const request = requestOf(reference);
    const parameters = { type: 'object', properties: { city: { enum: ['Rome', 'Paris', 'New York', 'Oslo'] }, isDirect: { type: 'boolean' } }, required: ['city'], additionalProperties: false };
    const observation = observationOf({
      ...request,
      request: [{ role: 'user', content: 'A direct flight to New York, please.' }],
      contract: { ...request.contract, tool: { name: 'find_flight', description: 'Find a flight', parameters }, operationBudget: 1 },
      call: { name: 'find_flight', argumentsText: '{"city":"NYC"}' },
    });
    const [exact, greedy] = [await proposeFor(observation, { search: 'exact' }), await proposeFor(observation)];
    expect(exact.signals?.['exact']).toMatchObject({ outputCount: expect.any(Number) as number, margin: expect.any(Number) as number });
    const confidence = (proposal: Proposal): number => Math.log(proposal.kind === 'text' ? proposal.confidence! : 0);
    if (exact.text === greedy.text) expect(confidence(exact)).toBeCloseTo(confidence(greedy), 2);
    else expect(confidence(exact)).toBeGreaterThan(confidence(greedy));
    const mask = compileMask(observation.contract, runtime.vocabulary, { excludeNoOps: true, goal: true });
    const bound = mask.ok ? mask.value.bind(observation.state, { tokenBudget: 256 }) : mask;
    if (!bound.ok) throw new Error(bound.error.code);
    for (const { text, maskTrail, maskDigest } of [exact, greedy]) {
      expect(replayMask({ maskTrail: maskTrail!, maskDigest: maskDigest!, jumpForward: true }, bound.value.fork())).toEqual({ ok: true, value: text });
    }
  }, TIMEOUT_MS);

  test('with provenance preferred, what the request says is written, with its share; the mass says what the mask took', async () => {
    const [reference] = REFERENCE_REPAIRS as [ReferenceRepair];
    const proposal = await propose(reference, { provenance: 'prefer', reportMass: true });
    expect(proposal.text).toBe(reference.answer);
    const { provenance, mass } = proposal.signals as { readonly provenance: { readonly logShare: number; readonly hasLeft: boolean }; readonly mass: { readonly logAllowed: number; readonly opening: { readonly patch: number; readonly abstain: number } } };
    expect(provenance.hasLeft).toBe(false);
    expect(provenance.logShare).toBeGreaterThan(-1);
    expect(mass.logAllowed).toBeLessThan(0);
    expect(mass.opening.patch + mass.opening.abstain).toBeLessThanOrEqual(1);
  }, TIMEOUT_MS);
});
