/**
 * `train-data --out FOLDER [--count N] [--seed S] [--data FOLDER]`: writes `train.jsonl`, `validation.jsonl` and `manifest.json`. Ends with code 1 and writes
 * nothing where an evaluation set is missing or the audit finds a leak: a data set that was not audited is none. Code 2: wrong usage.
 * `train-data --pack-keys FILE --data FOLDER` writes the keys of the evaluation sets and nothing else: what this package audits with where there is no data folder.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packEvaluationSets, PACKED_KEYS, readEvaluationSets } from './audit/evaluation-sets.ts';
import { hasFile } from './data/files.ts';
import { DEFAULT_SYNTHETIC_SHARE, DEFAULT_VALIDATION_SHARE } from './data/build-dataset.ts';
import { SPLITS } from './data/example.ts';
import { linesOf } from './data/manifest.ts';
import { prepareDataset, type Output } from './data/prepare-dataset.ts';
import { PACKAGED_DATA } from './packaged-data.ts';

const OPTIONS = {
  out: { type: 'string' }, count: { type: 'string', default: '20000' }, seed: { type: 'string', default: '13' }, data: { type: 'string' },
  'pack-keys': { type: 'string' },
  'synthetic-share': { type: 'string', default: String(DEFAULT_SYNTHETIC_SHARE) }, 'validation-share': { type: 'string', default: String(DEFAULT_VALIDATION_SHARE) },
} as const;

/** Runs the command; `dataFolder` stands in for `--data`, and the package's own data for that. Gives the exit code. An option that does not exist is a `TypeError` of `parseArgs`. */
export function trainData(args: readonly string[], dataFolder: string, output: Output): number {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const data = values.data ?? (dataFolder === '' ? PACKAGED_DATA : dataFolder);
  if (values['pack-keys'] !== undefined) return packKeysOf(data, values['pack-keys'], output);
  const given = { ...values, data };
  const [count, seed, syntheticShare, validationShare] = [given.count, given.seed, given['synthetic-share'], given['validation-share']].map(Number) as [number, number, number, number];
  const isShare = (share: number): boolean => share >= 0 && share <= 1;
  if (given.out === undefined || !(Number.isInteger(count) && count > 0) || !Number.isInteger(seed) || !isShare(syntheticShare) || !isShare(validationShare)) {
    output.tell('Usage: --out FOLDER [--count N] [--seed S] [--data FOLDER] [--synthetic-share 0..1] [--validation-share 0..1]; without --data, CONTRACTRL_DATA names the data folder, and without that it is the package’s own. Or: --pack-keys FILE --data FOLDER');
    return 2;
  }
  const prepared = prepareDataset(given.data, { seed, count, syntheticShare, validationShare }, output);
  if (prepared === undefined) return 1;
  const { examples, manifest } = prepared;
  mkdirSync(given.out, { recursive: true });
  for (const split of SPLITS) writeFileSync(join(given.out, `${split}.jsonl`), linesOf(examples, split));
  writeFileSync(join(given.out, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  output.print(`\n${String(examples.length)} examples, digests ${JSON.stringify(manifest['digests'])}`);
  return examples.length < count ? 1 : 0;
}

function packKeysOf(folder: string, file: string, { print, tell }: Output): number {
  const side = readEvaluationSets(folder);
  for (const { code, set, file: absent } of side.missing) tell(`${code}: ${set} (${absent})`);
  const isPacked = hasFile(join(folder, PACKED_KEYS));
  if (isPacked) tell(`audit/no-evaluation-sets: ${folder} holds keys alone: name the folder of the sets themselves with --data.`);
  if (isPacked || side.missing.length > 0) return 1;
  const bytes = packEvaluationSets(side);
  writeFileSync(file, bytes);
  print(`${file}: ${String(bytes.length)} bytes, keys of ${side.sets.map(({ set, rows }) => `${set} (${String(rows)})`).join(', ')}`);
  return 0;
}
