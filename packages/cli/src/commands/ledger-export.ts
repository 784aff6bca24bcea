/**
 * `contractrl ledger export`: one line of CSV a repair (RFC 4180), one row of a Parquet file, or one in-toto statement about the ledger
 * file (in-toto Attestation Framework, Statement v1) that other tools can sign and keep.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { assertNever, type ClosedEntry } from '@contractrl/core';
import type { LedgerHead } from '@contractrl/core/ledger';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { readLedgerFile } from '../ledger-file.ts';
import { summarise, type RepairSummary } from '../ledger-summary.ts';
import type { ColumnType } from '../parquet-table.ts';
import { reportProblem } from '../problem.ts';

export const EXPORT_LEDGER_FORMATS = ['csv', 'parquet', 'in-toto'] as const;
export type LedgerExportFormat = (typeof EXPORT_LEDGER_FORMATS)[number];

export function ledgerExportCommand(path: string, format: LedgerExportFormat, io: Io): Promise<ExitCode> {
  switch (format) {
    case 'csv': return exportCsv(path, io);
    case 'parquet': return exportParquet(path, io);
    case 'in-toto': return exportStatement(path, io);
    default: return assertNever(format);
  }
}

/** The columns of tables, with their types in Parquet; each may be null where it is so in a {@link RepairSummary}. */
const TYPES = {
  firstRow: 'INT64', caseId: 'STRING', tool: 'STRING', status: 'STRING', reason: 'STRING', attempts: 'INT32', retries: 'INT32', operations: 'INT32',
  attemptsLeft: 'INT32', operationsLeft: 'INT32', validatorCalls: 'INT32', collateralOp: 'INT32', collateralPtr: 'INT32',
  promptTokens: 'INT32', generatedTokens: 'INT32', forcedTokens: 'INT32', prefillMs: 'DOUBLE', decodeMs: 'DOUBLE', maskMs: 'DOUBLE', written: 'STRING', madeUp: 'INT32',
  contractDigest: 'STRING', argumentsDigest: 'STRING', traceDigest: 'STRING',
} as const satisfies Readonly<Record<keyof RepairSummary, ColumnType>>;
const COLUMNS = Object.keys(TYPES) as readonly (keyof RepairSummary)[];

async function exportCsv(path: string, io: Io): Promise<ExitCode> {
  let isFirst = true;
  const header = async (): Promise<void> => {
    if (isFirst) await io.stdout.write(`${COLUMNS.join()}\r\n`);
    isFirst = false;
  };
  return readLedgerFile(path, io, async (recorded) => {
    await header();
    const summary = summarise(recorded);
    await io.stdout.write(`${COLUMNS.map((column) => toCell(summary[column])).join()}\r\n`);
    return EXIT.ok;
  }, header);
}

/** Spreadsheets run a cell that begins like a formula: such a text gets an apostrophe, which they take as "this is text". */
function toCell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = /^[=+\-@\t\r]/u.test(value) ? `'${value}` : value;
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function exportParquet(path: string, io: Io): Promise<ExitCode> {
  if (io.stdout.isTerminal) {
    await reportProblem({ code: 'usage/binary-to-terminal', message: 'A Parquet file is no text for a terminal: send it to a file with >.' }, io);
    return EXIT.usage;
  }
  // the writer takes longer to load than all other commands' libraries together
  const { createParquetTable } = await import('../parquet-table.ts');
  const table = createParquetTable(TYPES, io.stdout);
  return readLedgerFile(path, io, async (recorded) => {
    await table.add(summarise(recorded));
    return EXIT.ok;
  }, () => table.close());
}

async function exportStatement(path: string, io: Io): Promise<ExitCode> {
  const repairs: (Pick<RepairSummary, 'firstRow' | 'caseId' | 'tool' | 'status' | 'reason' | 'attempts' | 'operations' | 'madeUp' | 'contractDigest' | 'argumentsDigest' | 'traceDigest'> & { readonly written: ClosedEntry['written'] | null })[] = [];
  return readLedgerFile(path, io, (recorded) => {
    const { firstRow, caseId, tool, status, reason, attempts, operations, madeUp, contractDigest, argumentsDigest, traceDigest } = summarise(recorded);
    const written = recorded.repair.closed.written ?? null;
    repairs.push({ firstRow, caseId, tool, status, reason, attempts, operations, written, madeUp, contractDigest, argumentsDigest, traceDigest });
    return Promise.resolve(EXIT.ok);
  }, async ({ count, head }: LedgerHead) => {
    const hash = createHash('sha256');
    await pipeline(createReadStream(path), hash);
    await io.stdout.write(`${JSON.stringify({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: basename(path), digest: { sha256: hash.digest('hex') } }],
      predicateType: 'urn:contractrl:ledger:1',
      predicate: { count, head, repairs },
    })}\n`);
  });
}
