/** `contractrl ledger verify`: the hash chain from the first row to the last, or the first row that breaks it. */
import { EXIT, type ExitCode } from '../exit-code.ts';
import { colorsFor, type Io } from '../io.ts';
import { toLedgerProblem, verifyLedgerFile } from '../ledger-file.ts';
import { reportProblem } from '../problem.ts';
import { toSafeText } from '../render/text.ts';

export async function ledgerVerifyCommand(path: string, asJson: boolean, io: Io): Promise<ExitCode> {
  const read = await verifyLedgerFile(path);
  if (!read.ok) {
    await reportProblem(read.error, io);
    return EXIT.usage;
  }
  const head = read.value;
  if (asJson) {
    const report = head.ok ? { ok: true, ...head.value } : { ok: false, brokenAt: head.error.index, code: head.error.code };
    await io.stdout.write(`${JSON.stringify(report)}\n`);
  } else if (head.ok) {
    const colors = colorsFor(io.stdout, io.env);
    await io.stdout.write(`${colors.green('whole')}  ${toSafeText(path)}: ${head.value.count} rows, head ${head.value.head}\n`);
  } else {
    await reportProblem(toLedgerProblem(path, head.error), io);
  }
  return head.ok ? EXIT.ok : EXIT.ledgerBroken;
}
