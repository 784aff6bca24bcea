/**
 * Ajv errors → violations. Order is Ajv's own, which is deterministic for one schema and one text: within an object first missing, then
 * additional members, then each member in schema order. A failed union reports its closest branch first, then what the other branches
 * say besides (small unions only), then `union_no_match` itself. A pair of code and pointer is reported once.
 */
import type { ErrorObject } from 'ajv';
import { isJsonArray, isJsonObject, readJsonValue, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, isPrefix, parsePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import type { Violation, ViolationCode } from './violation.ts';

/** What the translation must know of the schema: places by object identity, and a judge for one sub-schema alone. */
export interface SchemaIndex {
  /** Place of a sub-schema object; Ajv's own path starts anew behind a compiled `$ref`, identity does not. */
  locationOf(schema: unknown): JsonPointer | undefined;
  /** Every sub-schema object inside a keyword's value, through references too. */
  reachableFrom(keywordValue: unknown): ReadonlySet<unknown>;
  /** Ajv's errors of the sub-schema at `keywordLocation` on `value`; empty where it holds. */
  judgeAt(keywordLocation: JsonPointer, value: JsonValue): readonly ErrorObject[];
}

/** Up to this many branches are reported each; beyond it only the closest, or a report on thirty tools would drown the one fault. */
const MAX_REPORTED_BRANCHES = 4;
/** A branch of another type is further away than one with a handful of wrong members. */
const OTHER_TYPE_DISTANCE = 10;

const CODES: ReadonlyMap<string, ViolationCode> = new Map([
  ['required', 'missing_required'], ['dependentRequired', 'missing_required'], ['dependencies', 'missing_required'],
  ['additionalProperties', 'additional_property'], ['unevaluatedProperties', 'additional_property'],
  ['type', 'wrong_type'], ['enum', 'enum_mismatch'], ['const', 'const_mismatch'], ['pattern', 'pattern_mismatch'], ['format', 'format_mismatch'],
  ['minimum', 'range_violation'], ['maximum', 'range_violation'], ['multipleOf', 'range_violation'],
  ['exclusiveMinimum', 'range_violation'], ['exclusiveMaximum', 'range_violation'],
  ['minLength', 'length_violation'], ['maxLength', 'length_violation'],
  ['minItems', 'items_violation'], ['maxItems', 'items_violation'], ['uniqueItems', 'items_violation'], ['contains', 'items_violation'],
  ['items', 'items_violation'], ['additionalItems', 'items_violation'], ['unevaluatedItems', 'items_violation'],
  ['anyOf', 'union_no_match'], ['oneOf', 'union_no_match'],
]);

/** Keywords whose sub-schemas' errors come first in Ajv's list and only explain the failure. */
const SUMMARISING: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'not', 'contains', 'propertyNames']);

/** `errors` as one run of a validator gave them (`allErrors`, `verbose`), `base` the place of the value it ran on. Never empty for errors. */
export function toViolations(errors: readonly ErrorObject[], index: SchemaIndex, base: JsonPointer = ROOT_POINTER): readonly Violation[] {
  const violations = dropExplanations(errors, index).flatMap((error) => {
    const violation = toViolation(error, index, base);
    return violation.code === 'union_no_match' ? [...branchViolations(error, violation, index), violation] : [violation];
  });
  const seen = new Set<string>();
  return violations.filter(({ code, pointer }) => {
    const key = `${code} ${pointer}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** The explaining errors stand right before their summary, and lie at or below its instance. */
function dropExplanations(errors: readonly ErrorObject[], index: SchemaIndex): readonly ErrorObject[] {
  const kept: ErrorObject[] = [];
  for (const error of errors) {
    if (SUMMARISING.has(error.keyword)) {
      const inside = index.reachableFrom(error.schema);
      const explains = (other: ErrorObject | undefined): boolean => other !== undefined
        && inside.has(other.parentSchema) && isPrefix(instancePath(error), instancePath(other));
      while (explains(kept.at(-1))) kept.pop();
    }
    // `if` only repeats that its `then` or `else` failed, which was reported just before
    if (error.keyword !== 'if' || kept.length === 0) kept.push(error);
  }
  return kept;
}

function branchViolations(error: ErrorObject, summary: Violation, index: SchemaIndex): readonly Violation[] {
  if (!isJsonArray(error.schema as JsonValue)) return [];
  const branches = (error.schema as readonly JsonValue[]).map((_, position) => {
    const location = childOf(summary.keywordLocation as JsonPointer, String(position));
    const violations = toViolations(index.judgeAt(location, error.data as JsonValue), index, summary.pointer);
    return { violations, distance: violations.reduce((sum, violation) => sum + distanceOf(violation, summary.pointer), 0) };
  });
  // stable: the first of equally close branches stays first
  const byDistance = branches.toSorted((a, b) => a.distance - b.distance);
  return (branches.length > MAX_REPORTED_BRANCHES ? byDistance.slice(0, 1) : byDistance).flatMap((branch) => branch.violations);
}

function distanceOf(violation: Violation, place: JsonPointer): number {
  return violation.code === 'wrong_type' && violation.pointer === place ? OTHER_TYPE_DISTANCE : 1;
}

function toViolation(error: ErrorObject, index: SchemaIndex, base: JsonPointer): Violation {
  const params = paramsOf(error);
  const isAmbiguous = error.keyword === 'oneOf' && isJsonArray(params['passingSchemas']);
  return {
    code: isAmbiguous ? 'union_ambiguous' : CODES.get(error.keyword) ?? 'schema_violation',
    pointer: pointerOf(error, params, base),
    keyword: error.keyword === 'false schema' ? '' : error.keyword,
    keywordLocation: locationOf(error, index),
    params,
  };
}

/** Where a member is missing or too much, the place of that member; else the instance itself. */
function pointerOf(error: ErrorObject, params: JsonObject, base: JsonPointer): JsonPointer {
  const place = `${base}${instancePath(error)}` as JsonPointer;
  const name = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty'] ?? params['propertyName'];
  return typeof name === 'string' ? childOf(place, name) : place;
}

function locationOf(error: ErrorObject, index: SchemaIndex): string {
  const holder = index.locationOf(error.parentSchema);
  // the schema `false` is no object, so it has no identity: Ajv's own path must do
  return holder === undefined ? error.schemaPath.replace(/^#/, '').replace(/\/false schema$/, '') : childOf(holder, error.keyword);
}

function paramsOf(error: ErrorObject): JsonObject {
  const params = readJsonValue(error.params);
  return params.ok && isJsonObject(params.value) ? params.value : {};
}

function instancePath(error: ErrorObject): JsonPointer {
  const pointer = parsePointer(error.instancePath);
  return pointer.ok ? pointer.value : ROOT_POINTER;
}
