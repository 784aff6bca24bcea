/** A plain sentence that says what a call holds, for data without requests: words of the names, values as a person would type them. */
import type { JsonObject, JsonValue } from '@contractrl/core';

/** `calculate_tip`, `{ bill: 50 }` → "Calculate tip: bill 50." */
export function sentenceOf(toolName: string, args: JsonObject): { readonly request: string; readonly description: string } {
  const title = wordsOf(toolName);
  const subject = title.slice(0, 1).toUpperCase() + title.slice(1);
  return { request: `${subject}: ${membersOf(args).join(', ')}.`, description: `${subject}.` };
}

export function wordsOf(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, ' ').replaceAll(/[_.-]+/gu, ' ').toLowerCase().trim();
}

function membersOf(object: JsonObject): readonly string[] {
  return Object.entries(object).map(([name, value]) => (typeof value === 'boolean' ? `${value ? 'with' : 'without'} ${wordsOf(name)}` : `${wordsOf(name)} ${spoken(value)}`));
}

function spoken(value: JsonValue): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => spoken(item as JsonValue));
    return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)!}`;
  }
  return typeof value === 'object' && value !== null ? `(${membersOf(value as JsonObject).join(', ')})` : String(value);
}
