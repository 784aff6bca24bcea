/**
 * What one arm did on one case, as it is written down: one JSON line of public data, beside the sealed repair it came from. A run is
 * frozen before it is scored; its digest covers every line, so a score always names the exact records it was computed from.
 */
import { createHash } from 'node:crypto';
import { deepFreeze, digestOf, isFrozenRepair, type FrozenRepair } from '@contractrl/core';
import type { RepairRecord } from '@contractrl/core/records';
import type { Cohort } from './datasets/case.ts';

/** The record that the product itself gives, and where it belongs. */
export interface CaseRecord extends RepairRecord {
  readonly cohort: Cohort;
  readonly arm: string;
}

/** A record and the sealed repair that it tells of. */
export interface RunCase {
  readonly record: CaseRecord;
  readonly frozen: FrozenRepair;
}

declare const sealed: unique symbol;
/** Cases that can no longer change. Only {@link freezeRun} makes one. */
export interface FrozenRun {
  readonly [sealed]: true;
  readonly cases: readonly RunCase[];
  /** SHA-256 of the records' JSON Lines text, hexadecimal. */
  readonly digest: string;
}

/**
 * Seals a run. Throws a RangeError where one arm has a case twice, or a record says something else than the repair it came from:
 * another digest, status, or arguments.
 */
export function freezeRun(cases: readonly RunCase[]): FrozenRun {
  const keys = new Set(cases.map(({ record }) => `${record.arm}\u0000${record.id}`));
  if (keys.size !== cases.length) throw new RangeError('cases: an arm has a case more than once');
  const contradiction = cases.find(({ record, frozen }) => !agrees(record, frozen));
  if (contradiction !== undefined) throw new RangeError(`cases: the record of ${contradiction.record.arm} on ${contradiction.record.id} is not what its ledger says`);
  const text = toJsonLines(cases.map(({ record }) => record));
  const copies = fromJsonLines<CaseRecord>(text);
  const copy = cases.map(({ frozen }, index) => ({ frozen, record: copies[index] }));
  return deepFreeze({ cases: copy, digest: createHash('sha256').update(text).digest('hex') }) as unknown as FrozenRun;
}

function agrees(record: CaseRecord, frozen: FrozenRepair): boolean {
  const { closed, opened } = frozen;
  return isFrozenRepair(frozen) && frozen.digest === record.ledger && opened.caseId === record.id && closed.status === record.status
    && closed.argumentsDigest === (record.arguments === undefined ? null : digestOf(record.arguments));
}

export function toJsonLines(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

export function fromJsonLines<Row>(text: string): Row[] {
  return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Row);
}
