/**
 * How hard an example is, by what an answer can be made of, and where in the structure it lies. Both are computed from public state with production code:
 * the deterministic step, and the origins of the written values. Reference: CHECKLIST M-STR; TRAINING § What goes wrong, 1.
 */
import { applyPatch, deterministicPatch, isJsonArray, jsonEqual, schemaAt, tokensOf, type Contract, type JsonObject, type JsonPointer, type JsonValue } from '@contractrl/core';
import { originFinder } from '@contractrl/core/schema';
import type { Corruption } from '../corrupt/corrupt.ts';
import { textsOf } from '../request.ts';

export const DIFFICULTIES = [
  /** The step before the policy repairs it. */
  'certain',
  /** No value is written: remove, move or copy. */
  'moved',
  /** Every written value stands in the request or the call. */
  'quoted',
  /** The others are literals of the schema: what the request asks for must be matched with one. */
  'listed',
  /** A value is said in other words, or only follows from them. */
  'inferred',
  /** The right answer is to decline. */
  'abstain',
] as const;
export type Difficulty = (typeof DIFFICULTIES)[number];

/** Of several that apply the first in this order. */
export const STRUCTURES = ['multi-field', 'union', 'array', 'long-pointer', 'nested', 'flat'] as const;
export type Structure = (typeof STRUCTURES)[number];

/** Reference tokens from which on a pointer is long. */
const LONG_POINTER = 3;

export function difficultyOf({ contract, candidate, report, request, answer }: Corruption, target: JsonObject): Difficulty {
  if (answer.kind === 'abstain') return 'abstain';
  const certain = deterministicPatch(contract, candidate, report.violations, NO_LOSSES);
  if (certain !== undefined) {
    const done = applyPatch(contract, candidate, certain.patch, contract.document.operationBudget);
    if (done.ok && jsonEqual(done.value, target)) return 'certain';
  }
  const written = answer.patch.flatMap((operation) => ('value' in operation ? [operation] : []));
  if (written.length === 0) return 'moved';
  const originsOf = originFinder({ texts: textsOf(request), candidate });
  const stands = (value: JsonValue): boolean => originsOf(value).every(({ origin }) => !('kind' in origin && origin.kind === 'model'));
  if (written.every(({ value }) => stands(value))) return 'quoted';
  const isListed = written.every(({ path, value }) => stands(value) || literalsAt(contract, candidate, path).some((literal) => jsonEqual(literal, value)));
  return isListed ? 'listed' : 'inferred';
}

function literalsAt(contract: Contract, candidate: JsonValue, path: JsonPointer): readonly JsonValue[] {
  return schemaAt(contract, candidate, path).flatMap(({ schema: { enum: literals, const: only } }) => [...(isJsonArray(literals) ? literals : []), ...(only === undefined ? [] : [only])]);
}

const NO_LOSSES: ReadonlySet<number> = new Set();

export function structureOf({ family, position, pointer, contract, candidate }: Corruption): Structure {
  if (family === 'several_fields') return 'multi-field';
  if (family === 'union' || schemaAt(contract, candidate, pointer).some(({ schema, isConditional }) => isConditional || 'anyOf' in schema || 'oneOf' in schema)) return 'union';
  if (position === 'array') return 'array';
  const depth = tokensOf(pointer).length;
  return depth >= LONG_POINTER ? 'long-pointer' : depth > 1 ? 'nested' : 'flat';
}
