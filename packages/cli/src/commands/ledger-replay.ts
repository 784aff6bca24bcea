/** `contractrl ledger replay`: every repair on record judged again, without the policy. What cannot be judged again is counted, by reason. */
import type { Contract } from '@contractrl/core';
import { formatIssue } from '@contractrl/core/messages';
import { checkRepair } from '@contractrl/core/ledger';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { colorsFor, type Io } from '../io.ts';
import { readLedgerFile } from '../ledger-file.ts';
import { reportProblem } from '../problem.ts';
import { toSafeText } from '../render/text.ts';

export async function ledgerReplayCommand(path: string, asJson: boolean, io: Io): Promise<ExitCode> {
  const contracts = new Map<string, Contract>();
  const notChecked = new Map<string, number>();
  let repairs = 0;
  let checked = 0;
  let failure: { readonly row: number; readonly caseId: string; readonly code: string } | undefined;
  const code = await readLedgerFile(path, io, async ({ firstRow, repair }) => {
    repairs += 1;
    const report = await checkRepair(repair, {}, contracts);
    if (!report.ok) {
      const row = firstRow + ('index' in report.error ? report.error.index : 0);
      failure ??= { row, caseId: repair.opened.caseId, code: report.error.code };
      if (!asJson) await reportProblem({ code: report.error.code, message: `Row ${row}, case "${repair.opened.caseId}": ${formatIssue(report.error)}` }, io);
      return EXIT.ledgerBroken;
    }
    if (report.value.notChecked.length === 0) checked += 1;
    for (const { step, reason } of report.value.notChecked) notChecked.set(`${step} ${reason}`, (notChecked.get(`${step} ${reason}`) ?? 0) + 1);
    return EXIT.ok;
  });
  if (repairs === 0 && code !== EXIT.ok) return code;
  const gaps = [...notChecked].map(([name, count]) => {
    const [step, reason] = name.split(' ') as [string, string];
    return { step, reason, count };
  });
  if (asJson) {
    await io.stdout.write(`${JSON.stringify({ ok: failure === undefined, repairs, judgedAgain: checked, notChecked: gaps, ...(failure === undefined ? {} : { brokenAt: failure.row, caseId: failure.caseId, code: failure.code }) })}\n`);
  } else if (failure === undefined) {
    const colors = colorsFor(io.stdout, io.env);
    await io.stdout.write(`${colors.green('agrees')}  ${toSafeText(path)}: ${checked} of ${repairs} repairs come out as recorded\n`);
    for (const { step, reason, count } of gaps) await io.stdout.write(`not checked: ${step} of ${count} [${reason}]\n`);
  }
  return code;
}
