/**
 * Where a schema holds sub-schemas, keyword by keyword, and where a local reference leads. One table for the check at load, for the judge
 * and for navigation. Reference: JSON Schema 2020-12 core §7.2, §8.2, §10, §11; draft-07 core §8, validation §6.
 */
import { isJsonArray, isJsonObject, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, parsePointer, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import type { SchemaDialect } from './contract.ts';

/** How the value of a keyword holds sub-schemas; `in-place` ones speak about the same instance. */
type Shape = 'none' | 'one' | 'one-in-place' | 'list' | 'list-in-place' | 'map' | 'map-in-place';

type WordsByShape = Readonly<Partial<Record<Shape, string>>>;

const SHARED_WORDS: WordsByShape = {
  // `nullable` is of OpenAPI 3.0; the judge honours it
  none: '$id $schema $ref $comment nullable title description default examples readOnly writeOnly deprecated contentMediaType contentEncoding '
    + 'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format maxItems minItems uniqueItems '
    + 'maxProperties minProperties required',
  one: 'additionalProperties propertyNames contains',
  'one-in-place': 'not if then else',
  'list-in-place': 'allOf anyOf oneOf',
  // each dialect's place for shared schemas is read in both, and so is `dependencies`: the judge honours them, and real schemas mix them
  map: 'properties patternProperties definitions $defs',
  'map-in-place': 'dependencies',
};
const KEYWORDS: Readonly<Record<SchemaDialect, ReadonlyMap<string, Shape>>> = {
  'draft-07': shapesOf(SHARED_WORDS, { list: 'items', one: 'additionalItems' }),
  '2020-12': shapesOf(SHARED_WORDS, {
    none: '$anchor $vocabulary contentSchema minContains maxContains dependentRequired', list: 'prefixItems', one: 'items unevaluatedItems unevaluatedProperties',
    'map-in-place': 'dependentSchemas',
  }),
};

function shapesOf(...tables: readonly WordsByShape[]): ReadonlyMap<string, Shape> {
  return new Map(tables.flatMap((table) => Object.entries(table).flatMap(([shape, words]) => words.split(' ').map((word) => [word, shape as Shape] as const))));
}

export interface SubSchema {
  readonly schema: JsonValue;
  readonly pointer: JsonPointer;
}

export interface ChildSchema extends SubSchema {
  /** It speaks about the same instance as its parent. */
  readonly inPlace: boolean;
}

/** The words that the dialect, or the judge beyond it, knows. */
export function knownKeywords(dialect: SchemaDialect): ReadonlySet<string> {
  return new Set(KEYWORDS[dialect].keys());
}

export function isKnownKeyword(dialect: SchemaDialect, keyword: string): boolean {
  return KEYWORDS[dialect].has(keyword);
}

/** Every sub-schema of a schema, itself first, in document order. */
export function listSubSchemas(schema: JsonObject, dialect: SchemaDialect): readonly SubSchema[] {
  const found: SubSchema[] = [];
  const visit = (sub: JsonValue, pointer: JsonPointer): void => {
    found.push({ schema: sub, pointer });
    if (isJsonObject(sub)) for (const child of childSchemas(sub, pointer, dialect)) visit(child.schema, child.pointer);
  };
  visit(schema, ROOT_POINTER);
  return found;
}

/** The sub-schemas directly inside one schema, in document order. */
export function childSchemas(schema: JsonObject, pointer: JsonPointer, dialect: SchemaDialect): readonly ChildSchema[] {
  return Object.keys(schema).flatMap((keyword): readonly ChildSchema[] => {
    const shape = KEYWORDS[dialect].get(keyword) ?? 'none';
    const value = schema[keyword] as JsonValue;
    const place = childOf(pointer, keyword);
    const inPlace = shape.endsWith('in-place');
    if (shape === 'none') return [];
    if (shape.startsWith('list') && isJsonArray(value)) return value.map((item, index) => ({ schema: item, pointer: childOf(place, String(index)), inPlace }));
    if (shape.startsWith('map')) {
      if (!isJsonObject(value)) return [];
      // draft-07 `dependencies` may hold lists of names instead of schemas
      return Object.keys(value).filter((name) => !isJsonArray(value[name])).map((name) => ({ schema: value[name] as JsonValue, pointer: childOf(place, name), inPlace }));
    }
    return [{ schema: value, pointer: place, inPlace }];
  });
}

export interface ReferenceTarget {
  readonly schema: JsonValue;
  readonly keywordLocation: JsonPointer;
}

/** The schema a local reference names: `#`, `#/pointer` (also percent-encoded), or `#anchor`. `loadContract` refused every other form. */
export function referenceTarget(root: JsonObject, reference: JsonValue | undefined): ReferenceTarget | undefined {
  if (typeof reference !== 'string') return undefined;
  const hash = reference.indexOf('#');
  const fragment = hash === -1 ? '' : decodeFragment(reference.slice(hash + 1));
  if (fragment === undefined) return undefined;
  if (fragment !== '' && !fragment.startsWith('/')) return findAnchor(root, fragment);
  const pointer = parsePointer(fragment);
  const schema = pointer.ok ? resolvePointer(root, pointer.value) : undefined;
  return pointer.ok && schema !== undefined ? { schema, keywordLocation: pointer.value } : undefined;
}

/** Only a sub-schema has an anchor, an object inside an `enum` has not; and only 2020-12 knows the keyword. */
function findAnchor(root: JsonObject, anchor: string): ReferenceTarget | undefined {
  const found = listSubSchemas(root, '2020-12').find(({ schema }) => isJsonObject(schema) && memberOf(schema, '$anchor') === anchor);
  return found === undefined ? undefined : { schema: found.schema, keywordLocation: found.pointer };
}

/** `decodeURIComponent` throws on a malformed escape; such a reference resolves to nothing. */
function decodeFragment(text: string): string | undefined {
  return /%(?![0-9a-fA-F]{2})/.test(text) ? undefined : decodeOrUndefined(text);
}

function decodeOrUndefined(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // well-formed escapes that are not UTF-8
    return undefined;
  }
}
