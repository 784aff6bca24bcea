/**
 * The keywords of one conjunct or of several together, read without looking further: types, literals, bounds, counts, and the sub-schemas that
 * speak of a member or an element. What a keyword binds and whether the mask constrains it stands here, in one table.
 * Reference: JSON Schema 2020-12 Validation §6, Applicator §10.3; draft-07 where it differs.
 */
import { isJsonArray, isJsonObject, jsonEqual, memberOf, type JsonObject, type JsonTypeName, type JsonValue } from '../json/value.ts';
import { childOf, type JsonPointer } from '../pointer.ts';
import { compilePattern } from '../validate/pattern.ts';
import { isReadableText, patternOf } from './schema-text.ts';

/** A limit on numbers. Magnitudes from 2^53 on bind nothing the mask can spell, so a rounded bound stays exact in effect. */
export interface NumberBound {
  readonly value: number;
  readonly exclusive: boolean;
}

/** A sub-schema and where it stands. */
export interface Located {
  readonly schema: JsonValue;
  readonly location: JsonPointer;
  /** Targets of the references passed on the way, for the recursion bound. */
  readonly trail: readonly string[];
}

/** One schema object that a value must satisfy, with `$ref`, `allOf`, `anyOf` and `oneOf` already multiplied out. */
export interface Conjunct extends Located {
  readonly schema: JsonObject;
}

