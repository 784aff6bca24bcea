/**
 * BFCL calls spoilt in the ways that the trainer knows, beyond the single fields of `bfcl-corruptions.ts`: `repairable` a family each, and `unrepairable` ones, whose only right
 * answer is to decline. They are made once by the trainer's corruptions (`npm run bench:training -- cases`) and committed, in two files that are never joined: a later
 * version of those corruptions changes no case that something was measured on.
 *
 * The rule of selection. For each family the rows whose gold call satisfies its schema, without messages beside the user's, are ordered by SHA-256 of
 * `<seed>:<family>:<id>` and corrupted in turn with a stream of choices of that name, until there are {@link CASES_PER_FAMILY}; a tool is taken once a family.
 */
import { createHash } from 'node:crypto';
import { jsonEqual, type JsonObject } from '@contractrl/core';
import { readRepairRequest } from '@contractrl/core/records';
import { corrupt, openRandom, openSource, SINGLE_FAMILIES, UNREPAIRABLE_FAMILIES, type Corruption, type Family, type LegalCall } from '@contractrl/trainer';
import { BFCL_FILE, type BfclRow } from './bfcl-corruptions.ts';
import type { CaseGold, PublicCase } from './case.ts';
import { readRows } from './jsonl.ts';

export const FAMILY_FILES = { repairable: 'bfcl_families.jsonl.gz', unrepairable: 'bfcl_unrepairable.jsonl.gz' } as const;
export type FamilyFile = keyof typeof FAMILY_FILES;
const FAMILIES_OF: Readonly<Record<FamilyFile, readonly Family[]>> = { repairable: [...SINGLE_FAMILIES, 'several_fields'], unrepairable: UNREPAIRABLE_FAMILIES };

const CASES_PER_FAMILY: Readonly<Record<FamilyFile, number>> = { repairable: 32, unrepairable: 48 };
const SEED = 13;

export interface FamilyRow {
  /** `<BFCL id>:<family>`. */
  readonly id: string;
  readonly family: Family;
  readonly form: string;
  /** Top-level members that the fault touches: gold. */
  readonly corrupted: readonly string[];
  /** The public half, as `readRepairRequest` takes it. */
  readonly record: JsonObject;
}

export function familyRows(file: FamilyFile): readonly FamilyRow[] {
  return readRows<FamilyRow>(FAMILY_FILES[file]);
}

/** By file: every evaluation asks for them, and whoever judges keeps the compiled schema of each. */
const requestsOfFile = new Map<FamilyFile, readonly PublicCase['request'][]>();

export function familyRequests(file: FamilyFile): readonly PublicCase['request'][] {
  const known = requestsOfFile.get(file) ?? readRequests(file);
  requestsOfFile.set(file, known);
  return known;
}

function readRequests(file: FamilyFile): readonly PublicCase['request'][] {
  return familyRows(file).map(({ id, record }) => {
    const request = readRepairRequest(record);
    if (!request.ok) throw new RangeError(`${FAMILY_FILES[file]}: ${id}: ${request.error.code}`);
    return request.value;
  });
}

export function familyGold(file: FamilyFile): ReadonlyMap<string, CaseGold> {
  if (file === 'unrepairable') return new Map(familyRows(file).map(({ id }) => [id, { kind: 'abstain' }]));
  const sources = new Map(readRows<BfclRow>(BFCL_FILE).map((row) => [row.id, row]));
  return new Map(familyRows(file).map(({ id, family, corrupted }) => {
    const source = sources.get(id.slice(0, -`:${family}`.length));
    if (source === undefined) throw new RangeError(`${FAMILY_FILES[file]}: ${id} is of no BFCL row`);
    return [id, { kind: 'one-of', acceptable: acceptableCalls(source, corrupted), patches: [], abstainOk: false }];
  }));
}

/** The legal call with every acceptable value of the members that were spoilt. Leaving one out, which BFCL may accept, would lose what the user said. */
function acceptableCalls({ call, answers }: BfclRow, corrupted: readonly string[]): readonly JsonObject[] {
  return corrupted.reduce<readonly JsonObject[]>((calls, name) => {
    // inside an object BFCL lists values member by member: there the first of each counts alone
    const values = (answers[name] ?? []).filter((value) => typeof value !== 'object' && value !== '' && value !== call.arguments[name]);
    return calls.flatMap((one) => [one, ...values.map((value) => ({ ...one, [name]: value }))]);
  }, [call.arguments]);
}

/** All cases of a file, made anew. O(rows × judge): seconds. */
export function makeFamilyRows(file: FamilyFile): readonly FamilyRow[] {
  const rows = readRows<BfclRow>(BFCL_FILE).filter((row) => row.schema_valid && row.other_messages === undefined);
  const source = { name: 'bfcl', licence: 'Apache-2.0', attribution: 'BFCL v4', rows: rows.map(({ id, query, tool, call }) => ({ id, request: query, tool, arguments: call.arguments })) };
  const { calls } = openSource(source);
  return FAMILIES_OF[file].flatMap((family) => {
    const ordered = calls.map((call) => ({ call, rank: digest(`${String(SEED)}:${family}:${call.id}`) })).sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ call }) => call);
    const tools = new Set<string>();
    const made: FamilyRow[] = [];
    for (const [index, call] of ordered.entries()) {
      if (made.length === CASES_PER_FAMILY[file]) break;
      const { name } = call.contract.document.tool;
      if (tools.has(name)) continue;
      const corruption = corrupt(call, family, openRandom(SEED, `${family}:${call.id}`), ordered[(index + 1) % ordered.length]);
      if (corruption === undefined) continue;
      tools.add(name);
      made.push(toRow(call, corruption));
    }
    return made;
  });
}

function toRow({ id: callId, arguments: original }: LegalCall, { family, form, contract: { document }, request, argumentsText, candidate }: Corruption): FamilyRow {
  const id = `${callId.slice('bfcl:'.length)}:${family}`;
  const { tool, immutablePaths } = document;
  const call = { name: tool.name, arguments: argumentsText };
  const record = { id, request, tool, call, ...(immutablePaths.length === 0 ? {} : { contract: { immutablePaths } }) } as unknown as JsonObject;
  return { id, family, form, corrupted: changedMembers(original, candidate as JsonObject), record };
}

function changedMembers(original: JsonObject, candidate: JsonObject): readonly string[] {
  const names = new Set([...Object.keys(original), ...Object.keys(candidate)]);
  return [...names].filter((name) => original[name] === undefined || candidate[name] === undefined || !jsonEqual(original[name], candidate[name]));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
