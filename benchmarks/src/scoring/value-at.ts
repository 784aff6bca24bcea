/** Pointer evaluation for the second validation, on its own, so that it shares no code with what it checks. RFC 6901 §4. */
import type { JsonObject, JsonValue } from '@contractrl/core';

/** The value at RFC 6901 text that is known to be well-formed; own members only; undefined where nothing is. */
export function valueAt(document: JsonValue | undefined, pointer: string): JsonValue | undefined {
  let value = document;
  for (const token of pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, token)) return undefined;
    value = (value as JsonObject)[token];
  }
  return value;
}
