/**
 * Checks across fields, as data: serialisable, hashable, and readable by the mask. Never code strings: what data cannot say is a function of
 * the host, which the contract names by version. `readCrossFieldChecks` is the strict parser at the edge, `checkCrossField` the evaluation.
 */
import { canonicalText } from '../json/canonical.ts';
import { addDecimals, decimalsEqual, toDecimal } from '../json/decimal.ts';
import { cloneJson, deepFreeze, hasLoneSurrogate, isJsonArray, isJsonObject, jsonEqual, memberOf, type JsonObject, type JsonValue } from '../json/value.ts';
import { childOf, parsePointer, resolvePointer, ROOT_POINTER, type JsonPointer } from '../pointer.ts';
import { assertNever, err, ok, type Result } from '../result.ts';
import { compareInstants, parseInstant } from './instant.ts';
import type { Violation } from './violation.ts';

/** Pointers are RFC 6901 text. What compares two places fails only where both are present. */
type CheckRule =
  /** Numbers by value, dates with dates and date-times with date-times in time; `eq` and `ne` take any two values. */
  | { readonly kind: Comparison; readonly a: string; readonly b: string }
  | { readonly kind: 'requires'; readonly pointer: string; readonly required: readonly string[] }
  | { readonly kind: 'excludes'; readonly pointer: string; readonly excluded: readonly string[] }
  | { readonly kind: 'exactly_one_of' | 'at_least_one_of'; readonly pointers: readonly string[] }
  | { readonly kind: 'sum'; readonly pointers: readonly string[]; readonly total: string }
  /** The list at `pointer` has as many elements as the number at `to` says, at most or at least as many. */
  | { readonly kind: 'list_length'; readonly pointer: string; readonly compare: 'eq' | 'lte' | 'gte'; readonly to: string }
  /** The value at `pointer` (each element, for an array) is an element of the list at `in`, or a name of the object there. In what is absent nothing is. */
  | { readonly kind: 'member_of'; readonly pointer: string; readonly in: string }
  /** No two elements of the list at `pointer` have equal values at `by`, a pointer inside each; `""` is the element. */
  | { readonly kind: 'unique_by'; readonly pointer: string; readonly by: string }
  /** Decided by the {@link CheckFunction} of this name and version. */
  | { readonly kind: 'function'; readonly name: string; readonly version: string; readonly parameters?: JsonObject };

/** With `when` a check binds only where the value at that pointer equals the given one. */
export type CrossFieldCheck = CheckRule & { readonly when?: { readonly pointer: string; readonly equals: JsonValue } };

/**
 * A rule of the host: pure, the same answer for the same arguments on every machine. `true` accepts; a JSON Pointer, as text, says which place is at
 * fault, `false` that the whole is. Whatever else it gives or does, a promise and an exception too, counts as a failure, never as acceptance.
 */
export interface CheckFunction {
  readonly name: string;
  readonly version: string;
  check(args: JsonObject, parameters: JsonObject): unknown;
}

export interface CrossFieldIssue {
  readonly code: 'contract/cross-field-not-array' | 'contract/cross-field-not-object' | 'contract/cross-field-kind' | 'contract/cross-field-member' | 'contract/cross-field-pointer';
  /** Place inside the list of checks. */
  readonly pointer: JsonPointer;
  readonly params: JsonObject;
}

/** What a member of a check holds: a pointer; at least one pointer; one of `LENGTH_COMPARISONS`; text that is not empty; an object, or nothing. */
export type CheckMember = 'pointer' | 'list' | 'compare' | 'text' | '?object';
const COMPARISON = { a: 'pointer', b: 'pointer' } as const;
/** Members of each kind beside `kind` and `when`. */
export const CHECK_MEMBERS: ReadonlyMap<string, Readonly<Record<string, CheckMember>>> = new Map<string, Readonly<Record<string, CheckMember>>>([
  ['lt', COMPARISON], ['lte', COMPARISON], ['gt', COMPARISON], ['gte', COMPARISON], ['eq', COMPARISON], ['ne', COMPARISON],
  ['requires', { pointer: 'pointer', required: 'list' }],
  ['excludes', { pointer: 'pointer', excluded: 'list' }],
  ['exactly_one_of', { pointers: 'list' }],
  ['at_least_one_of', { pointers: 'list' }],
  ['sum', { pointers: 'list', total: 'pointer' }],
  ['list_length', { pointer: 'pointer', compare: 'compare', to: 'pointer' }],
  ['member_of', { pointer: 'pointer', in: 'pointer' }],
  ['unique_by', { pointer: 'pointer', by: 'pointer' }],
  ['function', { name: 'text', version: 'text', parameters: '?object' }],
]);
export const LENGTH_COMPARISONS = ['eq', 'lte', 'gte'] as const;

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
  const members = typeof kind === 'string' ? CHECK_MEMBERS.get(kind) : undefined;
  if (members === undefined) return { code: 'contract/cross-field-kind', pointer: childOf(place, 'kind'), params: { known: [...CHECK_MEMBERS.keys()] } };
  const when = memberOf(check, 'when');
  const condition = when === undefined ? undefined : checkCondition(when, childOf(place, 'when'));
  return checkMembers(check, place, members, ['kind', 'when']) ?? condition;
}

