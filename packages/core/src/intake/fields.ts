/**
 * Reading records from outside: every value is checked to be JSON, every field to be known and of its type.
 * A record that says something this version does not understand is refused rather than half obeyed.
 */
import { isJsonArray, isJsonObject, jsonTypeOf, memberOf, readJsonValue, type JsonArray, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';

export interface IntakeIssue {
  /** `request/not-json` names the reader's own code in `params.issue`. */
  readonly code: 'request/not-json' | 'request/wrong-type' | 'request/missing-field' | 'request/unknown-field' | 'request/bad-value';
  /** The place inside the record. */
  readonly pointer: JsonPointer;
  readonly params: JsonObject;
}

/** Copies a host value into a frozen JSON value: whatever `JSON.stringify` would change silently is refused. */
export function readRecord(value: unknown): Result<JsonValue, IntakeIssue> {
  const json = readJsonValue(value);
  if (json.ok) return json;
  const { code, pointer, ...params } = json.error;
  return err({ code: 'request/not-json', pointer, params: { issue: code, ...params } });
}

interface FieldTypes {
  readonly string: string;
  readonly number: number;
  readonly array: JsonArray;
  readonly object: JsonObject;
  readonly any: JsonValue;
}

/** The type of a field, with a leading `?` where it may be absent. */
export type FieldSpec = keyof FieldTypes | `?${keyof FieldTypes}`;
export type FieldSpecs = Readonly<Record<string, FieldSpec>>;
type FieldValue<S extends FieldSpec> = S extends keyof FieldTypes ? FieldTypes[S]
  : S extends `?${infer T extends keyof FieldTypes}` ? FieldTypes[T] | undefined : never;
export type Fields<Specs extends FieldSpecs> = { readonly [Name in keyof Specs]: FieldValue<Specs[Name]> };

/** Reads an object with exactly the fields of `specs`: unknown ones, missing ones and ones of another type are refused. */
export function readFields<const Specs extends FieldSpecs>(value: JsonValue, pointer: JsonPointer, specs: Specs): Result<Fields<Specs>, IntakeIssue> {
  if (!isJsonObject(value)) return err({ code: 'request/wrong-type', pointer, params: { expected: 'object' } });
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(specs, name));
  if (unknown !== undefined) return err({ code: 'request/unknown-field', pointer: childOf(pointer, unknown), params: { known: Object.keys(specs) } });
  const fields: [string, JsonValue | undefined][] = [];
  for (const [name, spec] of Object.entries(specs)) {
    const member = memberOf(value, name);
    const expected = spec.replace('?', '');
    const place = childOf(pointer, name);
    if (member === undefined && expected === spec) return err({ code: 'request/missing-field', pointer: place, params: { expected } });
    if (member !== undefined && expected !== 'any' && jsonTypeOf(member) !== expected) {
      return err({ code: 'request/wrong-type', pointer: place, params: { expected } });
    }
    fields.push([name, member]);
  }
  return ok(Object.fromEntries(fields) as Fields<Specs>);
}

/** Reads every element of an array; the first issue ends it. */
export function readEach<T>(
  values: JsonValue, pointer: JsonPointer, read: (value: JsonValue, pointer: JsonPointer) => Result<T, IntakeIssue>,
): Result<readonly T[], IntakeIssue> {
  if (!isJsonArray(values)) return err({ code: 'request/wrong-type', pointer, params: { expected: 'array' } });
  const out: T[] = [];
  for (const [index, value] of values.entries()) {
    const element = read(value, childOf(pointer, String(index)));
    if (!element.ok) return element;
    out.push(element.value);
  }
  return ok(out);
}
