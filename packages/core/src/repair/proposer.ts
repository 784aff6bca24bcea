/**
 * The port to a policy. The loop knows nothing of models: it shows an {@link Observation}, made of public state only,
 * and gets back text that it trusts in nothing.
 */
import type { Contract } from '../contract/contract.ts';
import type { JsonObject, JsonValue } from '../json/value.ts';
import type { ChatMessage } from '../intake/request.ts';
import type { Violation } from '../validate/violation.ts';
import type { RepairState } from './state.ts';

export interface Observation {
  readonly contract: Contract;
  readonly request: readonly ChatMessage[];
  readonly context: JsonObject;
  /** The arguments that the first proposal saw: what a value may be taken from. Later candidates hold values of the policy's own. */
  readonly given?: JsonValue;
  readonly state: RepairState;
  /** The verifier's report on `state.candidate`, first the one that `state.code` and `state.pointer` name. */
  readonly violations: readonly [Violation, ...Violation[]];
}

/** What one attempt cost. Times are measured by the proposer; core has no clock. */
export interface ProposalCost {
  readonly promptTokenCount: number;
  readonly generatedTokenCount: number;
  readonly forcedTokenCount: number;
  readonly prefillMs: number;
  readonly decodeMs: number;
  readonly maskMs: number;
}

/** With the mask of its contract and state, all that a third party needs to compute an attempt's `maskDigest` anew. */
export interface MaskTrail {
  /** Token ids in the order they were written, stop token and those that were taken back included. */
  readonly ids: readonly number[];
  /** Of these, how many were written under the provenance-closed mask; null where no such mask ran beside the contract's own. */
  readonly closedCount: number | null;
}

interface ProposalBase {
  readonly text: string;
  readonly cost: ProposalCost;
  readonly maskTrail?: MaskTrail;
  /** What the proposer measured beside its answer, for whoever decides on its release. Figures of a device: outside the digest of the trace. */
  readonly signals?: JsonObject;
}

export type Proposal =
  | (ProposalBase & { readonly kind: 'text'; readonly confidence: number | undefined; readonly maskDigest: string | undefined })
  /** Generation stopped before a complete output. Costs an attempt like any refused patch. */
  | (ProposalBase & { readonly kind: 'incomplete'; readonly code: string; readonly maskDigest?: string | undefined });

/** The world failed (device, memory, abort): ends the repair, the original call untouched. `code` is `engine/…` or `mask/…`. */
export interface ProposerFailure {
  readonly code: string;
  readonly message: string;
  readonly params?: JsonObject;
  readonly cause?: unknown;
}

export interface Proposer {
  /** Names the policy in the ledger: model digest, adapter digest, prompt version, format, sampling and seed. */
  readonly identity: JsonObject;
  propose(observation: Observation, signal: AbortSignalLike): Promise<{ readonly ok: true; readonly value: Proposal } | { readonly ok: false; readonly error: ProposerFailure }>;
}

/** The part of `AbortSignal` that core reads; core itself sees neither DOM nor Node types. */
export interface AbortSignalLike {
  readonly aborted: boolean;
}
