/**
 * `contractrl repair`: each input record through core's reader and the repairer, into one result. A line that cannot be read costs one
 * `failed` record and the run goes on; the model is opened only once a record needs it. The ledger row comes before the result, so
 * nothing is handed out that is not on record.
 */
import { readFile } from 'node:fs/promises';
import { err, NO_POLICY, repairCall, ROOT_POINTER, type IntakeIssue, type RepairOutcome } from '@contractrl/core';
import { readRequestText } from '@contractrl/core/records';
import { createLedger, hideContents, MIN_PRIVACY_KEY_BYTES } from '@contractrl/core/ledger';
import { openFileStorage, type FileStorage } from '@contractrl/ledger-storage/file';
import { EXIT, exitCodeOf, worse, type ExitCode } from '../exit-code.ts';
import { readInput, type InputRecord } from '../input.ts';
import type { Io } from '../io.ts';
import { toLedgerProblem, toRecoveryProblem } from '../ledger-file.ts';
import { chooseFormat, type OutputFormat } from '../output-format.ts';
import { reportProblem, toInputProblem } from '../problem.ts';
import { createProgressLine } from '../progress.ts';
import { createReporter, type ErrorsFormat, type Reporter } from '../reporter.ts';
import type { RepairSession, Services, SessionOptions } from '../services.ts';
import { MANIFEST } from '../version.ts';

export interface RepairCommandOptions extends SessionOptions {
  /** No model is opened: what reading and the deterministic step leave is declined. */
  readonly withoutModel: boolean;
  readonly ledger: string | undefined;
  /** File of the key under which the ledger hides contents; undefined where it holds them. */
  readonly ledgerKey: string | undefined;
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
  const key = options.ledgerKey === undefined ? undefined : await readPrivacyKey(options.ledgerKey, io);
  if (options.ledgerKey !== undefined && key === undefined) return EXIT.usage;
  const ledger = options.ledger === undefined ? undefined : await openLedger(options.ledger, io);
  if (options.ledger !== undefined && ledger === undefined) return EXIT.ledgerBroken;
  const reporter = createReporter(format, options.errors, io);
  const run: Run = { options, io, services, reporter, ledger, key, session: undefined };
  try {
    return await repairAll(records, run);
  } finally {
    await run.session?.dispose();
    await ledger?.close();
  }
}

interface Run {
  readonly options: RepairCommandOptions;
  readonly io: Io;
  readonly services: Services;
  readonly reporter: Reporter;
  readonly ledger: FileStorage | undefined;
  readonly key: Uint8Array | undefined;
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
  const { io, reporter, ledger, key } = run;
  const request = record.kind === 'text' ? readRequestText(record.text) : err(NOT_UTF8);
  if (!request.ok) {
    await reporter.unreadable(record.line, request.error);
    return { code: EXIT.notRepaired, goOn: true };
  }
  const session = run.session ?? (await openSession(run));
  if (session === undefined) return io.signal.aborted ? INTERRUPTED : { code: EXIT.notRepaired, goOn: false };
  run.session = session;
  const startMs = io.now();
  const repaired = await session.repair(request.value, io.signal);
  const totalMs = io.now() - startMs;
  if (io.signal.aborted && repaired.status === 'failed') return INTERRUPTED;
  const outcome = key === undefined ? repaired : withHiddenTrace(repaired, key);
  if (ledger !== undefined && !(await appendToLedger(ledger, outcome, io))) return { code: EXIT.ledgerBroken, goOn: false };
  await reporter.outcome({ request: request.value, outcome, totalMs });
  return { code: exitCodeOf(outcome.status), goOn: true };
}

const WITHOUT_MODEL: RepairSession = {
  repair: (request, signal) => repairCall(request, NO_POLICY, { signal, manifest: MANIFEST }),
  dispose: () => Promise.resolve(),
};

async function openSession({ services, options, io }: Run): Promise<RepairSession | undefined> {
  if (options.withoutModel) return WITHOUT_MODEL;
  const progress = createProgressLine(io);
  const session = await services.openSession(options, { signal: io.signal, onProgress: (event) => progress.show(event) });
  await progress.finish();
  if (session.ok) return session.value;
  if (!io.signal.aborted) await reportProblem(session.error, io);
  return undefined;
}

async function openLedger(path: string, io: Io): Promise<FileStorage | undefined> {
  const opened = await openFileStorage(path);
  if (!opened.ok) {
    await reportProblem(toLedgerProblem(path, opened.error), io);
    return undefined;
  }
  const { recovery } = opened.value;
  if (recovery !== undefined) await reportProblem(toRecoveryProblem(path, recovery), io, 'recovered');
  return opened.value;
}

async function readPrivacyKey(path: string, io: Io): Promise<Uint8Array | undefined> {
  const key = await readFile(path).catch(() => undefined);
  if (key !== undefined && key.length >= MIN_PRIVACY_KEY_BYTES) return key;
  await reportProblem({ code: 'ledger/bad-key', message: `${path} is no file of at least ${MIN_PRIVACY_KEY_BYTES} bytes: make one with "openssl rand -out ${path} 32".` }, io);
  return undefined;
}

/** The trace that the record names is the one on record. */
function withHiddenTrace(outcome: RepairOutcome, key: Uint8Array): RepairOutcome {
  const frozen = hideContents(outcome.frozen, key);
  return { ...outcome, frozen, ledger: frozen.digest };
}

async function appendToLedger(ledger: FileStorage, outcome: RepairOutcome, io: Io): Promise<boolean> {
  const appended = await createLedger(ledger).append(outcome.frozen);
  if (!appended.ok) await reportProblem(toLedgerProblem(ledger.path, appended.error), io);
  return appended.ok;
}
