/**
 * A schema read for the mask's grammar: the keywords it can constrain become a finite {@link SchemaNode}, any other is named with its
 * location and never dropped. Conjunctions (`allOf`, `$ref` beside other keywords) are merged and alternatives (`anyOf`, disjoint `oneOf`)
 * are multiplied out first, so that a node is always a union of plain kinds. The judge (Ajv) stays the judge; this only proposes.
 * Reference: JSON Schema 2020-12 Validation §6, Core §10-11; draft-07 where it differs (`items` as a list, `additionalItems`).
 */
import { isJsonArray, isJsonObject, jsonEqual, jsonTypeOf, memberOf, type JsonObject, type JsonTypeName, type JsonValue } from '../json/value.ts';
import { arrayIndexOf, childOf, FORBIDDEN_TOKENS, lastTokenOf, parentOf, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';
import { referenceTarget } from './schema-at.ts';
import {
  ANNOTATIONS, countsOf, isInert, isWellFormed, itemSchemasAt, literalsOf, memberSchemasOf, numberBoundsOf, objectIn, READ_FOR_ALL, stringsIn, tupleOf, TYPE_KEYWORDS, typesOf,
  type Conjunct, type Located, type NumberBound, type TypeSet,
} from './schema-keywords.ts';

export interface ObjectMember {
  readonly name: string;
  readonly required: boolean;
  readonly node: SchemaNode;
}

/** The values a schema accepts, as far as the mask can spell them. A union without branches accepts nothing. */
export type SchemaNode =
  | { readonly kind: 'literals'; readonly values: readonly JsonValue[] }
  /** Lengths in code points; `maxLength` undefined where the schema sets none. */
  | { readonly kind: 'string'; readonly minLength: number; readonly maxLength: number | undefined }
  | { readonly kind: 'number'; readonly integer: boolean; readonly lower: NumberBound | undefined; readonly upper: NumberBound | undefined }
  | { readonly kind: 'array'; readonly prefix: readonly SchemaNode[]; readonly rest: SchemaNode; readonly minItems: number; readonly maxItems: number | undefined }
  /** Declared (or required) members only, required first, each group in schema order. Undeclared names are never spelled. */
  | { readonly kind: 'object'; readonly members: readonly ObjectMember[] }
  | { readonly kind: 'union'; readonly branches: readonly SchemaNode[] };

/** `keywordLocation` is a pointer inside the schema, `instanceLocation` one inside the value (`-` stands for any further element). */
export interface UnsupportedKeyword {
  readonly code: 'mask/unsupported-keyword';
  readonly keyword: string;
  readonly keywordLocation: JsonPointer;
  readonly instanceLocation: JsonPointer;
}

/** How often one `$ref` target may be entered below itself: a repair writes small values, and the grammar must stay finite. */
export const MAX_REFERENCE_DEPTH = 3;
/** Nesting of a value whose schema says nothing of it. */
export const MAX_FREE_DEPTH = 2;
/** More combined alternatives than this come from nested unions nobody can read; they are refused, not cut. */
const MAX_ALTERNATIVES = 128;
/** Bound on the nodes of one grammar, reached only through recursive schemas with many branches. */
const MAX_NODE_COUNT = 1024;
/** Bound on the nodes of a whole survey, for the same schemas. Places beyond it count as unsupported. */
const MAX_SURVEY_NODE_COUNT = 16_384;

const NEVER: SchemaNode = { kind: 'union', branches: [] };

/** Alternatives, each a list of conjuncts: disjunctive normal form. No alternative means that nothing is accepted. */
type Alternatives = readonly (readonly Conjunct[])[];

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
export function readSchemaNode(rootSchema: JsonObject, subSchema: JsonValue, location: JsonPointer): Result<SchemaNode, UnsupportedKeyword> {
  return readSchemaPlace(rootSchema, placeOf([[{ schema: subSchema, location, trail: [] }]]));
}

/** As {@link readSchemaNode}, for a place found by {@link schemaPlacesIn}. */
export function readSchemaPlace(rootSchema: JsonObject, place: SchemaPlace): Result<SchemaNode, UnsupportedKeyword> {
  return new SchemaReader(rootSchema, 'refuse-overlap').read(place);
}

/**
 * A function from pointers to places, for one document whose containers choose among alternatives: one is out when it excludes the
 * container's type, or by `const` or `enum` a member that is present beside the pointer. Where that leaves none, all stay, since
 * then a sibling is what is wrong. Containers' other keywords (`if`, `not`, `required`, overlapping `oneOf`, …) are the judge's alone.
 */
export function schemaPlacesIn(rootSchema: JsonObject, document: JsonValue): (pointer: JsonPointer) => Result<SchemaPlace, UnsupportedKeyword> {
  const known = new Map<JsonPointer, Result<SchemaPlace, UnsupportedKeyword>>();
  const find = (pointer: JsonPointer): Result<SchemaPlace, UnsupportedKeyword> => {
    const parent = parentOf(pointer);
    if (parent === undefined) return ok(placeOf([[{ schema: rootSchema, location: ROOT_POINTER, trail: [] }]]));
    const above = place(parent);
    if (!above.ok) return above;
    const reader = new SchemaReader(rootSchema, 'allow-overlap');
    const token = lastTokenOf(pointer) as string;
    const container = resolvePointer(document, parent);
    const alternatives = reader.expand(above.value.alternatives, parent);
    const open = alternatives.filter((conjuncts) => !isExcluded(conjuncts, container, token));
    const found = (open.length > 0 ? open : alternatives).map((conjuncts) => conjuncts.flatMap((conjunct) => childrenOf(conjunct, container, token)));
    return reader.issue === undefined ? ok(placeOf(found)) : err(reader.issue);
  };
  const place = (pointer: JsonPointer): Result<SchemaPlace, UnsupportedKeyword> => {
    const found = known.get(pointer) ?? find(pointer);
    known.set(pointer, found);
    return found;
  };
  return place;
}

/** What the mask can make of a whole schema, whatever the document: for the certificate of a compiled contract. */
export interface SchemaSurvey {
  /** Declared places below the root whose values the grammar can spell. */
  readonly readableCount: number;
  /** One entry a keyword location, in schema order; `instanceLocation` is absolute. */
  readonly unsupported: readonly UnsupportedKeyword[];
}

/** Visits every declared place once. Names that no schema declares (open maps) are not among them. O(places × size of their schemas). */
export function surveySchema(rootSchema: JsonObject): SchemaSurvey {
  const unsupported = new Map<string, UnsupportedKeyword>();
  const visited = new Set<string>();
  let readableCount = 0;
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
      const reader = new SchemaReader(rootSchema, 'refuse-overlap', Math.min(nodesLeft, MAX_NODE_COUNT));
      const node = reader.read(place);
      nodesLeft -= reader.nodeCount;
      if (node.ok) readableCount += 1;
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
  visit(placeOf([[{ schema: rootSchema, location: ROOT_POINTER, trail: [] }]]), ROOT_POINTER);
  for (const { place, pointer } of queue) survey(place, pointer);
  return { readableCount, unsupported: [...unsupported.values()] };
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

/** One reading. The first refusal is kept in `issue` and the rest of the walk is idle, which spares a `Result` at every level. */
class SchemaReader {
  issue: UnsupportedKeyword | undefined;
  readonly #root: JsonObject;
  /** Whether `oneOf` branches that are not provably disjoint are refused, or read as `anyOf` (on the way to a place). */
  readonly #overlap: 'refuse-overlap' | 'allow-overlap';
  readonly #maxNodeCount: number;
  nodeCount = 0;

  constructor(root: JsonObject, overlap: 'refuse-overlap' | 'allow-overlap', maxNodeCount: number = MAX_NODE_COUNT) {
    this.#root = root;
    this.#overlap = overlap;
    this.#maxNodeCount = maxNodeCount;
  }

  read(place: SchemaPlace): Result<SchemaNode, UnsupportedKeyword> {
    const node = this.readNode(this.expand(place.alternatives, ROOT_POINTER), ROOT_POINTER);
    return this.issue === undefined ? ok(node) : err(this.issue);
  }

  /** Multiplies out each list of sub-schemas that are to be met together. */
  expand(lists: readonly (readonly Located[])[], instance: JsonPointer): Alternatives {
    const expanded = lists.flatMap((located) => this.#all(located, instance));
    if (expanded.length > MAX_ALTERNATIVES) return this.#refuse('anyOf', lists[0]?.[0]?.location ?? ROOT_POINTER, instance);
    return expanded;
  }

  #all(located: readonly Located[], instance: JsonPointer): Alternatives {
    let alternatives: Alternatives = [[]];
    for (const found of located) {
      const further = this.#alternativesOf(found, instance);
      if (alternatives.length * further.length > MAX_ALTERNATIVES) return this.#refuse('anyOf', found.location, instance);
      alternatives = alternatives.flatMap((left) => further.map((right) => [...left, ...right]));
    }
    return alternatives;
  }

  #alternativesOf({ schema, location, trail }: Located, instance: JsonPointer): Alternatives {
    if (this.issue !== undefined || schema === false) return [];
    if (schema === true) return [[]];
    if (!isJsonObject(schema)) return this.#refuse('', location, instance);
    let alternatives: Alternatives = [[{ schema, location, trail }]];
    const combine = (keyword: string, further: Alternatives): void => {
      if (alternatives.length * further.length > MAX_ALTERNATIVES) this.#refuse(keyword, location, instance);
      else alternatives = alternatives.flatMap((left) => further.map((right) => [...left, ...right]));
    };

    const reference = memberOf(schema, '$ref');
    if (reference !== undefined) combine('$ref', this.#referenced(reference, location, instance, trail));
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const branches = memberOf(schema, keyword);
      if (branches === undefined) continue;
      if (!isJsonArray(branches)) return this.#refuse(keyword, location, instance);
      const read = branches.map((branch, index) => this.#alternativesOf({ schema: branch, location: childOf(childOf(location, keyword), String(index)), trail }, instance));
      if (keyword === 'allOf') for (const branch of read) combine(keyword, branch);
      else if (keyword === 'oneOf' && this.#overlap === 'refuse-overlap' && !pairwiseDisjoint(read)) return this.#refuse(keyword, location, instance);
      else combine(keyword, read.flat());
    }
    return alternatives;
  }

  readNode(alternatives: Alternatives, instance: JsonPointer): SchemaNode {
    const branches: SchemaNode[] = [];
    for (const conjuncts of alternatives) {
      this.nodeCount += 1;
      if (this.nodeCount > this.#maxNodeCount) this.#refuse('$ref', conjuncts[0]?.location ?? ROOT_POINTER, instance);
      if (this.issue !== undefined) return NEVER;
      branches.push(...this.#readPlain(conjuncts, instance));
    }
    return branches.length === 1 ? branches[0] as SchemaNode : { kind: 'union', branches };
  }

  /** The branches, by type, of values that satisfy every conjunct. */
  #readPlain(conjuncts: readonly Conjunct[], instance: JsonPointer): readonly SchemaNode[] {
    const types = typesOf(conjuncts);
    this.#checkKeywords(conjuncts, types.names, instance);
    if (this.issue !== undefined) return [];

    const literals = literalsOf(conjuncts);
    if (literals !== undefined) {
      const values = literals.filter((value) => types.names.has(jsonTypeOf(value)) && this.#literalFits(value, conjuncts, types, instance));
      return values.length === 0 ? [] : [{ kind: 'literals', values }];
    }
    const free = conjuncts.length === 0 ? freeNodes(MAX_FREE_DEPTH) : undefined;
    if (free !== undefined) return free;

    const branches: SchemaNode[] = [];
    if (types.names.has('null')) branches.push({ kind: 'literals', values: [null] });
    if (types.names.has('boolean')) branches.push({ kind: 'literals', values: [true, false] });
    if (types.names.has('number')) branches.push({ kind: 'number', integer: types.integer, ...numberBoundsOf(conjuncts) });
    if (types.names.has('string')) branches.push({ kind: 'string', ...countsOf(conjuncts, 'minLength', 'maxLength', (min, max) => ({ minLength: min, maxLength: max })) });
    if (types.names.has('array')) branches.push(this.#readArray(conjuncts, instance));
    if (types.names.has('object')) branches.push(this.#readObject(conjuncts, instance));
    return branches;
  }

  #readArray(conjuncts: readonly Conjunct[], instance: JsonPointer): SchemaNode {
    const prefixLength = Math.max(0, ...conjuncts.map(({ schema }) => tupleOf(schema)?.items.length ?? 0));
    const itemAt = (index: number): SchemaNode => {
      const place = childOf(instance, index < prefixLength ? String(index) : '-');
      return this.readNode(this.#all(conjuncts.flatMap((conjunct) => itemSchemasAt(conjunct, index)), place), place);
    };
    const prefix = Array.from({ length: prefixLength }, (_, index) => itemAt(index));
    return { kind: 'array', prefix, rest: itemAt(prefixLength), ...countsOf(conjuncts, 'minItems', 'maxItems', (min, max) => ({ minItems: min, maxItems: max })) };
  }

  #readObject(conjuncts: readonly Conjunct[], instance: JsonPointer): SchemaNode {
    const required = new Set(conjuncts.flatMap(({ schema }) => stringsIn(schema, 'required')));
    const declared = conjuncts.flatMap(({ schema }) => Object.keys(objectIn(schema, 'properties') ?? {}));
    const members: ObjectMember[] = [];
    for (const name of new Set([...declared, ...required])) {
      const place = childOf(instance, name);
      const node = FORBIDDEN_TOKENS.has(name) ? NEVER : this.readNode(this.#all(conjuncts.flatMap((conjunct) => memberSchemasOf(conjunct, name)), place), place);
      members.push({ name, required: required.has(name), node });
    }
    return { kind: 'object', members: [...members.filter((member) => member.required), ...members.filter((member) => !member.required)] };
  }

  #referenced(reference: JsonValue, location: JsonPointer, instance: JsonPointer, trail: readonly string[]): Alternatives {
    const target = typeof reference === 'string' && reference.startsWith('#') ? referenceTarget(this.#root, reference) : undefined;
    if (target === undefined) return this.#refuse('$ref', location, instance);
    const { schema, keywordLocation } = target;
    if (trail.filter((passed) => passed === keywordLocation).length >= MAX_REFERENCE_DEPTH) return [];
    return this.#alternativesOf({ schema, location: keywordLocation, trail: [...trail, keywordLocation] }, instance);
  }

  /** Refuses every keyword that may bind a value of one of `types` and is not constrained here. */
  #checkKeywords(conjuncts: readonly Conjunct[], types: ReadonlySet<JsonTypeName>, instance: JsonPointer): void {
    for (const { schema, location } of conjuncts) {
      for (const keyword of Object.keys(schema)) {
        if (ANNOTATIONS.has(keyword) || READ_FOR_ALL.has(keyword) || isInert(schema, keyword, types)) continue;
        // an identifier below the root opens another resource, in which references resolve differently
        if (keyword === '$id' && location === ROOT_POINTER) continue;
        if (TYPE_KEYWORDS.get(keyword)?.read !== true || !isWellFormed(schema, keyword)) this.#refuse(keyword, location, instance);
      }
    }
  }

  /** Whether a literal satisfies the keywords beside `enum` or `const`. Composite literals beside keywords of their type are refused. */
  #literalFits(value: JsonValue, conjuncts: readonly Conjunct[], types: TypeSet, instance: JsonPointer): boolean {
    if (typeof value === 'number') {
      const { lower, upper } = numberBoundsOf(conjuncts);
      return (!types.integer || Number.isInteger(value))
        && (lower === undefined || (lower.exclusive ? value > lower.value : value >= lower.value))
        && (upper === undefined || (upper.exclusive ? value < upper.value : value <= upper.value));
    }
    if (typeof value === 'string') {
      const length = [...value].length;
      return countsOf(conjuncts, 'minLength', 'maxLength', (min, max) => length >= min && (max === undefined || length <= max));
    }
    if (isJsonArray(value) || isJsonObject(value)) {
      const type = jsonTypeOf(value);
      for (const { schema, location } of conjuncts) {
        const keyword = Object.keys(schema).find((name) => TYPE_KEYWORDS.get(name)?.type === type);
        if (keyword !== undefined) this.#refuse(keyword, location, instance);
      }
    }
    return true;
  }

  #refuse(keyword: string, location: JsonPointer, instanceLocation: JsonPointer): Alternatives {
    this.issue ??= { code: 'mask/unsupported-keyword', keyword, keywordLocation: keyword === '' ? location : childOf(location, keyword), instanceLocation };
    return [];
  }
}

/** No value satisfies two branches: their types, their literals, or the literals of a member that both require have nothing in common. */
function pairwiseDisjoint(branches: readonly Alternatives[]): boolean {
  return branches.every((left, index) => branches.slice(index + 1).every((right) => left.every((a) => right.every((b) => areDisjoint(a, b)))));
}

function areDisjoint(left: readonly Conjunct[], right: readonly Conjunct[]): boolean {
  const both = typesOf([...left, ...right]).names;
  if (both.size === 0) return true;
  const literals = literalsOf([...left, ...right]);
  if (literals !== undefined && !literals.some((value) => both.has(jsonTypeOf(value)))) return true;
  if (both.size !== 1 || !both.has('object')) return false;
  const requiredIn = (conjuncts: readonly Conjunct[]): string[] => conjuncts.flatMap(({ schema }) => stringsIn(schema, 'required'));
  const requiredInBoth = requiredIn(left).filter((name) => requiredIn(right).includes(name));
  return requiredInBoth.some((name) => {
    const members = [...left, ...right].flatMap(({ schema, trail }) => {
      const member = memberOf(objectIn(schema, 'properties') ?? {}, name);
      return isJsonObject(member) ? [{ schema: member, location: ROOT_POINTER, trail }] : [];
    });
    return literalsOf(members)?.length === 0;
  });
}

/** Any value at all, to a bounded depth. Objects are empty: names nobody declared are never spelled. */
function freeNodes(depth: number): readonly SchemaNode[] {
  const items: SchemaNode = depth === 0 ? NEVER : { kind: 'union', branches: freeNodes(depth - 1) };
  return [
    { kind: 'literals', values: [null, true, false] },
    { kind: 'number', integer: false, lower: undefined, upper: undefined },
    { kind: 'string', minLength: 0, maxLength: undefined },
    { kind: 'array', prefix: [], rest: items, minItems: 0, maxItems: undefined },
    { kind: 'object', members: [] },
  ];
}
