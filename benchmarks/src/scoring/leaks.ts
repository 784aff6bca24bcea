/**
 * The leakage scan (CHECKLIST D13): gold that stands in what a policy was shown, and that neither the public record nor the policy's own
 * earlier answers explain. It looks for the names of gold fields, for whole targets in any spelling of white space and escapes, and for single values
 * long enough to be no accident.
 */
import { canonicalText, isJsonArray, isJsonObject, type JsonValue } from '@contractrl/core';

/** One hidden field: its name, and what it holds. */
export interface GoldField {
  readonly name: string;
  readonly value: JsonValue;
}

export interface Leak {
  /** Place in the list of online texts. */
  readonly text: number;
  /** The field, or the field and the value of it that was found. */
  readonly field: string;
  readonly found: string;
}

/** Shorter texts and numbers occur everywhere. */
const MIN_SCALAR_LENGTH = 6;

/** `publicTexts` is what a policy may know: what stands there too is no leak. O(texts × spellings). */
export function findLeaks(onlineTexts: readonly string[], gold: readonly GoldField[], publicTexts: readonly string[]): readonly Leak[] {
  const known = bare(publicTexts.join('\n'));
  const needles = gold.flatMap(({ name, value }) => [...new Set([`"${name}"`, ...spellings(value)])].map((spelling) => ({ field: name, found: spelling, needle: bare(spelling) })))
    .filter(({ needle }) => !known.includes(needle));
  return onlineTexts.flatMap((online, text) => {
    const haystack = bare(online);
    return needles.filter(({ needle }) => haystack.includes(needle)).map(({ field, found }) => ({ text, field, found }));
  });
}

/** A container in its own member order and in canonical order; then its members, and of the scalars those that say something. */
function spellings(value: JsonValue): readonly string[] {
  if (isJsonArray(value) || isJsonObject(value)) {
    const members = Object.values(value) as readonly JsonValue[];
    return [...(members.length === 0 ? [] : [JSON.stringify(value), canonicalText(value)]), ...members.flatMap(spellings)];
  }
  const text = String(value);
  return text.length >= MIN_SCALAR_LENGTH ? [text] : [];
}

/** Without white space, raw or escaped, and without the backslashes that each level of strings in strings adds. */
function bare(text: string): string {
  return text.replaceAll(/\\+[nrt]|[\s\\]/gu, '');
}
