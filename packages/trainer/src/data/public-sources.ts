/**
 * The public data sets that may be trained on, read from the folder that holds them. Never BFCL, tau-bench, tau2-bench or the bug cases: those are what
 * the policy is measured with (`../audit`).
 */
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@contractrl/core';
import type { DataSource, SourceRow } from './source.ts';
import { hasFile, readLines } from './files.ts';
import { sentenceOf } from './sentence.ts';

/** Where each lies below the data folder. */
const FILES = {
  training: join('training', 'uniform_train.jsonl.gz'),
  acebench: join('acebench', 'acebench_normal_uniform.jsonl.gz'),
  glaive: join('maskbench', 'Glaiveai2K.jsonl.gz'),
} as const;

/** Those that are there, of `training` (Seal-Tools, ToolAlpaca, Glaive demo), ACEBench and the Glaive part of MaskBench. */
export function readPublicSources(folder: string): readonly DataSource[] {
  const readers: readonly (readonly [string, (path: string) => readonly DataSource[]])[] = [[FILES.training, readTraining], [FILES.acebench, readAceBench], [FILES.glaive, readGlaive]];
  return readers.flatMap(([file, read]) => {
    const path = join(folder, file);
    return hasFile(path) ? read(path) : [];
  });
}

interface CallRow {
  readonly id: string;
  readonly source: string;
  readonly query: string;
  readonly tool?: SourceRow['tool'];
  readonly call?: { readonly arguments: JsonObject } | null;
  readonly calls?: readonly unknown[];
}

const ATTRIBUTIONS: Readonly<Record<string, string>> = {
  'seal-tools': 'Seal-Tools, github.com/fairyshine/Seal-Tools', toolalpaca: 'ToolAlpaca, github.com/tangqiaoyu/ToolAlpaca', 'glaive-demo': 'LLaMA-Factory demo data (Glaive), github.com/hiyouga/LLaMA-Factory',
};

/** One source for each origin that the uniform file names. */
export function readTraining(path: string): readonly DataSource[] {
  const rows = readLines<CallRow>(path);
  return [...new Set(rows.map(({ source }) => source))].map((name) => ({
    name, licence: 'Apache-2.0', attribution: ATTRIBUTIONS[name] ?? name, rows: rows.filter(({ source }) => source === name).flatMap(callRow),
  }));
}

/** The normal part, where there is exactly one call. */
export function readAceBench(path: string): readonly DataSource[] {
  return [{ name: 'acebench', licence: 'MIT', attribution: 'ACEBench, github.com/chenchen0103/ACEBench', rows: readLines<CallRow>(path).flatMap(callRow) }];
}

function callRow({ id, query, tool, call }: CallRow): readonly SourceRow[] {
  return tool === undefined || call === undefined || call === null ? [] : [{ id, request: query, tool, arguments: call.arguments }];
}

interface GlaiveRow {
  readonly path: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly tests: readonly { readonly valid: boolean; readonly data: JsonValue }[];
}

/** Schemas with instances and no request: the request is a plain sentence made of the instance. The tool's name stands in the file's. */
export function readGlaive(path: string): readonly DataSource[] {
  const rows = readLines<GlaiveRow>(path).flatMap(({ path: file, schema, tests }): readonly SourceRow[] => {
    const [, name = ''] = /---(.+)_[0-9a-f]{8}\.json$/u.exec(file) ?? [];
    return tests.flatMap(({ valid, data }, index) => {
      if (!valid || name === '' || typeof data !== 'object' || data === null || Array.isArray(data)) return [];
      const said = sentenceOf(name, data as JsonObject);
      const tool = { name, description: said.description, parameters: schema };
      return [{ id: `${file.slice(file.lastIndexOf('/') + 1, -'.json'.length)}:${String(index)}`, request: said.request, tool, arguments: data as JsonObject }];
    });
  });
  const attribution = 'glaive-function-calling-v2 (Apache-2.0) by way of JSONSchemaBench, github.com/guidance-ai/jsonschemabench, which has no licence file';
  return [{ name: 'glaive-maskbench', licence: 'Apache-2.0', attribution, rows }];
}
