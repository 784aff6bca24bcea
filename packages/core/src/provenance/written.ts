/**
 * What a repair wrote, scalar by scalar, with the origin of each. Beside the document goes a second one of the same shape that says where each origin
 * is listed; every operation is applied to both, so that a value keeps its origin wherever it is moved or copied, over all attempts of a repair:
 * what a model once made up does not become a value of the call by standing in it.
 */
import type { Contract } from '../contract/contract.ts';
import { expandSites, rootSiteOf, sitesBelow, type SchemaSite } from '../contract/schema-at.ts';
import type { ConversionRule } from '../deterministic/conversions.ts';
import type { DeterministicPatch } from '../deterministic/deterministic-patch.ts';
import { isJsonArray, isJsonObject, jsonEqual, memberOf, type JsonObject, type JsonPrimitive, type JsonValue } from '../json/value.ts';
import { commonEnds } from '../ledger/collateral.ts';
import { applyAdmitted, applyPatch } from '../patch/apply.ts';
import type { Operation, Patch } from '../patch/operation.ts';
import { childOf, lastTokenOf, parentOf, resolvePointer, ROOT_POINTER, tokensOf, type JsonPointer } from '../pointer.ts';
import type { Observation } from '../repair/proposer.ts';
import { originNamer, type LiteralOrigin, type Origin } from './origin.ts';
import { publicSources } from './sources.ts';

/** A scalar that a repair put where it is. A pointer into the candidate is one into the call as it was read, before anything was repaired. */
export interface WrittenValue {
  readonly pointer: JsonPointer;
  readonly origin: Origin;
}

/** The verdict of a patch that puts a value of the model's own making where the contract asks for an origin. */
export const NO_ORIGIN = 'provenance/no-origin';

/** A document with the origins of its scalars. */
export interface Traced {
  readonly document: JsonValue;
  /** The document with a number in place of every scalar: the place of its origin in `origins`. */
  readonly places: JsonValue;
  readonly origins: readonly Origin[];
}

export type NameOrigin = ReturnType<typeof originNamer>;

/** The call as it was read: every scalar is its own origin. */
export function traceRead(document: JsonValue): Traced {
  const origins: Origin[] = [];
  const places = mapScalars(document, ROOT_POINTER, (value, pointer) => origins.push({ kind: 'candidate', pointer, start: 0, end: String(value).length, derivation: 'verbatim' }) - 1);
  return { document, places, origins };
}

/** After the deterministic step: what a rule made of a value comes of that value. */
export function traceCertain(read: Traced, { patch, rules }: DeterministicPatch): Traced {
  return patch.reduce((before, operation, index) => traceOperation(before, operation, ({ op, path }) => (value, inside) => {
    // the others move or remove
    const rule = rules[index] as ConversionRule;
    // only what a text swallowed is added, behind the operation that shortens the text
    const place = op === 'add' ? patch.slice(0, index).findLast((earlier) => earlier.op === 'replace')?.path ?? path : path;
    const origin = originAt(before, rule === 'only-element' ? `${place}/0${inside}` as JsonPointer : place);
    return origin.kind === 'candidate' ? { ...origin, rule, start: 0, end: String(value).length } : origin;
  }), read);
}

/** After a patch that is admitted on the document. `nameOrigin` knows the sources, of which the candidate is the one that the first proposal saw. */
export function traceProposed(contract: Contract, current: Traced, patch: Patch, nameOrigin: NameOrigin): Traced {
  return patch.reduce((before, operation) => traceOperation(before, operation, ({ path }, document) => {
    const parent = parentOf(path) ?? ROOT_POINTER;
    const container = resolvePointer(document, parent);
    const place = lastTokenOf(path) === '-' && isJsonArray(container) ? childOf(parent, String(container.length - 1)) : path;
    const literalOf = literalFinder(contract, document, place);
    return (value, inside) => nameOrigin(value, literalOf(`${place}${inside}` as JsonPointer));
  }), current);
}

/**
 * `nameOrigin` for the proposals of one repair: it finds values in `opened`, the call that the first of them saw, and names where they stood in the
 * call as it was read.
 */
export function asRead(nameOrigin: NameOrigin, opened: Traced): NameOrigin {
  return (value, literal) => {
    const origin = nameOrigin(value, literal);
    const earlier = origin.kind === 'candidate' ? originAt(opened, origin.pointer) : origin;
    if (origin.kind !== 'candidate' || earlier.kind !== 'candidate') return origin;
    return { ...origin, pointer: earlier.pointer, ...(earlier.rule === undefined ? {} : { rule: earlier.rule }) };
  };
}

/** Every scalar that stands now where another value stood, or none, in `before`; of arrays, elements are compared behind a common beginning and before a common end. */
export function writtenSince(before: JsonValue, after: Traced): readonly WrittenValue[] {
  const walk = (old: JsonValue | undefined, now: JsonValue, at: JsonPointer): readonly WrittenValue[] => {
    if (isJsonObject(now)) return Object.entries(now).flatMap(([name, member]) => walk(isJsonObject(old) ? memberOf(old, name) : undefined, member, childOf(at, name)));
    if (!isJsonArray(now)) return old !== undefined && jsonEqual(old, now) ? [] : [{ pointer: at, origin: originAt(after, at) }];
    const { head, tail } = isJsonArray(old) ? commonEnds(old, now) : { head: 0, tail: 0 };
    return now.slice(head, now.length - tail).flatMap((item, index) => (
      walk(isJsonArray(old) && head + index < old.length - tail ? old[head + index] : undefined, item, childOf(at, String(head + index)))
    ));
  };
  return walk(before, after.document, ROOT_POINTER);
}