function checkCondition(when: JsonValue, place: JsonPointer): CrossFieldIssue | undefined {
  if (!isJsonObject(when) || !Object.hasOwn(when, 'equals')) return { code: 'contract/cross-field-member', pointer: childOf(place, 'equals'), params: { name: 'equals' } };
  return checkMembers(when, place, { pointer: 'pointer' }, ['equals']);
}

function checkMembers(
  object: JsonObject, place: JsonPointer, members: Readonly<Record<string, CheckMember>>, others: readonly string[],
): CrossFieldIssue | undefined {
  const unknown = Object.keys(object).find((name) => !others.includes(name) && !Object.hasOwn(members, name));
  if (unknown !== undefined) return { code: 'contract/cross-field-member', pointer: childOf(place, unknown), params: { name: unknown } };
  for (const [name, shape] of Object.entries(members)) {
    const value = memberOf(object, name);
    const at = childOf(place, name);
    if (!hasShape(value, shape)) return { code: 'contract/cross-field-member', pointer: at, params: { name } };
    if (shape !== 'pointer' && shape !== 'list') continue;
    for (const text of shape === 'list' ? value as readonly JsonValue[] : [value]) {
      if (typeof text !== 'string' || !parsePointer(text).ok) return { code: 'contract/cross-field-pointer', pointer: at, params: { name } };
    }
  }
  return undefined;
}

/** Pointers are told apart from other text afterwards, with a code of their own. */
function hasShape(value: JsonValue | undefined, shape: CheckMember): boolean {
  switch (shape) {
    case 'pointer': return value !== undefined;
    case 'list': return isJsonArray(value) && value.length > 0;
    case 'compare': return LENGTH_COMPARISONS.some((known) => known === value);
    case 'text': return typeof value === 'string' && value !== '';
    case '?object': return value === undefined || isJsonObject(value);
    default: return assertNever(shape);
  }
}

/** Every pointer into the arguments that a check reads, with the place in the check that holds it. */
export function checkPointers(check: CrossFieldCheck, place: JsonPointer): readonly { readonly at: JsonPointer; readonly pointer: JsonPointer }[] {
  const members = Object.entries(CHECK_MEMBERS.get(check.kind) ?? {}).filter(([name, shape]) => (shape === 'pointer' && name !== 'by') || shape === 'list');
  const read = members.flatMap(([name]) => {
    const value = memberOf(check as unknown as JsonObject, name);
    const at = childOf(place, name);
    return isJsonArray(value) ? value.map((pointer, index) => ({ at: childOf(at, String(index)), pointer: pointer as JsonPointer })) : [{ at, pointer: value as JsonPointer }];
  });
  const when = check.when === undefined ? [] : [{ at: childOf(childOf(place, 'when'), 'pointer'), pointer: check.when.pointer as JsonPointer }];
  return [...read, ...when];
}

/**
 * Evaluates checks on arguments; one violation for each that fails. It names the place a repair would touch: for a comparison `a`, for
 * `requires` the first missing pointer, for `excludes` the first present one, for `sum` the total, for `list_length` the list, for `member_of` and
 * `unique_by` the value at fault, for a function the place that it names; else the root. A function that is not among `functions` fails.
 */
