/**
 * `npm run bench:training`: what adapters are worth on data that none was trained on. `evaluate` runs one adapter over one or more sets and keeps the
 * rows; an unsafe dispatch, or gold in a prompt, fails it. `keep` copies the log of a training run beside them, and `report` renders from what is there.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { openRuntime } from '@contractrl/runtime-webgpu/node';
import { summariseEvaluation, validationSide } from '@contractrl/trainer';
import { FAMILY_FILES, makeFamilyRows } from '../datasets/bfcl-families.ts';
import { table } from '../markdown.ts';
import { toJsonLines } from '../record.ts';
import { pack } from '../results.ts';
import { formatLeak } from '../score.ts';
import { evaluate } from './evaluate.ts';
import { RAW, REPORT, VALIDATION, writeTrainingReport } from './results.ts';
import { ARM_NAMES, writeEvaluation, type ArmName } from './evaluations.ts';
import { keepRun } from './runs.ts';
import { scoreEvaluation } from './score-rows.ts';
import { SEEDS, SET_NAMES, type SetName } from './sets.ts';
import { summaryCells, SUMMARY_HEAD, validationCells } from './tables.ts';
import { evaluateValidation, writeValidation } from './validation.ts';
import { PROMPT_LINES, type PromptLine } from './without-line.ts';

const RESULTS = fileURLToPath(new URL('../../results/training', import.meta.url));

interface EvaluateCommand {
  readonly adapter?: string;
  readonly name: string;
  readonly set: readonly (SetName | 'validation')[];
  readonly arm: readonly ArmName[];
  readonly seeds: readonly number[];
  readonly limit: number;
  readonly data: string;
  readonly trainingSeed: number;
  readonly threads?: number;
  readonly model?: string;
  readonly without?: readonly PromptLine[];
  readonly out: string;
}

/** Of the validation side, unless `--limit` says less. */
const VALIDATION_COUNT = 400;

/** A line after so many answers, and at the end. */
const PROGRESS_EVERY = 32;

const log = (line: string): void => { process.stderr.write(`${line}\n`); };

const program = new Command('bench:training').description('Measures adapters.');
program.command('evaluate')
  .option('--adapter <name|path>', 'one that ships, by name (r8), the folder of a PEFT adapter, with a slash (./r8), or `none`; default: what a repair takes')
  .addOption(new Option('--name <name>', 'of the adapter, in the report').argParser(fileName).makeOptionMandatory())
  .addOption(new Option('--set <names...>', 'what it is measured on').choices([...SET_NAMES, 'validation']).default(['bfcl']))
  .addOption(new Option('--arm <names...>', 'how it is used').choices(ARM_NAMES).default(['system', 'policy']))
  .addOption(new Option('--seeds <range>', 'of the BFCL corruptions, as 1..5 or 2').argParser(seedRange).default(SEEDS))
  .addOption(new Option('--limit <count>', 'of the cases, so many at even distances, to try things out').argParser(positive).default(Infinity))
  .option('--data <folder>', 'of the public sets, for the validation side; default CONTRACTRL_DATA, else what comes with the trainer', process.env['CONTRACTRL_DATA'] ?? '')
  .addOption(new Option('--training-seed <seed>', 'of the run whose validation side is meant').argParser(Number).default(13))
  .addOption(new Option('--threads <count>', 'of the engine').argParser(positive))
  .option('--model <file>', 'the base model, instead of the one in the cache')
  .addOption(new Option('--without <lines...>', 'of the prompt, each taken away by itself; the name says which: NAME-without-LINE').choices(PROMPT_LINES))
  .option('--out <folder>', 'where rows are kept', RESULTS)
  .action(runEvaluate);
program.command('keep')
  .description('copies what the report needs of a training run')
  .addOption(new Option('--name <name>', 'of the run, in the report').argParser(fileName).makeOptionMandatory())
  .requiredOption('--from <folder>', 'of the run')
  .option('--out <folder>', 'where results are kept', RESULTS)
  .action(({ name, from, out }: { readonly name: string; readonly from: string; readonly out: string }) => keepRun(out, name, from));
program.command('report').option('--out <folder>', 'where results are kept', RESULTS).action(report);
program.command('cases').description('makes the committed cases of the sets families and unrepairable anew, from BFCL by the corruptions of the trainer').action(makeCases);
await program.parseAsync();

