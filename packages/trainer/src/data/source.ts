/**
 * What a data set gives, in one shape: rows of a tool, a request and a right call, with the licence they come under. A row becomes a legal call where its
 * contract loads and the judge accepts it; every other row is counted by the reason and left out, never mended.
 */
import { loadContract, validateArguments, type Contract, type JsonObject, type JsonPointer, type JsonValue } from '@contractrl/core';
import { contractFromOpenAi } from '@contractrl/core/sources';
import type { LegalCall } from '../legal-call.ts';
import { wholeText, type Request } from '../request.ts';

export interface SourceRow {
  /** Unique in its data set. */
  readonly id: string;
  readonly request: Request;
  readonly tool: { readonly name: string; readonly description?: string; readonly parameters?: unknown };
  readonly arguments: JsonObject;
  readonly crossField?: readonly JsonValue[];
  readonly mentions?: ReadonlyMap<JsonPointer, string>;
}

export interface DataSource {
  readonly name: string;
  /** SPDX identifier, and who made it. */
  readonly licence: string;
  readonly attribution: string;
  readonly rows: readonly SourceRow[];
}

export interface ReadSource {
  readonly calls: readonly LegalCall[];
  /** Rows left out, by code. */
  readonly leftOut: Readonly<Record<string, number>>;
}

/** Every other tool gets its objects closed: public schemas leave them open, and then neither a member too many nor a wrong name is a fault. */
export function openSource(source: DataSource): ReadSource {
  const contracts = new Map<string, Contract | string>();
  const leftOut: Record<string, number> = {};
  const calls = source.rows.flatMap((row): readonly LegalCall[] => {
    const key = JSON.stringify([row.tool, row.crossField ?? []]);
    const contract = contracts.get(key) ?? openContract(row);
    contracts.set(key, contract);
    const fault = typeof contract === 'string' ? undefined : faultOf(contract, row);
    if (fault !== undefined || typeof contract === 'string') {
      const code = fault ?? String(contract);
      leftOut[code] = (leftOut[code] ?? 0) + 1;
      return [];
    }
    const { request, mentions } = row;
    return [{ id: `${source.name}:${row.id}`, source: source.name, request, contract, arguments: row.arguments, ...(mentions === undefined ? {} : { mentions }) }];
  });
  return { calls, leftOut };
}

function faultOf(contract: Contract, { request, arguments: args }: SourceRow): string | undefined {
  if (wholeText(request).trim() === '') return 'trainer/no-request';
  if (Object.keys(args).length === 0) return 'trainer/no-arguments';
  const { report } = validateArguments(contract, JSON.stringify(args));
  return report.kind === 'valid' ? undefined : report.violations[0].code;
}

/** Keywords that the judge does not know are refused where that is possible: only a schema that has some is read without them. */
function openContract({ tool, crossField = [] }: SourceRow): Contract | string {
  const parameters = hasEvenSum(tool.name) ? closeObjects(tool.parameters as JsonValue) : tool.parameters;
  const sourced = contractFromOpenAi({ ...tool, parameters }, { pythonTypes: true, contract: { crossField } });
  if (!sourced.ok) return sourced.error.code;
  const strict = loadContract(sourced.value.document);
  const loaded = strict.ok ? strict : loadContract({ ...sourced.value.document, unknownKeywords: 'annotate' });
  return loaded.ok ? loaded.value : loaded.error.code;
}

/** Half of all names, whatever else is in the data. */
function hasEvenSum(name: string): boolean {
  return Array.from(name).reduce((sum, character) => sum + character.charCodeAt(0), 0) % 2 === 0;
}

/** Objects with declared members take no others, unless the schema says something of others. */
function closeObjects(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (typeof schema !== 'object' || schema === null) return schema;
  const closed = Object.fromEntries(Object.entries(schema as JsonObject).map(([name, member]) => [name, name === 'properties' || typeof member === 'object' ? closeObjects(member) : member]));
  const isObject = closed['type'] === 'object' || closed['type'] === 'dict';
  return isObject && typeof closed['properties'] === 'object' && closed['additionalProperties'] === undefined ? { ...closed, additionalProperties: false } : closed;
}
