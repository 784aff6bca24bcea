/** Normal forms in which two spellings of one thing are the same: what the audit compares. */
import { canonicalText, isJsonArray, isJsonObject, type JsonObject, type JsonPointer, type JsonValue } from '@contractrl/core';

/** Words of letters and digits in lower case, compatibility forms folded (NFKC), one space between them. */
export function normalText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
}

/** A name without case and separators. */
export function tightName(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}

/** Runs of `length` words; a shorter text has none. */
export function wordRuns(text: string, length: number): readonly string[] {
  const words = normalText(text).split(' ');
  return Array.from({ length: Math.max(0, words.length - length + 1) }, (_, start) => words.slice(start, start + length).join(' '));
}

/** What of a schema binds, without prose: names, types, which are required; members in the order of their names. */
export function schemaShape(schema: JsonValue): JsonValue {
  if (isJsonArray(schema)) return schema.map(schemaShape);
  if (!isJsonObject(schema)) return schema;
  const { properties, type, items, required } = schema;
  const members = isJsonObject(properties) ? Object.entries(properties).map(([name, member]) => [tightName(name), schemaShape(member)] as const).sort(([a], [b]) => (a < b ? -1 : 1)) : [];
  return {
    ...(type === undefined ? {} : { type: typeof type === 'string' ? TYPES[type] ?? type : type }),
    ...(members.length === 0 ? {} : { members }), ...(items === undefined ? {} : { items: schemaShape(items) }),
    ...(isJsonArray(required) && required.length > 0 ? { required: required.map((name) => tightName(String(name))).sort() } : {}),
  };
}

/** Names of types in python-like schemas. */
const TYPES: Readonly<Record<string, string>> = { dict: 'object', float: 'number', integer: 'number', list: 'array', tuple: 'array', str: 'string', int: 'number', bool: 'boolean' };

/** Every scalar of a value in its normal form: numbers by value, texts as words. */
export function normalLeaves(value: JsonValue): readonly string[] {
  if (isJsonArray(value)) return value.flatMap(normalLeaves);
  if (isJsonObject(value)) return Object.values(value).flatMap((member) => normalLeaves(member as JsonValue));
  const text = typeof value === 'string' ? normalText(value) : String(value);
  return [/^-?\d+(?:\.\d+)?$/u.test(text) ? String(Number(text)) : text];
}

/** Arguments whatever their order and spelling: names and leaves, sorted. */
export function meaningOf(args: JsonObject): string {
  return canonicalText(Object.entries(args).map(([name, value]) => [tightName(name), [...normalLeaves(value)].sort()]).sort(([a], [b]) => (a! < b! ? -1 : 1)) as JsonValue);
}

/** A pointer with every index as `*`. */
export function pointerTemplate(pointer: JsonPointer): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/gu, '/*');
}