/**
 * The scalars that a patch would write with their origins, before it is proposed; undefined where it is not admissible. As the loop names them, but for
 * what an earlier attempt made up and this one moves: to who sees no more than the state, that is a value of the candidate. O(sources) a scalar.
 */
export function originsOfPatch(observation: Observation, patch: Patch): readonly (WrittenValue & { readonly value: JsonPrimitive })[] | undefined {
  const { contract, state: { candidate, operationsLeft } } = observation;
  if (!applyPatch(contract, candidate, patch, operationsLeft).ok) return undefined;
  const after = traceProposed(contract, traceRead(candidate), patch, originNamer(publicSources(observation)));
  return writtenSince(candidate, after).map((written) => ({ ...written, value: resolvePointer(after.document, written.pointer) as JsonPrimitive }));
}

/** Whether a value of the model's own making stands at or below one of `pointers`. */
export function lacksOrigin({ places, origins }: Traced, pointers: readonly JsonPointer[]): boolean {
  const isMadeUp = (place: JsonValue | undefined): boolean => (
    typeof place === 'number' ? origins[place]?.kind === 'model' : place !== undefined && Object.values(place as JsonObject).some(isMadeUp)
  );
  return pointers.some((pointer) => isMadeUp(resolvePointer(places, pointer)));
}

type ValueOperation = Extract<Operation, { readonly value: JsonValue }>;

/** `naming`: the origin of each scalar of a written value, whose pointer is inside the value; `document` is the one after the operation. */
function traceOperation(
  { document, places, origins }: Traced, operation: Operation, naming: (operation: ValueOperation, document: JsonValue) => (value: JsonPrimitive, inside: JsonPointer) => Origin,
): Traced {
  const after = applyAdmitted(document, operation);
  if (!('value' in operation)) return { document: after, places: applyAdmitted(places, operation), origins };
  const nameOrigin = naming(operation, after);
  const known = [...origins];
  const value = mapScalars(operation.value, ROOT_POINTER, (scalar, inside) => known.push(nameOrigin(scalar, inside)) - 1);
  return { document: after, places: applyAdmitted(places, { ...operation, value }), origins: known };
}

function originAt({ places, origins }: Traced, pointer: JsonPointer): Origin {
  return origins[Number(resolvePointer(places, pointer))] ?? { kind: 'model' };
}

function mapScalars(value: JsonValue, at: JsonPointer, change: (value: JsonPrimitive, at: JsonPointer) => number): JsonValue {
  if (isJsonArray(value)) return value.map((item, index) => mapScalars(item, childOf(at, String(index)), change));
  if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapScalars(member, childOf(at, name), change)]));
  return change(value, at);
}

/** Whether the schema lists the value at a place at or below `top`, or one around it. */
function literalFinder(contract: Contract, document: JsonValue, top: JsonPointer): (pointer: JsonPointer) => LiteralOrigin | undefined {
  const known = new Map<JsonPointer, LiteralOrigin | undefined>();
  const find = (pointer: JsonPointer): LiteralOrigin | undefined => {
    if (known.has(pointer)) return known.get(pointer);
    const found = (pointer === top ? undefined : find(parentOf(pointer) ?? top)) ?? literalAt(contract, document, pointer);
    known.set(pointer, found);
    return found;
  };
  return find;
}

function literalAt(contract: Contract, document: JsonValue, pointer: JsonPointer): LiteralOrigin | undefined {
  const value = resolvePointer(document, pointer) as JsonValue;
  for (const { schema, keywordLocation } of sitesAt(contract, document, pointer)) {
    for (const keyword of ['const', 'enum', 'default', 'examples']) {
      const listed = memberOf(schema, keyword);
      const values = keyword === 'const' || keyword === 'default' ? [listed] : isJsonArray(listed) ? listed : [];
      if (values.some((literal) => literal !== undefined && jsonEqual(literal, value))) return { kind: 'schema-literal', keywordLocation: childOf(keywordLocation, keyword) };
    }
  }
  return undefined;
}

/** The sub-schemas of a place as `schemaAt` gives them, and those that `if`, `then`, `else` and `contains` lead to: the mask reads their literals too. */
function sitesAt(contract: Contract, document: JsonValue, pointer: JsonPointer): readonly SchemaSite[] {
  const tokens = tokensOf(pointer);
  const inPlace = (sites: readonly SchemaSite[], value: JsonValue | undefined, next: string | undefined): readonly SchemaSite[] => {
    const known = expandSites(contract, sites, value, next);
    return [...known, ...expandSites(contract, sitesUnder(known, ['if', 'then', 'else']), value, next)];
  };
  let sites = inPlace([rootSiteOf(contract)], document, tokens[0]);
  let place = ROOT_POINTER;
  for (const [depth, token] of tokens.entries()) {
    const container = resolvePointer(document, place);
    place = childOf(place, token);
    const counted = isJsonArray(container) ? sitesUnder(sites, ['contains']) : [];
    sites = inPlace([...sitesBelow(sites, container, token), ...counted], resolvePointer(document, place), tokens[depth + 1]);
  }
  return sites;
}

function sitesUnder(sites: readonly SchemaSite[], keywords: readonly string[]): readonly SchemaSite[] {
  return sites.flatMap((site) => keywords.flatMap((keyword) => {
    const schema = memberOf(site.schema, keyword);
    return isJsonObject(schema) ? [{ schema, keywordLocation: childOf(site.keywordLocation, keyword), isConditional: true }] : [];
  }));
}
