/**
 * A folder that a cluster trains from: the rows of both sides, a manifest that says what they are and how they are judged, a card with the licences, and the
 * Python file that asks our validator for rewards. Equal options give equal bytes.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, err, ok, type JsonObject, type Result } from '@contractrl/core';
import { PROMPT_VERSION } from '@contractrl/runtime-webgpu';
import { SPLITS, type Example, type Split } from '../data/example.ts';
import type { PreparedDataset } from '../data/prepare-dataset.ts';
import type { RewardWeights } from '../grpo/reward.ts';
import { exportCard } from './export-card.ts';
import { chatTemplate, toTrlRow, toVerlRow, type RowIssue, type TrlRow, type TurnFormat, type VerlRow } from './rows.ts';
import { verlParquet } from './verl-parquet.ts';

/** Of the rows' form and of what the reward server takes. */
const EXPORT_VERSION = 1;

export const EXPORT_FORMATS = ['trl', 'verl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const MANIFEST_FILE = 'manifest.json';
const CLIENT_FILE = 'contractrl_reward.py';
/** Beside `src` and `dist` alike. */
const CLIENT = fileURLToPath(new URL(`../../python/${CLIENT_FILE}`, import.meta.url));

export interface ExportOptions {
  readonly folder: string;
  readonly format: ExportFormat;
  /** Of the base that will be trained. */
  readonly turns: TurnFormat;
  /** Completions of a group: both trainers make them, so it is told and not written out. */
  readonly groupSize: number;
  readonly weights: RewardWeights;
}

export interface ExportSummary {
  readonly counts: Readonly<Record<Split, number>>;
  /** By code. */
  readonly leftOut: Readonly<Record<string, number>>;
}

/** Where one side has no row there is nothing to train on. */
export type ExportIssue = { readonly code: 'export/too-few-examples' } & ExportSummary['counts'];

/** What the deterministic step repairs by itself is not the policy's business, as in our own episodes. */
const SOLVED = 'certain';

export function writeExport({ examples, manifest }: PreparedDataset, options: ExportOptions): Result<ExportSummary, ExportIssue> {
  const { folder, format, turns, groupSize, weights } = options;
  const leftOut: Record<string, number> = {};
  const skip = (code: string): void => { leftOut[code] = (leftOut[code] ?? 0) + 1; };
  const rowsOf = <Row>(split: Split, toRow: (example: Example, index: number) => Result<Row, RowIssue>): readonly Row[] => {
    const rows: Row[] = [];
    for (const example of examples.filter((each) => each.split === split)) {
      const row = example.difficulty === SOLVED ? undefined : toRow(example, rows.length);
      if (row?.ok === true) rows.push(row.value);
      else skip(row?.error.code ?? 'export/solved-without-policy');
    }
    return rows;
  };
  const sides = SPLITS.map((split) => {
    const rows: readonly (TrlRow | VerlRow)[] = format === 'trl' ? rowsOf(split, (example) => toTrlRow(example, turns)) : rowsOf(split, toVerlRow);
    const bytes = format === 'trl' ? linesOf(rows) : verlParquet(rows as readonly VerlRow[]);
    return { split, count: rows.length, name: `${split}.${format === 'trl' ? 'jsonl' : 'parquet'}`, bytes };
  });
  const counts = Object.fromEntries(sides.map(({ split, count }) => [split, count])) as Record<Split, number>;
  if (Object.values(counts).some((count) => count === 0)) return err({ code: 'export/too-few-examples', ...counts });

  const told: JsonObject = {
    exportVersion: EXPORT_VERSION, format, promptVersion: PROMPT_VERSION, turns, chatTemplate: chatTemplate(turns), groupSize, mask: 'outside', reward: { weights: { ...weights } },
    files: sides.map(({ name }) => name), counts, leftOut, data: { manifestDigest: digestOf(manifest), manifest },
  };
  mkdirSync(folder, { recursive: true });
  for (const { name, bytes } of sides) writeFileSync(join(folder, name), bytes);
  copyFileSync(CLIENT, join(folder, CLIENT_FILE));
  writeFileSync(join(folder, 'README.md'), exportCard(told));
  writeFileSync(join(folder, MANIFEST_FILE), `${JSON.stringify(told, undefined, 2)}\n`);
  return ok({ counts, leftOut });
}

function linesOf(rows: readonly object[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
