/** Turns results into output: for a person, as records, or as the applied patches alone. Sentences go to standard error. */
import type { IntakeIssue, RepairOutcome } from '@contractrl/core';
import { failedRecord, toRepairRecord, type RepairRecord } from '@contractrl/core/records';
import { colorsFor, type Io } from './io.ts';
import type { OutputFormat } from './output-format.ts';
import { reportProblem, toIntakeProblem } from './problem.ts';
import { renderRepair, renderViolation, type RenderedRepair } from './render/human.ts';
import { toSafeText } from './render/text.ts';

export const ERRORS_FORMATS = ['json', 'line', 'text'] as const;
/** As ajv-cli has them: indented JSON, JSON on one line, or sentences. */
export type ErrorsFormat = (typeof ERRORS_FORMATS)[number];

export interface Reporter {
  outcome(repair: RenderedRepair): Promise<void>;
  /** `line` counts from 1 in the input and names the record, which has no id that could be trusted. */
  unreadable(line: number, issue: IntakeIssue): Promise<void>;
}

export function createReporter(format: OutputFormat, errors: ErrorsFormat | undefined, io: Io): Reporter {
  const colors = colorsFor(io.stdout, io.env);
  const print = (record: RepairRecord): Promise<void> => io.stdout.write(`${JSON.stringify(record, null, format === 'json' ? 2 : 0)}\n`);
  return {
    async outcome(repair) {
      const { outcome, totalMs } = repair;
      if (errors !== undefined) await printReport(outcome, errors, io);
      if (format === 'human') return io.stdout.write(`${renderRepair(repair, colors)}\n`);
      if (outcome.status === 'failed') await reportProblem({ code: outcome.reason, message: outcome.message }, io, outcome.id);
      if (format === 'changes') return io.stdout.write(`${JSON.stringify(toChanges(outcome))}\n`);
      return print(toRepairRecord(outcome, { totalMs }));
    },
    async unreadable(line, issue) {
      const id = `line ${line}`;
      await reportProblem(toIntakeProblem(issue), io, id);
      if (format === 'human') return;
      if (format === 'changes') return io.stdout.write('null\n');
      return print(failedRecord(id, issue));
    },
  };
}

/** Null where nothing may be run; an empty patch for a call that was valid as it came. */
function toChanges(outcome: RepairOutcome): unknown {
  if (outcome.status === 'repaired') return outcome.patch;
  return outcome.status === 'valid' ? [] : null;
}

/** On standard error, so that standard output stays one record a line. */
async function printReport({ id, reports }: RepairOutcome, errors: ErrorsFormat, io: Io): Promise<void> {
  if (errors === 'text') {
    const colors = colorsFor(io.stderr, io.env);
    return io.stderr.write(reports.map((violation) => `${toSafeText(id)}: ${renderViolation(violation, colors)}\n`).join(''));
  }
  return io.stderr.write(`${JSON.stringify(reports, null, errors === 'json' ? 2 : 0)}\n`);
}
