/**
 * RFC 8785 (JCS) text: one byte string per JSON value, the base of every digest.
 * The library follows the RFC for all values that `parseJson` and `readJsonValue` give: own members (also `__proto__`), UTF-16 order,
 * `-0` as `0`. It would write a lone surrogate as an escape, which RFC 8785 §3.2.2.2 forbids; those two readers refuse it before.
 */
import canonicalize from 'canonicalize';
import { deepFreeze, isJsonArray, readJsonValue, type JsonValue } from './value.ts';

/** Canonical text of a JSON value. A value that is not JSON (NaN, a lone surrogate, a class instance) is a caller's bug: TypeError. */
export function canonicalText(value: JsonValue): string {
  // depth is the readers' concern: a patch may nest two values that each kept the limit
  const checked = readJsonValue(value, MAX_CANONICAL_DEPTH);
  if (!checked.ok) throw new TypeError(`value is not JSON: ${checked.error.code} at "${checked.error.pointer}"`);
  return canonicalTextOfRead(checked.value);
}

/** As {@link canonicalText}, without the check: for a value that `readJsonValue` has given, a third of the time. */
export function canonicalTextOfRead(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('value has no canonical text');
  return text;
}

/**
 * The deep-frozen value of a text that is its own canonical text, by the host's parser and writer: a sixth of the time of `parseJson` and
 * {@link canonicalText}. Undefined says only that those two must decide: for members named by integers, whose order the host does not
 * keep, for very long texts, and for
 * every text that is not canonical.
 */
export function readCanonicalText(text: string, maxDepth: number): JsonValue | undefined {
  if (text.length > MAX_HOST_LENGTH) return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
    // What the host writes otherwise is no canonical text: spaces, other escapes and numbers, a name that occurs twice, digits a double loses.
    if (JSON.stringify(value) !== text) return undefined;
  } catch {
    return undefined;
  }
  // The host's writer escapes half a surrogate pair, which has no canonical text.
  return ESCAPED_SURROGATE.test(text) || !isInOrder(value, maxDepth) ? undefined : deepFreeze(value);
}

/** Within this many UTF-16 units no value has more nodes than `readJsonValue` takes. */
const MAX_HOST_LENGTH = 1_048_576;
const ESCAPED_SURROGATE = /\\ud[89a-f]/;

/** Names in UTF-16 order (RFC 8785 §3.2.3) throughout, nested at most `maxDepth` deep. */
function isInOrder(value: JsonValue, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (maxDepth === 0) return false;
  if (isJsonArray(value)) return value.every((item) => isInOrder(item, maxDepth - 1));
  let last: string | undefined;
  for (const name of Object.keys(value)) {
    if (last !== undefined && name <= last) return false;
    last = name;
    if (!isInOrder(value[name] as JsonValue, maxDepth - 1)) return false;
  }
  return true;
}

const MAX_CANONICAL_DEPTH = 1_000;
