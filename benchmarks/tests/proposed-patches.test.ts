/** The patch-stage bug reports: the patch that was really proposed must be refused with the listed code, and change nothing. */
import { loadContract, repairCall, type Proposal, type Proposer } from '@contractrl/core';
import { BUGCASE_PATCH_CODES } from '@contractrl/core/messages';
import { replayTrace } from '@contractrl/core/ledger';
import { describe, expect, test } from 'vitest';
import { bugCases, proposedPatches } from '../src/datasets/bugcases.ts';

const requests = new Map(bugCases().map(({ request }) => [request.id, request]));

/** Proposes `text` at the first attempt and abstains after that; keeps what it was shown. */
function scripted(text: string): Proposer & { readonly seen: unknown[] } {
  const seen: unknown[] = [];
  const cost = { promptTokenCount: 1, generatedTokenCount: 1, forcedTokenCount: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 };
  return {
    identity: { policy: 'scripted' },
    seen,
    propose({ state }) {
      seen.push(state.candidate);
      const proposal: Proposal = { kind: 'text', text: seen.length === 1 ? text : '{"abstain":"unrepairable"}', confidence: undefined, cost, maskDigest: undefined };
      return Promise.resolve({ ok: true, value: proposal });
    },
  };
}

describe.each(proposedPatches())('$id', ({ id, patch, code }) => {
  const request = requests.get(id)!;

  test(`the proposed patch is refused as ${code}, costs an attempt and leaves the candidate as it was`, async () => {
    const proposer = scripted(JSON.stringify(patch));
    const outcome = await repairCall(request, proposer, { deterministic: false });
    expect(outcome.history).toHaveLength(1);
    expect(BUGCASE_PATCH_CODES[outcome.history[0]!.verdict as keyof typeof BUGCASE_PATCH_CODES]).toBe(code);
    expect(outcome).toMatchObject({ status: 'abstained', reason: 'abstain/unrepairable', attempts: 1, operations: 0 });
    expect(proposer.seen).toEqual([JSON.parse(request.call.argumentsText), JSON.parse(request.call.argumentsText)]);
  });

  test('the verdict follows from the proposal alone: replaying the ledger gives the same trace', async () => {
    const contract = loadContract(request.contract);
    if (!contract.ok) throw new Error(contract.error.code);
    const { frozen } = await repairCall(request, scripted(JSON.stringify(patch)), { deterministic: false });
    expect(await replayTrace(frozen, contract.value)).toMatchObject({ ok: true });
  });
});
