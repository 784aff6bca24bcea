/** `contractrl ledger show`: one line a repair; with a case, what happened in it as well. */
import type { AttemptEntry, LedgerEntry } from '@contractrl/core';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { colorsFor, type Colors, type Io } from '../io.ts';
import { readLedgerFile } from '../ledger-file.ts';
import { summarise } from '../ledger-summary.ts';
import { reportProblem } from '../problem.ts';
import { renderViolation, renderWritten } from '../render/human.ts';
import { shorten, toSafeJson, toSafeText } from '../render/text.ts';

const COLUMNS: readonly (readonly [string, number])[] = [['row', 7], ['case', 28], ['tool', 24], ['status', 10], ['tries', 6], ['ops', 4], ['reason', 0]];

export async function ledgerShowCommand(path: string, caseId: string | undefined, io: Io): Promise<ExitCode> {
  const colors = colorsFor(io.stdout, io.env);
  let shown = 0;
  const code = await readLedgerFile(path, io, async (recorded) => {
    if (caseId !== undefined && recorded.repair.opened.caseId !== caseId) return EXIT.ok;
    if (shown === 0) await io.stdout.write(`${colors.bold(toRow(COLUMNS.map(([name]) => name)))}\n`);
    shown += 1;
    const { firstRow, caseId: id, tool, status, attempts, operations, reason } = summarise(recorded);
    await io.stdout.write(`${toRow([firstRow, id, tool, status, attempts, operations, reason ?? ''])}\n`);
    if (caseId !== undefined) for (const entry of recorded.repair.entries) await io.stdout.write(renderEntry(entry, colors));
    return EXIT.ok;
  });
  if (code !== EXIT.ok || shown > 0 || caseId === undefined) return code;
  await reportProblem({ code: 'ledger/unknown-case', message: `The ledger ${path} holds no repair of the case "${caseId}": see its cases with "ledger show".` }, io);
  return EXIT.notRepaired;
}

/** A value wider than its column moves the others on rather than being cut. */
function toRow(values: readonly (string | number)[]): string {
  return values.map((value, index) => toSafeText(String(value)).replaceAll(/[\n\t]/gu, ' ').padEnd(COLUMNS[index]?.[1] ?? 0)).join(' ').trimEnd();
}

function renderEntry(entry: LedgerEntry, colors: Colors): string {
  const lines = linesOf(entry, colors);
  return lines.map((line, index) => (index === 0 ? `        ${colors.cyan(entry.kind)}  ${line}\n` : `          ${line}\n`)).join('');
}

function linesOf(entry: LedgerEntry, colors: Colors): readonly string[] {
  switch (entry.kind) {
    case 'opened': return [shorten(toSafeText(entry.call.arguments.text ?? `arguments not recorded, digest ${entry.call.arguments.digest}`)), ...entry.report.map((violation) => renderViolation(violation, colors))];
    case 'deterministic': return [entry.verdict, ...entry.patch.map((operation) => shorten(toSafeJson(operation), 1_000)), ...writtenLines(entry, colors)];
    case 'attempt': return [`${entry.number}: ${toSafeText(entry.verdict)}`, ...(entry.patch ?? []).map((operation) => shorten(toSafeJson(operation), 1_000)), ...writtenLines(entry, colors), ...entry.report.map((violation) => renderViolation(violation, colors))];
    case 'abstention': return [toSafeText(entry.verdict)];
    case 'closed': return [`${entry.status}${entry.reason === null ? '' : ` (${toSafeText(entry.reason)})`}, ${entry.attemptsLeft} tries and ${entry.operationsLeft} operations left`];
    case 'resources': return [`prefill ${entry.prefillMs} ms, decode ${entry.decodeMs} ms, mask ${entry.maskMs} ms`];
  }
}

function writtenLines({ written = [] }: Pick<AttemptEntry, 'written'>, colors: Colors): readonly string[] {
  return written.map((value) => renderWritten(value, colors));
}
