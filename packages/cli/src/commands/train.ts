/**
 * `contractrl train`: an adapter for the tools in a file. The trainer is a package of its own that is loaded here alone, so that no other command starts
 * slower for it; where it was left out of the installation, the command says how to add it.
 */
import { readFile } from 'node:fs/promises';
import type { Comparison, TrainedForTools, TrainForToolsOptions } from '@contractrl/trainer/user';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { createProgressLine } from '../progress.ts';
import { reportProblem } from '../problem.ts';
import type { Services, Trainer } from '../services.ts';
import { createTrainReporter } from './train-reporter.ts';
import { toTrainProblem } from './train-problem.ts';

export interface TrainOptions extends Pick<TrainForToolsOptions, 'rank' | 'minutes' | 'seed' | 'resume' | 'generalShare' | 'splitBy' | 'allowOverlap'> {
  /** File of tool definitions. */
  readonly tools: string;
  /** Files of recorded calls or ledgers. */
  readonly traces: readonly string[];
  /** Folder of the run; undefined for one named after the rank. */
  readonly out: string | undefined;
  readonly examples: number | undefined;
  /** GGUF file; undefined for the base model. */
  readonly base: string | undefined;
  /** Adapter to begin with; undefined for the one of that rank that ships. */
  readonly from: string | undefined;
  /** Folder of the public and the evaluation sets; undefined for those of the trainer. */
  readonly data: string | undefined;
  readonly json: boolean;
}

export async function trainCommand(options: TrainOptions, io: Io, services: Services): Promise<ExitCode> {
  const { tools: path, traces: paths, examples, base, from, data, out = `adapter-r${options.rank}` } = options;
  const tools = await readText(path, io);
  const traces: { readonly file: string; readonly text: string }[] = [];
  for (const file of paths) {
    const text = await readText(file, io);
    if (text === undefined) return EXIT.usage;
    traces.push({ file, text });
  }
  if (tools === undefined) return EXIT.usage;
  const trainer = await services.loadTrainer();
  if (!trainer.ok) {
    await reportProblem(trainer.error, io);
    return EXIT.notRepaired;
  }
  const { rank, minutes, seed, resume, generalShare, splitBy, allowOverlap } = options;
  const progress = createProgressLine(io);
  const trained = await trainer.value.trainForTools({
    rank, minutes, seed, resume, generalShare, splitBy, allowOverlap, tools, traces, out, clock: () => io.now(), signal: io.signal, onEvent: createTrainReporter(progress, io),
    ...(examples === undefined ? {} : { examples }), ...(base === undefined ? {} : { model: base }), ...(from === undefined ? {} : { from }), ...(data === undefined ? {} : { dataFolder: data }),
  });
  await progress.finish();
  if (!trained.ok) {
    if (trained.error.code === 'train/aborted' || io.signal.aborted) return EXIT.interrupted;
    await reportProblem(toTrainProblem(trained.error), io);
    return EXIT.notRepaired;
  }
  const compared = comparisonOf(trained.value, trainer.value);
  await io.stdout.write(options.json ? `${JSON.stringify(toRecord(trained.value, compared, trainer.value))}\n` : toText(trained.value, compared, { out, base }, trainer.value));
  // last, and not on the stream that a program reads: whoever trained an adapter takes it for the better one
  const warning = compared === undefined ? undefined : trainer.value.formatComparison(compared);
  if (warning !== undefined) await reportProblem({ code: 'train/worse', message: warning }, io, 'warning');
  return trained.value.end === 'aborted' ? EXIT.interrupted : EXIT.ok;
}

async function readText(path: string, io: Io): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (error) {
    await reportProblem({ code: 'input/unreadable', message: `${path} cannot be read (${error instanceof Error ? error.message : String(error)}): check the path and its permissions.` }, io);
    return undefined;
  }
}

/** Undefined where there was no look after training. */
function comparisonOf({ before, after }: TrainedForTools, { compareLooks }: Trainer): Comparison | undefined {
  return after === undefined ? undefined : compareLooks(before.rows, after.rows);
}

/** As `repair --adapter` takes it. */
function keptOf({ adapter, start }: TrainedForTools, { keep }: Comparison): string {
  return keep === 'before' ? start : adapter;
}

function toRecord(trained: TrainedForTools, compared: Comparison | undefined, { summariseEvaluation }: Trainer): unknown {
  const { adapter, start, end, stepCount, best, before, after } = trained;
  return {
    adapter, start, end, steps: stepCount, best: best ?? null, before: summariseEvaluation(before.rows), after: after === undefined ? null : summariseEvaluation(after.rows),
    isWorse: compared?.isWorse ?? null, keep: compared === undefined ? null : keptOf(trained, compared),
  };
}

const ENDS: Readonly<Record<TrainedForTools['end'], string>> = {
  done: 'all steps taken', 'validation-rose': 'stopped, validation did not get better', 'out-of-time': 'time is up; --resume goes on', aborted: 'stopped; --resume goes on',
};

function toText(trained: TrainedForTools, compared: Comparison | undefined, { out, base }: { readonly out: string; readonly base: string | undefined }, { summariseEvaluation }: Trainer): string {
  const { adapter, end, stepCount, best, before, after } = trained;
  const head = `${stepCount} steps: ${ENDS[end]}.\n`;
  if (after === undefined || compared === undefined || best === undefined) return `${head}${out} holds a checkpoint.\n`;
  const [was, is] = [summariseEvaluation(before.rows), summariseEvaluation(after.rows)];
  const share = (count: number, n: number): string => `${((100 * count) / n).toFixed(0)} %`;
  const row = (name: string, of: (summary: typeof is) => number): string => `  ${name.padEnd(34)}${share(of(was), was.n).padStart(7)}${share(of(is), is.n).padStart(8)}\n`;
  const repair = `contractrl repair call.json${base === undefined ? '' : ` --model ${base}`} --adapter ${keptOf(trained, compared)}`;
  const made = best.step === 0 ? 'No step was better on the validation side, and the adapter is what training began with' : `Adapter of step ${best.step}`;
  return [
    head, `${`${is.n} validation examples`.padEnd(36)}${'before'.padStart(7)}${'after'.padStart(8)}\n`, row('right', ({ verdicts }) => verdicts.right + verdicts['abstained-rightly']), row('wrong, and would have been run', ({ verdicts }) => verdicts.wrong),
    row('declined though repairable', ({ verdicts }) => verdicts['abstained-falsely']),
    compared.keep === 'after' ? `${made}: ${repair}\n` : `${made}: ${adapter}\nBetter, and there before: ${repair}\n`,
  ].join('');
}
