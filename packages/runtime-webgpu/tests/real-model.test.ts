/** The whole policy on the real model with the adapter that ships, against 20 answers of the reference implementation. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyPatch, parsePatch, type Proposal } from '@contractrl/core';
import { openRuntime, type Runtime } from '../src/node/index.ts';
import { buildPrompt, encodePrompt } from '../src/prompt.ts';
import { createMaskedProposer, createProposerMemory, type ProposerMemory, type ProposerOptions } from '../src/proposer.ts';
import { hasRealModel, REAL_MODEL } from './support/real-model.ts';
import { observationOf, REFERENCE_REPAIRS, requestOf, type ReferenceRepair } from './support/repair-prompts.ts';

/** For a machine on which other tests run at the same time; alone, a proposal takes about a third of a second. */
const TIMEOUT_MS = 120_000;

describe.skipIf(!hasRealModel)(`the policy on ${REAL_MODEL}`, () => {
  let runtime: Runtime;
  let memory: ProposerMemory;

  beforeAll(async () => {
    const model = process.env['CONTRACTRL_MODEL'];
    const opened = await openRuntime({ offline: true, ...(model === undefined ? {} : { model }) });
    if (!opened.ok) throw new Error(opened.error.message);
    runtime = opened.value;
    memory = createProposerMemory(runtime.engine);
  }, TIMEOUT_MS);

  afterAll(() => runtime.engine.dispose());

  async function propose(reference: ReferenceRepair, options?: ProposerOptions): Promise<Proposal> {
    const proposer = createMaskedProposer({ ...runtime, memory, clock: () => performance.now() }, options);
    const proposal = await proposer.propose(observationOf(requestOf(reference)), { aborted: false });
    if (!proposal.ok) throw new Error(`${proposal.error.code}: ${proposal.error.message}`);
    return proposal.value;
  }

  test.each(REFERENCE_REPAIRS)('the prompt of $id has the reference’s ids', (reference) => {
    const encoded = encodePrompt(buildPrompt(observationOf(requestOf(reference))), runtime.tokenizer, 8192);
    expect(encoded.ok && encoded.value.ids).toEqual(reference.promptIds);
  });

  test.each(REFERENCE_REPAIRS)('$id: an admissible patch or an abstention, the adapter’s own answer, and the same without jump-forward', async (reference) => {
    const proposal = await propose(reference);
    // the reference decoded without a mask and was right in form each time: there the mask must change nothing
    expect(proposal).toMatchObject({ kind: 'text', text: reference.answer });
    const { contract, state } = observationOf(requestOf(reference));
    if (!/^\{"abstain":"[a-z-]+"\}$/u.test(proposal.text)) {
      const patch = parsePatch(proposal.text);
      expect(patch.ok && applyPatch(contract, state.candidate, patch.value, state.operationsLeft)).toMatchObject({ ok: true });
    }
    const stepwise = await propose(reference, { jumpForward: false });
    expect(stepwise.text).toBe(proposal.text);
    expect(stepwise.cost.forcedTokenCount).toBe(0);
    expect(proposal.cost.forcedTokenCount).toBeGreaterThan(0);
  }, TIMEOUT_MS);
});
