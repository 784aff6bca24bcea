/** What the verifier says of a call: a typed code, the place, the keyword and its parameters. Data, never prose. */
import type { JsonObject } from '../json/value.ts';
import type { JsonPointer } from '../pointer.ts';

export const VIOLATION_CODES = [
  // the argument text cannot be read as one JSON value
  'json_empty', 'json_syntax', 'json_truncated', 'json_trailing', 'json_too_deep', 'json_too_large', 'duplicate_key', 'precision_loss', 'forbidden_name',
  // the call names a tool that is not offered
  'tool_unknown',
  // the arguments break the schema
  'missing_required', 'additional_property', 'wrong_type', 'enum_mismatch', 'const_mismatch', 'pattern_mismatch', 'format_mismatch',
  'range_violation', 'length_violation', 'items_violation', 'union_no_match', 'union_ambiguous', 'schema_violation',
  // the arguments break a check across fields, or a gate refuses them
  'cross_field', 'policy_reject',
  // the judge itself failed: counts as invalid
  'undecided',
] as const;
export type ViolationCode = (typeof VIOLATION_CODES)[number];

/**
 * One reason why a call is not acceptable. `pointer` addresses the value at fault (for a missing member: where it should be).
 * `keyword` is the schema keyword, empty where no schema keyword is involved; `keywordLocation` is its pointer inside the schema.
 */
export interface Violation {
  readonly code: ViolationCode;
  readonly pointer: JsonPointer;
  readonly keyword: string;
  readonly keywordLocation: string;
  readonly params: JsonObject;
}

/** The verdict on one call. `schemaVersion` is the digest of the contract it was judged by (CHECKLIST C5). */
export type ValidationReport =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly violations: readonly [Violation, ...Violation[]] };
