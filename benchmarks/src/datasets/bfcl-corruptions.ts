/**
 * Single-field corruptions of legal BFCL calls (CHECKLIST A3, J2): half lose a required argument, half get one of a wrong type.
 * Everything is decided by SHA-256 of the seed and the row, so the same seed gives the same cases on every machine.
 *
 * The rule of selection. Rows in which the gold call satisfies its own schema, without messages beside the user's, are ordered by
 * SHA-256 of `<seed>:<id>`. Each is offered to the two kinds in turn, the kind with fewer cases first, until both are full. A row is
 * taken when its contract loads, its tool has not been taken yet, the gold call satisfies the contract, and one of its corruptions
 * (in an order decided by the same digest) is judged invalid by exactly one violation, of the wanted code at the corrupted argument.
 * Only arguments that must be given are corrupted: where BFCL accepts leaving one out, its value may not be in the request.
 */
import { createHash } from 'node:crypto';
import {
  childOf, DEFAULT_ATTEMPT_BUDGET, DEFAULT_OPERATION_BUDGET, judgeArguments, loadContract, OPERATION_KINDS, ROOT_POINTER,
  type Contract, type ContractDocument, type JsonObject, type JsonValue, type Judgement, type Patch, type ToolDefinition,
} from '@contractrl/core';
import type { CaseGold, PublicCase } from './case.ts';
import { readRows } from './jsonl.ts';

export const BFCL_FILE = 'bfcl_uniform.jsonl.gz';
export const BFCL_SEED = 13;
export const CASES_PER_KIND = 32;

export interface BfclRow {
  readonly id: string;
  readonly query: string;
  readonly tool: ToolDefinition;
  readonly tools?: readonly ToolDefinition[];
  readonly answers: Readonly<Record<string, readonly JsonValue[]>>;
  readonly call: { readonly name: string; readonly arguments: JsonObject };
  readonly other_messages?: readonly unknown[];
  readonly schema_valid: boolean;
}

type CorruptionKind = 'missing_required' | 'wrong_type';
const COHORT_OF = { missing_required: 'bfcl-missing-required', wrong_type: 'bfcl-wrong-type' } as const;

interface Corruption {
  readonly row: BfclRow;
  readonly kind: CorruptionKind;
  readonly field: string;
  readonly arguments: JsonObject;
}

/** The public half: the corrupted calls, so many of each kind. Ids are `<BFCL id>:<kind>`. */
export function bfclCases(seed: number = BFCL_SEED, casesPerKind: number = CASES_PER_KIND): readonly PublicCase[] {
  return select(seed, casesPerKind).map((corruption) => ({ cohort: COHORT_OF[corruption.kind], request: toRequest(corruption) }));
}

/** The offline half, by case id. */
export function bfclGold(seed: number = BFCL_SEED, casesPerKind: number = CASES_PER_KIND): ReadonlyMap<string, CaseGold> {
  return new Map(select(seed, casesPerKind).map((corruption) => [idOf(corruption), {
    kind: 'answers', answers: corruption.row.answers, original: corruption.row.call.arguments, corrupted: corruption.field, patches: [undoing(corruption)],
  }]));
}

/** The canonical patch: the one operation that takes the corruption back. */
function undoing({ row, kind, field }: Corruption): Patch {
  const value = row.call.arguments[field] as JsonValue;
  return [{ op: kind === 'missing_required' ? 'add' : 'replace', path: childOf(ROOT_POINTER, field), value }];
}

/** By seed and size: judging a few hundred calls takes a second, and both halves of the data ask for the same selection. */
const selections = new Map<string, readonly Corruption[]>();

function select(seed: number, casesPerKind: number): readonly Corruption[] {
  const key = `${String(seed)} ${String(casesPerKind)}`;
  const known = selections.get(key) ?? selectAnew(seed, casesPerKind);
  selections.set(key, known);
  return known;
}

