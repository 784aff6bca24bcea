/** What a data set is: seed, versions, licences, counts, what was left out and why, the audit, and the digest of its bytes. No date: the same seed gives the same text. */
import { digestOfText, type Digest, type JsonObject, type JsonValue } from '@contractrl/core';
import { UNIT_MEANINGS } from '../audit/keys.ts';
import type { AuditReport } from '../audit/leakage-index.ts';
import { CORRUPTION_VERSION } from '../corrupt/family.ts';
import type { Dataset } from './build-dataset.ts';
import { SPLITS, type Example, type Split } from './example.ts';
import type { DataSource, ReadSource } from './source.ts';

/** Of the rows' form. */
export const DATASET_VERSION = '2';

export interface OpenedSource {
  readonly source: DataSource;
  readonly read: ReadSource;
}

export interface ManifestParts {
  readonly seed: number;
  /** Shares and counts that were asked for. */
  readonly options: JsonObject;
  readonly sources: readonly OpenedSource[];
  readonly dataset: Dataset;
  readonly audit: AuditReport;
}

/** The text of one side: JSON Lines in the order of the examples. */
export function linesOf(examples: readonly Example[], split: Split): string {
  return examples.filter((example) => example.split === split).map((example) => `${JSON.stringify(example)}\n`).join('');
}

export function manifestOf({ seed, options, sources, dataset, audit }: ManifestParts): JsonObject {
  const { examples, leftOut } = dataset;
  const digests = Object.fromEntries(SPLITS.map((split): readonly [Split, Digest] => [split, digestOfText(linesOf(examples, split))]));
  return {
    datasetVersion: DATASET_VERSION, corruptionVersion: CORRUPTION_VERSION, seed, options, count: examples.length, digests,
    sources: sources.map(({ source: { name, licence, attribution, rows }, read }) => ({ name, licence, attribution, rows: rows.length, legalCalls: read.calls.length, leftOut: read.leftOut })),
    counts: {
      split: countBy(examples, ({ split }) => split), source: countBy(examples, ({ source }) => source), family: countBy(examples, ({ family }) => family),
      difficulty: countBy(examples, ({ difficulty }) => difficulty), structure: countBy(examples, ({ structure }) => structure), noise: countBy(examples, ({ noise }) => noise?.kind ?? 'none'),
      value: countBy(examples, ({ answer }) => valueKind(answer)),
    },
    leftOut: leftOut as unknown as JsonValue,
    audit: Object.entries(audit.units).map(([unit, counts]) => ({ unit, meaning: UNIT_MEANINGS[unit as keyof typeof UNIT_MEANINGS], ...counts })),
  };
}

/** Type of the first value that the answer writes. */
function valueKind(answer: string): string {
  const json = JSON.parse(answer) as readonly { readonly value?: JsonValue }[] | { readonly abstain: string };
  if (!Array.isArray(json)) return 'abstain';
  const [written] = (json as readonly { readonly value?: JsonValue }[]).flatMap(({ value }) => (value === undefined ? [] : [value]));
  return written === undefined ? 'none' : written === null ? 'null' : Array.isArray(written) ? 'array' : typeof written;
}

function countBy(examples: readonly Example[], keyOf: (example: Example) => string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const key of examples.map(keyOf).sort()) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}
