/**
 * What speaks against a patch though it makes the call valid, and though decoding was sure of it: the value of another argument written once more, and a member
 * thrown away that had only the wrong name. Read from public state and the patch alone, so they are the same in every runtime; a calibration says what the first weighs, and the second is always withheld.
 * Reference: the wrong patches of the validation side, of which these are the two kinds that hardly a right one has.
 */
import {
  applyPatch, isJsonArray, isJsonObject, lastTokenOf, parentOf, resolvePointer, ROOT_POINTER, schemaAt, type Contract, type JsonValue, type Observation, type Patch,
} from '@contractrl/core';
import { timesSaid } from './said.ts';

/** How many of each a patch has. */
export interface PatchDoubts {
  /**
   * Written texts and numbers that the call then has in more places than the request says them: a neighbour was taken. What is copied is meant to stand twice.
   * Letters of either case and numbers as texts count as the same.
   */
  readonly repeated: number;
  /**
   * Removed members that the schema does not declare and of whose values the request says one, while one beside it of a like name, declared, stays absent: they
   * should have been moved.
   */
  readonly unmoved: number;
}

/** Undefined for a patch that the gate will refuse. O(call + schema there), and O(request) for each value that is written again or removed. */
export function doubtsOf({ contract, request, state: { candidate, operationsLeft } }: Observation, patch: Patch): PatchDoubts | undefined {
  const after = applyPatch(contract, candidate, patch, operationsLeft);
  const texts = request.map(({ content }) => content);
  return after.ok ? { repeated: repeatedIn(after.value, patch, texts), unmoved: unmovedIn(contract, texts, { candidate, after: after.value }, patch) } : undefined;
}

function repeatedIn(after: JsonValue, patch: Patch, texts: readonly string[]): number {
  const standing = new Map<string, number>();
  for (const text of textsIn(after)) standing.set(text, (standing.get(text) ?? 0) + 1);
  const written = new Set(patch.flatMap((operation) => ('value' in operation ? textsIn(operation.value) : [])));
  return [...written].filter((text) => {
    const count = standing.get(text) ?? 0;
    return count > 1 && count > timesSaid(text, texts);
  }).length;
}

/** The texts and numbers of a value, as the comparison has them; null, booleans and empty texts are the same for many reasons. */
function textsIn(value: JsonValue): readonly string[] {
  if (isJsonArray(value)) return value.flatMap(textsIn);
  if (isJsonObject(value)) return Object.values(value).flatMap((member) => textsIn(member as JsonValue));
  const text = value === null || typeof value === 'boolean' ? '' : String(value).trim().toLowerCase();
  return text === '' ? [] : [text];
}

function unmovedIn(contract: Contract, texts: readonly string[], { candidate, after }: { readonly candidate: JsonValue; readonly after: JsonValue }, patch: Patch): number {
  return patch.filter(({ op, path }) => {
    const removed = op === 'remove' ? resolvePointer(candidate, path) : undefined;
    const parent = parentOf(path) ?? ROOT_POINTER;
    const around = resolvePointer(after, parent);
    if (removed === undefined || around === undefined || !isJsonObject(around) || !textsIn(removed).some((text) => timesSaid(text, texts) > 0)) return false;
    const name = lastTokenOf(path) ?? '';
    const declared = schemaAt(contract, after, parent).flatMap(({ schema: { properties } }) => (properties !== undefined && isJsonObject(properties) ? Object.keys(properties) : []));
    return !declared.includes(name) && declared.some((each) => !Object.hasOwn(around, each) && areAlike(name, each));
  }).length;
}

/** Shorter words stand in many names. */
const SHORTEST_WORD = 3;
/** Of a name; those of people have fewer. */
const MAX_WORDS = 8;

/** One is cut from the other, in whole or in a word: `autho` and `author`, `input_venue` and `venue`, `maxResults` and `max_result`. */
function areAlike(name: string, other: string): boolean {
  return partsOf(name).some((part) => partsOf(other).some((each) => part.startsWith(each) || each.startsWith(part)));
}

/** The letters of a name, then its words. */
function partsOf(name: string): readonly string[] {
  const words = name.replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return [words.join(''), ...words.slice(0, MAX_WORDS)].filter((part) => part.length >= SHORTEST_WORD);
}
