/**
 * What a schema says of the content of a string, `pattern` and `format` of all conjuncts together: read for the mask as one automaton over
 * code points. A pattern or a combination that has no automaton of bounded size is refused by name.
 * Reference: JSON Schema 2020-12 Validation §6.3.3 (a pattern matches somewhere in the text) and §7.
 */
import { memberOf, type JsonObject } from '../json/value.ts';
import { isOfFormat } from '../validate/format.ts';
import { compilePattern } from '../validate/pattern.ts';
import { textAutomaton, type TextAutomaton } from '../validate/text-automaton.ts';
import { FORMAT_PATTERNS, FREE_FORMATS } from './format-patterns.ts';
import type { Conjunct } from './schema-keywords.ts';

/** Every pattern and every format of a string, each once; at least one of either. */
export interface TextContent {
  readonly patterns: readonly string[];
  readonly formats: readonly string[];
}

/** Automaton states × `minLength`: above it the shortest completions of a minimum length take more memory than the rest of a mask. */
const MAX_LENGTH_TABLE = 1_048_576;

/** The content that `conjuncts` ask of a string; undefined where it is free. */
export function textContentOf(conjuncts: readonly Conjunct[]): TextContent | undefined {
  const patterns = valuesOf(conjuncts, 'pattern');
  const formats = valuesOf(conjuncts, 'format').filter((name) => FORMAT_PATTERNS.has(name));
  return patterns.length + formats.length === 0 ? undefined : { patterns, formats };
}

/** The most code points that a format of `content` allows; undefined where none bounds them. */
export function maxLengthOfFormats({ formats }: TextContent): number | undefined {
  const bounds = formats.map((name) => FORMAT_PATTERNS.get(name)?.maxLength).filter((bound) => bound !== undefined);
  return bounds.length === 0 ? undefined : Math.min(...bounds);
}

/** The texts of that content, as far as the mask spells them; undefined where `content` and `minLength` are more than it can hold. */
export function contentAutomaton({ patterns, formats }: TextContent, minLength: number): TextAutomaton | undefined {
  const automaton = textAutomaton([...patterns, ...formats.flatMap((name) => FORMAT_PATTERNS.get(name)?.source ?? [])]);
  return automaton.ok && automaton.value.stateCount * minLength <= MAX_LENGTH_TABLE ? automaton.value : undefined;
}

/** Whether `text` has the content, as the judge decides it. */
export function hasContent(text: string, { patterns, formats }: TextContent): boolean {
  return formats.every((name) => isOfFormat(name, text)) && patterns.every((source) => {
    const pattern = compilePattern(source);
    return pattern.ok && pattern.value.test(text);
  });
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
