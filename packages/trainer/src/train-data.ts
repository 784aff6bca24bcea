/**
 * `train-data --out FOLDER [--count N] [--seed S] [--data FOLDER]`: writes `train.jsonl`, `validation.jsonl` and `manifest.json`. Ends with code 1 and writes
 * nothing where an evaluation set is missing or the audit finds a leak: a data set that was not audited is none. Code 2: wrong usage.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readEvaluationSets } from './audit/evaluation-sets.ts';
import { exampleKeys } from './audit/example-keys.ts';
import { auditTraining, indexEvaluation } from './audit/leakage-index.ts';
import { buildDataset, DEFAULT_SYNTHETIC_SHARE, DEFAULT_VALIDATION_SHARE } from './data/build-dataset.ts';
import { SPLITS } from './data/example.ts';
import { linesOf, manifestOf } from './data/manifest.ts';
import { readPublicSources } from './data/public-sources.ts';
import { openSource } from './data/source.ts';
import { syntheticSource } from './data/synthetic/synthetic-source.ts';
import { auditTable, datasetTable } from './data/table.ts';

/** A tool has four calls, and a call few good faults: more would repeat themselves. */
const EXAMPLES_A_TOOL = 10;

const OPTIONS = {
  out: { type: 'string' }, count: { type: 'string', default: '20000' }, seed: { type: 'string', default: '13' }, data: { type: 'string' },
  'synthetic-share': { type: 'string', default: String(DEFAULT_SYNTHETIC_SHARE) }, 'validation-share': { type: 'string', default: String(DEFAULT_VALIDATION_SHARE) },
} as const;

/** Where lines go: the table to `print`, progress and faults to `tell`. */
export interface Output {
  print(line: string): void;
  tell(line: string): void;
}

/** Runs the command; `dataFolder` stands in for `--data`. Gives the exit code. An option that does not exist is a `TypeError` of `parseArgs`. */
export function trainData(args: readonly string[], dataFolder: string, { print, tell }: Output): number {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const given = { ...values, data: values.data ?? dataFolder };
  const [count, seed, syntheticShare, validationShare] = [given.count, given.seed, given['synthetic-share'], given['validation-share']].map(Number) as [number, number, number, number];
  const isShare = (share: number): boolean => share >= 0 && share <= 1;
  if (given.out === undefined || given.data === '' || !(Number.isInteger(count) && count > 0) || !Number.isInteger(seed) || !isShare(syntheticShare) || !isShare(validationShare)) {
    tell('Usage: --out FOLDER [--count N] [--seed S] [--data FOLDER] [--synthetic-share 0..1] [--validation-share 0..1]; the data folder may also be named by CONTRACTRL_DATA.');
    return 2;
  }
  const { evaluation, missing } = readEvaluationSets(given.data);
  if (missing.length > 0) {
    for (const { code, set, file } of missing) tell(`${code}: ${set} (${file})`);
    return 1;
  }
  const index = indexEvaluation(evaluation);
  const sources = [...readPublicSources(given.data), syntheticSource(seed, Math.ceil(count / EXAMPLES_A_TOOL))].map((source) => ({ source, read: openSource(source) }));
  for (const { source, read } of sources) tell(`${source.name}: ${String(read.calls.length)} of ${String(source.rows.length)} calls`);

  const options = { count, syntheticShare, validationShare };
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
    return 1;
  }
  mkdirSync(given.out, { recursive: true });
  for (const split of SPLITS) writeFileSync(join(given.out, `${split}.jsonl`), linesOf(dataset.examples, split));
  const manifest = manifestOf({ seed, options, sources, dataset, audit });
  writeFileSync(join(given.out, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  print(`\n${String(dataset.examples.length)} examples, digests ${JSON.stringify(manifest['digests'])}`);
  return dataset.examples.length < count ? 1 : 0;
}