async function runEvaluate({ adapter, name, set: sets, arm: arms, seeds, limit, data, trainingSeed, threads, model, without: lines = [], out }: EvaluateCommand): Promise<void> {
  if (lines.length > 0 && (sets.includes('validation') || arms.includes('full-regeneration'))) return fail('A line of the prompt is taken away on held-out cases alone, and full regeneration has none of them.');
  const cancel = new AbortController();
  process.once('SIGINT', () => { cancel.abort(); });
  const { signal } = cancel;
  const runtime = await openRuntime({ signal, ...(adapter === undefined ? {} : { adapter }), ...(threads === undefined ? {} : { threads }), ...(model === undefined ? {} : { model }) });
  if (!runtime.ok) return fail(`${runtime.error.message} (${runtime.error.code})`);
  const cells: (readonly string[])[] = [];
  for (const set of sets) {
    const examples = set === 'validation' ? validationSide({ seed: trainingSeed, count: Math.min(limit, VALIDATION_COUNT), dataFolder: data }, log) : [];
    if (examples === undefined) return fail('There is no validation side.');
    for (const arm of arms) {
      if (set === 'validation') {
        if (arm === 'full-regeneration') return fail('Full regeneration is measured on held-out cases alone.');
        const evaluation = await evaluateValidation(runtime.value, examples, { name, arm, seed: trainingSeed }, { signal, onProgress: progressOf(`${name} ${set} ${arm}`) });
        if (!evaluation.ok) return fail(JSON.stringify(evaluation.error));
        await writeValidation(join(out, VALIDATION), evaluation.value);
        cells.push([`${name} ${set} ${arm}`, ...validationCells(summariseEvaluation(evaluation.value.rows))]);
        continue;
      }
      for (const without of lines.length === 0 ? [undefined] : lines) {
        const named = without === undefined ? name : `${name}-without-${without}`;
        const evaluation = await evaluate(runtime.value, {
          name: named, set, arm, seeds, limit, signal, onAnswer: progressOf(`${named} ${set} ${arm}`), ...(without === undefined ? {} : { without }),
        });
        if (evaluation === undefined) return fail('Cancelled: what was not finished is not written.');
        await writeEvaluation(join(out, RAW), evaluation);
        for (const leak of evaluation.head.leakage.leaks) fail(formatLeak(leak));
        const scored = scoreEvaluation(evaluation);
        for (const { row, score } of scored.filter((one) => one.score.unsafe !== null)) fail(`Unsafe dispatch: ${arm} on ${row.id} (${String(score.unsafe)})`);
        cells.push([`${named} ${set} ${arm}`, ...summaryCells(scored)]);
      }
    }
  }
  await runtime.value.engine.dispose();
  console.log(table(['', ...SUMMARY_HEAD], cells));
}

function progressOf(what: string): (done: number, total: number) => void {
  const startedAt = performance.now();
  return (done, total) => {
    if (done % PROGRESS_EVERY !== 0 && done !== total) return;
    const msEach = (performance.now() - startedAt) / done;
    log(`${what}: ${String(done)} of ${String(total)}, ${msEach.toFixed(0)} ms each, ${(msEach * (total - done) / 60_000).toFixed(1)} min left`);
  };
}

async function report({ out }: { readonly out: string }): Promise<void> {
  const written = await writeTrainingReport(out);
  if (written.ok) console.log(written.value.files.get(REPORT));
  else fail(JSON.stringify(written.error));
}

async function makeCases(): Promise<void> {
  for (const file of ['repairable', 'unrepairable'] as const) {
    const rows = makeFamilyRows(file);
    await writeFile(fileURLToPath(new URL(`../../data/${FAMILY_FILES[file]}`, import.meta.url)), pack(toJsonLines(rows)));
    log(`${FAMILY_FILES[file]}: ${String(rows.length)} cases`);
  }
}

function fail(message: string): void {
  log(message);
  process.exitCode = 1;
}

/** It names a file. */
function fileName(text: string): string {
  if (!/^[\w-]+$/u.test(text)) throw new InvalidArgumentError('must be of letters, digits, - and _');
  return text;
}

/** `2`, or `1..5`. */
function seedRange(text: string): readonly number[] {
  const [, first, last = first] = /^(\d+)(?:\.\.(\d+))?$/u.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  if (!(from <= to)) throw new InvalidArgumentError('must be a whole number, or two with .. between them');
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function positive(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('must be a whole number above 0');
  return count;
}
