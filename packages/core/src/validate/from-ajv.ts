/**
 * Ajv errors → violations, all of them, the one to mend first in front. Order follows from schema and text alone: within an object first missing,
 * then additional members, then each member in the order the schema declares them. A failed union reports its closest branch, then `union_no_match` itself.
 * The closest branch has the fewest violations, those deeper inside; it stands alone where no other is as close and the value bears its tag, else
 * the other branches follow it (small unions only). Branches of another JSON type say nothing where one is of the value's type.
 * A pair of code and pointer is reported once. `params` name near misses, as data: `closestName`, `closestValue`.
 */
import type { ErrorObject } from 'ajv';
import { isJsonArray, isJsonObject, memberOf, readJsonValue, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, isPrefix, parsePointer, ROOT_POINTER, tokensOf, type JsonPointer } from '../pointer.ts';
import { nearestOf } from './near-miss.ts';
import type { Violation, ViolationCode } from './violation.ts';

/** What the translation must know of the schema: places by object identity, and a judge for one sub-schema alone. */
export interface SchemaIndex {
  /** Place of a sub-schema object; Ajv's own path starts anew behind a compiled `$ref`, identity does not. */
  locationOf(schema: unknown): JsonPointer | undefined;
  /** Every sub-schema object inside a keyword's value, through references too. */
  reachableFrom(keywordValue: unknown): ReadonlySet<unknown>;
  /** Ajv's errors of the sub-schema at `keywordLocation` on `value`; empty where it holds. */
  judgeAt(keywordLocation: JsonPointer, value: JsonValue): readonly ErrorObject[];
  /** The schema itself, or the one its `$ref` leads to. */
  resolve(schema: JsonValue | undefined): JsonValue | undefined;
}

/** Up to this many branches are reported each; beyond it only the closest, or a report on thirty tools would drown the one fault. */
const MAX_REPORTED_BRANCHES = 4;
/** Looking for a near miss reads the whole object: 100,000 additional members must not each do so. */
const MAX_HINTED = 16;

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
  const violations = dropExplanations(errors, index).flatMap((error, position) => {
    const violation = toViolation(error, index, base, position < MAX_HINTED);
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
  const value = error.data as JsonValue;
  const all = (error.schema as readonly JsonValue[]).map((schema, position) => {
    const location = childOf(summary.keywordLocation as JsonPointer, String(position));
    const violations = toViolations(index.judgeAt(location, value), index, summary.pointer);
    const isOtherType = violations.some(({ code, pointer }) => code === 'wrong_type' && pointer === summary.pointer);
    const depth = Math.min(...violations.map(({ pointer }) => tokensOf(pointer).length));
    return { schema, violations, isOtherType, depth };
  });
  const ofType = all.filter(({ isOtherType }) => !isOtherType);
  // stable: the first of equally close branches stays first
  const branches = (ofType.length > 0 ? ofType : all).toSorted((a, b) => a.violations.length - b.violations.length || b.depth - a.depth);
  const [closest, next] = branches;
  const isAlone = branches.length > MAX_REPORTED_BRANCHES
    || (closest !== undefined && closest.violations.length < (next?.violations.length ?? Infinity) && bearsTag(value, closest.schema, index));
  return (isAlone ? branches.slice(0, 1) : branches).flatMap((branch) => branch.violations);
}

/** Whether a member of `value` is one of the constants that the branch asks of it. */
function bearsTag(value: JsonValue, branch: JsonValue, index: SchemaIndex): boolean {
  const schema = index.resolve(branch);
  const properties = isJsonObject(schema) ? memberOf(schema, 'properties') : undefined;
  if (!isJsonObject(value) || !isJsonObject(properties)) return false;
  return Object.keys(properties).some((name) => {
    const [member, declared] = [memberOf(value, name), index.resolve(properties[name])];
    if (member === undefined || !isJsonObject(declared)) return false;
    const tags = Object.hasOwn(declared, 'const') ? [declared['const']] : declared['enum'];
    return isJsonArray(tags as JsonValue) && (tags as readonly JsonValue[]).includes(member);
  });
}

function toViolation(error: ErrorObject, index: SchemaIndex, base: JsonPointer, isHinted: boolean): Violation {
  const params = paramsOf(error);
  const isAmbiguous = error.keyword === 'oneOf' && isJsonArray(params['passingSchemas']);
  return {
    code: isAmbiguous ? 'union_ambiguous' : CODES.get(error.keyword) ?? 'schema_violation',
    pointer: pointerOf(error, params, base),
    keyword: error.keyword === 'false schema' ? '' : error.keyword,
    keywordLocation: locationOf(error, index),
    params: isHinted ? { ...params, ...nearMiss(error, params) } : params,
  };
}

/** What was probably meant: of a missing member the name it was sent under, of an additional one the name that is missing, of a value the allowed one. */
function nearMiss({ data, parentSchema }: ErrorObject, { missingProperty, additionalProperty, unevaluatedProperty, allowedValues }: JsonObject): JsonObject {
  if (allowedValues !== undefined) {
    const closestValue = nearestOf(data as JsonValue, allowedValues as readonly JsonValue[]);
    return closestValue === undefined ? {} : { closestValue };
  }
  const extra = additionalProperty ?? unevaluatedProperty;
  const name = missingProperty ?? extra;
  if (name === undefined || !isJsonObject(data as JsonValue)) return {};
  const declared = (parentSchema?.['properties'] ?? {}) as object;
  const [offered, taken] = extra === undefined ? [data as object, declared] : [declared, data as object];
  const closestName = nearestOf(name, Object.keys(offered).filter((each) => !Object.hasOwn(taken, each)));
  return closestName === undefined ? {} : { closestName };
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
