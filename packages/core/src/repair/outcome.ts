/** How a repair ended. The original call is never changed; arguments exist only where the validator accepted them. */
import type { JsonObject } from '../json/value.ts';
import type { Digest } from '../json/digest.ts';
import type { FrozenRepair } from '../ledger/freeze.ts';
import type { DeterministicRule } from '../deterministic/deterministic-patch.ts';
import type { Patch } from '../patch/operation.ts';
import type { WrittenValue } from '../provenance/written.ts';
import type { Violation } from '../validate/violation.ts';
import type { AcceptedCall } from './accepted-call.ts';
import type { OpenedReading } from '../ledger/entry.ts';
import type { HistoryEntry } from './state.ts';
import type { ProposalCost } from './proposer.ts';

interface OutcomeBase {
  readonly id: string;
  /** The tool's name, corrected where the contract allows that. */
  readonly name: string;
  /** How name and text of the call were read, where not as they stand. */
  readonly reading: OpenedReading | undefined;
  /** The rules of the operations that the deterministic step applied, in order. */
  readonly rules: readonly DeterministicRule[];
  /** The first report: what was wrong with the call as it arrived. Empty where it was valid. */
  readonly reports: readonly Violation[];
  readonly history: readonly HistoryEntry[];
  readonly attempts: number;
  readonly operations: number;
  readonly confidence: number | undefined;
  readonly cost: ProposalCost;
  /** Digest of the frozen, deterministic trace of this repair. */
  readonly ledger: Digest;
  /** The sealed trace itself: what a ledger appends and scoring reads. */
  readonly frozen: FrozenRepair;
}

interface Accepted {
  /** What an executor takes. */
  readonly accepted: AcceptedCall;
  readonly argumentsText: string;
  readonly arguments: JsonObject;
}

export type RepairOutcome =
  /** Accepted as it arrived. `argumentsText` is the exact text to dispatch, `arguments` the object parsed back from it. */
  | (OutcomeBase & Accepted & { readonly status: 'valid' })
  | (OutcomeBase & Accepted & { readonly status: 'repaired'; readonly patch: Patch; readonly written: readonly WrittenValue[] })
  /** The policy or the loop declined: `reason` is `abstain/…`. */
  | (OutcomeBase & { readonly status: 'abstained'; readonly reason: string })
  /** A gate refused an otherwise valid call: `reason` is `gate/…`. */
  | (OutcomeBase & { readonly status: 'rejected'; readonly reason: string; readonly params: JsonObject })
  /** Budgets spent, a contract that cannot be honoured, or the world failed: `reason` is the code, `message` a plain sentence. */
  | (OutcomeBase & { readonly status: 'failed'; readonly reason: string; readonly message: string });
