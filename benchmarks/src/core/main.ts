/** `npm run bench:core`: measures the core part by part, and writes the report. `measure` runs parts; `report` renders from what is there. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Argument, Command } from 'commander';
import { measureEntrySizes } from '../entry-size.ts';
import { joinMutationRuns, type MutateOutput } from '../mutation/outcomes.ts';
import { readMeasured, surroundingsNow } from '../parts.ts';
import { scoreBugCases } from './bug-cases.ts';
import { measureConformance } from './conformance.ts';
import { measureLedger } from './ledger.ts';
import { comparePatches } from './patch-agreement.ts';
import { springTraps } from './patch-traps.ts';
import { CORE_PART_NAMES, writeCorePart, writeCoreReport, type CorePartName, type CoreParts } from './results.ts';
import { measureValidation } from './validation-speed.ts';

const RESULTS = fileURLToPath(new URL('../../results/core', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../../packages', import.meta.url));

const PATCH_COUNT = 200_000;
const SEED = 6902;
const VALIDATION_ROUNDS = 20_000;
const ROW_COUNTS = [1_000, 10_000, 100_000, 1_000_000];

interface MeasureOptions {
  readonly out: string;
  /** What `npm run mutate -- core` wrote; needed for `mutation` alone. */
  readonly mutants?: string;
}

const log = (line: string): void => { process.stderr.write(`${line}\n`); };

const MEASURE: { readonly [Name in CorePartName]: (options: MeasureOptions) => CoreParts[Name] | Promise<CoreParts[Name]> } = {
  conformance: measureConformance,
  traps: springTraps,
  agreement: () => comparePatches(PATCH_COUNT, SEED),
  bugcases: scoreBugCases,
  validation: () => measureValidation(VALIDATION_ROUNDS),
  ledger: () => measureLedger(ROW_COUNTS, log),
  sizes: () => measureEntrySizes(PACKAGES, ['core']),
  mutation: joinMutants,
};

const program = new Command('bench:core').description('Measures contract, validator, patches and ledger.');
program.command('measure').addArgument(new Argument('<parts...>', 'what to measure').choices(CORE_PART_NAMES)).option('--out <folder>', 'where raw results are written', RESULTS)
  .option('--mutants <file>', 'what the mutants came to').action(measure);
program.command('report').option('--out <folder>', 'where the raw results are', RESULTS).action(report);
await program.parseAsync();

function joinMutants({ out, mutants }: MeasureOptions): CoreParts['mutation'] {
  if (mutants === undefined) throw new TypeError('--mutants: the file that npm run mutate wrote');
  return joinMutationRuns(readMeasured<CoreParts['mutation']>(out, 'mutation')?.result, JSON.parse(readFileSync(mutants, 'utf8')) as MutateOutput);
}

async function measure(parts: readonly CorePartName[], options: MeasureOptions): Promise<void> {
  for (const part of parts) {
    log(`measuring ${part}`);
    const surroundings = surroundingsNow();
    await writeCorePart<CorePartName>(options.out, part, { surroundings, result: await MEASURE[part](options) });
  }
}

async function report({ out }: { readonly out: string }): Promise<void> {
  const written = await writeCoreReport(out);
  if (written.ok) return;
  log(JSON.stringify(written.error));
  process.exitCode = 1;
}
