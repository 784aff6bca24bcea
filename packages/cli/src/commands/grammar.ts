/**
 * `contractrl grammar`: the contract of one failed call in a format that other constraint engines read. Only the grammar goes to standard
 * output; what it cannot carry goes to standard error, a line each.
 */
import { err, loadContract, ok, openRepair, validateArguments, type Result } from '@contractrl/core';
import { formatIssue } from '@contractrl/core/messages';
import { readRequestText } from '@contractrl/core/records';
import { describeOmission, exportGrammar, type ExportedGrammar, type ExportFormat } from '@contractrl/grammar-mask/export';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { readInput, type InputRecord } from '../input.ts';
import type { Io } from '../io.ts';
import { reportProblem, toInputProblem, toIntakeProblem, type Problem } from '../problem.ts';
import { toSafeText } from '../render/text.ts';

/** `path` is a file, or `-` for standard input. */
export async function grammarCommand(path: string, format: ExportFormat, io: Io): Promise<ExitCode> {
  const input = await readInput(path, io);
  if (io.signal.aborted) return EXIT.interrupted;
  if (!input.ok) {
    await reportProblem(toInputProblem(input.error), io);
    return EXIT.usage;
  }
  const [record, second] = input.value.records;
  if (record === undefined || second !== undefined) {
    await reportProblem({ code: 'usage/many-records', message: `A grammar belongs to one record, and the input has ${input.value.records.length}: give one.` }, io);
    return EXIT.usage;
  }
  const grammar = grammarOf(record, format);
  if (!grammar.ok) {
    await reportProblem(grammar.error, io);
    return EXIT.notRepaired;
  }
  await io.stdout.write(grammar.value.text);
  for (const omission of grammar.value.notCarried) await io.stderr.write(`not carried: ${toSafeText(describeOmission(omission))}\n`);
  return EXIT.ok;
}

/** In the state that a repair of the record would begin in. */
function grammarOf(record: InputRecord, format: ExportFormat): Result<ExportedGrammar, Problem> {
  if (record.kind !== 'text') return err({ code: 'input/not-utf8', message: 'The record is not UTF-8 text: save it as such.' });
  const request = readRequestText(record.text);
  if (!request.ok) return err(toIntakeProblem(request.error));
  const contract = loadContract(request.value.contract);
  if (!contract.ok) return err({ code: contract.error.code, message: formatIssue(contract.error) });
  const { report, value } = validateArguments(contract.value, request.value.call.argumentsText);
  if (report.kind === 'valid') return err({ code: 'grammar/nothing-to-repair', message: 'The call is valid and no patch is asked for: give a call that failed.' });
  if (value === undefined) return err({ code: 'grammar/unreadable-arguments', message: 'The arguments are not one JSON value, so no patch applies to them: give a call whose arguments can be read.' });
  const grammar = exportGrammar(contract.value, openRepair(contract.value, report, value), format);
  return grammar.ok ? ok(grammar.value) : err({ code: grammar.error.code, message: 'The grammar of this call is too large to be of use: give a smaller call or schema.' });
}
