/** How the canonical language spells a given value, and which values it cannot spell: by rules of the language alone, without the engine. */
import type { JsonObject, JsonValue } from '@contractrl/core';

/** Of larger objects only the given order is tried: that of the schema is not known here. */
const MAX_REORDERED = 4;
/** Of values with many small objects only so many combinations of orders are tried. */
const MAX_COMBINATIONS = 64;

/** Every text that may be the canonical spelling of `value`: members in any order. */
export function spellingsOf(value: JsonValue): readonly string[] {
  if (Array.isArray(value)) return products(value.map((item) => spellingsOf(item as JsonValue))).map((items) => `[${items.join()}]`);
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
  const members = Object.entries(value as JsonObject).map(([name, member]) => spellingsOf(member).map((text) => `${JSON.stringify(name)}:${text}`));
  return (members.length > MAX_REORDERED ? [members] : orders(members)).flatMap((order) => products(order).map((texts) => `{${texts.join()}}`)).slice(0, MAX_COMBINATIONS);
}

/** The rule that keeps a value out of the language; undefined where there is none. */
export function unspellable(value: JsonValue, schema: JsonObject): string | undefined {
  const declared = namesIn(schema);
  const ruleFor = (found: JsonValue, depth: number): string | undefined => {
    if (depth > 2) return 'nested deeper than a value without a schema';
    if (typeof found === 'number') {
      if (Number.isInteger(found)) return Math.abs(found) >= 2 ** 53 ? 'an integer beyond 2^53' : undefined;
      const digits = String(found).replace(/^-?0?\.?0*/, '').replace('.', '');
      return String(found).includes('e') || digits.length > 15 ? 'a decimal with an exponent or more than 15 digits' : undefined;
    }
    if (typeof found === 'string') return [...found].length > 1024 ? 'a long string' : undefined;
    if (typeof found !== 'object' || found === null) return undefined;
    if (!Array.isArray(found)) {
      const undeclared = Object.keys(found).some((name) => !declared.has(name));
      if (undeclared) return 'a member that no schema declares';
    } else if (found.length > 64) {
      return 'a long list';
    }
    return Object.values(found as JsonObject).map((member) => ruleFor(member, depth + 1)).find((rule) => rule !== undefined);
  };
  return ruleFor(value, 0);
}

/** Names under `properties` and in `required` and their like, anywhere. */
function namesIn(schema: JsonValue): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: JsonValue): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [keyword, member] of Object.entries(value as JsonObject)) {
      if (keyword === 'properties' && typeof member === 'object' && member !== null) Object.keys(member).forEach((name) => names.add(name));
      if (keyword === 'required' && Array.isArray(member)) member.forEach((name) => names.add(String(name)));
      visit(member);
    }
  };
  visit(schema);
  for (const forbidden of ['__proto__', 'prototype', 'constructor']) names.delete(forbidden);
  return names;
}

function products<T>(lists: readonly (readonly T[])[]): readonly (readonly T[])[] {
  return lists.reduce<readonly (readonly T[])[]>((all, list) => all.flatMap((head) => list.map((item) => [...head, item])).slice(0, MAX_COMBINATIONS), [[]]);
}

function orders<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) => orders(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]));
}
