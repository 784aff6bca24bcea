/**
 * The evaluation sets as the audit sees them: BFCL with every tool on offer, tau-bench, tau2-bench, the bug cases, and failed calls of BFCL. Those are all
 * single-field corruptions that the 64-case file of CHECKLIST J2 (and any larger draw of its rule) takes its cases from, so no draw can bring another.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { childOf, ROOT_POINTER, type JsonObject, type JsonValue, type Operation, type ToolDefinition } from '@contractrl/core';
import { hasFile, readLines } from '../data/files.ts';
import { callKeys, caseKeys, type KeyOf } from './keys.ts';
import type { EvaluationKeys } from './leakage-index.ts';
import { packKeys, readPackedKeys, type EvaluationSet } from './packed-keys.ts';

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

/** In a folder that has this file it stands for all sets, which need not be there then. */
export const PACKED_KEYS = 'evaluation-keys.gz';

export type EvaluationIssue = { readonly code: 'audit/evaluation-set-missing' | 'audit/keys-unreadable'; readonly set: string; readonly file: string };

export interface EvaluationSide {
  readonly evaluation: readonly EvaluationKeys[];
  /** What the keys are of. */
  readonly sets: readonly EvaluationSet[];
  readonly missing: readonly EvaluationIssue[];
}

/** Every set that must be there, from its file or from the folder's packed keys; those that are not, by name. */
export function readEvaluationSets(folder: string): EvaluationSide {
  if (hasFile(join(folder, PACKED_KEYS))) return readPackedSets(folder);
  const isThere = ({ file }: (typeof SETS)[number]): boolean => hasFile(join(folder, file));
  const read = SETS.filter(isThere).map(({ name, file, read: keysOf }) => {
    const path = join(folder, file);
    const keys = readLines<Row>(path).map((row) => ({ set: name, keys: keysOf(row) }));
    return { keys, set: { set: name, rows: keys.length, sha256: createHash('sha256').update(readFileSync(path)).digest('hex') } };
  });
  return {
    evaluation: read.flatMap(({ keys }) => keys), sets: read.map(({ set }) => set),
    missing: SETS.filter((each) => !isThere(each)).map(({ name, file }) => ({ code: 'audit/evaluation-set-missing', set: name, file })),
  };
}

function readPackedSets(folder: string): EvaluationSide {
  const read = readPackedKeys(readFileSync(join(folder, PACKED_KEYS)));
  if (!read.ok) return { evaluation: [], sets: [], missing: SETS.map(({ name }) => ({ code: 'audit/keys-unreadable', set: name, file: PACKED_KEYS })) };
  return {
    evaluation: read.value.map(({ set, digests }) => ({ set, digests })), sets: read.value.map(({ set, rows, sha256 }) => ({ set, rows, sha256 })),
    missing: SETS.filter(({ name }) => !read.value.some(({ set }) => set === name)).map(({ name }) => ({ code: 'audit/evaluation-set-missing', set: name, file: PACKED_KEYS })),
  };
}

/** The file {@link PACKED_KEYS} of the sets that were read from their own files. RangeError where those are packed keys themselves. */
export function packEvaluationSets({ evaluation, sets }: EvaluationSide): Uint8Array {
  return packKeys(sets.map((set) => ({
    ...set,
    keys: evaluation.filter((each) => each.set === set.set).flatMap((each) => {
      if (!('keys' in each)) throw new RangeError('evaluation: digests have no keys');
      return each.keys;
    }),
  })));
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
