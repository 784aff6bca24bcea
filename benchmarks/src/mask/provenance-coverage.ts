/**
 * How often the right value is a closed one: over all BFCL rows that are kept here, with the request as the only source, and over the corrupted
 * calls of the baseline, where the failed call is a source too. Counted are arguments that must be given and whose schema lists no values, each once,
 * as strings or as numbers; of several acceptable values the best origin counts.
 */
import { childOf, ROOT_POINTER, type JsonObject, type JsonValue } from '@contractrl/core';
import { originFinder, readSchemaPlace, schemaPlacesIn, type Derivation, type Origin, type ProvenanceSources, type SchemaNode } from '@contractrl/core/schema';
import { BFCL_FILE, bfclCases, bfclGold, type BfclRow } from '../datasets/bfcl-corruptions.ts';
import { readRows } from '../datasets/jsonl.ts';

export interface OriginCounts {
  readonly count: number;
  /** Not the model's alone. */
  readonly closed: number;
  /** Strings that stand anywhere in the request, inside words too and in any case. */
  readonly anywhere: number;
  /** The closed ones by what makes them so. */
  readonly byOrigin: Readonly<Partial<Record<Derivation | 'schema-literal', number>>>;
}

export interface ProvenanceCoverage {
  readonly category: string;
  readonly strings: OriginCounts;
  readonly numbers: OriginCounts;
}

/** Percent of right strings and numbers that stand in the request, from an earlier count over the same categories; what it left out is not recorded. */
export const RECORDED_SPANS: Readonly<Record<string, { readonly strings: number; readonly numbers: number }>> = {
  simple: { strings: 92, numbers: 86 }, multiple: { strings: 96, numbers: 89 }, live_simple: { strings: 87, numbers: 75 }, live_multiple: { strings: 62, numbers: 87 },
};

interface Argument {
  readonly category: string;
  readonly sources: ProvenanceSources;
  readonly acceptable: readonly JsonValue[];
  readonly node: SchemaNode | undefined;
}

/** One row a category of the BFCL rows, in the order in which they are met. */
export function bfclCoverage(): readonly ProvenanceCoverage[] {
  return countOrigins(readRows<BfclRow & { readonly category: string }>(BFCL_FILE).flatMap(({ category, query, tool: { parameters }, answers }) => {
    const required = Array.isArray(parameters['required']) ? parameters['required'] as readonly string[] : [];
    return required.flatMap((name) => {
      const acceptable = answers[name] ?? [''];
      return acceptable.includes('') ? [] : [{ category, sources: { texts: [query], candidate: {} }, acceptable, node: nodeAt(parameters, {}, name) }];
    });
  }));
}

/** One row a cohort of the corrupted calls of the baseline. */
export function corruptionCoverage(): readonly ProvenanceCoverage[] {
  const gold = bfclGold();
  return countOrigins(bfclCases().flatMap(({ cohort, request: { id, request, call, contract: { tool: { parameters } } } }) => {
    const label = gold.get(id);
    if (label?.kind !== 'answers') throw new Error(`${id} has no acceptable values`);
    const candidate = JSON.parse(call.argumentsText) as JsonObject;
    const texts = request.filter(({ role }) => role === 'user').map(({ content }) => content);
    return [{ category: cohort, sources: { texts, candidate }, acceptable: label.answers[label.corrupted] ?? [], node: nodeAt(parameters, candidate, label.corrupted) }];
  }));
}

function nodeAt(parameters: JsonObject, document: JsonObject, name: string): SchemaNode | undefined {
  const place = schemaPlacesIn(parameters, { ...document, [name]: null })(childOf(ROOT_POINTER, name));
  const node = place.ok ? readSchemaPlace(parameters, place.value) : place;
  return node.ok ? node.value : undefined;
}

function countOrigins(all: readonly Argument[]): readonly ProvenanceCoverage[] {
  const coverage = new Map<string, Record<'string' | 'number', OriginCounts>>();
  for (const { category, sources, acceptable, node } of all) {
    const counts = coverage.get(category) ?? { string: NONE, number: NONE };
    coverage.set(category, counts);
    const type = (['string', 'number'] as const).find((name) => acceptable.every((value) => typeof value === name));
    if (type === undefined || acceptable.length === 0 || node?.kind === 'literals') continue;
    const originsOf = originFinder(sources);
    const request = sources.texts.join('\n').toLowerCase();
    const isAnywhere = type === 'string' && acceptable.some((value) => request.includes(String(value).toLowerCase()));
    counts[type] = withOrigin(counts[type], acceptable.map((value) => originsOf(value, node)[0]?.origin).find((origin) => origin !== undefined && origin.kind !== 'model'), isAnywhere);
  }
  return [...coverage].map(([category, { string: strings, number: numbers }]) => ({ category, strings, numbers }));
}

const NONE: OriginCounts = { count: 0, closed: 0, anywhere: 0, byOrigin: {} };

function withOrigin({ count, closed, anywhere, byOrigin }: OriginCounts, origin: Origin | undefined, isAnywhere: boolean): OriginCounts {
  const counted = { count: count + 1, closed, anywhere: anywhere + Number(isAnywhere), byOrigin };
  if (origin === undefined || origin.kind === 'model') return counted;
  const name = origin.kind === 'schema-literal' ? origin.kind : origin.derivation;
  return { ...counted, closed: closed + 1, byOrigin: { ...byOrigin, [name]: (byOrigin[name] ?? 0) + 1 } };
}
