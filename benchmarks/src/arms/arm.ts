/** One method of answering a failed call. An arm sees the public request and nothing else, and answers with what it would dispatch. */
import type { AbortSignalLike, FrozenRepair, JsonObject, RepairRequest } from '@contractrl/core';
import type { RepairRecord } from '@contractrl/core/records';

export interface ArmAnswer {
  readonly record: RepairRecord;
  /** The sealed trace that `record.ledger` is the digest of. */
  readonly frozen: FrozenRepair;
}

/** What an arm's answers are made of: operations on the failed call, or a whole arguments object. */
export type ArmOutput = 'patch' | 'object';

export interface Arm {
  readonly name: string;
  /** One sentence for the report. */
  readonly description: string;
  readonly output: ArmOutput;
  /** Names model, adapter, prompt and settings; goes into every ledger entry. */
  readonly identity: JsonObject;
  answer(request: RepairRequest, signal: AbortSignalLike): Promise<ArmAnswer>;
}

/** Milliseconds from any fixed point. */
export type Clock = () => number;
