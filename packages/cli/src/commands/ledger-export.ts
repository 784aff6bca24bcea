/**
 * `contractrl ledger export`: one line of CSV a repair (RFC 4180), or one in-toto statement about the ledger file
 * (in-toto Attestation Framework, Statement v1) that other tools can sign and keep.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { LedgerHead } from '@contractrl/core/ledger';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { readLedgerFile } from '../ledger-file.ts';
import { summarise, type RepairSummary } from '../ledger-summary.ts';

export const EXPORT_LEDGER_FORMATS = ['csv', 'in-toto'] as const;
export type LedgerExportFormat = (typeof EXPORT_LEDGER_FORMATS)[number];

export function ledgerExportCommand(path: string, format: LedgerExportFormat, io: Io): Promise<ExitCode> {
  return format === 'csv' ? exportCsv(path, io) : exportStatement(path, io);
}

const COLUMNS = [
  'firstRow', 'caseId', 'tool', 'status', 'reason', 'attempts', 'retries', 'operations', 'attemptsLeft', 'operationsLeft', 'validatorCalls', 'collateralOp', 'collateralPtr',
  'promptTokens', 'generatedTokens', 'forcedTokens', 'prefillMs', 'decodeMs', 'maskMs', 'contractDigest', 'argumentsDigest', 'traceDigest',
] as const satisfies readonly (keyof RepairSummary)[];

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

async function exportStatement(path: string, io: Io): Promise<ExitCode> {
  const repairs: Pick<RepairSummary, 'firstRow' | 'caseId' | 'tool' | 'status' | 'reason' | 'attempts' | 'operations' | 'contractDigest' | 'argumentsDigest' | 'traceDigest'>[] = [];
  return readLedgerFile(path, io, (recorded) => {
    const { firstRow, caseId, tool, status, reason, attempts, operations, contractDigest, argumentsDigest, traceDigest } = summarise(recorded);
    repairs.push({ firstRow, caseId, tool, status, reason, attempts, operations, contractDigest, argumentsDigest, traceDigest });
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
