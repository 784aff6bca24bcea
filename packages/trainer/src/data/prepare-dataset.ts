/** A data set that may be used: built from the data folder and audited. Without every evaluation set, or with anything shared with one, there is none. */
import type { JsonObject } from '@contractrl/core';
import { readEvaluationSets } from '../audit/evaluation-sets.ts';
import { exampleKeys } from '../audit/example-keys.ts';
import { auditTraining, indexEvaluation } from '../audit/leakage-index.ts';
import { buildDataset } from './build-dataset.ts';
import type { Example } from './example.ts';
import { manifestOf } from './manifest.ts';
import { readPublicSources } from './public-sources.ts';
import { openSource } from './source.ts';
import { syntheticSource } from './synthetic/synthetic-source.ts';
import { auditTable, datasetTable } from './table.ts';

/** Of a synthetic tool. It has four calls, and a call few good faults: more would repeat themselves. */
export const EXAMPLES_A_TOOL = 10;

/** Where lines go: tables and results to `print`, progress and faults to `tell`. */
export interface Output {
  print(line: string): void;
  tell(line: string): void;
}

export interface PrepareOptions {
  readonly seed: number;
  readonly count: number;
  readonly syntheticShare: number;
  readonly validationShare: number;
  /** As the data set has it. */
  readonly asksSpoken?: boolean;
}

export interface PreparedDataset {
  readonly examples: readonly Example[];
  readonly manifest: JsonObject;
}

/** Prints the tables; undefined where there is no such data set, which has been told then. O(count × judge). */
export function prepareDataset(dataFolder: string, { seed, count, syntheticShare, validationShare, asksSpoken }: PrepareOptions, { print, tell }: Output): PreparedDataset | undefined {
  const { evaluation, missing } = readEvaluationSets(dataFolder);
  if (missing.length > 0) {
    for (const { code, set, file } of missing) tell(`${code}: ${set} (${file})`);
    return undefined;
  }
  const index = indexEvaluation(evaluation);
  const sources = [...readPublicSources(dataFolder), syntheticSource(seed, Math.ceil(count / EXAMPLES_A_TOOL))].map((source) => ({ source, read: openSource(source) }));
  for (const { source, read } of sources) tell(`${source.name}: ${String(read.calls.length)} of ${String(source.rows.length)} calls`);

  const options = { count, syntheticShare, validationShare, ...(asksSpoken === undefined ? {} : { asksSpoken }) };
  const startedMs = performance.now();
  const step = Math.ceil(count / 10);
  const onProgress = (done: number): void => {
    if (done % step === 0) tell(`${String(done)} of ${String(count)}, ${String(Math.round(done / (performance.now() - startedMs) * 1000))} a second`);
  };
  const dataset = buildDataset(sources.flatMap(({ read }) => read.calls), { seed, ...options, index, onProgress });
  const audit = auditTraining(index, dataset.examples.map((example) => ({ id: example.id, keys: exampleKeys(example) })));
  print(`${datasetTable(dataset.examples)}\n\n${auditTable(audit)}`);
  if (!audit.isClean) {
    for (const leak of audit.leaks) tell(`audit/leak: ${JSON.stringify(leak)}`);
    return undefined;
  }
  return { examples: dataset.examples, manifest: manifestOf({ seed, options, sources, dataset, audit }) };
}
