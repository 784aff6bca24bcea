/**
 * What a value at fault can be rewritten to without a change of meaning: its own JSON text or the value of that text, the same member of an
 * enumeration in another case, the one element of a list, or a list of it. Whether one of them helps is the judge's to say.
 */
import { parseJson } from '../json/parse.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../json/value.ts';
import type { Violation } from '../validate/violation.ts';

/** The rules that write a value; the last makes several of one text, and `leaked-markup.ts` reads them. */
export type ConversionRule = 'text-to-json' | 'integer-to-text' | 'boolean-to-text' | 'enum-case' | 'list-of-one' | 'only-element' | 'leaked-markup';

export interface Conversion {
  readonly rule: ConversionRule;
  readonly value: JsonValue;
  /** The value became a text: certain only where the schema does not take just any text there, since a wrong kind may also be a wrong value. */
  readonly needsNarrowText: boolean;
}

/** Every conversion of `value`, which `violations` are about. */
export function conversionsOf(value: JsonValue, violations: readonly Violation[]): readonly Conversion[] {
  if (typeof value === 'string') return [...jsonOfText(value), ...enumCase(value, violations), ...(isPlainWord(value) ? [inList(value)] : [])];
  if (typeof value === 'boolean') return [asText('boolean-to-text', String(value)), inList(value)];
  if (isJsonArray(value)) return value.length === 1 && value[0] !== null ? [{ rule: 'only-element', value: value[0] as JsonValue, needsNarrowText: false }] : [];
  if (typeof value !== 'number') return [];
  const literal = literalOf(value, violations);
  return [...(/^-?[0-9]+$/.test(literal) && !Object.is(value, -0) ? [asText('integer-to-text', literal)] : []), inList(value)];
}

/** The text must be exactly how the value is written: `"5"`, not `"05"`, `" 5"` or `"5.0"`. Lists and objects may be spaced as they like. */
export function jsonOfText(text: string): readonly Conversion[] {
  const json = parseJson(text);
  if (!json.ok || typeof json.value === 'string') return [];
  const isExact = isJsonArray(json.value) || isJsonObject(json.value) || JSON.stringify(json.value) === text;
  return isExact ? [{ rule: 'text-to-json', value: json.value, needsNarrowText: false }] : [];
}

function enumCase(text: string, violations: readonly Violation[]): readonly Conversion[] {
  const allowed = violations.flatMap(({ params }) => {
    const { allowedValues, allowedValue } = params;
    return isJsonArray(allowedValues) ? allowedValues : allowedValue === undefined ? [] : [allowedValue];
  });
  const same = new Set(allowed.filter((each) => typeof each === 'string' && foldText(each) === foldText(text)));
  return [...same].map((value) => ({ rule: 'enum-case', value: value as JsonValue, needsNarrowText: false }));
}

function foldText(text: string): string {
  return text.trim().toLowerCase();
}

/** Text that holds separators may be a list already, and some words say how many rather than which: neither is surely one element. */
function isPlainWord(text: string): boolean {
  return /^[\p{L}\p{N}_.@:/+-]+$/u.test(text) && !/^(?:all|any|both|every|everything|nil|none|null|undefined|n\/a)$/i.test(text);
}

/** Digits as they were written, also where a double cannot hold them; a fraction or an exponent may have been written otherwise than it is read. */
function literalOf(value: number, violations: readonly Violation[]): string {
  const loss = violations.find(({ code }) => code === 'precision_loss');
  return loss === undefined ? String(value) : String(loss.params['literal']);
}

function asText(rule: ConversionRule, value: string): Conversion {
  return { rule, value, needsNarrowText: true };
}

function inList(value: JsonValue): Conversion {
  return { rule: 'list-of-one', value: [value], needsNarrowText: false };
}
