/** The output record of a repair: what the command line prints and logs keep. Arguments are there only where the validator accepted them. */
import type { DeterministicRule } from '../deterministic/deterministic-patch.ts';
import type { IntakeIssue } from '../intake/fields.ts';
import type { Digest } from '../json/digest.ts';
import type { JsonObject } from '../json/value.ts';
import type { OpenedReading } from '../ledger/entry.ts';
import type { Patch } from '../patch/operation.ts';
import type { WrittenValue } from '../provenance/written.ts';
import type { Violation } from '../validate/violation.ts';
import { NO_COST, tokenCounts } from './close.ts';
import type { RepairOutcome } from './outcome.ts';

export interface RepairRecord {
  readonly id: string;
  readonly status: RepairOutcome['status'];
  readonly name: string;
  readonly arguments?: JsonObject;
  readonly patch?: Patch;
  /** Where every value that the repair wrote comes from. */
  readonly written?: readonly WrittenValue[];
  /** How the call was read, where not as it stands, and the rules of what was repaired before the policy was asked. */
  readonly reading?: OpenedReading;
  readonly rules?: readonly DeterministicRule[];
  readonly reports: readonly Pick<Violation, 'code' | 'pointer' | 'keyword' | 'params'>[];
  readonly reason?: string;
  readonly attempts: number;
  readonly operations: number;
  /** As the policy says: of a calibrated one's patch the probability that it is right, else that of its answer among the admissible ones. Null where none answered. */
  readonly confidence: number | null;
  readonly tokens: { readonly prompt: number; readonly generated: number; readonly forced: number };
  readonly timing: { readonly totalMs: number; readonly prefillMs: number; readonly decodeMs: number; readonly maskMs: number };
  /** Digest of the frozen trace; null where the input could not be read, so that no repair was opened. */
  readonly ledger: Digest | null;
}

/** `totalMs` is measured by the caller: core has no clock. */
export function toRepairRecord(outcome: RepairOutcome, timing: { readonly totalMs: number }): RepairRecord {
  const { prefillMs, decodeMs, maskMs } = outcome.cost;
  return {
    id: outcome.id,
    status: outcome.status,
    name: outcome.name,
    ...('arguments' in outcome ? { arguments: outcome.arguments } : {}),
    ...('patch' in outcome ? { patch: outcome.patch, written: outcome.written } : {}),
    ...(outcome.reading === undefined ? {} : { reading: outcome.reading }),
    ...(outcome.rules.length === 0 ? {} : { rules: outcome.rules }),
    reports: outcome.reports.map(({ code, pointer, keyword, params }) => ({ code, pointer, keyword, params })),
    ...('reason' in outcome ? { reason: outcome.reason } : {}),
    attempts: outcome.attempts,
    operations: outcome.operations,
    confidence: outcome.confidence ?? null,
    tokens: tokenCounts(outcome.cost),
    timing: { totalMs: timing.totalMs, prefillMs, decodeMs, maskMs },
    ledger: outcome.ledger,
  };
}

/** For an input that is no repair request: `id` as far as it could be read, else a name the caller gives it, such as `line 7`. */
export function failedRecord(id: string, issue: IntakeIssue): RepairRecord {
  return {
    id, status: 'failed', name: '', reports: [], reason: issue.code, attempts: 0, operations: 0, confidence: null,
    tokens: tokenCounts(NO_COST), timing: { totalMs: 0, prefillMs: 0, decodeMs: 0, maskMs: 0 }, ledger: null,
  };
}
