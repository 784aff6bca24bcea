/**
 * Replay from the ledger alone: the recorded proposals go through the same loop again, without the policy and without an executor, and
 * every entry must come out as it was recorded. Shows that the verdicts follow from the proposals, on any machine.
 */
import type { Contract } from '../contract/contract.ts';
import { canonicalText } from '../json/canonical.ts';
import type { RepairRequest } from '../intake/request.ts';
import type { JsonValue } from '../json/value.ts';
import { NO_COST } from '../repair/close.ts';
import type { GateHost } from '../repair/gate.ts';
import type { Proposal, ProposalCost, Proposer } from '../repair/proposer.ts';
import { repairCall } from '../repair/repair.ts';
import { err, ok, type Result } from '../result.ts';
import { LEDGER_VERSION, type AbstentionEntry, type AttemptEntry, type LedgerEntry, type TokenCounts } from './entry.ts';
import type { FrozenRepair } from './freeze.ts';

export type ReplayIssue =
  /** The repair was recorded under another version, which judged or recorded otherwise. */
  | { readonly code: 'ledger/other-version'; readonly index: 0; readonly found: number; readonly known: number }
  | { readonly code: 'replay/contract-mismatch'; readonly expected: string; readonly found: string | null }
  /** The recorded contract can no longer be loaded. */
  | { readonly code: 'replay/contract-refused'; readonly issue: string }
  /** Figures or texts of the trace contradict each other. */
  | { readonly code: 'replay/inconsistent'; readonly index: number; readonly detail: string }
  /** A text of the trace was recorded by digest alone; `index` is its entry's. */
  | { readonly code: 'replay/text-not-recorded'; readonly index: number }
  /** The first entry that comes out otherwise. An entry that is missing on one side is null. */
  | { readonly code: 'replay/difference'; readonly index: number; readonly recorded: LedgerEntry | null; readonly replayed: LedgerEntry | null };

/** Whether the repair was recorded under the version of this code. */
export function versionIssue({ opened: { version = 1 } }: FrozenRepair): ReplayIssue | undefined {
  return version === LEDGER_VERSION ? undefined : { code: 'ledger/other-version', index: 0, found: version, known: LEDGER_VERSION };
}

/** Runs a frozen trace again under `contract`, with the gate functions it names. `ok` holds how many entries agreed. */
export async function replayTrace(trace: FrozenRepair, contract: Contract, gates?: GateHost): Promise<Result<number, ReplayIssue>> {
  const { opened, proposals, closed } = trace;
  const { contractDigest, request = [] } = opened;
  const otherVersion = versionIssue(trace);
  if (otherVersion !== undefined) return err(otherVersion);
  if (contractDigest !== contract.digest) return err({ code: 'replay/contract-mismatch', expected: contract.digest, found: contractDigest });
  const argumentsText = opened.call.arguments.text;
  if (argumentsText === null || request.some(({ content }) => content.text === null)) return err({ code: 'replay/text-not-recorded', index: 0 });
  const unrecorded = proposals.findIndex((entry) => entry.proposal.text === null);
  if (unrecorded !== -1) return err({ code: 'replay/text-not-recorded', index: unrecorded + 1 });

  const replayed: RepairRequest = {
    id: opened.caseId, request: request.map(({ role, content }) => ({ role, content: content.text ?? '' })), contract: contract.document, toolNames: opened.toolNames, context: opened.context,
    call: { name: opened.call.name, argumentsText }, finishReason: opened.finishReason ?? undefined,
  };
  const signal = { aborted: false };
  let answered = 0;
  const recorded: Proposer = {
    identity: opened.proposer,
    propose: () => {
      const entry = proposals[answered];
      answered += 1;
      if (entry !== undefined) return Promise.resolve(ok(proposalOf(entry)));
      // No further proposal was recorded: the repair ended by an abort or a failure of the proposer.
      signal.aborted = closed.reason === 'repair/aborted';
      return Promise.resolve(err({ code: closed.reason ?? 'replay/no-proposal', message: '' }));
    },
  };
  const seed = opened.seed === null ? {} : { seed: opened.seed };
  const { frozen } = await repairCall(replayed, recorded, { signal, deterministic: opened.deterministic === true, functions: contract.functions, manifest: opened.manifest, ...seed, ...(gates === undefined ? {} : { gates }) });

  // The resources are measurements.
  const expected = [opened, ...beforeProposals(trace), ...proposals, closed];
  const actual = [frozen.opened, ...beforeProposals(frozen), ...frozen.proposals, frozen.closed];
  for (let index = 0; index < Math.max(expected.length, actual.length); index += 1) {
    const [before, after] = [expected[index] ?? null, actual[index] ?? null];
    if (textOf(before) !== textOf(after)) return err({ code: 'replay/difference', index, recorded: before, replayed: after });
  }
  return ok(expected.length);
}

function beforeProposals({ deterministic }: FrozenRepair): readonly LedgerEntry[] {
  return deterministic === undefined ? [] : [deterministic];
}

function textOf(entry: LedgerEntry | null): string {
  return canonicalText(entry as unknown as JsonValue);
}

function proposalOf(entry: AttemptEntry | AbstentionEntry): Proposal {
  const text = entry.proposal.text ?? '';
  const { maskTrail } = entry;
  const given = { text, cost: costOf(entry.tokens), maskDigest: entry.maskDigest ?? undefined, ...(maskTrail === undefined ? {} : { maskTrail }) };
  if (entry.kind === 'attempt' && !entry.isComplete) return { kind: 'incomplete', code: entry.verdict, ...given };
  return { kind: 'text', confidence: undefined, ...given };
}

function costOf(tokens: TokenCounts): ProposalCost {
  return { ...NO_COST, promptTokenCount: tokens.prompt, generatedTokenCount: tokens.generated, forcedTokenCount: tokens.forced };
}
