/**
 * Families of corruption. A family says what was done to a legal call, and so which code the verifier must give and which patch takes it back.
 * The list and what each family draws from are versioned: another version makes other bytes of the same seed.
 */
import type { AbstainCode, JsonPointer, JsonValue, Patch, ViolationCode } from '@contractrl/core';

/** Of the forms, their order and the draws; part of every example and manifest. */
export const CORRUPTION_VERSION = '4';

/** One fault each, which one operation takes back. */
export const SINGLE_FAMILIES = [
  'missing_required', 'wrong_type_lossless', 'wrong_type_lossy', 'enum', 'const', 'format', 'pattern', 'range', 'length', 'items', 'union',
  'additional_property', 'renamed_property', 'misplaced_value', 'cross_field',
] as const;
export type SingleFamily = (typeof SINGLE_FAMILIES)[number];

/** What no patch may mend: the right answer is to decline. */
export const UNREPAIRABLE_FAMILIES = ['value_unknown', 'locked_field', 'other_tool'] as const;
export type UnrepairableFamily = (typeof UNREPAIRABLE_FAMILIES)[number];

export type Family = SingleFamily | 'several_fields' | UnrepairableFamily;
export const FAMILIES: readonly Family[] = [...SINGLE_FAMILIES, 'several_fields', ...UNREPAIRABLE_FAMILIES];

/** Where in the call the fault lies: on the top level, inside an object, or inside a list. */
export type Position = 'top' | 'nested' | 'array';

/** One way to spoil one place of a legal call. Nothing of it is checked yet. */
export interface Fault {
  readonly family: SingleFamily;
  /** The way, within the family. */
  readonly form: string;
  /** What the verifier must say, among other things perhaps. */
  readonly code: ViolationCode;
  readonly pointer: JsonPointer;
  /** Where the call is written, by the fault or by its repair: faults that meet here do not go together. */
  readonly place: JsonPointer;
  readonly spoil: (document: JsonValue) => JsonValue;
  /** The canonical repair of a call that has this fault alone. */
  readonly patch: Patch;
}

export type Answer =
  | { readonly kind: 'patch'; readonly patch: Patch }
  | { readonly kind: 'abstain'; readonly code: AbstainCode };