export function checkCrossField(checks: readonly CrossFieldCheck[], args: JsonObject, functions: readonly CheckFunction[] = []): readonly Violation[] {
  return checks.flatMap((check, index) => {
    const { when } = check;
    if (when !== undefined) {
      const value = resolvePointer(args, when.pointer as JsonPointer);
      if (value === undefined || !jsonEqual(value, when.equals)) return [];
    }
    const failure = check.kind === 'function' ? askFunction(check, args, functions) : failureOf(check, args);
    if (failure === undefined) return [];
    const { pointer, ...params } = typeof failure === 'string' ? { pointer: failure } : failure;
    const violation: Violation = {
      code: 'cross_field', pointer: pointer as JsonPointer, keyword: '', keywordLocation: '',
      params: { ...check as unknown as JsonObject, ...params, check: index },
    };
    return [violation];
  });
}

type FunctionCheck = Extract<CheckRule, { readonly kind: 'function' }>;

/** Whether `known` is the function that a check names. */
export function isNamedBy(check: FunctionCheck, known: CheckFunction): boolean {
  return known.name === check.name && known.version === check.version;
}

function askFunction(
  check: FunctionCheck, args: JsonObject, functions: readonly CheckFunction[],
): { readonly pointer: string; readonly outcome: 'missing' | 'failed' | 'threw' | 'bad-answer' } | undefined {
  const known = functions.find((each) => isNamedBy(check, each));
  if (known === undefined) return { pointer: ROOT_POINTER, outcome: 'missing' };
  try {
    // a copy: foreign code must not reach the arguments that are judged and sent
    const answer = known.check(deepFreeze(cloneJson(args)) as JsonObject, check.parameters ?? {});
    // nobody waits for it, and a rejection that nobody takes ends a Node process
    if (answer instanceof Promise) answer.catch(() => undefined);
    if (answer === true) return undefined;
    if (answer === false) return { pointer: ROOT_POINTER, outcome: 'failed' };
    const isPlace = typeof answer === 'string' && parsePointer(answer).ok && !hasLoneSurrogate(answer);
    return isPlace ? { pointer: answer, outcome: 'failed' } : { pointer: ROOT_POINTER, outcome: 'bad-answer' };
  } catch {
    return { pointer: ROOT_POINTER, outcome: 'threw' };
  }
}

/** The pointer at fault, or `undefined` where the check holds. */
function failureOf(check: Exclude<CheckRule, FunctionCheck>, document: JsonObject): string | undefined {
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
    case 'list_length': {
      const [list, count] = [valueAt(check.pointer), valueAt(check.to)];
      if (list === undefined || count === undefined) return undefined;
      return isJsonArray(list) && typeof count === 'number' && compares(check.compare, list.length, count) ? undefined : check.pointer;
    }
    case 'member_of': {
      const [value, known] = [valueAt(check.pointer), valueAt(check.in)];
      if (value === undefined) return undefined;
      if (!isJsonArray(value)) return isMember(value, known) ? undefined : check.pointer;
      const stranger = value.findIndex((element) => !isMember(element, known));
      return stranger === -1 ? undefined : `${check.pointer}/${stranger}`;
    }
    case 'unique_by': {
      const list = valueAt(check.pointer);
      if (list === undefined) return undefined;
      return isJsonArray(list) ? firstRepetition(list, check.pointer, check.by as JsonPointer) : check.pointer;
    }
    default:
      return assertNever(check);
  }
}

function isMember(value: JsonValue, known: JsonValue | undefined): boolean {
  if (isJsonArray(known)) return known.some((element) => jsonEqual(element, value));
  return isJsonObject(known) && typeof value === 'string' && Object.hasOwn(known, value);
}

function firstRepetition(list: readonly JsonValue[], place: string, by: JsonPointer): string | undefined {
  const seen = new Set<string>();
  const index = list.findIndex((element) => {
    const value = resolvePointer(element, by);
    if (value === undefined) return false;
    const text = canonicalText(value);
    if (seen.has(text)) return true;
    seen.add(text);
    return false;
  });
  return index === -1 ? undefined : `${place}/${index}${by}`;
}

export type Comparison = 'lt' | 'lte' | 'gt' | 'gte' | 'eq' | 'ne';

/** Numbers by value, dates and date-times in time; for `eq` and `ne` any two values. What has no order satisfies no inequality. */
export function compares(kind: Comparison, a: JsonValue, b: JsonValue): boolean {
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
