/**
 * Whether arguments are right. Equality is JSON equality: member order does not matter, and numbers are compared as numbers, so
 * 5, 5.0 and 5e0 are equal; texts must be equal to the character. BFCL's own checker also ignores case and punctuation; we do not.
 */
import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '@contractrl/core';
import type { CaseGold } from '../datasets/case.ts';

/** Whether dispatching `finalArguments` is right under `gold`. */
export function isRight(finalArguments: JsonObject, gold: CaseGold): boolean {
  switch (gold.kind) {
    case 'abstain': return false;
    case 'one-of': return gold.acceptable.some((acceptable) => jsonEqual(finalArguments, acceptable));
    case 'answers': return matchesMembers(finalArguments, gold.answers) && keepsTheRest(finalArguments, gold.original, gold.corrupted);
  }
}

/** Whether declining is right under `gold`. */
export function mayAbstain(gold: CaseGold): boolean {
  return gold.kind === 'abstain' || (gold.kind === 'one-of' && gold.abstainOk);
}

/** Every member has one of its acceptable values, none is missing that must be there, none is there that is not known. */
function matchesMembers(value: JsonObject, answers: Readonly<Record<string, readonly JsonValue[]>>): boolean {
  const known = Object.keys(value).every((name) => Object.hasOwn(answers, name));
  return known && Object.entries(answers).every(([name, acceptable]) => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    return member === undefined ? acceptable.includes('') : acceptable.some((one) => matches(member, one));
  });
}

/** BFCL nests: inside an acceptable object every member again has a list of acceptable values. */
function matches(value: JsonValue, acceptable: JsonValue): boolean {
  if (Array.isArray(acceptable)) {
    return Array.isArray(value) && value.length === acceptable.length && acceptable.every((one, index) => matches(value[index] as JsonValue, one));
  }
  if (isJsonObject(acceptable)) return isJsonObject(value) && matchesMembers(value, acceptable as Readonly<Record<string, readonly JsonValue[]>>);
  return jsonEqual(value, acceptable);
}

function keepsTheRest(value: JsonObject, original: JsonObject, corrupted: string): boolean {
  const names = new Set([...Object.keys(value), ...Object.keys(original)]);
  names.delete(corrupted);
  return [...names].every((name) => Object.hasOwn(value, name) && Object.hasOwn(original, name) && jsonEqual(value[name] as JsonValue, original[name] as JsonValue));
}
