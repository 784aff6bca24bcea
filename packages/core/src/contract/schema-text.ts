/**
 * What a schema says of the content of a string, `pattern` and `format` of all conjuncts together: read for the mask as one automaton over
 * code points. A pattern or a combination that has no automaton of bounded size is refused by name.
 * Reference: JSON Schema 2020-12 Validation §6.3.3 (a pattern matches somewhere in the text) and §7.
 */
import { memberOf, type JsonObject } from '../json/value.ts';
import { isOfFormat } from '../validate/format.ts';
import { compilePattern } from '../validate/pattern.ts';
import { textAutomaton, textsOfBoth, type TextAutomaton } from '../validate/text-automaton.ts';
import { FORMAT_PATTERNS, FREE_FORMATS } from './format-patterns.ts';
import type { Conjunct } from './schema-keywords.ts';

/** Every pattern and every format of a string, each once; at least one of either, or one of the others. */
export interface TextContent {
  readonly patterns: readonly string[];
  readonly formats: readonly string[];
  /** Patterns that match nowhere in the text. */
  readonly excluded?: readonly string[];
  /** Texts among which the string must be besides. Each symbol is one code point. */
  readonly within?: TextAutomaton;
}

/** Automaton states × `minLength`: above it the shortest completions of a minimum length take more memory than the rest of a mask. */
const MAX_LENGTH_TABLE = 1_048_576;

/** The content that `conjuncts` ask of a string, beside patterns that they exclude; undefined where it is free. */
export function textContentOf(conjuncts: readonly Conjunct[], excluded: readonly string[]): TextContent | undefined {
  const patterns = valuesOf(conjuncts, 'pattern');
  const formats = valuesOf(conjuncts, 'format').filter((name) => FORMAT_PATTERNS.has(name));
  return patterns.length + formats.length + excluded.length === 0 ? undefined : { patterns, formats, ...(excluded.length === 0 ? {} : { excluded }) };
}

/** The most code points that a format of `content` allows; undefined where none bounds them. */
export function maxLengthOfFormats({ formats }: TextContent): number | undefined {
  const bounds = formats.map((name) => FORMAT_PATTERNS.get(name)?.maxLength).filter((bound) => bound !== undefined);
  return bounds.length === 0 ? undefined : Math.min(...bounds);
}

/** The texts of that content, as far as the mask spells them; undefined where `content` and `minLength` are more than it can hold. */
export function contentAutomaton({ patterns, formats, excluded = [], within }: TextContent, minLength: number): TextAutomaton | undefined {
  const sources = [...patterns, ...formats.flatMap((name) => FORMAT_PATTERNS.get(name)?.source ?? [])];
  const asked = textAutomaton(sources, excluded);
  if (!asked.ok) return undefined;
  const automaton = within === undefined ? asked.value : sources.length + excluded.length === 0 ? within : textsOfBoth(within, asked.value);
  return automaton !== undefined && automaton.stateCount * minLength <= MAX_LENGTH_TABLE ? automaton : undefined;
}

/** Whether an automaton has at least `enough` texts of those lengths. */
export function hasTexts({ symbolCount, intervalStarts, intervalSymbols, next, isAccepting }: TextAutomaton, minLength: number, maxLength: number, enough: number): boolean {
  const widths = new Array<number>(symbolCount).fill(0);
  for (const [index, symbol] of intervalSymbols.entries()) if (symbol >= 0) widths[symbol] = (widths[symbol] as number) + (intervalStarts[index + 1] ?? Infinity) - (intervalStarts[index] as number);
  let counts = new Map([[0, 1]]);
  let found = 0;
  for (let length = 0; length <= maxLength && found < enough; length += 1) {
    const further = new Map<number, number>();
    for (const [state, count] of counts) {
      if (length >= minLength && isAccepting[state] === 1) found += count;
      for (let symbol = 0; symbol < symbolCount; symbol += 1) {
        const target = next[state * symbolCount + symbol] as number;
        if (target >= 0) further.set(target, Math.min(enough, (further.get(target) ?? 0) + count * (widths[symbol] as number)));
      }
    }
    counts = further;
  }
  return found >= enough;
}

/** Whether `text` has the content, as the judge decides it. */
export function hasContent(text: string, { patterns, formats, excluded = [] }: TextContent): boolean {
  const matches = (source: string): boolean => {
    const pattern = compilePattern(source);
    return pattern.ok && pattern.value.test(text);
  };
  return formats.every((name) => isOfFormat(name, text)) && patterns.every(matches) && !excluded.some(matches);
}

/** A pattern that matches exactly these texts. */
export function patternOf(texts: readonly string[]): string {
  const escaped = (text: string): string => [...text].map((character) => `\\u{${(character.codePointAt(0) as number).toString(16)}}`).join('');
  return `^(?:${texts.map(escaped).join('|')})$`;
}

/** Whether the mask knows the pattern or format alone. */
export function isReadableText(schema: JsonObject, keyword: 'pattern' | 'format'): boolean {
  const value = memberOf(schema, keyword);
  if (typeof value !== 'string') return false;
  return keyword === 'format' ? FORMAT_PATTERNS.has(value) || FREE_FORMATS.has(value) : compilePattern(value).ok;
}

function valuesOf(conjuncts: readonly Conjunct[], keyword: string): readonly string[] {
  return [...new Set(conjuncts.map(({ schema }) => memberOf(schema, keyword)).filter((value) => typeof value === 'string'))];
}