/** Keywords that only describe. `$defs` and `definitions` hold schemas that bind through `$ref` alone. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title', 'description', 'default', 'examples', 'example', 'deprecated', 'readOnly', 'writeOnly', '$comment', '$schema', '$defs', 'definitions',
  '$anchor', '$vocabulary', 'contentEncoding', 'contentMediaType', 'contentSchema',
]);

/** Read here, whatever the type of the value. */
export const READ_FOR_ALL: ReadonlySet<string> = new Set(['type', 'nullable', 'enum', 'const', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']);

/** Keywords that bind one type only; beside other types they are inert. `read`: constrained here, else refused where the type is possible. */
export const TYPE_KEYWORDS: ReadonlyMap<string, { readonly type: JsonTypeName; readonly read: boolean }> = new Map([
  ...keywordsOf('string', true, ['minLength', 'maxLength', 'pattern', 'format']),
  ...keywordsOf('number', true, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']),
  ...keywordsOf('array', true, ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems', 'contains', 'minContains', 'maxContains']),
  ...keywordsOf('array', false, ['unevaluatedItems']),
  ...keywordsOf('object', true, [
    'properties', 'patternProperties', 'required', 'additionalProperties', 'propertyNames', 'minProperties', 'maxProperties', 'dependencies', 'dependentRequired', 'dependentSchemas',
  ]),
  ...keywordsOf('object', false, ['unevaluatedProperties']),
]);

const WHOLE: JsonValue = ['null', 'boolean', 'integer', 'string', 'array', 'object'];
/** Formats of ajv-formats that bind numbers instead of strings, as the keywords they stand for. */
const NUMBER_FORMATS: ReadonlyMap<JsonValue | undefined, JsonObject> = new Map([
  ['int32', { type: WHOLE, minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }], ['int64', { type: WHOLE }], ['float', {}], ['double', {}],
]);

export function numberFormatIn(schema: JsonObject): JsonObject | undefined {
  return NUMBER_FORMATS.get(memberOf(schema, 'format'));
}

function keywordsOf(type: JsonTypeName, read: boolean, names: readonly string[]): [string, { type: JsonTypeName; read: boolean }][] {
  return names.map((name) => [name, { type, read }]);
}

export interface TypeSet {
  readonly names: ReadonlySet<JsonTypeName>;
  /** Numbers must be integral. */
  readonly integer: boolean;
}

const ALL_TYPES: readonly JsonTypeName[] = ['null', 'boolean', 'number', 'string', 'array', 'object'];

/** The types every conjunct allows. `nullable` adds null to a conjunct's own `type`, as the judge reads it. */
export function typesOf(conjuncts: readonly Conjunct[]): TypeSet {
  let names = new Set<JsonTypeName>(ALL_TYPES);
  let integer = false;
  for (const { schema } of conjuncts) {
    const type = memberOf(schema, 'type');
    if (type === undefined) continue;
    const listed = new Set<JsonValue>(isJsonArray(type) ? type : [type]);
    if (memberOf(schema, 'nullable') === true) listed.add('null');
    if (listed.has('integer') && !listed.has('number')) integer = true;
    names = new Set([...names].filter((name) => listed.has(name) || (name === 'number' && listed.has('integer'))));
  }
  return { names, integer };
}

/** The literals every conjunct's `enum` and `const` have in common and no `not` leaves out, without duplicates; undefined where none is given. */
export function literalsOf(conjuncts: readonly Conjunct[]): readonly JsonValue[] | undefined {
  let literals: readonly JsonValue[] | undefined;
  const restrict = (values: readonly JsonValue[]): void => {
    literals = literals === undefined
      ? values.filter((value, index) => !values.slice(0, index).some((earlier) => jsonEqual(earlier, value)))
      : literals.filter((value) => values.some((other) => jsonEqual(value, other)));
  };
  for (const { schema } of conjuncts) {
    const values = memberOf(schema, 'enum');
    if (isJsonArray(values)) restrict(values);
    if (Object.hasOwn(schema, 'const')) restrict([schema['const'] as JsonValue]);
  }
  const excluded = excludedOf(conjuncts);
  return literals?.filter((value) => !excluded.some((other) => jsonEqual(value, other)));
}

/** The literals that a `not` on `enum` or `const` leaves out. */
export function excludedOf(conjuncts: readonly Conjunct[]): readonly JsonValue[] {
  return conjuncts.flatMap(({ schema }) => {
    const negated = objectIn(schema, 'not') ?? {};
    const values = memberOf(negated, 'enum');
    return isPlainNegation(schema) ? [...(isJsonArray(values) ? values : []), ...(Object.hasOwn(negated, 'const') ? [negated['const'] as JsonValue] : [])] : [];
  });
}

/** Patterns that no string may match: of a `not` on `pattern`, and one for all texts among {@link excludedOf}. */
export function excludedPatternsOf(conjuncts: readonly Conjunct[]): readonly string[] {
  const texts = excludedOf(conjuncts).filter((value) => typeof value === 'string');
  const patterns = conjuncts.map(({ schema }) => (isPlainNegation(schema) ? memberOf(objectIn(schema, 'not') ?? {}, 'pattern') : undefined)).filter((source) => typeof source === 'string');
  return texts.length === 0 ? patterns : [...patterns, patternOf(texts)];
}

/** `not` in a form that is read as it stands: literals that are left out, for numbers multiples, and for strings a pattern. */
export function isPlainNegation(schema: JsonObject): boolean {
  const negated = objectIn(schema, 'not');
  const keywords = Object.keys(negated ?? {}).filter((keyword) => !ANNOTATIONS.has(keyword));
  if (negated === undefined || keywords.length !== 1) return false;
  if (keywords[0] === 'multipleOf') return memberOf(schema, 'type') === 'number' && isWellFormed(negated, 'multipleOf');
  if (keywords[0] === 'pattern') return memberOf(schema, 'type') === 'string' && isWellFormed(negated, 'pattern');
  return keywords[0] === 'const' || (keywords[0] === 'enum' && isJsonArray(negated['enum']));
}

/** What `default` and `examples` name of one type; undefined where they name nothing. */
export function suggestedIn<T extends string | number>(conjuncts: readonly Conjunct[], type: T extends string ? 'string' : 'number'): readonly T[] | undefined {
  const named = conjuncts.flatMap(({ schema }) => [memberOf(schema, 'default'), memberOf(schema, 'examples')].flat());
  const found = named.filter((value): value is JsonValue & T => typeof value === type);
  return found.length === 0 ? undefined : found;
}

/** Divisors every number must be a whole multiple of, and those it must not be one of. */
export function multiplesOf(conjuncts: readonly Conjunct[]): { readonly multiplesOf: readonly number[]; readonly notMultiplesOf: readonly number[] } {
  const divisorIn = (schema: JsonObject): readonly number[] => {
    const divisor = memberOf(schema, 'multipleOf');
    return typeof divisor === 'number' ? [divisor] : [];
  };
  return {
    multiplesOf: conjuncts.flatMap(({ schema }) => divisorIn(schema)),
    notMultiplesOf: conjuncts.flatMap(({ schema }) => (isPlainNegation(schema) ? divisorIn(objectIn(schema, 'not') ?? {}) : [])),
  };
}

/** Keywords that cannot reject a value of `types`: bound to another type, or set to the value that allows everything. */
export function isInert(schema: JsonObject, keyword: string, types: ReadonlySet<JsonTypeName>): boolean {
  const value = memberOf(schema, keyword);
  if (keyword === 'uniqueItems' && value === false) return true;
  if ((keyword === 'unevaluatedItems' || keyword === 'unevaluatedProperties') && value === true) return true;
  // read where it is expanded
  if (keyword === 'format' && numberFormatIn(schema) !== undefined) return true;
  const bound = TYPE_KEYWORDS.get(keyword);
  return bound !== undefined && !types.has(bound.type);
}

/** Shapes of other drafts (a boolean `exclusiveMinimum`) or of no draft are refused rather than read as something else. */
export function isWellFormed(schema: JsonObject, keyword: string): boolean {
  const value = memberOf(schema, keyword);
  switch (keyword) {
    case 'items': case 'additionalItems': case 'additionalProperties': return true;
    case 'prefixItems': return isJsonArray(value);
    case 'properties': case 'patternProperties': return isJsonObject(value);
    case 'required': return isJsonArray(value) && value.every((name) => typeof name === 'string');
    case 'contains': case 'propertyNames': return true;
    case 'uniqueItems': return typeof value === 'boolean';
    case 'dependencies': case 'dependentRequired': case 'dependentSchemas': return isJsonObject(value);
    case 'multipleOf': return typeof value === 'number' && value > 0;
    case 'pattern': case 'format': return isReadableText(schema, keyword);
    default: return typeof value === 'number';
  }
}

/** The strongest pair of counts, e.g. of `minLength` and `maxLength`. */
export function countsOf<T>(conjuncts: readonly Conjunct[], minKeyword: string, maxKeyword: string, make: (min: number, max: number | undefined) => T): T {
  const numbers = (keyword: string): number[] => conjuncts.map(({ schema }) => memberOf(schema, keyword)).filter((value) => typeof value === 'number');
  const maxima = numbers(maxKeyword);
  return make(Math.ceil(Math.max(0, ...numbers(minKeyword))), maxima.length === 0 ? undefined : Math.floor(Math.min(...maxima)));
}

export function numberBoundsOf(conjuncts: readonly Conjunct[]): { readonly lower: NumberBound | undefined; readonly upper: NumberBound | undefined } {
  let lower: NumberBound | undefined;
  let upper: NumberBound | undefined;
  for (const { schema } of conjuncts) {
    for (const [keyword, exclusive] of [['minimum', false], ['exclusiveMinimum', true]] as const) {
      const value = memberOf(schema, keyword);
      if (typeof value === 'number' && (lower === undefined || value > lower.value || (value === lower.value && exclusive))) lower = { value, exclusive };
    }
    for (const [keyword, exclusive] of [['maximum', false], ['exclusiveMaximum', true]] as const) {
      const value = memberOf(schema, keyword);
      if (typeof value === 'number' && (upper === undefined || value < upper.value || (value === upper.value && exclusive))) upper = { value, exclusive };
    }
  }
  return { lower, upper };
}

/** The positional schemas: `prefixItems`, or draft-07's list form of `items`. */
export function tupleOf(schema: JsonObject): { readonly keyword: string; readonly items: readonly JsonValue[]; readonly restKeyword: string } | undefined {
  const prefixItems = memberOf(schema, 'prefixItems');
  if (isJsonArray(prefixItems)) return { keyword: 'prefixItems', items: prefixItems, restKeyword: 'items' };
  const items = memberOf(schema, 'items');
  return isJsonArray(items) ? { keyword: 'items', items, restKeyword: 'additionalItems' } : undefined;
}

export function itemSchemasAt({ schema, location, trail }: Conjunct, index: number): readonly Located[] {
  const tuple = tupleOf(schema);
  const positional = tuple?.items[index];
  if (tuple !== undefined && positional !== undefined) {
    return [{ schema: positional, location: childOf(childOf(location, tuple.keyword), String(index)), trail }];
  }
  return locatedIn(schema, location, trail, tuple?.restKeyword ?? 'items');
}

/** `additionalProperties` speaks of names that neither `properties` nor a pattern speaks of. */
export function memberSchemasOf({ schema, location, trail }: Conjunct, name: string): readonly Located[] {
  const properties = objectIn(schema, 'properties') ?? {};
  const patterns = objectIn(schema, 'patternProperties') ?? {};
  const found = [
    ...locatedIn(properties, childOf(location, 'properties'), trail, name),
    ...Object.keys(patterns).filter((source) => matches(source, name)).flatMap((source) => locatedIn(patterns, childOf(location, 'patternProperties'), trail, source)),
  ];
  return found.length > 0 ? found : locatedIn(schema, location, trail, 'additionalProperties');
}

/** What a conjunct asks of a member that it does not declare and whose name matches exactly these of all patterns. */
export function openSchemasOf({ schema, location, trail }: Conjunct, matched: readonly string[]): readonly Located[] {
  const patterns = objectIn(schema, 'patternProperties') ?? {};
  const found = matched.flatMap((source) => locatedIn(patterns, childOf(location, 'patternProperties'), trail, source));
  return found.length > 0 ? found : locatedIn(schema, location, trail, 'additionalProperties');
}

/** A pattern the judge would not compile matches nothing here: the contract holding it was never loaded. */
function matches(source: string, name: string): boolean {
  const pattern = compilePattern(source);
  return pattern.ok && pattern.value.test(name);
}

function locatedIn(holder: JsonObject, location: JsonPointer, trail: readonly string[], name: string): readonly Located[] {
  const found = memberOf(holder, name);
  return found === undefined ? [] : [{ schema: found, location: childOf(location, name), trail }];
}

export function objectIn(schema: JsonObject, keyword: string): JsonObject | undefined {
  const value = memberOf(schema, keyword);
  return isJsonObject(value) ? value : undefined;
}

export function stringsIn(schema: JsonObject, keyword: string): readonly string[] {
  const value = memberOf(schema, keyword);
  return isJsonArray(value) ? value.filter((name) => typeof name === 'string') : [];
}
