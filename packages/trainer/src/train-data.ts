/**
 * `train-data --out FOLDER [--count N] [--seed S] [--data FOLDER]`: writes `train.jsonl`, `validation.jsonl` and `manifest.json`. Ends with code 1 and writes
 * nothing where an evaluation set is missing or the audit finds a leak: a data set that was not audited is none. Code 2: wrong usage.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_SYNTHETIC_SHARE, DEFAULT_VALIDATION_SHARE } from './data/build-dataset.ts';
import { SPLITS } from './data/example.ts';
import { linesOf } from './data/manifest.ts';
import { prepareDataset, type Output } from './data/prepare-dataset.ts';

const OPTIONS = {
  out: { type: 'string' }, count: { type: 'string', default: '20000' }, seed: { type: 'string', default: '13' }, data: { type: 'string' },
  'synthetic-share': { type: 'string', default: String(DEFAULT_SYNTHETIC_SHARE) }, 'validation-share': { type: 'string', default: String(DEFAULT_VALIDATION_SHARE) },
} as const;

/** Runs the command; `dataFolder` stands in for `--data`. Gives the exit code. An option that does not exist is a `TypeError` of `parseArgs`. */
export function trainData(args: readonly string[], dataFolder: string, output: Output): number {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const given = { ...values, data: values.data ?? dataFolder };
  const [count, seed, syntheticShare, validationShare] = [given.count, given.seed, given['synthetic-share'], given['validation-share']].map(Number) as [number, number, number, number];
  const isShare = (share: number): boolean => share >= 0 && share <= 1;
  if (given.out === undefined || given.data === '' || !(Number.isInteger(count) && count > 0) || !Number.isInteger(seed) || !isShare(syntheticShare) || !isShare(validationShare)) {
    output.tell('Usage: --out FOLDER [--count N] [--seed S] [--data FOLDER] [--synthetic-share 0..1] [--validation-share 0..1]; the data folder may also be named by CONTRACTRL_DATA.');
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
