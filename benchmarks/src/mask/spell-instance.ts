/**
 * Whether the canonical language of a value mask holds an instance. The mask fixes the order of members, and an instance does not: the orders of
 * the schema are tried, or, without a schema, one is searched for. A member after which all others can still come is taken at once; where that
 * fails, all orders are tried, up to a bound. Everything else of a canonical text is `JSON.stringify`'s. The mask must have one-byte tokens, id = byte.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@contractrl/core';
import type { SchemaNode } from '@contractrl/core/schema';
import type { MaskMatcher } from '@contractrl/grammar-mask';

/** Members tried in the first search, which is linear where the instance is valid, and in the second, exhaustive one: invalid instances use it up. */
const SEARCH_LIMITS = { direct: 4000, exhaustive: 400 };

interface Search {
  readonly isExhaustive: boolean;
  stepsLeft: number;
  /** Orders of members in the schema. */
  readonly known: readonly (readonly string[])[];
  /** Orders that once led through an object, so that a value met again costs its length. */
  readonly orders: WeakMap<JsonObject, readonly string[]>;
}

/** The orders in which a schema's objects have their members, each once; undeclared ones come last. */
export function memberOrders(node: SchemaNode): readonly (readonly string[])[] {
  const orders = new Map<string, readonly string[]>();
  const seen = new Set<SchemaNode>();
  const add = (names: readonly string[]): void => { orders.set(JSON.stringify(names), names); };
  const visitLiteral = (value: JsonValue): void => {
    if (isJsonObject(value)) add(Object.keys(value));
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(visitLiteral);
  };
  const visit = (found: SchemaNode): void => {
    if (seen.has(found)) return;
    seen.add(found);
    if (found.kind === 'union') found.branches.forEach(visit);
    if (found.kind === 'array') [...found.prefix, found.rest, ...(found.contains === undefined ? [] : [found.contains.counted, found.contains.other])].forEach(visit);
    if (found.kind === 'literals') found.values.forEach(visitLiteral);
    if (found.kind !== 'object') return;
    add(found.members.map(({ name }) => name));
    [...found.members, ...(found.open ?? [])].forEach((member) => { visit(member.node); });
  };
  visit(node);
  return [...orders.values()];
}

/** The canonical text of `value` under the mask, undefined where it refuses every one that was tried. Leaves `start` where it is. */
export function spellInstance(start: MaskMatcher, value: JsonValue, known: readonly (readonly string[])[] = []): string | undefined {
  for (const isExhaustive of known.length > 0 ? [false] : [false, true]) {
    const end = spell(start, value, { isExhaustive, stepsLeft: isExhaustive ? SEARCH_LIMITS.exhaustive : SEARCH_LIMITS.direct, known, orders: new WeakMap() });
    if (end?.isAccepting() === true) return end.text();
  }
  return undefined;
}

function push(from: MaskMatcher, text: string): MaskMatcher | undefined {
  const matcher = from.fork();
  for (const byte of Buffer.from(text, 'utf8')) if (!matcher.acceptToken(byte).ok) return undefined;
  return matcher;
}

function spell(from: MaskMatcher, value: JsonValue, search: Search): MaskMatcher | undefined {
  if (isJsonObject(value)) {
    const opened = push(from, '{');
    const known = search.orders.get(value);
    if (opened === undefined) return undefined;
    const tried = new Map((known === undefined ? [] : [known]).concat(search.known.map((order) => sorted(Object.keys(value), order))).map((order) => [JSON.stringify(order), order]));
    for (const order of tried.values()) {
      const end = spellInOrder(opened, value, order, search);
      if (end === undefined) continue;
      search.orders.set(value, order);
      return end;
    }
    return search.known.length > 0 ? undefined : spellMembers(opened, value, Object.keys(value), [], search);
  }
  if (!isJsonArray(value)) return push(from, JSON.stringify(value));
  let matcher = push(from, '[');
  for (const [index, item] of value.entries()) {
    if (matcher !== undefined && index > 0) matcher = push(matcher, ',');
    if (matcher === undefined) return undefined;
    matcher = spell(matcher, item, search);
  }
  return matcher === undefined ? undefined : push(matcher, ']');
}

function spellMember(from: MaskMatcher, object: JsonObject, name: string, isFirst: boolean, search: Search): MaskMatcher | undefined {
  const named = push(from, keyOf(name, isFirst));
  return named === undefined ? undefined : spell(named, object[name]!, search);
}

function sorted(names: readonly string[], order: readonly string[]): readonly string[] {
  const places = new Map(order.map((name, index) => [name, index]));
  return [...names].sort((left, right) => (places.get(left) ?? order.length) - (places.get(right) ?? order.length));
}

function keyOf(name: string, isFirst: boolean): string {
  return `${isFirst ? '' : ','}${JSON.stringify(name)}:`;
}

function spellInOrder(from: MaskMatcher, object: JsonObject, order: readonly string[], search: Search): MaskMatcher | undefined {
  let matcher: MaskMatcher | undefined = from;
  for (const [index, name] of order.entries()) {
    if (search.stepsLeft <= 0) return undefined;
    search.stepsLeft -= 1;
    matcher = spellMember(matcher, object, name, index === 0, search);
    if (matcher === undefined) return undefined;
  }
  return push(matcher, '}');
}

function spellMembers(from: MaskMatcher, object: JsonObject, left: readonly string[], passed: readonly string[], search: Search): MaskMatcher | undefined {
  if (left.length === 0) {
    const closed = push(from, '}');
    if (closed !== undefined) search.orders.set(object, passed);
    return closed;
  }
  const partly: { readonly after: MaskMatcher; readonly name: string; readonly openCount: number }[] = [];
  for (const name of left) {
    if (search.stepsLeft <= 0) return undefined;
    search.stepsLeft -= 1;
    const after = spellMember(from, object, name, passed.length === 0, search);
    if (after === undefined) continue;
    const others = left.filter((other) => other !== name);
    const openCount = others.filter((other) => push(after, keyOf(other, false)) !== undefined).length;
    if (openCount === others.length && !search.isExhaustive) return spellMembers(after, object, others, [...passed, name], search);
    partly.push({ after, name, openCount });
  }
  if (!search.isExhaustive) return undefined;
  partly.sort((a, b) => b.openCount - a.openCount);
  for (const { after, name } of partly) {
    const end = spellMembers(after, object, left.filter((other) => other !== name), [...passed, name], search);
    if (end !== undefined) return end;
  }
  return undefined;
}
