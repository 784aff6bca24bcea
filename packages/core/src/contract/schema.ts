/**
 * A schema read for the mask's grammar: the keywords it can constrain become a finite {@link SchemaNode}, any other is named with its
 * location and never dropped. Conjunctions (`allOf`, `$ref` beside other keywords) are merged and alternatives (`anyOf`, disjoint `oneOf`)
 * are multiplied out first, so that a node is always a union of plain kinds. The judge (Ajv) stays the judge; this only proposes.
 * Reference: JSON Schema 2020-12 Validation §6, Core §10-11; draft-07 where it differs (`items` as a list, `additionalItems`).
 */
import { isJsonArray, isJsonObject, jsonEqual, jsonTypeOf, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { arrayIndexOf, childOf, lastTokenOf, parentOf, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';
import { itemSchemasAt, literalsOf, memberSchemasOf, objectIn, tupleOf, typesOf, type Conjunct, type Located } from './schema-keywords.ts';
import type { SchemaNode, UnsupportedKeyword } from './schema-node.ts';
import { MAX_NODE_COUNT, SchemaReader, type Alternatives, type ReadOptions } from './schema-reader.ts';

/** Bound on the nodes of a whole survey, for the same schemas. Places beyond it count as unsupported. */
const MAX_SURVEY_NODE_COUNT = 16_384;

/** A place in a document, by the sub-schemas that speak of it: alternatives, in each of which all are to be met. */
export interface SchemaPlace {
  /** Equal keys stand for equal nodes, so that a grammar is read once for all documents. */
  readonly key: string;
  readonly alternatives: readonly (readonly Located[])[];
}

/**
 * Reads `subSchema`, found at `location` inside `rootSchema` (local references resolve in the root). The schema must be one that the judge
 * compiled. Fails with the first {@link UnsupportedKeyword}, whose `instanceLocation` is relative to the value read.
 */
export function readSchemaNode(rootSchema: JsonObject, subSchema: JsonValue, location: JsonPointer, options?: ReadOptions): Result<SchemaNode, UnsupportedKeyword> {
  return readSchemaPlace(rootSchema, placeOf([[{ schema: subSchema, location, trail: [] }]]), options);
}

/** As {@link readSchemaNode}, for a place found by {@link schemaPlacesIn}. */
export function readSchemaPlace(rootSchema: JsonObject, place: SchemaPlace, options?: ReadOptions): Result<SchemaNode, UnsupportedKeyword> {
  const read = (asked: ReadOptions | undefined): Result<SchemaNode, UnsupportedKeyword> => new SchemaReader(rootSchema, 'refuse-overlap', MAX_NODE_COUNT, asked).read(place.alternatives);
  const node = read(options);
  // open names may be what made it too large
  return node.ok || options?.openNames !== true ? node : read(undefined);
}

/**
 * A function from pointers to places, for one document whose containers choose among alternatives: one is out when it excludes the
 * container's type, or by `const` or `enum` a member that is present beside the pointer. Where that leaves none, all stay, since
 * then a sibling is what is wrong. Containers' other keywords (`if`, `not`, `required`, overlapping `oneOf`, …) are the judge's alone.
 */
export function schemaPlacesIn(rootSchema: JsonObject, document: JsonValue): (pointer: JsonPointer) => Result<SchemaPlace, UnsupportedKeyword> {
  const known = new Map<JsonPointer, Result<SchemaPlace, UnsupportedKeyword>>();
  /** What all members of one container share, by its pointer. */
  const containers = new Map<JsonPointer, { readonly opened: Result<Alternatives, UnsupportedKeyword>; readonly value: JsonValue | undefined }>();
  const find = (pointer: JsonPointer): Result<SchemaPlace, UnsupportedKeyword> => {
    const parent = parentOf(pointer);
    if (parent === undefined) return ok(rootPlaceOf(rootSchema));
    let container = containers.get(parent);
    if (container === undefined) {
      const above = place(parent);
      container = { opened: above.ok ? openPlace(rootSchema, above.value, parent) : above, value: resolvePointer(document, parent) };
      containers.set(parent, container);
    }
    return container.opened.ok ? ok(placeBelow(container.opened.value, container.value, lastTokenOf(pointer) as string)) : container.opened;
  };
  const place = (pointer: JsonPointer): Result<SchemaPlace, UnsupportedKeyword> => {
    const found = known.get(pointer) ?? find(pointer);
    known.set(pointer, found);
    return found;
  };
  return place;
}

/** The three steps of {@link schemaPlacesIn}, for who goes through a document from the root. */
export function rootPlaceOf(rootSchema: JsonObject): SchemaPlace {
  return placeOf([[{ schema: rootSchema, location: ROOT_POINTER, trail: [] }]]);
}

/** What all members of a container at `place` share. */
export function openPlace(rootSchema: JsonObject, place: SchemaPlace, pointer: JsonPointer): Result<Alternatives, UnsupportedKeyword> {
  const reader = new SchemaReader(rootSchema, 'allow-overlap');
  const alternatives = reader.expand(place.alternatives, pointer);
  return reader.issue === undefined ? ok(alternatives) : err(reader.issue);
}

/** The place of one member of the opened `container`. */
export function placeBelow(alternatives: Alternatives, container: JsonValue | undefined, token: string): SchemaPlace {
  const open = alternatives.length === 1 ? alternatives : alternatives.filter((conjuncts) => !isExcluded(conjuncts, container, token));
  return placeOf((open.length > 0 ? open : alternatives).map((conjuncts) => conjuncts.flatMap((conjunct) => childrenOf(conjunct, container, token))));
}

/** What the mask can make of a whole schema, whatever the document: for the certificate of a compiled contract. */
export interface SchemaSurvey {
  /** Declared places below the root whose values the grammar can spell. */
  readonly readableCount: number;
  /** One entry a keyword location, in schema order; `instanceLocation` is absolute. */
  readonly unsupported: readonly UnsupportedKeyword[];
  /** What was read, by {@link SchemaPlace.key}. */
  readonly nodes: ReadonlyMap<string, SchemaNode>;
}

/** Visits every declared place once. Names that no schema declares (open maps) are not among them. O(places × size of their schemas). */
export function surveySchema(rootSchema: JsonObject, options?: ReadOptions): SchemaSurvey {
  const unsupported = new Map<string, UnsupportedKeyword>();
  const visited = new Set<string>();
  const nodes = new Map<string, SchemaNode>();
  let nodesLeft = MAX_SURVEY_NODE_COUNT;
  const note = (issue: UnsupportedKeyword, pointer: JsonPointer): void => {
    if (unsupported.has(issue.keywordLocation)) return;
    unsupported.set(issue.keywordLocation, { ...issue, instanceLocation: `${pointer}${issue.instanceLocation}` as JsonPointer });
  };
  // breadth first, so that a place is met where it stands highest, least cut by the recursion bound
  const queue: { readonly place: SchemaPlace; readonly pointer: JsonPointer }[] = [];
  const visit = (place: SchemaPlace, pointer: JsonPointer): void => { queue.push({ place, pointer }); };
  const survey = (place: SchemaPlace, pointer: JsonPointer): void => {
    // by location alone: the same sub-schema further down a recursion says nothing new
    const locations = place.alternatives.map((located) => located.map(({ location }) => location).join(' & ')).join(' | ');
    if (visited.has(locations)) return;
    visited.add(locations);
    if (pointer !== ROOT_POINTER) {
      const reader = new SchemaReader(rootSchema, 'refuse-overlap', Math.min(nodesLeft, MAX_NODE_COUNT), options);
      const node = reader.read(place.alternatives);
      nodesLeft -= reader.nodeCount;
      if (node.ok) nodes.set(place.key, node.value);
      else note(node.error, pointer);
    }
    const reader = new SchemaReader(rootSchema, 'allow-overlap');
    const alternatives = reader.expand(place.alternatives, ROOT_POINTER);
    if (reader.issue !== undefined) {
      note(reader.issue, pointer);
      return;
    }
    const conjuncts = alternatives.flat();
    const names = new Set(conjuncts.flatMap(({ schema }) => Object.keys(objectIn(schema, 'properties') ?? {})));
    for (const name of names) visit(placeOf(alternatives.map((all) => all.flatMap((conjunct) => memberSchemasOf(conjunct, name)))), childOf(pointer, name));
    if (!conjuncts.some(({ schema }) => Object.hasOwn(schema, 'items') || Object.hasOwn(schema, 'prefixItems'))) return;
    const prefixLength = Math.max(0, ...conjuncts.map(({ schema }) => tupleOf(schema)?.items.length ?? 0));
    for (let index = 0; index <= prefixLength; index += 1) {
      const items = placeOf(alternatives.map((all) => all.flatMap((conjunct) => itemSchemasAt(conjunct, index))));
      visit(items, childOf(pointer, index < prefixLength ? String(index) : '-'));
    }
  };
  visit(rootPlaceOf(rootSchema), ROOT_POINTER);
  for (const { place, pointer } of queue) survey(place, pointer);
  return { readableCount: nodes.size, unsupported: [...unsupported.values()], nodes };
}

/** Alternatives that ask the same are one: branches often differ in `required` alone. */
function placeOf(alternatives: readonly (readonly Located[])[]): SchemaPlace {
  // brackets keep "nothing is accepted" (no alternative) apart from "anything is" (one that asks nothing)
  const keyOf = (conjuncts: readonly Located[]): string => `(${conjuncts.map(({ location, trail }) => [location, ...trail].join(' < ')).join(' & ')})`;
  const distinct = new Map(alternatives.map((conjuncts) => [keyOf(conjuncts), conjuncts]));
  return { key: [...distinct.keys()].join(' | '), alternatives: [...distinct.values()] };
}

function isExcluded(conjuncts: readonly Conjunct[], container: JsonValue | undefined, token: string): boolean {
  if (container === undefined) return false;
  if (!typesOf(conjuncts).names.has(jsonTypeOf(container))) return true;
  if (!isJsonObject(container)) return false;
  return conjuncts.some(({ schema, location, trail }) => Object.entries(objectIn(schema, 'properties') ?? {}).some(([name, member]) => {
    const present = memberOf(container, name);
    if (name === token || present === undefined || !isJsonObject(member)) return false;
    return literalsOf([{ schema: member, location, trail }])?.some((literal) => jsonEqual(literal, present)) === false;
  }));
}

function childrenOf(conjunct: Conjunct, container: JsonValue | undefined, token: string): readonly Located[] {
  if (isJsonObject(container)) return memberSchemasOf(conjunct, token);
  if (!isJsonArray(container)) return [];
  const index = token === '-' ? container.length : arrayIndexOf(token);
  return index === undefined ? [] : itemSchemasAt(conjunct, index);
}
