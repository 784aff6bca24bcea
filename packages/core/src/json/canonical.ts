/**
 * RFC 8785 (JCS) text: one byte string per JSON value, the base of every digest.
 * The library follows the RFC for all values that `parseJson` and `readJsonValue` give: own members (also `__proto__`), UTF-16 order,
 * `-0` as `0`. It would write a lone surrogate as an escape, which RFC 8785 §3.2.2.2 forbids; those two readers refuse it before.
 */
import canonicalize from 'canonicalize';
import { readJsonValue, type JsonValue } from './value.ts';

/** Canonical text of a JSON value. A value that is not JSON (NaN, a lone surrogate, a class instance) is a caller's bug: TypeError. */
export function canonicalText(value: JsonValue): string {
  // depth is the readers' concern: a patch may nest two values that each kept the limit
  const checked = readJsonValue(value, MAX_CANONICAL_DEPTH);
  if (!checked.ok) throw new TypeError(`value is not JSON: ${checked.error.code} at "${checked.error.pointer}"`);
  const text = canonicalize(checked.value);
  if (text === undefined) throw new TypeError('value has no canonical text');
  return text;
}

const MAX_CANONICAL_DEPTH = 1_000;
