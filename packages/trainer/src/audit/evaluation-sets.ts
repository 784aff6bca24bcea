/**
 * The evaluation sets as the audit sees them: BFCL with every tool on offer, tau-bench, tau2-bench, the bug cases, and failed calls of BFCL. Those are all
 * single-field corruptions that the 64-case file of CHECKLIST J2 (and any larger draw of its rule) takes its cases from, so no draw can bring another.
 */
import { join } from 'node:path';
import { childOf, ROOT_POINTER, type JsonObject, type JsonValue, type Operation, type ToolDefinition } from '@contractrl/core';
import { hasFile, readLines } from '../data/files.ts';
import { callKeys, caseKeys, type KeyOf } from './keys.ts';
import type { EvaluationKeys } from './leakage-index.ts';

type Tool = Pick<ToolDefinition, 'name' | 'parameters'>;

interface Row {
  readonly id: string;
  readonly query?: string;
  readonly user_request?: string;
  readonly tool?: Tool & { readonly schema?: JsonObject };
  readonly tools?: readonly Tool[];
  readonly call?: { readonly arguments: JsonObject } | null;
  readonly failing_call?: { readonly arguments?: JsonValue };
  readonly verifier_errors?: readonly { readonly code: string; readonly pointer: string }[];
  readonly acceptable?: 'abstain' | readonly { readonly arguments: JsonObject; readonly patch: readonly Operation[] }[];
}

const SETS: readonly { readonly name: string; readonly file: string; readonly read: (row: Row) => readonly KeyOf[] }[] = [
  { name: 'bfcl', file: join('bfcl', 'bfcl_uniform.jsonl.gz'), read: (row) => [...legalKeys(row), ...corruptedKeys(row)] },
  { name: 'bfcl-irrelevance', file: join('bfcl', 'bfcl_irrelevance_uniform.jsonl.gz'), read: legalKeys },
  { name: 'tau-bench', file: join('tau-bench', 'gold_calls.jsonl.gz'), read: (row) => [...legalKeys(row), ...corruptedKeys(row)] },
  { name: 'tau2-bench', file: join('tau2-bench', 'gold_calls.jsonl.gz'), read: (row) => [...legalKeys(row), ...corruptedKeys(row)] },
  { name: 'bugcases', file: join('bugcases', 'bugcases.jsonl'), read: bugCaseKeys },
];

export type EvaluationIssue = { readonly code: 'audit/evaluation-set-missing'; readonly set: string; readonly file: string };

/** Every set that must be there; those that are not, by name. */
export function readEvaluationSets(folder: string): { readonly evaluation: readonly EvaluationKeys[]; readonly missing: readonly EvaluationIssue[] } {
  const [present, absent] = [true, false].map((wanted) => SETS.filter(({ file }) => hasFile(join(folder, file)) === wanted));
  return {
    evaluation: present!.flatMap(({ name, file, read }) => readLines<Row>(join(folder, file)).map((row) => ({ set: name, keys: read(row) }))),
    missing: absent!.map(({ name, file }) => ({ code: 'audit/evaluation-set-missing', set: name, file })),
  };
}

function legalKeys({ id, query = '', tool, tools = [], call }: Row): readonly KeyOf[] {
  return callKeys({ id, request: query, tools: [...(tool === undefined ? [] : [tool]), ...tools], target: call?.arguments });
}

/** An argument left out, or of another type in one of six forms. */
function corruptedKeys({ tool, call }: Row): readonly KeyOf[] {
  if (tool === undefined || call === undefined || call === null) return [];
  const args = call.arguments;
  return Object.entries(args).flatMap(([name, value]) => {
    const path = childOf(ROOT_POINTER, name);
    const without = Object.fromEntries(Object.entries(args).filter(([other]) => other !== name));
    const wrong: readonly JsonValue[] = [typeof value === 'string' ? value : JSON.stringify(value), [value], { value }, null, 'unknown', true];
    const keysOf = (candidate: JsonObject, operation: Operation, code: string): readonly KeyOf[] => (
      caseKeys({ toolName: tool.name, candidate, operations: [operation], faults: [{ code, pointer: path }] })
    );
    return [
      ...keysOf(without, { op: 'add', path, value }, 'missing_required'),
      ...wrong.flatMap((other) => keysOf({ ...args, [name]: other }, { op: 'replace', path, value }, 'wrong_type')),
    ];
  });
}

function bugCaseKeys({ id, user_request: request = '', tool, failing_call: failed, verifier_errors: faults = [], acceptable = 'abstain' }: Row): readonly KeyOf[] {
  const tools = tool === undefined ? [] : [{ name: tool.name, parameters: tool.schema ?? {} }];
  const given = failed?.arguments;
  const candidate = typeof given === 'object' && given !== null && !Array.isArray(given) ? given as JsonObject : undefined;
  const answers = acceptable === 'abstain' ? [undefined] : acceptable;
  return answers.flatMap((answer) => [
    ...callKeys({ id, request, tools, target: answer?.arguments }),
    ...caseKeys({ toolName: tool?.name ?? '', candidate, operations: answer?.patch ?? [], faults }),
  ]);
}
