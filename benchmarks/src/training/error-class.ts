/**
 * The classes of error that TRAINING names, decided by code: what kind of case it is, from request, call, schema and gold, and which way a wrong answer went, from
 * the value that was written. A case can be of several classes; an error is counted once, under the first class that explains it.
 */
import { canonicalText, isJsonArray, isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '@contractrl/core';
import type { ScoredRow } from './score-rows.ts';

export interface ErrorClass {
  readonly name: string;
  /** What makes a case one of this class. */
  readonly isCase: string;
  /** Which wrong answers count under it. */
  readonly isError: string;
}

export type ErrorClassName = 'candidate' | 'enum' | 'list' | 'example' | 'format' | 'neighbour';

export const ERROR_CLASSES: Readonly<Record<ErrorClassName, ErrorClass>> = {
  candidate: { name: 'answer in the candidate', isCase: 'the failed argument holds the right value in another notation', isError: 'that value was not written' },
  enum: { name: 'enum', isCase: 'the field has an enum', isError: 'another of its literals was written' },
  list: { name: 'list', isCase: 'the right value is a list', isError: 'another list was written' },
  example: { name: 'copied example of the description', isCase: 'the description of the field quotes an example', isError: 'the written value stands in the description and not in the request' },
  format: { name: 'format told in the description', isCase: 'the description of the field names a format', isError: 'the written value and the right one share a word' },
  neighbour: { name: 'neighbouring entity', isCase: 'the request says several numbers, or the call has another argument of the type', isError: 'the written value is another argument’s, or stands in the request' },
};
export const ERROR_CLASS_NAMES: readonly ErrorClassName[] = Object.keys(ERROR_CLASSES) as readonly ErrorClassName[];

/** What a single-field case is about. */
interface Field {
  readonly schema: JsonObject;
  readonly description: string;
  readonly requestText: string;
  /** The argument as it failed; undefined where it was left out. */
  readonly failed: JsonValue | undefined;
  /** The first is that of the legal call. */
  readonly acceptable: readonly [JsonValue, ...JsonValue[]];
  readonly others: readonly JsonValue[];
  /** What was dispatched there; undefined where nothing was. */
  readonly written: JsonValue | undefined;
}

/** Of a case with one corrupted member; undefined for any other. */
export function classesOf(scored: ScoredRow): { readonly cases: ReadonlySet<ErrorClassName>; readonly error: ErrorClassName | undefined } | undefined {
  const field = fieldOf(scored);
  if (field === undefined) return undefined;
  const error = scored.score.verdict !== 'silently-wrong' || field.written === undefined ? undefined : ERROR_CLASS_NAMES.find((name) => EXPLAINS[name](field, field.written as JsonValue));
  return { cases: new Set(ERROR_CLASS_NAMES.filter((name) => IS_CASE[name](field))), error };
}

function fieldOf({ row, request, gold }: ScoredRow): Field | undefined {
  if (gold.kind !== 'answers') return undefined;
  const { corrupted, original, answers } = gold;
  const properties = request.contract.tool.parameters['properties'] as Readonly<Record<string, JsonObject>> | undefined;
  const schema = properties?.[corrupted] ?? {};
  const { description } = schema;
  const candidate = JSON.parse(request.call.argumentsText) as JsonObject;
  return {
    schema, description: typeof description === 'string' ? description : '', requestText: request.request.map(({ content }) => content).join('\n'), failed: candidate[corrupted],
    acceptable: [original[corrupted] as JsonValue, ...(answers[corrupted] ?? [])], others: Object.entries(original).filter(([name]) => name !== corrupted).map(([, value]) => value as JsonValue),
    written: row.arguments?.[corrupted],
  };
}

const IS_CASE: Readonly<Record<ErrorClassName, (field: Field) => boolean>> = {
  candidate: ({ failed, acceptable: [right] }) => failed !== undefined && holds(failed, right),
  enum: ({ schema }) => isJsonArray(schema['enum']) || isJsonArray((schema['items'] as JsonObject | undefined)?.['enum']),
  list: ({ acceptable: [right] }) => isJsonArray(right),
  example: ({ description }) => /\b(?:e\.g\.|for example|such as|example:|like ['"‘“])/iu.test(description),
  format: ({ description }) => /\bformat\b|\bin the form\b|abbreviat|\b[YMDHms]{2,4}[-/:][YMDHms]{2}|city(?: and|,) (?:the )?(?:state|country)/iu.test(description),
  neighbour: ({ requestText, acceptable: [right], others }) => (typeof right === 'number' && numbersIn(requestText).length > 1) || others.some((other) => typeof other === typeof right && !isJsonArray(other) && !isJsonArray(right)),
};

const EXPLAINS: Readonly<Record<ErrorClassName, (field: Field, written: JsonValue) => boolean>> = {
  candidate: (field) => IS_CASE.candidate(field),
  enum: (field) => IS_CASE.enum(field),
  list: (field, written) => IS_CASE.list(field) && isJsonArray(written),
  example: ({ description, requestText }, written) => typeof written === 'string' && written.length > 1 && says(description, written) && !says(requestText, written),
  format: (field, written) => IS_CASE.format(field) && typeof written === 'string' && field.acceptable.some((right) => typeof right === 'string' && shareWord(right, written)),
  neighbour: ({ requestText, others }, written) =>
    others.some((other) => jsonEqual(other, written)) || (typeof written === 'number' ? numbersIn(requestText).includes(written) : typeof written === 'string' && written !== '' && says(requestText, written)),
};

/** The value itself, wrapped or in a list, or its JSON or words as text. */
function holds(failed: JsonValue, right: JsonValue): boolean {
  if (typeof failed === 'string') return failed === (typeof right === 'string' ? right : undefined) || failed === JSON.stringify(right) || failed === canonicalText(right);
  const inside: readonly JsonValue[] = isJsonArray(failed) ? failed : isJsonObject(failed) ? Object.values(failed) as readonly JsonValue[] : [];
  return inside.length === 1 && jsonEqual(inside[0]!, right);
}

function numbersIn(text: string): readonly number[] {
  return [...new Set([...text.matchAll(/-?\d+(?:\.\d+)?/gu)].map(([digits]) => Number(digits)))];
}

function says(text: string, words: string): boolean {
  return text.toLowerCase().includes(words.toLowerCase());
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function shareWord(one: string, other: string): boolean {
  const words = new Set(wordsOf(one));
  return wordsOf(other).some((word) => words.has(word));
}
