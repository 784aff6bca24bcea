/**
 * The 61 failing calls reconstructed from public bug reports (data/README.md): every record split into the public request
 * and the gold, and the scripted patches of its patch-stage cases.
 */
import type { ContractDocument, CrossFieldCheck, GateDocument, JsonObject, JsonValue, OperationKind, Patch } from '@contractrl/core';
import type { CaseGold, PublicCase } from './case.ts';
import { readRows } from './jsonl.ts';

export const BUGCASES_FILE = 'bugcases.jsonl.gz';

interface BugCaseRow {
  readonly id: string;
  readonly family: string;
  readonly stage: 'schema' | 'parse' | 'patch' | 'cross_field' | 'control' | 'policy';
  readonly tool: { readonly name: string; readonly description: string; readonly schema: JsonObject };
  readonly public_context?: JsonObject;
  readonly user_request: string;
  readonly failing_call: { readonly name: string; readonly arguments?: JsonValue; readonly arguments_raw?: string; readonly finish_reason?: string };
  readonly verifier_errors: readonly ListedError[];
  readonly contract: {
    readonly allowed_ops: readonly OperationKind[];
    readonly max_ops: number;
    readonly max_attempts: number;
    readonly immutable_paths: readonly string[];
    readonly cross_field: readonly CrossFieldCheck[];
    readonly gates?: readonly GateDocument[];
  };
  readonly proposed_patch?: JsonValue;
  readonly expected_patch_verdict?: { readonly code: string };
  readonly acceptable: 'abstain' | readonly { readonly arguments: JsonObject; readonly patch: Patch }[];
  readonly abstain_ok?: boolean;
}

/** One entry of a record's `verifier_errors`: what the report on the call as it arrived must say. */
export interface ListedError {
  readonly code: string;
  readonly pointer: string;
}

/** The public half of all cases, in the order of the file. */
export function bugCases(): readonly PublicCase[] {
  return rows().map((row) => ({ cohort: 'bugcases', request: toRequest(row) }));
}

/** The offline half, by case id. */
export function bugCaseGold(): ReadonlyMap<string, CaseGold> {
  return new Map(rows().map((row) => [row.id, toGold(row)]));
}

/** What went wrong, in a word, by case id. */
export function bugCaseFamilies(): ReadonlyMap<string, string> {
  return new Map(rows().map(({ id, family }) => [id, family]));
}

/** What the verifier is expected to say of each call as it arrived, by case id. */
export function listedErrors(): ReadonlyMap<string, { readonly stage: string; readonly errors: readonly ListedError[] }> {
  return new Map(rows().map((row) => [row.id, { stage: row.stage, errors: row.verifier_errors }]));
}

/** The patch-stage cases: a patch that was really proposed, and the code that the gate owes it. */
export function proposedPatches(): readonly { readonly id: string; readonly patch: JsonValue; readonly code: string }[] {
  return rows().flatMap(({ id, proposed_patch: patch, expected_patch_verdict: verdict }) =>
    patch === undefined || verdict === undefined ? [] : [{ id, patch, code: verdict.code }]);
}

function rows(): readonly BugCaseRow[] {
  return readRows<BugCaseRow>(BUGCASES_FILE);
}

function toRequest(row: BugCaseRow): PublicCase['request'] {
  const { allowed_ops, max_ops, max_attempts, immutable_paths, cross_field, gates } = row.contract;
  const contract: ContractDocument = {
    tool: { name: row.tool.name, description: row.tool.description, parameters: row.tool.schema },
    allowedOperations: allowed_ops,
    operationBudget: max_ops,
    attemptBudget: max_attempts,
    immutablePaths: immutable_paths,
    crossField: cross_field,
    gates: gates ?? [],
  };
  return {
    id: row.id,
    request: [{ role: 'user', content: row.user_request }],
    contract,
    toolNames: [row.tool.name],
    call: { name: row.failing_call.name, argumentsText: row.failing_call.arguments_raw ?? JSON.stringify(row.failing_call.arguments) },
    finishReason: row.failing_call.finish_reason,
    context: row.public_context ?? {},
  };
}

function toGold(row: BugCaseRow): CaseGold {
  if (row.acceptable === 'abstain') return { kind: 'abstain' };
  return { kind: 'one-of', acceptable: row.acceptable.map((entry) => entry.arguments), patches: row.acceptable.map((entry) => entry.patch), abstainOk: row.abstain_ok ?? false };
}
