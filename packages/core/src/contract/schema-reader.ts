/**
 * One reading of the sub-schemas that speak of a value: conjunctions are merged and alternatives multiplied out first, then each alternative
 * becomes a node of every type it allows. `not`, `if`, overlapping `oneOf` and `contains` are read through complements.
 * Reference: JSON Schema 2020-12 Validation §6, Core §10-11; draft-07 where it differs (`items` as a list, `additionalItems`).
 */
import { isJsonArray, isJsonObject, jsonTypeOf, memberOf, type JsonObject, type JsonTypeName, type JsonValue } from '../json/value.ts';
import { childOf, FORBIDDEN_TOKENS, lastTokenOf, parentOf, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';
import { referenceTarget } from './schema-at.ts';
import { areDisjoint } from './schema-disjoint.ts';
import { finiteDomainOf } from './schema-domain.ts';
import { numberFits, textFits } from './schema-fits.ts';
import {
  ANNOTATIONS, countsOf, excludedOf, excludedPatternsOf, isInert, isPlainNegation, isWellFormed, itemSchemasAt, literalsOf, memberSchemasOf, multiplesOf, numberBoundsOf, numberFormatIn, objectIn, openSchemasOf, READ_FOR_ALL, stringsIn, suggestedIn,
  tupleOf, TYPE_KEYWORDS, typesOf, type Conjunct, type Located, type TypeSet,
} from './schema-keywords.ts';
import { complementOf } from './schema-negation.ts';
import type { ArrayNode, NumberNode, ObjectMember, OpenMembers, SchemaNode, StringNode, UnsupportedKeyword } from './schema-node.ts';
import { contentAutomaton, maxLengthOfFormats, patternOf, textContentOf } from './schema-text.ts';

/** How often one `$ref` target may be entered below itself: a repair writes small values, and the grammar must stay finite. */
export const MAX_REFERENCE_DEPTH = 3;
/** Nesting of a value whose schema says nothing of it. */
export const MAX_FREE_DEPTH = 2;
/** The same where such a value may have members. */
const MAX_OPEN_DEPTH = 8;
/** Code points of a name that nobody declares. */
export const MAX_OPEN_NAME_LENGTH = 64;
/** Names are told apart by the patterns of `patternProperties` they match: every subset of them is a case. */
const MAX_NAME_PATTERNS = 3;
/** More combined alternatives than this come from nested unions nobody can read; they are refused, not cut. */
const MAX_ALTERNATIVES = 128;
/** Bound on the nodes of one grammar, reached only through recursive schemas with many branches. */
export const MAX_NODE_COUNT = 1024;
const DEPENDENT = ['dependentRequired', 'dependentSchemas', 'dependencies'] as const;
const CONDITIONS = ['not', 'if', ...DEPENDENT] as const;

const NEVER: SchemaNode = { kind: 'union', branches: [] };
/** By depth. */
const FREE_NODES: (readonly SchemaNode[])[] = [];
const OPEN_NODES: (readonly SchemaNode[])[] = [];

export interface ReadOptions {
  /** Default false. Names that the schema leaves open are spelled too. */
  readonly openNames?: boolean;
}

/** Alternatives, each a list of conjuncts: disjunctive normal form. No alternative means that nothing is accepted. */
export type Alternatives = readonly (readonly Conjunct[])[];

/** One reading. The first refusal is kept in `issue` and the rest of the walk is idle, which spares a `Result` at every level. */
export class SchemaReader {
  issue: UnsupportedKeyword | undefined;
  readonly #root: JsonObject;
  /** Whether `oneOf` branches that are not provably disjoint are refused, or read as `anyOf` (on the way to a place). */
  readonly #overlap: 'refuse-overlap' | 'allow-overlap';
  readonly #maxNodeCount: number;
  readonly #options: ReadOptions;
  nodeCount = 0;
  /** References not entered for the recursion bound. */
  #cutCount = 0;

  constructor(root: JsonObject, overlap: 'refuse-overlap' | 'allow-overlap', maxNodeCount: number = MAX_NODE_COUNT, options: ReadOptions = {}) {
    this.#root = root;
    this.#overlap = overlap;
    this.#maxNodeCount = maxNodeCount;
    this.#options = options;
  }

  read(alternatives: readonly (readonly Located[])[]): Result<SchemaNode, UnsupportedKeyword> {
    const node = this.readNode(this.expand(alternatives, ROOT_POINTER), ROOT_POINTER);
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
    const combine = (keyword: string, further: Alternatives): void => { alternatives = this.#both(alternatives, further, keyword, location, instance); };

    // a number's format is read as the keywords it stands for, beside values of other types
    const asked = numberFormatIn(schema);
    if (asked !== undefined && typesOf([{ schema, location, trail }]).names.has('number')) alternatives = [[{ schema, location, trail }, { schema: asked, location, trail }]];
    const reference = memberOf(schema, '$ref');
    if (reference !== undefined) combine('$ref', this.#referenced(reference, location, instance, trail));
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const branches = memberOf(schema, keyword);
      if (branches === undefined) continue;
      if (!isJsonArray(branches)) return this.#refuse(keyword, location, instance);
      const isCut: boolean[] = [];
      const read = branches.map((branch, index) => {
        const cutsBefore = this.#cutCount;
        const alternatives = this.#alternativesOf({ schema: branch, location: childOf(childOf(location, keyword), String(index)), trail }, instance);
        isCut.push(this.#cutCount > cutsBefore);
        return alternatives;
      });
      if (keyword === 'allOf') for (const branch of read) combine(keyword, branch);
      else if (keyword === 'oneOf' && this.#overlap === 'refuse-overlap') combine(keyword, this.#exactlyOne(branches, read, isCut, { schema, location, trail }, instance));
      else combine(keyword, read.flat());
    }
    // a place is found by what its container declares; the other conditions on the container are the judge's alone
    if (this.#overlap === 'refuse-overlap' && CONDITIONS.some((keyword) => Object.hasOwn(schema, keyword))) for (const [keyword, further] of this.#conditionsOf({ schema, location, trail }, instance)) combine(keyword, further);
    return alternatives;
  }

  /** The branches, each without the values of the others that it may share some with. What a branch lost to the recursion bound may be shared too. */
  #exactlyOne(branches: readonly JsonValue[], read: readonly Alternatives[], isCut: readonly boolean[], beside: Conjunct, instance: JsonPointer): Alternatives {
    return read.flatMap((alternatives, index) => {
      let exact = alternatives;
      for (const [other, branch] of branches.entries()) {
        const isApart = isCut[other] === false && alternatives.every((left) => (read[other] as Alternatives).every((right) => areDisjoint([beside, ...left], right)));
        if (other === index || isApart || exact.length === 0 || this.issue !== undefined) continue;
        exact = this.#both(exact, this.#complement(branch, 'oneOf', beside, instance), 'oneOf', beside.location, instance);
      }
      return exact;
    });
  }

  /** What `not`, `if` and the dependent keywords ask for, each as alternatives. */
  #conditionsOf({ schema, location, trail }: Conjunct, instance: JsonPointer): readonly (readonly [string, Alternatives])[] {
    const read = (found: JsonValue, keyword: string): Alternatives => this.#alternativesOf({ schema: found, location: childOf(location, keyword), trail }, instance);
    const conditions: (readonly [string, Alternatives])[] = [];
    const negated = memberOf(schema, 'not');
    if (negated !== undefined && !isPlainNegation(schema)) conditions.push(['not', this.#complement(negated, 'not', { location, trail }, instance)]);

    const test = memberOf(schema, 'if');
    const [positive, negative] = [memberOf(schema, 'then') ?? true, memberOf(schema, 'else') ?? true];
    if (test !== undefined && (positive !== true || negative !== true)) {
      const met = this.#both(read(test, 'if'), read(positive, 'then'), 'if', location, instance);
      conditions.push(['if', [...met, ...this.#both(this.#complement(test, 'if', { location, trail }, instance), read(negative, 'else'), 'if', location, instance)]]);
    }

    if (!typesOf([{ schema, location, trail }]).names.has('object')) return conditions;
    for (const keyword of DEPENDENT) {
      for (const [name, dependent] of Object.entries(objectIn(schema, keyword) ?? {})) {
        const present = isJsonArray(dependent) ? [read({ required: [name, ...dependent] }, keyword)] : [read({ required: [name] }, keyword), this.#alternativesOf({ schema: dependent, location: childOf(childOf(location, keyword), name), trail }, instance)];
        const met = present.reduce((left, right) => this.#both(left, right, keyword, location, instance));
        conditions.push([keyword, [...read({ properties: { [name]: false } }, keyword), ...met]]);
      }
    }
    return conditions;
  }

  #both(left: Alternatives, right: Alternatives, keyword: string, location: JsonPointer, instance: JsonPointer): Alternatives {
    if (left.length * right.length > MAX_ALTERNATIVES) return this.#refuse(keyword, location, instance);
    return left.flatMap((one) => right.map((other) => [...one, ...other]));
  }

  #complement(schema: JsonValue, keyword: string, { location, trail }: Omit<Located, 'schema'>, instance: JsonPointer): Alternatives {
    const complement = complementOf(this.#root, schema);
    if (complement === undefined) return this.#refuse(keyword, location, instance);
    return complement.flatMap((found) => this.#alternativesOf({ schema: found, location: childOf(location, keyword), trail }, instance));
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
    const free = conjuncts.length === 0 ? freeNodes(this.#options.openNames === true ? MAX_OPEN_DEPTH : MAX_FREE_DEPTH, this.#options) : undefined;
    if (free !== undefined) return free;

    const branches: SchemaNode[] = [];
    const excluded = excludedOf(conjuncts);
    const without = (values: readonly JsonValue[]): void => {
      const left = values.filter((value) => !excluded.includes(value));
      if (left.length > 0) branches.push({ kind: 'literals', values: left });
    };
    const all = [...conjuncts, ...this.#leavingOut(excluded, types.names, conjuncts, instance)];
    if (this.issue !== undefined) return [];
    if (types.names.has('null')) without([null]);
    if (types.names.has('boolean')) without([true, false]);
    const numbers = numberNode(conjuncts, types.integer, excluded.filter((value) => typeof value === 'number'));
    // "an integer that is none" comes of complements of `type`
    if (types.names.has('number') && !(numbers.integer && numbers.notMultiplesOf?.includes(1))) branches.push(numbers);
    if (types.names.has('string')) branches.push(this.#readString(all, instance));
    if (types.names.has('array')) branches.push(this.#readArray(all, instance));
    if (types.names.has('object')) branches.push(this.#readObject(all, instance));
    return branches;
  }

  #readString(conjuncts: readonly Conjunct[], instance: JsonPointer): SchemaNode {
    const node = countsOf(conjuncts, 'minLength', 'maxLength', (minLength, maxLength): StringNode => ({ kind: 'string', minLength, maxLength, suggested: suggestedIn(conjuncts, 'string') }));
    const content = textContentOf(conjuncts, excludedPatternsOf(conjuncts));
    if (content === undefined) return node;
    if (contentAutomaton(content, node.minLength) === undefined) {
      const keyword = content.patterns.length > 0 ? 'pattern' : content.formats.length > 0 ? 'format' : 'not';
      this.#refuse(keyword, conjuncts.find(({ schema }) => Object.hasOwn(schema, keyword))?.location ?? ROOT_POINTER, instance);
      return NEVER;
    }
    const maxLength = Math.min(node.maxLength ?? Infinity, maxLengthOfFormats(content) ?? Infinity);
    return { ...node, maxLength: maxLength === Infinity ? undefined : maxLength, content };
  }

  #readArray(conjuncts: readonly Conjunct[], instance: JsonPointer): SchemaNode {
    const prefixLength = Math.max(0, ...conjuncts.map(({ schema }) => tupleOf(schema)?.items.length ?? 0));
    const itemAt = (index: number): SchemaNode => {
      const place = childOf(instance, index < prefixLength ? String(index) : '-');
      return this.readNode(this.#all(conjuncts.flatMap((conjunct) => itemSchemasAt(conjunct, index)), place), place);
    };
    const prefix = Array.from({ length: prefixLength }, (_, index) => itemAt(index));
    const node: ArrayNode = { kind: 'array', prefix, rest: itemAt(prefixLength), ...countsOf(conjuncts, 'minItems', 'maxItems', (min, max) => ({ minItems: min, maxItems: max })) };
    const unique = conjuncts.find(({ schema }) => memberOf(schema, 'uniqueItems') === true);
    const counting = conjuncts.filter(({ schema }) => Object.hasOwn(schema, 'contains'));
    if (counting.length > 0) return this.#readContains(node, conjuncts, counting, unique, instance);
    if (unique === undefined || (node.maxItems !== undefined && node.maxItems <= 1)) return node;
    const domain = prefixLength === 0 ? finiteDomainOf(node.rest) : undefined;
    if (domain !== undefined) return { ...node, rest: { kind: 'literals', values: domain }, uniqueItems: true, listedFrom: node.rest };
    this.#refuse('uniqueItems', unique.location, instance);
    return NEVER;
  }

  /** Elements that count and others are kept apart by the complement of `contains`. */
  #readContains(node: ArrayNode, conjuncts: readonly Conjunct[], counting: readonly Conjunct[], unique: Conjunct | undefined, instance: JsonPointer): SchemaNode {
    const [first, second] = counting as [Conjunct, Conjunct?];
    const { schema, location, trail } = first;
    const [found, min, max] = [memberOf(schema, 'contains') as JsonValue, memberOf(schema, 'minContains') ?? 1, memberOf(schema, 'maxContains')];
    const isFree = min === 0 && max === undefined;
    if (second !== undefined || unique !== undefined || (node.prefix.length > 0 && !isFree) || typeof min !== 'number') {
      this.#refuse('contains', location, instance);
      return NEVER;
    }
    if (isFree) return node;
    const place = childOf(instance, '-');
    const items = this.#all(conjuncts.flatMap((conjunct) => itemSchemasAt(conjunct, 0)), place);
    const counted = this.#alternativesOf({ schema: found, location: childOf(location, 'contains'), trail }, place);
    const others = this.#complement(found, 'contains', { location, trail }, place);
    const split = (part: Alternatives): SchemaNode => this.readNode(this.#both(items, part, 'contains', location, place), place);
    return { ...node, contains: { counted: split(counted), other: split(others), min, max: typeof max === 'number' ? max : undefined } };
  }

  #readObject(conjuncts: readonly Conjunct[], instance: JsonPointer): SchemaNode {
    const required = new Set(conjuncts.flatMap(({ schema }) => stringsIn(schema, 'required')));
    const declared = conjuncts.flatMap(({ schema }) => Object.keys(objectIn(schema, 'properties') ?? {}));
    const members: ObjectMember[] = [];
    for (const name of new Set([...declared, ...required])) {
      if (this.issue !== undefined) break;
      const place = childOf(instance, name);
      const node = FORBIDDEN_TOKENS.has(name) || !this.#nameFits(name, conjuncts, instance) ? NEVER : this.readNode(this.#all(conjuncts.flatMap((conjunct) => memberSchemasOf(conjunct, name)), place), place);
      members.push({ name, required: required.has(name), node });
    }
    const counts = countsOf(conjuncts, 'minProperties', 'maxProperties', (min, max) => ({ minProperties: min === 0 ? undefined : min, maxProperties: max }));
    const open = this.#options.openNames === true ? this.#readOpen(conjuncts) : [];
    return {
      kind: 'object', members: [...members.filter((member) => member.required), ...members.filter((member) => !member.required)], ...counts, ...(open.length > 0 ? { open } : {}),
    };
  }

  /** One case for each set of patterns that a name may match. What cannot be read is not spelled, which refuses nothing else. */
  #readOpen(conjuncts: readonly Conjunct[]): readonly OpenMembers[] {
    const patterns = [...new Set(conjuncts.flatMap(({ schema }) => Object.keys(objectIn(schema, 'patternProperties') ?? {})))];
    if (patterns.length > MAX_NAME_PATTERNS) return [];
    const asked = conjuncts.flatMap(({ schema, location, trail }) => (Object.hasOwn(schema, 'propertyNames') ? [{ schema: schema['propertyNames'] as JsonValue, location, trail }] : []));
    return Array.from({ length: 2 ** patterns.length }, (_, subset): readonly OpenMembers[] => {
      const isIn = (index: number): boolean => (subset >> index) % 2 === 1;
      const matched = patterns.filter((_source, index) => isIn(index));
      const named = patterns.map((pattern, index): JsonValue => (isIn(index) ? { pattern } : { type: 'string', not: { pattern } }));
      const node = this.#readApart(conjuncts.flatMap((conjunct) => openSchemasOf(conjunct, matched)));
      if (node === undefined || (node.kind === 'union' && node.branches.length === 0)) return [];
      const found = this.#readApart([...asked, { schema: { type: 'string', maxLength: MAX_OPEN_NAME_LENGTH, allOf: named }, location: ROOT_POINTER, trail: [] }]);
      const names = found?.kind === 'literals' ? namesAmong(found.values.filter((value) => typeof value === 'string')) : found;
      return names?.kind === 'string' ? [{ names, node }] : [];
    }).flat();
  }

  #readApart(located: readonly Located[]): SchemaNode | undefined {
    const reader = new SchemaReader(this.#root, 'refuse-overlap', this.#maxNodeCount - this.nodeCount, this.#options);
    const node = reader.read([located]);
    this.nodeCount += reader.nodeCount;
    return node.ok ? node.value : undefined;
  }

  /** Whether every `propertyNames` accepts the name. */
  #nameFits(name: string, conjuncts: readonly Conjunct[], instance: JsonPointer): boolean {
    return conjuncts.every(({ schema, location, trail }) => {
      const names = memberOf(schema, 'propertyNames');
      if (names === undefined) return true;
      return this.#alternativesOf({ schema: names, location: childOf(location, 'propertyNames'), trail }, instance).some((all) => {
        const types = typesOf(all);
        if (!types.names.has('string')) return false;
        this.#checkKeywords(all, new Set(['string']), instance);
        return literalsOf(all)?.includes(name) !== false && !excludedOf(all).includes(name) && this.#literalFits(name, all, types, instance);
      });
    });
  }

  /** What leaves out the empty list and object, in keywords that are read anyway. Other lists and objects have none. */
  #leavingOut(excluded: readonly JsonValue[], types: ReadonlySet<JsonTypeName>, conjuncts: readonly Conjunct[], instance: JsonPointer): readonly Conjunct[] {
    const bound = excluded.filter((value) => types.has(jsonTypeOf(value)));
    if (bound.length === 0) return [];
    const { location, trail } = conjuncts.find(({ schema }) => isPlainNegation(schema)) as Conjunct;
    const isBeyond = bound.some((value) => (isJsonArray(value) || isJsonObject(value)) && Object.keys(value).length > 0);
    if (isBeyond) this.#refuse('not', location, instance);
    return [
      ...(bound.some(isJsonArray) ? [{ schema: { minItems: 1 }, location, trail }] : []),
      ...(bound.some(isJsonObject) ? [{ schema: { minProperties: 1 }, location, trail }] : []),
    ];
  }

  #referenced(reference: JsonValue, location: JsonPointer, instance: JsonPointer, trail: readonly string[]): Alternatives {
    const target = typeof reference === 'string' && reference.startsWith('#') ? referenceTarget(this.#root, reference) : undefined;
    if (target === undefined) return this.#refuse('$ref', location, instance);
    const { schema, keywordLocation } = target;
    if (trail.filter((passed) => passed === keywordLocation).length >= MAX_REFERENCE_DEPTH) {
      this.#cutCount += 1;
      return [];
    }
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
    if (typeof value === 'number') return numberFits(value, numberNode(conjuncts, types.integer, []));
    if (typeof value === 'string') {
      const content = textContentOf(conjuncts, excludedPatternsOf(conjuncts));
      return countsOf(conjuncts, 'minLength', 'maxLength', (minLength, maxLength) => textFits(value, { kind: 'string', minLength, maxLength, content }));
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
    if (this.issue !== undefined) return [];
    let keywordLocation = keyword === '' ? location : childOf(location, keyword);
    // a complement has places of its own: what the schema holds there is the keyword it was made from
    while (keyword !== '' && resolvePointer(this.#root, keywordLocation) === undefined && parentOf(keywordLocation) !== ROOT_POINTER) {
      keywordLocation = parentOf(keywordLocation) as JsonPointer;
    }
    const isOwn = keywordLocation === childOf(location, keyword) || keyword === '';
    this.issue = { code: 'mask/unsupported-keyword', keyword: isOwn ? keyword : lastTokenOf(keywordLocation) ?? keyword, keywordLocation, instanceLocation };
    return [];
  }
}

function numberNode(conjuncts: readonly Conjunct[], integer: boolean, excluded: readonly number[]): NumberNode {
  const multiples = multiplesOf(conjuncts);
  const someOf = (values: readonly number[]): readonly number[] | undefined => (values.length === 0 ? undefined : values);
  return {
    kind: 'number', integer, ...numberBoundsOf(conjuncts), multiplesOf: someOf(multiples.multiplesOf), notMultiplesOf: someOf(multiples.notMultiplesOf), excluded: someOf(excluded),
    suggested: suggestedIn(conjuncts, 'number'),
  };
}

function namesAmong(texts: readonly string[]): StringNode {
  return { kind: 'string', minLength: 0, maxLength: MAX_OPEN_NAME_LENGTH, content: { patterns: [patternOf(texts)], formats: [] } };
}

/** Any value at all, to a bounded depth. Every place shares them. */
function freeNodes(depth: number, options: ReadOptions): readonly SchemaNode[] {
  const known = (options.openNames === true ? OPEN_NODES : FREE_NODES)[depth];
  if (known !== undefined) return known;
  const items: SchemaNode = depth === 0 ? NEVER : { kind: 'union', branches: freeNodes(depth - 1, options) };
  const names: StringNode = { kind: 'string', minLength: 0, maxLength: MAX_OPEN_NAME_LENGTH };
  const nodes: readonly SchemaNode[] = [
    { kind: 'literals', values: [null, true, false] },
    { kind: 'number', integer: false, lower: undefined, upper: undefined },
    { kind: 'string', minLength: 0, maxLength: undefined },
    { kind: 'array', prefix: [], rest: items, minItems: 0, maxItems: undefined },
    { kind: 'object', members: [], ...(options.openNames === true && depth > 0 ? { open: [{ names, node: items }] } : {}) },
  ];
  (options.openNames === true ? OPEN_NODES : FREE_NODES)[depth] = nodes;
  return nodes;
}
