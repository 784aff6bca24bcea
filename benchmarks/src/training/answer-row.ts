/**
 * What an arm answered to one case, as it is kept: no label is in it. Rows are sealed before gold is opened, so no score can steer what it scores (CHECKLIST F1, G2).
 */
import { createHash } from 'node:crypto';
import { deepFreeze, type JsonObject, type JsonPointer, type Patch } from '@contractrl/core';
import type { RepairRecord } from '@contractrl/core/records';
import { fromJsonLines, toJsonLines } from '../record.ts';

export interface AnswerRow {
  readonly id: string;
  readonly status: RepairRecord['status'];
  readonly reason: string | null;
  /** What would be dispatched; null where nothing is. */
  readonly arguments: JsonObject | null;
  readonly patch: Patch | null;
  /** Places that the verifier named on the call as it arrived. */
  readonly reported: readonly JsonPointer[];
  readonly attempts: number;
  readonly tokens: RepairRecord['tokens'];
  readonly totalMs: number;
  readonly confidence: number | null;
}

declare const sealed: unique symbol;
/** Rows that can no longer change. Only {@link sealRows} makes one. */
export interface SealedRows {
  readonly [sealed]: true;
  readonly rows: readonly AnswerRow[];
  readonly digest: string;
}

/** Throws a RangeError where a case is there twice. */
export function sealRows(rows: readonly AnswerRow[]): SealedRows {
  if (new Set(rows.map(({ id }) => id)).size !== rows.length) throw new RangeError('rows: a case more than once');
  const text = toJsonLines(rows);
  return deepFreeze({ rows: fromJsonLines<AnswerRow>(text), digest: digestOfLines(text) }) as unknown as SealedRows;
}

export function rowOf(id: string, { status, reason, arguments: args, patch, reports, attempts, tokens, timing, confidence }: RepairRecord): AnswerRow {
  return {
    id, status, reason: reason ?? null, arguments: args ?? null, patch: patch ?? null, reported: reports.map(({ pointer }) => pointer), attempts, tokens, totalMs: Math.round(timing.totalMs * 10) / 10, confidence,
  };
}

function digestOfLines(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
