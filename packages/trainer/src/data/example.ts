/**
 * One training example, as a row of the data set: the repair request that a user's program would send, the right answer in the mask's spelling, and what
 * it is an example of. `openExample` makes of it what the policy sees; the answer never enters that.
 */
import {
  CONTRACT_VERSION, DEFAULT_ATTEMPT_BUDGET, DEFAULT_OPERATION_BUDGET, err, loadContract, ok, openRepair, OPERATION_KINDS, validateArguments,
  type ContractIssue, type JsonObject, type JsonValue, type Observation, type Operation, type Result, type Violation,
} from '@contractrl/core';
import type { IntakeIssue } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';
import type { Corruption } from '../corrupt/corrupt.ts';
import type { Answer, Family } from '../corrupt/family.ts';
import type { ReportNoise, ShownReport } from '../corrupt/report-noise.ts';
import type { LegalCall } from '../legal-call.ts';
import type { Difficulty, Structure } from './stratum.ts';

export const SPLITS = ['train', 'validation'] as const;
export type Split = (typeof SPLITS)[number];

export interface Example {
  /** `<id of the legal call>#<number>`. */
  readonly id: string;
  readonly split: Split;
  readonly source: string;
  readonly family: Family;
  readonly form: string;
  readonly difficulty: Difficulty;
  readonly structure: Structure;
  /** A record as `readRepairRequest` takes it. */
  readonly record: JsonObject;
  /** What the judge says of the failed call. */
  readonly report: readonly { readonly code: string; readonly pointer: string }[];
  /** The completion to learn: canonical text of a patch or an abstention. */
  readonly answer: string;
  /** The legal arguments; null where the right answer is to decline. */
  readonly target: JsonObject | null;
  /** What is shown in place of the judge's report, where the verifier is made to speak wrongly. */
  readonly noise: { readonly kind: ReportNoise; readonly shown: readonly Violation[] } | null;
}

/** The id of the legal call that the example was made of. */
export function callOf({ id }: Pick<Example, 'id'>): string {
  return id.slice(0, id.lastIndexOf('#'));
}

/** Compact, members in the order of the grammar: op, from, path, value. */
export function answerText(answer: Answer): string {
  if (answer.kind === 'abstain') return JSON.stringify({ abstain: answer.code });
  return JSON.stringify(answer.patch.map((operation: Operation): JsonValue => {
    const { op, path } = operation;
    return { op, ...('from' in operation ? { from: operation.from } : {}), path, ...('value' in operation ? { value: operation.value } : {}) };
  }));
}

export interface ExampleParts {
  readonly call: LegalCall;
  readonly corruption: Corruption;
  readonly id: string;
  readonly split: Split;
  readonly difficulty: Difficulty;
  readonly structure: Structure;
  readonly noise: { readonly kind: ReportNoise; readonly shown: ShownReport } | undefined;
}

export function toExample({ call, corruption, id, split, difficulty, structure, noise }: ExampleParts): Example {
  const { family, form, contract, request, argumentsText, answer, report } = corruption;
  return {
    id, split, source: call.source, family, form, difficulty, structure,
    record: { id, request: request as JsonValue, tool: contract.document.tool as unknown as JsonObject, call: { name: contract.document.tool.name, arguments: argumentsText }, contract: beyondDefaults(contract.document) },
    report: report.violations.map(({ code, pointer }) => ({ code, pointer })), answer: answerText(answer), target: answer.kind === 'abstain' ? null : call.arguments, noise: noise ?? null,
  };
}

/** What of a contract a record must say: the defaults stand in for the rest. */
function beyondDefaults(document: Corruption['contract']['document']): JsonObject {
  const { tool: _, version = CONTRACT_VERSION, allowedOperations, operationBudget, attemptBudget, ...rest } = document;
  const said = {
    ...(version === CONTRACT_VERSION ? {} : { version }), ...(allowedOperations.length === OPERATION_KINDS.length ? {} : { allowedOperations }),
    ...(operationBudget === DEFAULT_OPERATION_BUDGET ? {} : { operationBudget }), ...(attemptBudget === DEFAULT_ATTEMPT_BUDGET ? {} : { attemptBudget }),
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => !Array.isArray(value) || value.length > 0)),
  };
  return said as unknown as JsonObject;
}

export type ExampleIssue = IntakeIssue | ContractIssue | { readonly code: 'trainer/call-valid' };

/**
 * What the policy is shown of an example in its first attempt, without the deterministic step. Fails with the codes of `readRepairRequest` and `loadContract`,
 * and with `trainer/call-valid` where there is nothing to repair.
 */
export function openExample({ record, noise }: Pick<Example, 'record' | 'noise'>): Result<Observation, ExampleIssue> {
  const read = readRepairRequest(record);
  if (!read.ok) return read;
  const { request, context, contract: document, call } = read.value;
  const contract = loadContract(document);
  if (!contract.ok) return contract;
  const { report, value: candidate } = validateArguments(contract.value, call.argumentsText);
  if (report.kind === 'valid' || candidate === undefined) return err({ code: 'trainer/call-valid' });
  const [first, ...rest] = noise === null ? report.violations : noise.shown;
  const violations: ShownReport = [first ?? report.violations[0], ...rest];
  return ok({ contract: contract.value, request, context, given: candidate, state: openRepair(contract.value, { kind: 'invalid', violations }, candidate), violations });
}
