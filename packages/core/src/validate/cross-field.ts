/**
 * Checks across fields, as data: serialisable, hashable, and readable by the mask. Never code strings.
 * `readCrossFieldChecks` is the strict parser at the edge, `checkCrossField` the evaluation.
 */
import { isJsonArray, isJsonObject, jsonEqual, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, parsePointer, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { assertNever, err, ok, type Result } from '../result.ts';
import { addDecimals, decimalsEqual, toDecimal } from '../json/decimal.ts';
import { compareInstants, parseInstant } from './instant.ts';
import type { Violation } from './violation.ts';

/** Pointers are RFC 6901 text. A comparison with an absent or incomparable side fails only where both sides are present. */
export type CrossFieldCheck =
  | { readonly kind: 'lt' | 'lte' | 'gt' | 'gte' | 'eq' | 'ne'; readonly a: string; readonly b: string }
  | { readonly kind: 'requires'; readonly pointer: string; readonly required: readonly string[] }
  | { readonly kind: 'excludes'; readonly pointer: string; readonly excluded: readonly string[] }
  | { readonly kind: 'exactly_one_of' | 'at_least_one_of'; readonly pointers: readonly string[] }
  | { readonly kind: 'sum'; readonly pointers: readonly string[]; readonly total: string };

export interface CrossFieldIssue {
  readonly code: 'contract/cross-field-not-array' | 'contract/cross-field-not-object' | 'contract/cross-field-kind' | 'contract/cross-field-member' | 'contract/cross-field-pointer';
  /** Place inside the list of checks. */
  readonly pointer: JsonPointer;
  readonly params: JsonObject;
}

/** Members of each kind beside `kind`: one pointer, or a list of at least one. */
const COMPARISON = { a: 'pointer', b: 'pointer' } as const;
const MEMBERS: ReadonlyMap<string, Readonly<Record<string, 'pointer' | 'list'>>> = new Map<string, Readonly<Record<string, 'pointer' | 'list'>>>([
  ['lt', COMPARISON], ['lte', COMPARISON], ['gt', COMPARISON], ['gte', COMPARISON], ['eq', COMPARISON], ['ne', COMPARISON],
  ['requires', { pointer: 'pointer', required: 'list' }],
  ['excludes', { pointer: 'pointer', excluded: 'list' }],
  ['exactly_one_of', { pointers: 'list' }],
  ['at_least_one_of', { pointers: 'list' }],
  ['sum', { pointers: 'list', total: 'pointer' }],
]);

/** Reads a list of checks strictly: every member known, present and well-formed. */
export function readCrossFieldChecks(input: JsonValue): Result<readonly CrossFieldCheck[], CrossFieldIssue> {
  if (!isJsonArray(input)) return err({ code: 'contract/cross-field-not-array', pointer: ROOT_POINTER, params: {} });
  for (const [index, check] of input.entries()) {
    const issue = checkShape(check, childOf(ROOT_POINTER, String(index)));
    if (issue !== undefined) return err(issue);
  }
  return ok(input as readonly unknown[] as readonly CrossFieldCheck[]);
}

function checkShape(check: JsonValue, place: JsonPointer): CrossFieldIssue | undefined {
  if (!isJsonObject(check)) return { code: 'contract/cross-field-not-object', pointer: place, params: {} };
  const kind = memberOf(check, 'kind');
  const members = typeof kind === 'string' ? MEMBERS.get(kind) : undefined;
  if (members === undefined) return { code: 'contract/cross-field-kind', pointer: childOf(place, 'kind'), params: { known: [...MEMBERS.keys()] } };
  const unknown = Object.keys(check).find((name) => name !== 'kind' && !Object.hasOwn(members, name));
  if (unknown !== undefined) return { code: 'contract/cross-field-member', pointer: childOf(place, unknown), params: { name: unknown } };
  for (const [name, shape] of Object.entries(members)) {
    const value = memberOf(check, name);
    const at = childOf(place, name);
    if (shape === 'list' ? !isJsonArray(value) || value.length === 0 : value === undefined) return { code: 'contract/cross-field-member', pointer: at, params: { name } };
    for (const text of isJsonArray(value) ? value : [value]) {
      if (typeof text !== 'string' || !parsePointer(text).ok) return { code: 'contract/cross-field-pointer', pointer: at, params: { name } };
    }
  }
  return undefined;
}

/**
 * Evaluates checks on a document; one violation for each that fails. It names the place a repair would touch: for a comparison `a`, for
 * `requires` the first missing pointer, for `excludes` the first present one, for `sum` the total, else the root.
 */
export function checkCrossField(checks: readonly CrossFieldCheck[], document: JsonValue): readonly Violation[] {
  return checks.flatMap((check, index) => {
    const pointer = failureOf(check, document);
    if (pointer === undefined) return [];
    const violation: Violation = {
      code: 'cross_field', pointer: pointer as JsonPointer, keyword: '', keywordLocation: '',
      params: { ...check as unknown as JsonObject, check: index },
    };
    return [violation];
  });
}

/** The pointer at fault, or `undefined` where the check holds. */
function failureOf(check: CrossFieldCheck, document: JsonValue): string | undefined {
  const valueAt = (pointer: string): JsonValue | undefined => resolvePointer(document, pointer as JsonPointer);
  const isPresent = (pointer: string): boolean => valueAt(pointer) !== undefined;
  switch (check.kind) {
    case 'lt': case 'lte': case 'gt': case 'gte': case 'eq': case 'ne': {
      const [a, b] = [valueAt(check.a), valueAt(check.b)];
      return a === undefined || b === undefined || compares(check.kind, a, b) ? undefined : check.a;
    }
    case 'requires':
      return isPresent(check.pointer) ? check.required.find((pointer) => !isPresent(pointer)) : undefined;
    case 'excludes':
      return isPresent(check.pointer) ? check.excluded.find(isPresent) : undefined;
    case 'exactly_one_of':
      return check.pointers.filter(isPresent).length === 1 ? undefined : ROOT_POINTER;
    case 'at_least_one_of':
      return check.pointers.some(isPresent) ? undefined : ROOT_POINTER;
    case 'sum':
      return isPresent(check.total) && !addsUp(check.pointers.map(valueAt), valueAt(check.total)) ? check.total : undefined;
    default:
      return assertNever(check);
  }
}

type Comparison = 'lt' | 'lte' | 'gt' | 'gte' | 'eq' | 'ne';

function compares(kind: Comparison, a: JsonValue, b: JsonValue): boolean {
  const order = orderOf(a, b);
  switch (kind) {
    case 'lt': return order !== undefined && order < 0;
    case 'lte': return order !== undefined && order <= 0;
    case 'gt': return order !== undefined && order > 0;
    case 'gte': return order !== undefined && order >= 0;
    // any two values can be equal; two spellings of one moment are
    case 'eq': return order === 0 || jsonEqual(a, b);
    case 'ne': return order !== 0 && !jsonEqual(a, b);
  }
}

/** Numbers by value, dates with dates, date-times with date-times; all else has no order. */
function orderOf(a: JsonValue, b: JsonValue): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== 'string' || typeof b !== 'string') return undefined;
  const [left, right] = [parseInstant(a), parseInstant(b)];
  return left !== undefined && right !== undefined && left.kind === right.kind ? compareInstants(left, right) : undefined;
}

/** Exact in decimal. An absent part counts nothing; a part or total that is no number never adds up. */
function addsUp(parts: readonly (JsonValue | undefined)[], total: JsonValue | undefined): boolean {
  const numbers = parts.filter((part) => part !== undefined);
  if (typeof total !== 'number' || !numbers.every((part) => typeof part === 'number')) return false;
  return decimalsEqual(numbers.map(toDecimal).reduce(addDecimals, toDecimal(0)), toDecimal(total));
}