function selectAnew(seed: number, casesPerKind: number): readonly Corruption[] {
  const eligible = readRows<BfclRow>(BFCL_FILE).filter((row) => row.schema_valid && row.other_messages === undefined);
  const ordered = eligible.map((row) => ({ row, rank: digest(seed, row.id) })).sort((a, b) => (a.rank < b.rank ? -1 : 1));
  const taken: Record<CorruptionKind, Corruption[]> = { missing_required: [], wrong_type: [] };
  const tools = new Set<string>();
  for (const { row } of ordered) {
    const kinds = (['missing_required', 'wrong_type'] as const)
      .filter((kind) => taken[kind].length < casesPerKind)
      .sort((a, b) => taken[a].length - taken[b].length);
    if (kinds.length === 0) break;
    if (tools.has(row.tool.name)) continue;
    const corruption = firstOf(kinds, (kind) => corrupt(row, kind, seed));
    if (corruption === undefined) continue;
    taken[corruption.kind].push(corruption);
    tools.add(row.tool.name);
  }
  return [...taken.missing_required, ...taken.wrong_type];
}

function corrupt(row: BfclRow, kind: CorruptionKind, seed: number): Corruption | undefined {
  const contract = loadContract(contractOf(row));
  if (!contract.ok || judge(contract.value, row.call.arguments).kind !== 'accepted') return undefined;
  const candidates = (kind === 'missing_required' ? withoutOne(row) : withWrongType(row)).filter(({ field }) => mustBeGiven(row, field));
  const ordered = candidates
    .map((candidate) => ({ candidate, rank: digest(seed, `${row.id}:${candidate.field}:${candidate.form}`) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  return firstOf(ordered, ({ candidate }) => {
    const judged = judge(contract.value, candidate.arguments);
    if (judged.kind !== 'invalid' || judged.report.violations.length !== 1) return undefined;
    const [violation] = judged.report.violations;
    if (violation.code !== kind || violation.pointer !== childOf(ROOT_POINTER, candidate.field)) return undefined;
    return { row, kind, field: candidate.field, arguments: candidate.arguments };
  });
}

function judge(contract: Contract, call: JsonObject): Judgement {
  return judgeArguments(contract, JSON.stringify(call), {}, new Set());
}

function mustBeGiven({ answers }: BfclRow, field: string): boolean {
  const acceptable = answers[field];
  return acceptable !== undefined && !acceptable.includes('');
}

interface Candidate {
  readonly field: string;
  readonly form: string;
  readonly arguments: JsonObject;
}

function withoutOne(row: BfclRow): readonly Candidate[] {
  const required = row.tool.parameters['required'];
  const names = Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
  return names.filter((name) => Object.hasOwn(row.call.arguments, name)).map((field) => ({
    field, form: 'absent', arguments: Object.fromEntries(Object.entries(row.call.arguments).filter(([name]) => name !== field)),
  }));
}

/** The lossless forms keep the value inside another type; the lossy ones keep nothing of it. */
function withWrongType(row: BfclRow): readonly Candidate[] {
  return Object.entries(row.call.arguments).flatMap(([field, value]) => {
    const forms: readonly (readonly [string, JsonValue])[] = [
      ['text', typeof value === 'string' ? value : JSON.stringify(value)],
      ['list', [value]],
      ['wrapped', { value }],
      ['null', null],
      ['unknown', 'unknown'],
      ['true', true],
    ];
    return forms.map(([form, wrong]) => ({ field, form, arguments: { ...row.call.arguments, [field]: wrong } }));
  });
}

function toRequest(corruption: Corruption): PublicCase['request'] {
  const { row } = corruption;
  return {
    id: idOf(corruption),
    request: [{ role: 'user', content: row.query }],
    contract: contractOf(row),
    toolNames: (row.tools ?? [row.tool]).map((tool) => tool.name),
    call: { name: row.call.name, argumentsText: JSON.stringify(corruption.arguments) },
    finishReason: undefined,
    context: {},
  };
}

function contractOf(row: BfclRow): ContractDocument {
  const { name, description, parameters } = row.tool;
  return {
    tool: { name, description, parameters },
    allowedOperations: OPERATION_KINDS,
    operationBudget: DEFAULT_OPERATION_BUDGET,
    attemptBudget: DEFAULT_ATTEMPT_BUDGET,
    immutablePaths: [],
    crossField: [],
    gates: [],
  };
}

function idOf({ row, kind }: Corruption): string {
  return `${row.id}:${kind}`;
}

function digest(seed: number, text: string): string {
  return createHash('sha256').update(`${String(seed)}:${text}`).digest('hex');
}

function firstOf<T, U>(items: readonly T[], pick: (item: T) => U | undefined): U | undefined {
  for (const item of items) {
    const picked = pick(item);
    if (picked !== undefined) return picked;
  }
  return undefined;
}
