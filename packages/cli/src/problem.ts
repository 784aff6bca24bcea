/** Why a command cannot go on, for a person: what happened and what to do about it, and the code that scripts and bug reports go by. */
import type { IntakeIssue } from '@contractrl/core';
import type { InputIssue } from './input.ts';
import { colorsFor, type Io } from './io.ts';
import { formatBytes, toSafeText } from './render/text.ts';

export interface Problem {
  readonly code: string;
  /** A sentence that ends with what to do. */
  readonly message: string;
}

/** `subject` names the record at fault, where it is one of many. */
export async function reportProblem({ code, message }: Problem, io: Io, subject: string = 'error'): Promise<void> {
  const colors = colorsFor(io.stderr, io.env);
  await io.stderr.write(`${colors.red(toSafeText(subject))}: ${toSafeText(message)} ${colors.dim(`[${code}]`)}\n`);
}

export function toInputProblem(issue: InputIssue): Problem {
  const { code } = issue;
  const name = issue.path === '-' ? 'Standard input' : issue.path;
  switch (code) {
    case 'input/unreadable': return { code, message: `${name} cannot be read (${issue.detail}): check the path and its permissions.` };
    case 'input/too-large': return { code, message: `${name} is larger than ${formatBytes(issue.limitBytes)}: split it into several files.` };
    case 'input/empty': return { code, message: `${name} holds no record: give one JSON document, or JSON Lines with one record a line.` };
  }
}

/** A record that cannot be read. `pointer` addresses the place inside it. */
export function toIntakeProblem({ code, pointer, params }: IntakeIssue): Problem {
  const place = pointer === '' ? 'the record' : pointer;
  switch (code) {
    case 'request/not-json': return { code, message: `The record is not JSON that can be trusted (${JSON.stringify(params)}): write one whole JSON object.` };
    case 'request/missing-field': return { code, message: `The record has no ${place}: add it.` };
    case 'request/wrong-type': return { code, message: `In the record ${place} has the wrong type: give ${String(params['expected'])}.` };
    case 'request/unknown-field': return { code, message: `The record has the unknown field ${place}: correct its name or remove it, or a restriction it means would be lost.` };
    case 'request/bad-value': return { code, message: `In the record ${place} has a value that is not allowed (${JSON.stringify(params)}): correct it.` };
  }
}
