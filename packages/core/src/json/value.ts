/**
 * JSON values as RFC 8259 defines them, their equality (RFC 6902 §4.6), and the reader that turns an unknown host value into one.
 * Own members only throughout: what a prototype holds is never part of a value.
 */
import { formatPointer, type JsonPointer } from '../pointer.ts';
import { err, ok, type Result } from '../result.ts';

export type JsonPrimitive = string | number | boolean | null;
export type JsonArray = readonly JsonValue[];
export type JsonObject = { readonly [name: string]: JsonValue };
export type JsonValue = JsonPrimitive | JsonArray | JsonObject;

export type JsonTypeName = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** A host value that is not JSON: the first place found, in member order. */
export type JsonValueIssue =
  | { readonly code: 'json/not-json'; readonly pointer: JsonPointer; readonly found: string }
  | { readonly code: 'json/lone-surrogate'; readonly pointer: JsonPointer }
  | { readonly code: 'json/too-deep'; readonly pointer: JsonPointer; readonly limit: number }
  | { readonly code: 'json/too-large'; readonly pointer: JsonPointer; readonly limit: number };

/** Deeper texts are refused: real tool calls stay below 20 levels, and every later recursion (Ajv, canonical text) is bounded by this. */
export const DEFAULT_MAX_DEPTH = 128;
/** Nodes in one host value; about what 1 MiB of text can hold. Stops values that share one object many times over. */
const MAX_NODE_COUNT = 1_048_576;

export function isJsonArray(value: JsonValue | undefined): value is JsonArray {
  return Array.isArray(value);
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function jsonTypeOf(value: JsonValue): JsonTypeName {
  if (value === null) return 'null';
  if (isJsonArray(value)) return 'array';
  return typeof value as 'boolean' | 'number' | 'string' | 'object';
}

/** Own member of an object, never an inherited one. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Equality of RFC 6902 §4.6: numbers by value (`1` = `1.0`, `0` = `-0`), objects regardless of member order, own members only. */
export function jsonEqual(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (isJsonArray(a)) return isJsonArray(b) && a.length === b.length && a.every((item, index) => jsonEqual(item, b[index] as JsonValue));
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length
    && names.every((name) => Object.hasOwn(b, name) && jsonEqual(a[name] as JsonValue, b[name] as JsonValue));
}

/** Sets an own member. Plain assignment to `__proto__` would change the prototype instead. */
export function setMember(object: Record<string, JsonValue>, name: string, value: JsonValue): void {
  if (name === '__proto__') Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

/** A mutable deep copy that shares nothing with `value`. */
export function cloneJson(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(cloneJson);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, JsonValue> = {};
  for (const name of Object.keys(value)) setMember(copy, name, cloneJson(value[name] as JsonValue));
  return copy;
}

/** Freezes a value and everything in it, in place, and returns it. What is already frozen is taken to be frozen throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const name of Object.keys(value)) deepFreeze((value as Record<string, unknown>)[name]);
  return Object.freeze(value);
}

/**
 * Copies an unknown host value into a frozen JSON value. Class instances, functions, `undefined`, holes, symbols and accessors,
 * non-finite numbers, lone surrogates and cycles (as excess depth) are issues; nothing is dropped or converted silently.
 */
export function readJsonValue(input: unknown, maxDepth: number = DEFAULT_MAX_DEPTH): Result<JsonValue, JsonValueIssue> {
  let nodeCount = 0;
  /** Down to the value being read: a pointer is made of it only where there is an issue. */
  const path: string[] = [];
  const refuse = (found: string): Result<never, JsonValueIssue> => err({ code: 'json/not-json', pointer: formatPointer(path), found });
  const refuseHalf = (): Result<never, JsonValueIssue> => err({ code: 'json/lone-surrogate', pointer: formatPointer(path) });

  const read = (value: unknown): Result<JsonValue, JsonValueIssue> => {
    nodeCount += 1;
    if (nodeCount > MAX_NODE_COUNT) return err({ code: 'json/too-large', pointer: formatPointer(path), limit: MAX_NODE_COUNT });
    if (value === null || typeof value === 'boolean') return ok(value);
    if (typeof value === 'number') return Number.isFinite(value) ? ok(value) : refuse(String(value));
    if (typeof value === 'string') return hasLoneSurrogate(value) ? refuseHalf() : ok(value);
    if (typeof value !== 'object') return refuse(typeof value);
    if (path.length >= maxDepth) return err({ code: 'json/too-deep', pointer: formatPointer(path), limit: maxDepth });

    if (Array.isArray(value)) {
      const items: JsonValue[] = [];
      for (let index = 0; index < value.length; index += 1) {
        path.push(String(index));
        const item = read(value[index]);
        if (!item.ok) return item;
        path.pop();
        items.push(item.value);
      }
      return ok(Object.freeze(items));
    }

    const prototype: unknown = Object.getPrototypeOf(value);
    // an object of another realm has another Object.prototype, itself without a prototype
    const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
    if (!isPlain) return refuse('an instance of a class');
    if (Object.getOwnPropertySymbols(value).length > 0) return refuse('a symbol member');
    const copy: Record<string, JsonValue> = {};
    for (const name of Object.keys(value)) {
      path.push(name);
      if (hasLoneSurrogate(name)) return refuseHalf();
      const descriptor = Object.getOwnPropertyDescriptor(value, name);
      if (descriptor === undefined || !('value' in descriptor)) return refuse('an accessor');
      const member = read(descriptor.value);
      if (!member.ok) return member;
      path.pop();
      setMember(copy, name, member.value);
    }
    return ok(Object.freeze(copy));
  };
  return read(input);
}

/** UTF-8 cannot carry a lone surrogate: what is judged and what is sent would differ. RFC 7493 §2.1 and RFC 8785 §3.2.2.2 forbid it. */
export function hasLoneSurrogate(text: string): boolean {
  // most texts have no surrogate at all, and the pattern for a lone one looks around at every character
  return /[\uD800-\uDFFF]/.test(text) && /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text);
}
