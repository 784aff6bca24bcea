/**
 * Habits of schemas in tool definitions, brought into a dialect that the judge honours: older drafts where the conversion is exact, python-like type
 * names where asked for. What an older draft would have ignored and the newer one enforces is refused, not reinterpreted.
 * Reference: JSON Schema drafts 4, 6, 2019-09 and their release notes; OpenAPI 3.0 §4.7.24 (`nullable`).
 */
import { childSchemas } from '../contract/sub-schemas.ts';
import { isJsonArray, isJsonObject, memberOf, setMember, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { ok, type Result } from '../result.ts';
import { issueAt, type SourceIssue, type SourceNote, type SourceOptions } from './source.ts';

export interface HabitsRead {
  readonly schema: JsonObject;
  readonly notes: readonly SourceNote[];
}

interface Conversion {
  readonly to: string;
  /** Words that the older draft does not know and the newer one enforces. */
  readonly newer: readonly string[];
  /** One sub-schema, its children converted already; undefined where that cannot be exact. */
  convert(schema: JsonObject, isRoot: boolean): JsonObject | undefined;
}

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const NEWER_THAN_6 = ['if', 'then', 'else'];
const CONVERSIONS: ReadonlyMap<string, Conversion> = new Map<string, Conversion>([
  ['http://json-schema.org/draft-04/schema', { to: DRAFT_07, newer: [...NEWER_THAN_6, 'const', 'contains', 'propertyNames'], convert: fromDraft4 }],
  ['http://json-schema.org/draft-06/schema', { to: DRAFT_07, newer: NEWER_THAN_6, convert: (schema) => schema }],
  ['https://json-schema.org/draft/2019-09/schema', {
    to: 'https://json-schema.org/draft/2020-12/schema', newer: ['prefixItems', '$dynamicRef', '$dynamicAnchor'], convert: from2019,
  }],
]);

/** `type` names of python-like definitions; `any` is no type at all. */
const PYTHON_TYPES: ReadonlyMap<string, string | undefined> = new Map<string, string | undefined>([
  ['dict', 'object'], ['float', 'number'], ['list', 'array'], ['tuple', 'array'], ['str', 'string'], ['int', 'integer'], ['bool', 'boolean'], ['None', 'null'], ['any', undefined],
]);

/** Reads the schema of a definition; `place` is where it stands there. O(schema). */
export function readHabits(schema: JsonObject, place: JsonPointer, options: SourceOptions): Result<HabitsRead, SourceIssue> {
  const notes: SourceNote[] = [];
  const note = (code: SourceNote['code'], pointer: JsonPointer, params: JsonObject = {}): void => { notes.push({ code, pointer: `${place}${pointer}` as JsonPointer, params }); };
  const refuse = (code: SourceIssue['code'], pointer: JsonPointer, params: JsonObject): Result<never, SourceIssue> => issueAt(code, `${place}${pointer}` as JsonPointer, params);

  const declared = memberOf(schema, '$schema');
  const dialect = typeof declared === 'string' ? declared.replace(/#$/, '') : undefined;
  const conversion = dialect === undefined ? undefined : CONVERSIONS.get(dialect);
  let fault: Result<never, SourceIssue> | undefined;

  const places = subSchemaPlaces(schema);
  const read = (value: JsonValue, pointer: JsonPointer): JsonValue => {
    if (isJsonArray(value)) return value.map((item, index) => read(item, childOf(pointer, String(index))));
    if (!isJsonObject(value)) return value;
    const copy: Record<string, JsonValue> = {};
    for (const [name, member] of Object.entries(value)) setMember(copy, name, read(member, childOf(pointer, name)));
    return places.has(pointer) ? readSubSchema(copy, pointer) : copy;
  };
  const readSubSchema = (sub: JsonObject, pointer: JsonPointer): JsonObject => {
    if (memberOf(sub, 'nullable') === true) note('source/nullable', childOf(pointer, 'nullable'));
    const typed = options.pythonTypes === true ? mapTypes(sub, (found, as) => { note('source/type-mapped', childOf(pointer, 'type'), { found, as }); }) : sub;
    if (conversion === undefined) return typed;
    const newer = conversion.newer.find((word) => Object.hasOwn(sub, word));
    const converted = newer === undefined ? conversion.convert(typed, pointer === ROOT_POINTER) : undefined;
    if (converted === undefined) fault ??= refuse('source/not-convertible', newer === undefined ? pointer : childOf(pointer, newer), { from: dialect ?? '', to: conversion.to });
    return converted ?? typed;
  };

  const whole = read(schema, ROOT_POINTER) as JsonObject;
  if (fault !== undefined) return fault;
  if (conversion === undefined) return ok({ schema: whole, notes });
  note('source/dialect-converted', childOf(ROOT_POINTER, '$schema'), { from: dialect ?? '', to: conversion.to });
  return ok({ schema: { ...whole, $schema: conversion.to }, notes });
}

/** Places of sub-schemas in any of the drafts: arrays in `items` are those of the older ones. */
function subSchemaPlaces(root: JsonObject): ReadonlySet<JsonPointer> {
  const found = new Set<JsonPointer>();
  const visit = (schema: JsonValue, pointer: JsonPointer): void => {
    if (!isJsonObject(schema) || found.has(pointer)) return;
    found.add(pointer);
    for (const dialect of ['draft-07', '2020-12'] as const) for (const child of childSchemas(schema, pointer, dialect)) visit(child.schema, child.pointer);
  };
  visit(root, ROOT_POINTER);
  return found;
}

function mapTypes(schema: JsonObject, note: (found: string, as: string | null) => void): JsonObject {
  const { type, ...rest } = schema;
  const names = isJsonArray(type) ? type : [type];
  const isMapped = (name: JsonValue | undefined): name is string => typeof name === 'string' && PYTHON_TYPES.has(name);
  const mapped = names.filter(isMapped);
  if (mapped.length === 0) return schema;
  for (const name of mapped) note(name, PYTHON_TYPES.get(name) ?? null);
  // one `any` among several leaves all of them open
  if (mapped.includes('any')) return rest;
  const types = [...new Set(names.map((name) => (isMapped(name) ? PYTHON_TYPES.get(name) as string : name as JsonValue)))];
  return { ...schema, type: types.length === 1 ? types[0] as JsonValue : types };
}

/** Draft 4: bounds are exclusive by a flag, and `id` is the name of a schema. A nested one moves the base of references. */
function fromDraft4(schema: JsonObject, isRoot: boolean): JsonObject | undefined {
  const { id, ...rest } = schema;
  if (id !== undefined && (!isRoot || typeof id !== 'string')) return undefined;
  let converted: JsonObject = id === undefined ? rest : { ...rest, $id: id };
  for (const [bound, flag] of [['minimum', 'exclusiveMinimum'], ['maximum', 'exclusiveMaximum']] as const) {
    const isExclusive = memberOf(converted, flag);
    if (isExclusive === undefined) continue;
    const { [bound]: limit, [flag]: _, ...others } = converted;
    // a flag without its bound says nothing
    if (typeof isExclusive !== 'boolean') return undefined;
    converted = { ...others, ...(limit === undefined ? {} : { [isExclusive ? flag : bound]: limit }) };
  }
  return converted;
}

/** 2019-09: a tuple is an array in `items`, and `additionalItems` is what follows it; beside anything else it says nothing. */
function from2019(schema: JsonObject): JsonObject | undefined {
  if (Object.hasOwn(schema, '$recursiveRef') || Object.hasOwn(schema, '$recursiveAnchor')) return undefined;
  const { items, additionalItems, ...rest } = schema;
  if (items === undefined && additionalItems === undefined) return schema;
  if (!isJsonArray(items)) return items === undefined ? rest : { ...rest, items };
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
}
