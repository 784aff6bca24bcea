/** One repair of a ledger in a line: what tables and exports are made of. */
import type { ClosedEntry } from '@contractrl/core';
import { isHidden } from '@contractrl/core/ledger';
import type { RecordedRepair } from './ledger-file.ts';

type ClosedFigures = Pick<ClosedEntry, 'status' | 'reason' | 'attempts' | 'retries' | 'operations' | 'attemptsLeft' | 'operationsLeft' | 'validatorCalls' | 'collateralOp' | 'collateralPtr' | 'argumentsDigest'>;

export interface RepairSummary extends ClosedFigures {
  readonly firstRow: number;
  readonly caseId: string;
  readonly tool: string;
  readonly promptTokens: number;
  readonly generatedTokens: number;
  readonly forcedTokens: number;
  /** Null where nothing was measured. */
  readonly prefillMs: number | null;
  readonly decodeMs: number | null;
  readonly maskMs: number | null;
  /** Where every value that the repair wrote comes from, as JSON, and how many of them the model made up. Null where nothing was repaired, or is on record. */
  readonly written: string | null;
  readonly madeUp: number | null;
  readonly contractDigest: string | null;
  readonly traceDigest: string;
}

export function summarise({ firstRow, repair }: RecordedRepair): RepairSummary {
  const { opened, proposals, closed, resources } = repair;
  const { status, reason, attempts, retries, operations, attemptsLeft, operationsLeft, validatorCalls, collateralOp, collateralPtr, argumentsDigest } = closed;
  const sum = (of: 'prompt' | 'generated' | 'forced'): number => proposals.reduce((total, { tokens }) => total + tokens[of], 0);
  return {
    firstRow, caseId: opened.caseId, tool: opened.call.name, status, reason, attempts, retries, operations, attemptsLeft, operationsLeft, validatorCalls, collateralOp, collateralPtr,
    promptTokens: sum('prompt'), generatedTokens: sum('generated'), forcedTokens: sum('forced'),
    prefillMs: resources?.prefillMs ?? null, decodeMs: resources?.decodeMs ?? null, maskMs: resources?.maskMs ?? null,
    written: closed.written === undefined ? null : JSON.stringify(closed.written), madeUp: isHidden(repair) ? null : closed.written?.filter(({ origin }) => origin.kind === 'model').length ?? null,
    contractDigest: opened.contractDigest, argumentsDigest, traceDigest: repair.digest,
  };
}
