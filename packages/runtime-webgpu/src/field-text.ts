/**
 * What the schema says of a place, in few tokens: `array of string`, `{name*: string, count: integer}`, `string one of ["a","b"] {"maxLength":9}: What it is`.
 * Shape first, then the keywords that bind it, then the words. Whatever is cut here still binds: the mask reads the schema itself.
 */
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@contractrl/core';
import type { SchemaSite } from '@contractrl/core';

/** In code points, of one place. */
const FIELD_LIMIT = 320;
const DESCRIPTION_LIMIT = 160;
/** Beyond it a description is not read. */
const READ_LIMIT = 4000;
/** Of an enumeration; the mask has all of it. */
const ENUM_LIMIT = 12;
const BRANCH_LIMIT = 3;
const DEPTH_LIMIT = 3;

/** Shown as they are, in this order. */
const KEYWORDS = [
  'format', 'pattern', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems', 'default',
] as const;

/** Sentences of a long description that say how a value is written. */
const FORM_WORDS = /\b(?:format|form|written|e\.g|example|such as|like|must|should|only|unit|digits?|letters?|characters?|case|prefix|begins?|starts?|ends?|iso|yyyy)\b/iu;

/** `near` is text whose words say which of many enumerated values matter. Empty where the schema says nothing. O(schema at the place + near). */
export function fieldText(sites: readonly SchemaSite[], near: string): string {
  const certain = schemaText(merged(sites.filter((site) => !site.isConditional)), near, 0);
  const branches = [...new Set(sites.filter((site) => site.isConditional).map(({ schema }) => schemaText(schema, near, 1)))].filter((text) => text !== '').slice(0, BRANCH_LIMIT);
  return firstCharacters([...(certain === '' ? [] : [certain]), ...(branches.length === 0 ? [] : [branches.join(' or ')])].join(', '), FIELD_LIMIT);
}

/** The description where it is short, else its first sentence and those that tell a form. */
export function shortDescription(description: string, limit: number = DESCRIPTION_LIMIT): string {
  const text = firstCharacters(description, READ_LIMIT).replaceAll(/\s+/gu, ' ').trim();
  if (text.length <= limit) return text;
  const sentences = text.split(/(?<=[.!?]) (?=\p{Lu})/u);
  return firstCharacters(sentences.filter((sentence, index) => index === 0 || FORM_WORDS.test(sentence)).join(' '), limit);
}

/** Cuts between code points, never inside a surrogate pair; reads at most `2 · limit` UTF-16 units. */
export function firstCharacters(text: string, limit: number): string {
  return text.length <= limit ? text : Array.from(text.slice(0, 2 * limit)).slice(0, limit).join('');
}

/** A keyword is read where it stands first: with `allOf` that is a guide, not the verdict. */
function merged(sites: readonly SchemaSite[]): JsonObject {
  return Object.assign({}, ...sites.map(({ schema }) => schema).reverse()) as JsonObject;
}

function schemaText(schema: JsonObject, near: string, depth: number): string {
  const bounds = Object.fromEntries(KEYWORDS.filter((keyword) => Object.hasOwn(schema, keyword)).map((keyword) => [keyword, schema[keyword]!]));
  const shape = [shapeText(schema, near, depth), ...(Object.keys(bounds).length === 0 ? [] : [JSON.stringify(bounds)])].filter((text) => text !== '').join(' ');
  const description = typeof schema['description'] === 'string' && depth < 2 ? shortDescription(schema['description']) : '';
  return [shape, description].filter((text) => text !== '').join(': ');
}

function shapeText(schema: JsonObject, near: string, depth: number): string {
  const { type, items, properties, enum: values } = schema;
  if (Object.hasOwn(schema, 'const')) return `exactly ${JSON.stringify(schema['const'])}`;
  const name = typeof type === 'string' ? type : isJsonArray(type) ? type.join('|') : '';
  if (isJsonArray(values)) return `${name === '' ? '' : `${name} `}one of ${JSON.stringify(nearest(values, near))}`;
  if (depth >= DEPTH_LIMIT) return name;
  if (isJsonObject(items)) return `array of ${schemaText(items, near, depth + 2) || 'any'}`;
  return isJsonObject(properties) ? membersText(properties, schema['required'], near, depth) : name;
}

function membersText(properties: JsonObject, required: JsonValue | undefined, near: string, depth: number): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const isRequired = isJsonArray(required) && required.includes(name);
    return `${name}${isRequired ? '*' : ''}: ${(isJsonObject(schema) ? shapeText(schema, near, depth + 1) : '') || 'any'}`;
  });
  return `{${members.join(', ')}}`;
}

/** All values where they are few, else those that share most words with `near`, in their own order. */
function nearest(values: readonly JsonValue[], near: string): readonly JsonValue[] {
  if (values.length <= ENUM_LIMIT) return values;
  const known = new Set(wordsOf(near));
  const scored = values.map((value, index) => ({ index, value, shared: wordsOf(String(value)).filter((word) => known.has(word)).length }));
  return scored.sort((a, b) => b.shared - a.shared || a.index - b.index).slice(0, ENUM_LIMIT).sort((a, b) => a.index - b.index).map(({ value }) => value);
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
