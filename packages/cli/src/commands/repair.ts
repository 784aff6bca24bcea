/**
 * `contractrl repair`: each input record through core's reader and the repairer, into one result. A line that cannot be read costs one
 * `failed` record and the run goes on; the model is opened only once a record needs it. The ledger row comes before the result, so
 * nothing is handed out that is not on record.
 */
import { err, readRequestText, ROOT_POINTER, type IntakeIssue, type RepairOutcome } from '@contractrl/core';
import { EXIT, exitCodeOf, worse, type ExitCode } from '../exit-code.ts';
import { readInput, type InputRecord } from '../input.ts';
import type { Io } from '../io.ts';
import { openLedgerFile, type LedgerFile } from '../ledger-file.ts';
import { chooseFormat, type OutputFormat } from '../output-format.ts';
import { reportProblem, toInputProblem } from '../problem.ts';
import { createProgressLine } from '../progress.ts';
import { createReporter, type ErrorsFormat, type Reporter } from '../reporter.ts';
import type { RepairSession, Services, SessionOptions } from '../services.ts';

export interface RepairCommandOptions extends SessionOptions {
  readonly ledger: string | undefined;
  readonly format: OutputFormat | undefined;
  readonly errors: ErrorsFormat | undefined;
}

/** `path` is a file, or `-` for standard input. */
export async function repairCommand(path: string, options: RepairCommandOptions, io: Io, services: Services): Promise<ExitCode> {
  const input = await readInput(path, io);
  if (io.signal.aborted) return EXIT.interrupted;
  if (!input.ok) {
    await reportProblem(toInputProblem(input.error), io);
    return EXIT.usage;
  }
  const { records } = input.value;
  const format = chooseFormat(options.format, input.value, io.stdout.isTerminal);
  if (format === 'json' && records.length > 1) {
    await reportProblem({ code: 'usage/many-records', message: `--json prints one record, and the input has ${records.length}: use --jsonl.` }, io);
    return EXIT.usage;
  }
  const ledger = options.ledger === undefined ? undefined : await openLedgerFile(options.ledger);
  if (ledger?.ok === false) {
    await reportProblem(ledger.error, io);
    return EXIT.ledgerBroken;
  }
  const reporter = createReporter(format, options.errors, io);
  const run: Run = { options, io, services, reporter, ledger: ledger?.value, session: undefined };
  try {
    return await repairAll(records, run);
  } finally {
    await run.session?.dispose();
    await ledger?.value.close();
  }
}

interface Run {
  readonly options: RepairCommandOptions;
  readonly io: Io;
  readonly services: Services;
  readonly reporter: Reporter;
  readonly ledger: LedgerFile | undefined;
  session: RepairSession | undefined;
}

async function repairAll(records: readonly InputRecord[], run: Run): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  for (const [index, record] of records.entries()) {
    const step = run.io.signal.aborted ? INTERRUPTED : await repairOne(record, run);
    code = worse(code, step.code);
    if (!step.goOn) {
      if (step === INTERRUPTED) await run.io.stderr.write(`Stopped: ${index} of ${records.length} done; the one under way was dropped.\n`);
      return code;
    }
  }
  return code;
}

const NOT_UTF8: IntakeIssue = { code: 'request/not-json', pointer: ROOT_POINTER, params: { issue: 'input/not-utf8' } };

interface Step {
  readonly code: ExitCode;
  /** False where the following records would meet the same end. */
  readonly goOn: boolean;
}
const INTERRUPTED: Step = { code: EXIT.interrupted, goOn: false };

async function repairOne(record: InputRecord, run: Run): Promise<Step> {
  const { io, reporter, ledger } = run;
  const request = record.kind === 'text' ? readRequestText(record.text) : err(NOT_UTF8);
  if (!request.ok) {
    await reporter.unreadable(record.line, request.error);
    return { code: EXIT.notRepaired, goOn: true };
  }
  const session = run.session ?? (await openSession(run));
  if (session === undefined) return io.signal.aborted ? INTERRUPTED : { code: EXIT.notRepaired, goOn: false };
  run.session = session;
  const startMs = io.now();
  const outcome = await session.repair(request.value, io.signal);
  const totalMs = io.now() - startMs;
  if (io.signal.aborted && outcome.status === 'failed') return INTERRUPTED;
  if (ledger !== undefined && !(await appendToLedger(ledger, outcome, io))) return { code: EXIT.ledgerBroken, goOn: false };
  await reporter.outcome({ request: request.value, outcome, totalMs });
  return { code: exitCodeOf(outcome.status), goOn: true };
}

async function openSession({ services, options, io }: Run): Promise<RepairSession | undefined> {
  const progress = createProgressLine(io);
  const session = await services.openSession(options, { signal: io.signal, onProgress: (event) => progress.show(event) });
  await progress.finish();
  if (session.ok) return session.value;
  if (!io.signal.aborted) await reportProblem(session.error, io);
  return undefined;
}

async function appendToLedger(ledger: LedgerFile, outcome: RepairOutcome, io: Io): Promise<boolean> {
  const appended = await ledger.append(outcome.frozen);
  if (!appended.ok) await reportProblem(appended.error, io);
  return appended.ok;
}
