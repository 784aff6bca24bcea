/**
 * What every reader of tool definitions gives: a contract document that `loadContract` takes, and notes on whatever was converted, dropped or will
 * not do elsewhere. A definition that cannot be carried whole where it binds is an issue; nothing that binds is dropped with a note alone.
 */
import { isJsonObject, memberOf, readJsonValue, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';

/** `pointer` addresses the place in the definition that was given. */
export interface SourceNote {
  readonly code:
    /** A member of the definition that says nothing about the arguments. */
    | 'source/field-not-carried'
    /** A provider refuses the name; `by` and `pattern` say which and why. */
    | 'source/name-refused'
    /** Without `parameters` a tool takes an empty object. */
    | 'source/no-parameters'
    | 'source/dialect-converted'
    /** A python-like type name, read as the JSON Schema type in `as`. */
    | 'source/type-mapped'
    /** OpenAPI's `nullable: true`: the judge honours it beside `type`. */
    | 'source/nullable'
    /** Strict mode's way to say "optional": required, with null for "not given". Null is then a value that is sent. */
    | 'source/nullable-optional'
    /** A definition that says `strict` and that the provider refuses as such. */
    | 'source/not-strict'
    /** What a converter of a schema library leaves out (refinements, transforms) is not in the contract: `checkFromStandardSchema` adds it. */
    | 'source/rules-beyond-schema'
    /** A lock of the defaults on a place that this tool's arguments cannot have. */
    | 'source/lock-without-place'
    /** A place of the defaults that needs an origin, which this tool's arguments cannot have. */
    | 'source/origin-without-place';
  readonly pointer: JsonPointer;
  readonly params: JsonObject;
}

export interface SourceIssue {
  readonly code:
    | 'source/not-json' | 'source/wrong-type' | 'source/missing-field' | 'source/not-a-function' | 'source/not-a-call'
    | 'source/not-convertible' | 'source/no-converter'
    | 'source/unknown-field' | 'source/not-locked' | 'source/duplicate-tool';
  readonly pointer: JsonPointer;
  readonly params: JsonObject;
}

/** The document is input for `loadContract`, which alone says whether it can be honoured. */
export interface SourcedContract {
  readonly document: JsonObject;
  readonly notes: readonly SourceNote[];
}

export interface SourceOptions {
  /** Read `dict`, `float`, `list`, `tuple`, `any`, `str`, `int`, `bool` and `None` as the types they stand for. */
  readonly pythonTypes?: boolean;
  /** Members of the contract beside `tool`, such as budgets and locks. */
  readonly contract?: JsonObject;
}

export function issueAt(code: SourceIssue['code'], pointer: JsonPointer, params: JsonObject = {}): Result<never, SourceIssue> {
  return err({ code, pointer, params });
}

/** A frozen copy of a host value that must be an object; `undefined` members, as optional fields of clients have them, are left out at the top. */
export function readSource(input: unknown): Result<JsonObject, SourceIssue> {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  const json = readJsonValue(isObject ? withoutUndefined(input) : input);
  if (!json.ok) {
    const { code, pointer, ...params } = json.error;
    return issueAt('source/not-json', pointer, { issue: code, ...params });
  }
  return isJsonObject(json.value) ? ok(json.value) : issueAt('source/wrong-type', ROOT_POINTER, { expected: 'object' });
}

/** Accessors, symbols and classes stay for the reader to refuse. */
function withoutUndefined(input: object): unknown {
  const prototype: unknown = Object.getPrototypeOf(input);
  if ((prototype !== null && prototype !== Object.prototype) || Object.getOwnPropertySymbols(input).length > 0) return input;
  const kept = Object.entries(Object.getOwnPropertyDescriptors(input)).filter(([, { get, value }]) => get !== undefined || value !== undefined);
  return Object.defineProperties({}, Object.fromEntries(kept));
}

interface MemberTypes {
  readonly string: string;
  readonly object: JsonObject;
}

/** An own member of the given type; a null counts as absent, as the providers' clients send it. */
export function readMember<T extends keyof MemberTypes>(object: JsonObject, name: string, expected: T, place: JsonPointer = ROOT_POINTER): Result<MemberTypes[T] | undefined, SourceIssue> {
  const value: JsonValue = memberOf(object, name) ?? null;
  if (value === null) return ok(undefined);
  const isRight = expected === 'string' ? typeof value === 'string' : isJsonObject(value);
  return isRight ? ok(value as MemberTypes[T]) : issueAt('source/wrong-type', childOf(place, name), { expected });
}

/** As {@link readMember}, where it must be there. */
export function requireMember<T extends keyof MemberTypes>(object: JsonObject, name: string, expected: T, place: JsonPointer = ROOT_POINTER): Result<MemberTypes[T], SourceIssue> {
  const member = readMember(object, name, expected, place);
  if (!member.ok) return member;
  return member.value === undefined ? issueAt('source/missing-field', childOf(place, name), { expected }) : ok(member.value);
}
